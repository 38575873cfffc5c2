//! The end of a launch: who could not go on, and why.

use super::{
    engine::Engine,
    memory::{Extent, RegionKind},
    state::{Standing, State, Waiting},
};
use crate::{
    check::finding::{Deed, Finding, Kind, Place},
    host::report::{HangCause, HangReport, ThreadReport, ThreadState},
    kernel::hardware::WaitFor,
};

/// Words that a hang tells of.
const WORDS_TOLD: usize = 4;

impl Engine {
    /// Nobody can run any more, or the launch has failed: says which threads are left, if any.
    pub(super) fn diagnose(&self) {
        let mut state = self.state.borrow_mut();
        if state.failure.is_some() {
            return;
        }
        let stuck = |standing: &Standing| !matches!(standing, Standing::Left);
        if state.unstarted() == 0 && !state.threads.iter().any(|thread| stuck(&thread.standing)) {
            return;
        }
        let waiting: Vec<_> = state.waiting.iter().map(|slot| state.candidate(*slot)).collect();
        state.scheduler.stuck(&waiting);
        let report = state.hang_report(self);
        let (kind, first, second) = state.cause(self, &report);
        let mut finding = Finding::new(kind, self.kernel, first);
        finding.second = second;
        finding.note = state.words_waited_for();
        finding.hang = Some(report);
        state.report(finding);
        state.failure = Some(super::state::Failure::Found);
    }
}

impl State {
    pub(super) fn hang_report(&self, engine: &Engine) -> HangReport {
        let threads = self.seats.iter().enumerate().flat_map(|(seat, of_seat)| {
            let base = seat * engine.threads;
            let seated = of_seat.block.is_some();
            (base..base + engine.threads).filter(move |_| seated)
        });
        let mut threads: Vec<_> = threads.map(|slot| self.thread_report(slot)).collect();
        // Of blocks that have left, one thread stands for all: the report is about those who wait for them.
        let seated = |block: u32| self.seats.iter().any(|seat| seat.block == Some(block));
        for (block, (place, rounds)) in self.gone.iter().filter(|(block, _)| !seated(**block)) {
            threads.push(ThreadReport::new(
                *block as usize,
                place.thread,
                ThreadState::Left,
                *rounds,
            ));
        }
        HangReport::new(threads, engine.blocks, engine.threads, self.unstarted())
    }

    fn thread_report(&self, slot: usize) -> ThreadReport {
        let thread = &self.threads[slot];
        let waits = |what, location| ThreadState::Waiting { what, location };
        let state = match &thread.standing {
            Standing::Runnable | Standing::Stopped => ThreadState::Running,
            Standing::Spinning => waits(WaitFor::Spin, thread.location),
            Standing::Held => waits(WaitFor::Warp, thread.location),
            Standing::Left => ThreadState::Left,
            Standing::Waiting(Waiting::Word { site, .. }) => waits(site.what, site.location),
            Standing::Waiting(Waiting::BlockBarrier(location)) => waits(WaitFor::BlockBarrier, location),
            Standing::Waiting(Waiting::Warp(location)) => waits(WaitFor::Warp, location),
        };
        ThreadReport::new(
            thread.clock.block as usize,
            thread.clock.thread as usize,
            state,
            thread.grid_barriers,
        )
    }

    /// What the words hold that threads wait for, and who stored that: whatever they wait for did not come after.
    fn words_waited_for(&mut self) -> Option<String> {
        let mut words: Vec<(Extent, u32)> = Vec::new();
        for (slot, thread) in self.threads.iter().enumerate() {
            let seen = match &thread.standing {
                Standing::Waiting(Waiting::Word { extent, site, .. }) if site.what == WaitFor::Word => Some(*extent),
                Standing::Spinning => thread.spin.last(),
                _ => None,
            };
            let is_new = |extent: &Extent| !words.iter().any(|(known, _)| known == extent);
            let is_told = |extent: &Extent| !matches!(self.memory.kind(extent.region), RegionKind::GridBarrier);
            if let Some(extent) = seen.filter(is_new).filter(is_told) {
                words.push((extent, slot as u32));
            }
        }
        let told = words.iter().take(WORDS_TOLD).map(|(extent, slot)| {
            let block = self.threads[*slot as usize].clock.block as usize;
            let (value, name) = (self.memory.peek(*extent, 0), self.memory.name(*extent, block));
            match self.last_store(*extent) {
                Some(by) => format!("{name} holds {value}: {by}"),
                None => format!("{name} holds {value}, as when the launch began"),
            }
        });
        let told: Vec<String> = told.collect();
        (!told.is_empty()).then(|| told.join("\n"))
    }

