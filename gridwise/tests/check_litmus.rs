//! Litmus tests of the checking device: which outcomes it allows and forbids, explored exhaustively, at block and device scope.
//!
//! They agree with the C++ and PTX models; where the device is stricter, the test is ignored and says so.

use std::{cell::RefCell, collections::BTreeSet};

use gridwise::{
    check::{Builder, Explore, Kind, Model, Report},
    prelude::*,
};

/// One operation on one of four words.
#[derive(Clone, Copy)]
enum Op {
    Store(usize, u32, Ordering),
    Load(usize, Ordering),
    Add(usize, u32, Ordering),
    Wait(usize, u32, Ordering),
    Fence(Ordering),
    PlainStore(u32),
    PlainLoad,
}
use Op::{Add, Fence, Load, PlainLoad, PlainStore, Store, Wait};
use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

const ROLES: usize = 4;
const OPS: usize = 10;
const X: usize = 0;
const Y: usize = 1;

#[repr(C)]
#[derive(Clone, Copy)]
struct Program {
    ops: [[Option<Op>; OPS]; ROLES],
    narrow: bool,
}

impl Program {
    fn new(roles: &[&[Op]]) -> Self {
        let mut ops = [[None; OPS]; ROLES];
        for (role, of_role) in roles.iter().enumerate() {
            for (at, op) in of_role.iter().enumerate() {
                ops[role][at] = Some(*op);
            }
        }
        Self { ops, narrow: false }
    }
}

#[repr(C)]
struct Litmus<'a> {
    program: Program,
    words: SpanMut<'a, u32>,
    plain: SpanMut<'a, u32>,
    registers: SpanMut<'a, u32>,
}

impl Litmus<'_> {
    fn step<A: Acc, S: scope::IsScope>(&self, acc: A, op: Op, register: usize, fence: Scope) {
        let word = |at: usize| self.words.atomic(at).scoped::<S>();
        match op {
            Store(at, value, order) => word(at).store(acc, value, order),
            Load(at, order) => self.registers.set(acc, register, word(at).load(acc, order)),
            Add(at, value, order) => self.registers.set(acc, register, word(at).fetch_add(acc, value, order)),
            Wait(at, value, order) => {
                word(at).wait_until(acc, order, |now| now == value);
            }
            Fence(order) => acc.fence(order, fence),
            PlainStore(value) => self.plain.set(acc, 0, value),
            PlainLoad => self.registers.set(acc, register, self.plain.get(acc, 0)),
        }
    }
}

// SAFETY: not claimed: the programs below race on purpose, on the checking device alone.
unsafe impl GridKernel for Litmus<'_> {
    const NAME: &'static str = "litmus";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        let role = acc.thread_index_in_grid();
        for (at, op) in self.program.ops[role].iter().enumerate() {
            let Some(op) = *op else { break };
            let register = role * OPS + at;
            if self.program.narrow {
                self.step::<A, scope::Block>(acc, op, register, Scope::Block);
            } else {
                self.step::<A, scope::Device>(acc, op, register, Scope::Device);
            }
        }
    }
}

/// Where the roles run.
#[derive(Clone, Copy, PartialEq)]
enum Where {
    Blocks,
    Threads,
}

/// The values that the loads of each role return, in order, in every outcome.
type Outcomes = BTreeSet<Vec<u32>>;

