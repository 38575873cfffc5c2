//! Where threads meet: block barriers, exchanges of a warp, and the entry to grid barriers.

use std::panic::Location;

use super::{
    engine::{Engine, Suspend},
    memory::ThreadClock,
    scheduler::Step,
    state::{Standing, State, Waiting},
};
use crate::check::finding::{Deed, Finding, Kind, Place};

/// Rounds of the grid barrier whose first caller is remembered.
const ROUNDS_KEPT: u64 = 16;

/// What a lane wants of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// The value of that lane.
    Value { from: usize },
    /// One bit for each lane whose value is not 0.
    Ballot,
}

/// An exchange of a warp that is under way.
#[derive(Default)]
pub(super) struct WarpExchange {
    arrived: Vec<Arrival>,
}

struct Arrival {
    slot: u32,
    value: Vec<u8>,
    want: Want,
    location: &'static Location<'static>,
}

impl Engine {
    pub(super) fn block_barrier(&self, yielder: &Suspend, slot: u32, location: &'static Location<'static>) {
        self.leave_if_over();
        if self.abandoned.get() {
            return;
        }
        if self.threads == 1 {
            // There is nobody to wait for, but a loop of such barriers has to end as well.
            self.check_budget();
            if self.has_failed() {
                self.point(yielder, slot, Step::Local);
            }
            return;
        }
        let mut state = self.state.borrow_mut();
        state.steps += 1;
        state.threads[slot as usize].location = location;
        state.threads[slot as usize].spin.idle = 0;
        let seat = slot as usize / self.threads;
        state.seats[seat].arrived.push(slot);
        if state.seats[seat].arrived.len() < self.threads {
            state.unlist(slot);
            state.threads[slot as usize].standing = Standing::Waiting(Waiting::BlockBarrier(location));
            drop(state);
            self.wait(yielder);
            return;
        }
        state.complete_block_barrier(self, seat, slot);
        drop(state);
        self.point(yielder, slot, Step::Local);
    }

    /// An exchange of `value` with the lanes of the warp. The result is in the thread's inbox.
    pub(super) fn warp_exchange(
        &self,
        yielder: &Suspend,
        slot: u32,
        value: &[u8],
        want: Want,
        location: &'static Location<'static>,
    ) {
        self.leave_if_over();
        if self.abandoned.get() {
            let mut state = self.state.borrow_mut();
            state.threads[slot as usize].inbox = value.to_vec();
            return;
        }
        let mut state = self.state.borrow_mut();
        state.steps += 1;
        state.threads[slot as usize].location = location;
        let (first, lanes) = self.warp_of(slot);
        let exchange = state.warps.entry(first).or_default();
        exchange.arrived.push(Arrival {
            slot,
            value: value.to_vec(),
            want,
            location,
        });
        if exchange.arrived.len() < lanes {
            state.unlist(slot);
            state.threads[slot as usize].standing = Standing::Waiting(Waiting::Warp(location));
            drop(state);
            self.wait(yielder);
            return;
        }
        state.complete_exchange(self, first, slot);
        drop(state);
        self.point(yielder, slot, Step::Local);
    }

    /// The slot of the first lane of a thread's warp, and how many lanes it has.
    pub(super) fn warp_of(&self, slot: u32) -> (u32, usize) {
        let thread = slot as usize % self.threads;
        let lane = thread % self.model.warp_size;
        let lanes = self.model.warp_size.min(self.threads - (thread - lane));
        (slot - lane as u32, lanes)
    }

    /// Counts a thread's entry to a grid barrier, and compares the line with that of the others.
    pub(super) fn enter_grid_barrier(&self, slot: u32, location: &'static Location<'static>) {
        self.leave_if_over();
        let mut state = self.state.borrow_mut();
        let thread = &mut state.threads[slot as usize];
        thread.location = location;
        thread.grid_barriers += 1;
        let round = thread.grid_barriers;
        let place = state.place(slot, Deed::GridBarrier(round - 1));
        let first = *state.rounds.entry(round).or_insert(place);
        state.rounds.remove(&round.saturating_sub(ROUNDS_KEPT));
        if first.location != location {
            let mut finding = Finding::new(Kind::BarrierDivergence, self.kernel, first);
            finding.second = Some(place);
            state.report(finding);
        }
    }
}

impl State {
    fn complete_block_barrier(&mut self, engine: &Engine, seat: usize, last: u32) {
        let arrived = std::mem::take(&mut self.seats[seat].arrived);
        let at = |state: &Self, slot: u32| -> Place { state.place(slot, Deed::BlockBarrier) };
        let first = at(self, arrived[0]);
        if let Some(other) = arrived
            .iter()
            .map(|slot| at(self, *slot))
            .find(|place| place.location != first.location)
        {
            let mut finding = Finding::new(Kind::BarrierDivergence, engine.kernel, first);
            finding.second = Some(other);
            self.report(finding);
        }
        let base = seat * engine.threads;
        let members = &mut self.threads[base..base + engine.threads];
        ThreadClock::meet(members.iter_mut().map(|thread| &mut thread.clock));
        let Self { scheduler, threads, .. } = self;
        scheduler.met(&mut threads[base..base + engine.threads].iter().map(|thread| thread.id));
        for slot in arrived.into_iter().filter(|slot| *slot != last) {
            self.make_runnable(slot, Step::Local);
        }
    }

    fn complete_exchange(&mut self, engine: &Engine, first: u32, last: u32) {
        let Some(exchange) = self.warps.remove(&first) else {
            return;
        };
        let arrived = exchange.arrived;
        let differs = |other: &&Arrival| {
            other.location != arrived[0].location
                || (other.want == Want::Ballot) != (arrived[0].want == Want::Ballot)
                || other.value.len() != arrived[0].value.len()
        };
        if let Some(other) = arrived.iter().find(differs) {
            let mut finding = Finding::new(
                Kind::BarrierDivergence,
                engine.kernel,
                self.place(arrived[0].slot, Deed::Warp),
            );
            finding.second = Some(self.place(other.slot, Deed::Warp));
            self.report(finding);
        }
        let mut ballot = 0_u64;
        for arrival in &arrived {
            if arrival.value.iter().any(|byte| *byte != 0) {
                ballot |= 1 << (arrival.slot - first);
            }
        }
        for arrival in &arrived {
            let inbox = match arrival.want {
                Want::Ballot => ballot.to_ne_bytes().to_vec(),
                Want::Value { from } => {
                    let from = arrived.iter().find(|other| (other.slot - first) as usize == from);
                    let value = &from.unwrap_or(arrival).value;
                    // A lane that passed something of another size passed it elsewhere: reported above.
                    if value.len() == arrival.value.len() {
                        value
                    } else {
                        &arrival.value
                    }
                    .clone()
                }
            };
            self.threads[arrival.slot as usize].inbox = inbox;
        }
        let Self { scheduler, threads, .. } = self;
        scheduler.met(&mut arrived.iter().map(|arrival| threads[arrival.slot as usize].id));
        for arrival in arrived.iter().filter(|arrival| arrival.slot != last) {
            self.make_runnable(arrival.slot, Step::Local);
        }
    }
}
