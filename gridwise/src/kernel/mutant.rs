//! An accelerator with one operation weakened, for tests of the library's own protocols.
//!
//! [`Mutated`] hands every operation on to the accelerator that it wraps. A [recording](record) run notes the *sites*: the lines
//! at which a protocol synchronises. Each site has its [mutants](Site::mutants), and a run [with one of them](with) does that
//! operation in the weaker form, wherever the protocol reaches the line. So the protocols know nothing of this, and a new line
//! in one of them has its mutants by itself.

use core::{cell::RefCell, fmt, panic::Location, sync::atomic::Ordering};

use super::{
    atomic::Scope,
    hardware::{Place, Rmw},
};

mod accelerator;

pub(crate) use accelerator::Mutated;

/// What synchronises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Load(Ordering, Scope),
    Store(Ordering, Scope),
    ReadModifyWrite(Ordering, Scope),
    CompareExchange(Ordering, Ordering, Scope),
    Wait(Ordering, Scope),
    Fence(Ordering, Scope),
    BlockBarrier,
    Exchange,
}

/// A line of the library that synchronises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    pub(crate) location: &'static Location<'static>,
    what: What,
}

/// What is taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// The order becomes this one. A [postponable](with) read-modify-write before it lands after it.
    Order(Ordering),
    /// The scope becomes the block.
    Narrowed,
    /// The fence, barrier or exchange is left out; a wait is one look.
    Removed,
    /// A read-modify-write becomes a load and a store.
    Split,
    /// The order of a compare-and-swap that fails becomes relaxed.
    Failure,
    /// A relaxed store lands after the releases that follow it.
    Late,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order(order) => write!(f, "{order:?}"),
            change => write!(f, "{change:?}"),
        }
    }
}

/// A site with something taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mutant {
    pub(crate) site: Site,
    pub(crate) change: Change,
}

impl Site {
    /// Whatever can be taken away here, one thing at a time.
    pub(crate) fn mutants(self) -> Vec<Mutant> {
        let orders = |order, possible: &[Ordering]| -> Vec<Change> {
            let weaker = |other: &&Ordering| is_weaker(**other, order);
            possible
                .iter()
                .filter(weaker)
                .map(|other| Change::Order(*other))
                .collect()
        };
        let narrowed = |scope| (scope > Scope::Block).then_some(Change::Narrowed);
        let (loads, stores) = (
            [Ordering::Acquire, Ordering::Relaxed],
            [Ordering::Release, Ordering::Relaxed],
        );
        let all = [
            Ordering::AcqRel,
            Ordering::Acquire,
            Ordering::Release,
            Ordering::Relaxed,
        ];
        let mut changes = match self.what {
            What::Load(order, _) => orders(order, &loads),
            What::Store(Ordering::Relaxed, _) => vec![Change::Late],
            What::Store(order, _) => orders(order, &stores),
            What::ReadModifyWrite(order, _) => {
                let mut changes = orders(order, &all);
                changes.push(Change::Split);
                changes
            }
            What::CompareExchange(success, failure, _) => {
                let mut changes = orders(success, &all);
                changes.extend((failure != Ordering::Relaxed).then_some(Change::Failure));
                changes.push(Change::Split);
                changes
            }
            What::Wait(order, _) => {
                let mut changes = orders(order, &loads);
                changes.push(Change::Removed);
                changes
            }
            What::Fence(order, _) => {
                let mut changes = orders(order, &all[..3]);
                changes.push(Change::Removed);
                changes
            }
            What::BlockBarrier | What::Exchange => vec![Change::Removed],
        };
        changes.extend(self.scope().and_then(narrowed));
        changes
            .into_iter()
            .map(|change| Mutant { site: self, change })
            .collect()
    }

    fn scope(self) -> Option<Scope> {
        match self.what {
            What::Load(_, scope)
            | What::Store(_, scope)
            | What::ReadModifyWrite(_, scope)
            | What::CompareExchange(_, _, scope)
            | What::Wait(_, scope)
            | What::Fence(_, scope) => Some(scope),
            What::BlockBarrier | What::Exchange => None,
        }
    }
}

fn releases(order: Ordering) -> bool {
    matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}

fn acquires(order: Ordering) -> bool {
    matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
}

/// Whether an order has a part of the other, and not all.
fn is_weaker(order: Ordering, than: Ordering) -> bool {
    order != than && order != Ordering::SeqCst && releases(order) <= releases(than) && acquires(order) <= acquires(than)
}

/// A store, or a read-modify-write, that has yet to land: of a thread, as bits.
#[derive(Clone, Copy)]
struct Late {
    /// `None`: a store.
    op: Option<Rmw>,
    thread: (usize, usize),
    at: Place<u8>,
    size: usize,
    bits: u64,
    scope: Scope,
}

/// What accelerators on this thread do, whatever they wrap.
#[derive(Default)]
struct Lab {
    /// Sites seen so far, while recording.
    record: Option<Vec<Site>>,
    mutant: Option<Mutant>,
    postponable: Vec<Site>,
    late: Vec<Late>,
}

std::thread_local! {
    static LAB: RefCell<Lab> = RefCell::default();
}

/// Puts things back, also after a panic.
struct Reset;

impl Drop for Reset {
    fn drop(&mut self) {
        LAB.take();
    }
}

/// Runs something, and returns the sites that it reached, in the order of the source.
pub(crate) fn record(run: impl FnOnce()) -> Vec<Site> {
    let _reset = Reset;
    LAB.with_borrow_mut(|lab| lab.record = Some(Vec::new()));
    run();
    let mut sites = LAB.with_borrow_mut(|lab| lab.record.take()).unwrap_or_default();
    sort(&mut sites);
    sites
}

/// Into the order of the source.
pub(crate) fn sort(sites: &mut [Site]) {
    sites.sort_by_key(|site| (site.location.file(), site.location.line(), site.location.column()));
}

/// Runs something with a mutant in the place of the sound operation.
///
/// `postponable`: relaxed read-modify-writes of whose result nobody makes use, each of another word than the mutant. The
/// devices that are wrapped do every operation in its turn, but where an order is taken away from the operation after such a
/// one, hardware may do them the other way round. So the mutant does.
pub(crate) fn with<R>(mutant: Mutant, postponable: &[Site], run: impl FnOnce() -> R) -> R {
    let _reset = Reset;
    LAB.with_borrow_mut(|lab| {
        lab.mutant = Some(mutant);
        lab.postponable = postponable.to_vec();
    });
    run()
}

/// Notes a site, or says what is different there.
fn visit(location: &'static Location<'static>, what: What) -> Option<Change> {
    LAB.with_borrow_mut(|lab| {
        let site = Site { location, what };
        if let Some(sites) = &mut lab.record
            && !sites.contains(&site)
        {
            sites.push(site);
        }
        lab.mutant
            .filter(|mutant| mutant.site == site)
            .map(|mutant| mutant.change)
    })
}

/// Whether this one, which is sound, is to be done after the mutant.
fn is_postponed(location: &'static Location<'static>, what: What) -> bool {
    LAB.with_borrow(|lab| {
        let weakens = |mutant: Mutant| matches!(mutant.change, Change::Order(_));
        lab.mutant.is_some_and(weakens) && lab.postponable.contains(&Site { location, what })
    })
}