fn explore(roles: &[&[Op]], place: Where, narrow: bool) -> (Outcomes, Report) {
    let mut program = Program::new(roles);
    program.narrow = narrow;
    let loads: Vec<usize> = (0..ROLES * OPS)
        .filter(|at| matches!(program.ops[at / OPS][at % OPS], Some(Load(..) | Add(..) | PlainLoad)))
        .collect();
    let outcomes = RefCell::new(Outcomes::new());
    let mut model = Model::small();
    model.multiprocessors = ROLES;
    let grid = match place {
        Where::Blocks => Blocks::Exactly(roles.len()).threads(1),
        Where::Threads => Blocks::Exactly(1).threads(roles.len()),
    };
    let report = Builder::new()
        .model(model)
        .explore(Explore::Exhaustive)
        .keep_going()
        .run(|device| {
            let queue = device.queue();
            let mut words = device.zeroed(4).unwrap();
            let mut plain = device.zeroed(1).unwrap();
            let mut registers = device.zeroed(ROLES * OPS).unwrap();
            let kernel = Litmus {
                program,
                words: words.span_mut(),
                plain: plain.span_mut(),
                registers: registers.span_mut(),
            };
            let _ = queue.launch_cooperative(grid, kernel);
            let registers = queue.download(&registers).unwrap();
            outcomes
                .borrow_mut()
                .insert(loads.iter().map(|at| registers[*at]).collect());
        });
    assert!(report.complete, "{report}");
    (outcomes.into_inner(), report)
}

/// The outcomes of roles in different blocks at device scope, which are the same as those of threads of a block at block scope.
fn outcomes(roles: &[&[Op]]) -> Outcomes {
    let (of_blocks, report) = explore(roles, Where::Blocks, false);
    assert!(report.is_clean(), "{report}");
    let (of_threads, report) = explore(roles, Where::Threads, true);
    assert!(report.is_clean(), "{report}");
    assert_eq!(of_blocks, of_threads, "block and device scope");
    of_blocks
}

fn allows(roles: &[&[Op]], outcome: &[u32]) {
    let all = outcomes(roles);
    assert!(all.contains(outcome), "{outcome:?} is not among {all:?}");
}

fn forbids(roles: &[&[Op]], outcome: &[u32]) {
    let all = outcomes(roles);
    assert!(!all.contains(outcome), "{outcome:?} is among {all:?}");
    assert!(all.len() > 1, "{all:?}");
}

fn message_passing(publish: Ordering, observe: Ordering) -> [Vec<Op>; 2] {
    [
        vec![Store(X, 1, Relaxed), Store(Y, 1, publish)],
        vec![Load(Y, observe), Load(X, Relaxed)],
    ]
}

#[test]
fn message_passing_needs_release_and_acquire() {
    let [a, b] = message_passing(Release, Acquire);
    forbids(&[&a, &b], &[1, 0]);
    for (publish, observe) in [(Relaxed, Relaxed), (Release, Relaxed), (Relaxed, Acquire)] {
        let [a, b] = message_passing(publish, observe);
        allows(&[&a, &b], &[1, 0]);
    }
}

#[test]
fn message_passing_works_with_fences() {
    let a = [Store(X, 1, Relaxed), Fence(Release), Store(Y, 1, Relaxed)];
    let b = [Load(Y, Relaxed), Fence(Acquire), Load(X, Relaxed)];
    forbids(&[&a, &b], &[1, 0]);
    allows(&[&a, &[Load(Y, Relaxed), Load(X, Relaxed)]], &[1, 0]);
    allows(&[&[Store(X, 1, Relaxed), Store(Y, 1, Relaxed)], &b], &[1, 0]);
}

#[test]
fn store_buffering_needs_sequential_consistency() {
    let roles = |store, load| [[Store(X, 1, store), Load(Y, load)], [Store(Y, 1, store), Load(X, load)]];
    let [a, b] = roles(Relaxed, Relaxed);
    allows(&[&a, &b], &[0, 0]);
    let [a, b] = roles(Release, Acquire);
    allows(&[&a, &b], &[0, 0]);
    let [a, b] = roles(SeqCst, SeqCst);
    forbids(&[&a, &b], &[0, 0]);
}

#[test]
fn store_buffering_is_stopped_by_sequentially_consistent_fences_alone() {
    let roles = |order| {
        [
            [Store(X, 1, Relaxed), Fence(order), Load(Y, Relaxed)],
            [Store(Y, 1, Relaxed), Fence(order), Load(X, Relaxed)],
        ]
    };
    let [a, b] = roles(SeqCst);
    forbids(&[&a, &b], &[0, 0]);
    let [a, b] = roles(AcqRel);
    allows(&[&a, &b], &[0, 0]);
}