    /// The fault behind a hang, who waits, and whom for.
    fn cause(&self, engine: &Engine, report: &HangReport) -> (Kind, Place, Option<Place>) {
        let find = |test: &dyn Fn(&Standing) -> bool| {
            (0..self.threads.len() as u32).find(|slot| test(&self.threads[*slot as usize].standing))
        };
        let is_seated = |slot: u32| self.seats[slot as usize / engine.threads].block.is_some();
        let at_barrier = |standing: &Standing| matches!(standing, Standing::Waiting(Waiting::BlockBarrier(_)));
        let at_warp = |standing: &Standing| matches!(standing, Standing::Waiting(Waiting::Warp(_)));
        let at_grid = |standing: &Standing| matches!(standing, Standing::Waiting(Waiting::Word { site, .. }) if site.what == WaitFor::GridBarrier);
        let missed = |standing: &Standing| matches!(standing, Standing::Waiting(Waiting::Word { missed: true, .. }));
        let spins = |standing: &Standing| matches!(standing, Standing::Spinning);
        let left = |standing: &Standing| matches!(standing, Standing::Left);
        let of_block = |slot: u32| {
            let base = slot / engine.threads as u32 * engine.threads as u32;
            base..base + engine.threads as u32
        };
        let stopped = |standing: &Standing| matches!(standing, Standing::Stopped);
        let waits = |standing: &Standing| matches!(standing, Standing::Waiting(_) | Standing::Spinning);
        if let (Some(stopped), Some(waits)) = (find(&stopped), find(&waits)) {
            return (Kind::NoProgress, self.stood(waits), Some(self.stood(stopped)));
        }
        // Threads of a block that wait for others of it which have left, or wait elsewhere.
        for (meets, deed) in [
            (&at_barrier as &dyn Fn(&Standing) -> bool, Deed::BlockBarrier),
            (&at_warp, Deed::Warp),
        ] {
            let waiting = |slot: &u32| is_seated(*slot) && meets(&self.threads[*slot as usize].standing);
            for slot in (0..self.threads.len() as u32).filter(waiting) {
                let mut others = of_block(slot);
                if let Some(gone) = others
                    .clone()
                    .find(|other| left(&self.threads[*other as usize].standing))
                {
                    let gone = self.place(gone, Deed::Left);
                    return (Kind::LeftBeforeBarrier, self.place(slot, deed), Some(gone));
                }
                let elsewhere = |other: &u32| {
                    let standing = &self.threads[*other as usize].standing;
                    (at_barrier(standing) || at_warp(standing)) && !meets(standing)
                };
                if let Some(other) = others.find(elsewhere) {
                    let other = self.place(other, Deed::Warp);
                    return (Kind::BarrierDivergence, self.place(slot, deed), Some(other));
                }
            }
        }
        if let Some(slot) = find(&at_grid) {
            let rounds = self.threads[slot as usize].grid_barriers;
            let place = self.place(slot, Deed::GridBarrier(rounds.saturating_sub(1)));
            let uneven = self.gone.values().find(|(_, theirs)| *theirs != rounds);
            if let Some((gone, _)) = uneven {
                return (Kind::GridBarrierUneven, place, Some(*gone));
            }
            let lags = |other: &u32| {
                let thread = &self.threads[*other as usize];
                thread.grid_barriers != rounds && is_seated(*other)
            };
            if let Some(other) = (0..self.threads.len() as u32).find(lags) {
                return (Kind::GridBarrierUneven, place, Some(self.stood(other)));
            }
        }
        let any = find(&|standing| !left(standing)).unwrap_or(0);
        if report.cause()
            == (HangCause::BlocksNeverStarted {
                blocks: self.unstarted(),
            })
        {
            return (Kind::NeverStarted, self.stood(any), None);
        }
        if let Some(slot) = find(&missed) {
            return (Kind::LostWakeUp, self.stood(slot), None);
        }
        if let Some(slot) = find(&spins) {
            return (Kind::EndlessSpin, self.stood(slot), None);
        }
        (Kind::Deadlock, self.stood(any), None)
    }
}