#[test]
fn loads_of_one_word_never_go_backwards() {
    let write = [Store(X, 1, Relaxed), Store(X, 2, Relaxed)];
    let read = [Load(X, Relaxed), Load(X, Relaxed)];
    let all = outcomes(&[&write, &read]);
    for outcome in &all {
        assert!(outcome[0] <= outcome[1], "{all:?}");
    }
    assert!(
        all.contains([0, 0].as_slice()) && all.contains([0, 2].as_slice()),
        "{all:?}"
    );
    // Through another thread that read and released.
    let relay = [Load(X, Relaxed), Store(Y, 1, Release)];
    let after = [Load(Y, Acquire), Load(X, Relaxed)];
    forbids(&[&[Store(X, 1, Relaxed)], &relay, &after], &[1, 1, 0]);
    // A thread reads its own store, or a later one.
    forbids(
        &[&[Store(X, 1, Relaxed)], &[Store(X, 2, Relaxed), Load(X, Relaxed)]],
        &[0],
    );
}

#[test]
fn independent_readers_agree_only_if_sequentially_consistent() {
    let roles = |load, store| {
        [
            vec![Store(X, 1, store)],
            vec![Store(Y, 1, store)],
            vec![Load(X, load), Load(Y, load)],
            vec![Load(Y, load), Load(X, load)],
        ]
    };
    let disagree = [1, 0, 1, 0];
    let [a, b, c, d] = roles(Relaxed, Relaxed);
    allows(&[&a, &b, &c, &d], &disagree);
    let [a, b, c, d] = roles(Acquire, Release);
    allows(&[&a, &b, &c, &d], &disagree);
    let [a, b, c, d] = roles(SeqCst, SeqCst);
    forbids(&[&a, &b, &c, &d], &disagree);
}

#[test]
fn independent_readers_agree_with_sequentially_consistent_fences() {
    let read = |first, second| [Load(first, Relaxed), Fence(SeqCst), Load(second, Relaxed)];
    forbids(
        &[
            &[Store(X, 1, Relaxed)],
            &[Store(Y, 1, Relaxed)],
            &read(X, Y),
            &read(Y, X),
        ],
        &[1, 0, 1, 0],
    );
}

#[test]
fn a_release_sequence_goes_on_through_read_modify_writes_alone() {
    let release = [Store(X, 1, Relaxed), Store(Y, 1, Release)];
    let read = [Load(Y, Acquire), Load(X, Relaxed)];
    let all = outcomes(&[&release, &[Add(Y, 1, Relaxed)], &read]);
    // The addition came after the release, and the reader saw it: so it sees the data.
    assert!(!all.contains([1, 2, 0].as_slice()), "{all:?}");
    assert!(all.contains([1, 2, 1].as_slice()), "{all:?}");
    allows(&[&release, &[Store(Y, 2, Relaxed)], &read], &[2, 0]);
}

#[test]
fn causality_is_transitive() {
    forbids(
        &[
            &[Store(X, 1, Relaxed), Store(Y, 1, Release)],
            &[Load(Y, Acquire), Store(2, 1, Release)],
            &[Load(2, Acquire), Load(X, Relaxed)],
        ],
        &[1, 1, 0],
    );
}

#[test]
fn additions_lose_nothing() {
    let add = [Add(X, 1, Relaxed)];
    let all = outcomes(&[&add, &add, &add]);
    for outcome in &all {
        let mut sorted = outcome.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2]);
    }
    assert_eq!(all.len(), 6, "every order");
}

#[test]
fn plain_data_behind_a_flag_needs_release_and_acquire() {
    let write = |order| [PlainStore(7), Store(Y, 1, order)];
    let read = |order| [Wait(Y, 1, order), PlainLoad];
    for place in [Where::Blocks, Where::Threads] {
        let (all, report) = explore(&[&write(Release), &read(Acquire)], place, false);
        assert!(report.is_clean(), "{report}");
        assert_eq!(all, [vec![7]].into());
        for (publish, observe) in [(Relaxed, Acquire), (Release, Relaxed), (Relaxed, Relaxed)] {
            let (_, report) = explore(&[&write(publish), &read(observe)], place, false);
            assert_eq!(report.findings.len(), 1, "{report}");
            assert_eq!(report.findings[0].kind, Kind::GlobalRace);
        }
    }
}

#[test]
fn block_scope_orders_the_threads_of_a_block_and_no_others() {
    let write = [PlainStore(7), Store(Y, 1, Release)];
    let read = [Wait(Y, 1, Acquire), PlainLoad];
    let (_, report) = explore(&[&write, &read], Where::Threads, true);
    assert!(report.is_clean(), "{report}");
    let (_, report) = explore(&[&write, &read], Where::Blocks, true);
    assert!(!report.is_clean());
    assert!(
        report
            .findings
            .iter()
            .all(|finding| finding.kind == Kind::ScopeTooNarrow),
        "{report}"
    );
}

#[test]
#[ignore = "not modelled: a load that returns a value from the future (load buffering), which PTX allows"]
fn load_buffering() {
    allows(
        &[
            &[Load(X, Relaxed), Store(Y, 1, Relaxed)],
            &[Load(Y, Relaxed), Store(X, 1, Relaxed)],
        ],
        &[1, 1],
    );
}

#[test]
fn two_writes_to_two_words_are_ordered_by_sequentially_consistent_fences_alone() {
    let writers = |fence: Ordering| {
        let writer = |first, second| [Store(first, 1, Relaxed), Fence(fence), Store(second, 2, Relaxed)];
        [writer(X, Y), writer(Y, X)]
    };
    let reader = [Load(X, Relaxed), Load(X, Relaxed), Load(Y, Relaxed), Load(Y, Relaxed)];
    let [a, b] = writers(AcqRel);
    allows(&[&a, &b, &reader], &[2, 1, 2, 1]);
    let [a, b] = writers(SeqCst);
    forbids(&[&a, &b, &reader], &[2, 1, 2, 1]);
}

#[test]
fn a_store_that_lands_late_undoes_what_did_not_see_it_and_nothing_else() {
    // The addition is lost, unless the load before it has seen the store.
    let store = [Store(X, 5, Relaxed), Store(Y, 1, Relaxed)];
    let add = [Load(Y, Relaxed), Add(X, 1, Relaxed), Load(X, Relaxed)];
    allows(&[&store, &add], &[1, 0, 5]);
    allows(&[&store, &add], &[1, 0, 1]);
    allows(&[&store, &add], &[1, 5, 6]);
    let store = [Store(X, 5, Relaxed), Store(Y, 1, Release)];
    let add = [Load(Y, Acquire), Add(X, 1, Relaxed), Load(X, Relaxed)];
    forbids(&[&store, &add], &[1, 0, 5]);
}

#[test]
#[ignore = "not modelled: a value older than eight stores, which coherence allows to somebody who knows of none of them"]
fn a_value_older_than_eight_stores() {
    let stores = [1, 2, 3, 4, 5, 6, 7, 8].map(|value| Store(X, value, Relaxed));
    let writer: Vec<_> = stores.into_iter().chain([Store(Y, 1, Relaxed)]).collect();
    allows(&[&writer, &[Load(Y, Relaxed), Load(X, Relaxed)]], &[1, 0]);
}

#[test]
#[ignore = "stricter: a sequentially consistent load that does not see a relaxed store of another thread, as C++ allows"]
fn sequentially_consistent_loads_of_relaxed_stores() {
    allows(
        &[
            &[Store(X, 1, Relaxed), Store(Y, 1, Relaxed)],
            &[Load(Y, SeqCst), Load(X, SeqCst)],
        ],
        &[1, 0],
    );
}
