//! What threads do to memory: every access is located, scheduled, judged, and then done.

use std::{
    panic::{AssertUnwindSafe, Location, catch_unwind},
    sync::atomic::Ordering,
};

use super::{
    engine::{Engine, Suspend},
    memory::{Extent, How, RegionKind},
    scheduler::Step,
    state::{Failure, Standing, State, Waiting},
};
use crate::{
    check::finding::{Deed, Finding, Kind, Memory as MemoryPlace, NOWHERE, Operation},
    host::error::discard,
    kernel::{Scope, hardware::WaitSite},
};

/// An atomic access, but for its value.
#[derive(Clone, Copy)]
pub(super) struct Atomic {
    pub(super) extent: Extent,
    pub(super) how: How,
}

/// What a compare-and-swap asks for.
#[derive(Clone, Copy)]
pub(super) struct Exchange {
    pub(super) current: u64,
    pub(super) new: u64,
    pub(super) failure: Ordering,
}

impl Engine {
    /// Finds bytes of memory for a thread; memory that is not the device's ends the launch with a finding.
    pub(super) fn locate(
        &self,
        yielder: &Suspend,
        slot: u32,
        at: Result<usize, usize>,
        size: usize,
        operation: Operation,
        location: &'static Location<'static>,
    ) -> Extent {
        let mut state = self.state.borrow_mut();
        let found = match at {
            Ok(address) => state.memory.find(address, size),
            Err(offset) => {
                let region = state.seats[slot as usize / self.threads].region;
                let extent = Extent { region, offset, size };
                Some(extent).filter(|extent| state.memory.is_inside(*extent))
            }
        };
        if let Some(extent) = found {
            return extent;
        }
        state.threads[slot as usize].location = location;
        let deed = Deed::Access(operation, Scope::Device);
        let mut finding = Finding::new(Kind::OutOfBounds, self.kernel, state.place(slot, deed));
        finding.memory = Some(MemoryPlace::Foreign);
        drop(state);
        self.give_up(yielder, finding)
    }

    /// Ends the launch with a finding.
    pub(super) fn give_up(&self, yielder: &Suspend, finding: Finding) -> ! {
        let mut state = self.state.borrow_mut();
        state.report(finding);
        if state.failure.is_none() {
            state.failure = Some(Failure::Found);
        }
        drop(state);
        loop {
            // In a destructor, while the thread unwinds already, this ends the program, as any panic there. A condition may run on
            // the stack of another thread, which cannot be suspended for this one.
            if self.abandoned.get() || self.in_condition() {
                std::panic::resume_unwind(Box::new(super::engine::Abandoned));
            }
            self.wait(yielder);
        }
    }

    pub(super) fn plain(&self, slot: u32, extent: Extent, operation: Operation, location: &'static Location<'static>) {
        let mut state = self.state.borrow_mut();
        state.judge(self, slot, extent, operation, Scope::Device, location);
        if operation.is_write() {
            let is_shared = matches!(state.memory.kind(extent.region), RegionKind::Shared { .. });
            let spin = &mut state.threads[slot as usize].spin;
            match is_shared {
                true => spin.idle = 0,
                false => spin.get_on(),
            }
        }
    }

    /// After a plain store: atomic words that it hit changed under those who wait for them.
    pub(super) fn after_plain_store(&self, slot: u32, extent: Extent, location: &'static Location<'static>) {
        let has_waiters = {
            let mut state = self.state.borrow_mut();
            let State { memory, threads, .. } = &mut *state;
            memory.stored_plainly(&threads[slot as usize].clock, extent, location)
        };
        if has_waiters {
            self.notify(extent);
        }
    }

    pub(super) fn atomic_load(&self, yielder: &Suspend, slot: u32, atomic: Atomic) -> u64 {
        let Atomic { extent, how } = atomic;
        self.point(yielder, slot, Step::Read(extent));
        let mut state = self.state.borrow_mut();
        let State {
            threads,
            memory,
            scheduler,
            ..
        } = &mut *state;
        let thread = &mut threads[slot as usize];
        let candidates = memory.candidates(&thread.clock, extent, how.order);
        // A loop of loads sees the newest value in the end.
        let age = if candidates == 1 || thread.spin.sees_newest() || self.is_over() {
            0
        } else {
            scheduler.value(candidates)
        };
        let newest = memory.newest(extent);
        thread.spin.note(extent, newest - age as u64);
        let bits = memory.load(&mut thread.clock, extent, age, how);
        state.judge(self, slot, extent, Operation::AtomicLoad, how.scope, how.location);
        bits
    }

    pub(super) fn atomic_store(&self, yielder: &Suspend, slot: u32, atomic: Atomic, bits: u64) {
        self.state.borrow_mut().threads[slot as usize].spin.get_on();
        let Atomic { extent, how } = atomic;
        self.point(yielder, slot, Step::Write(extent));
        let mut state = self.state.borrow_mut();
        state.judge(self, slot, extent, Operation::AtomicStore, how.scope, how.location);
        let age = state.place_of_store(self, slot, atomic);
        let State { threads, memory, .. } = &mut *state;
        memory.store(&mut threads[slot as usize].clock, extent, age, bits, how);
        drop(state);
        self.notify(extent);
    }

    /// A read-modify-write: `apply` maps the value before to the one after. Returns the value before.
    pub(super) fn read_modify_write(
        &self,
        yielder: &Suspend,
        slot: u32,
        atomic: Atomic,
        apply: impl FnOnce(u64) -> u64,
    ) -> u64 {
        let Atomic { extent, how } = atomic;
        self.point(yielder, slot, Step::Write(extent));
        let mut state = self.state.borrow_mut();
        let age = state.place_of_store(self, slot, atomic);
        let State { threads, memory, .. } = &mut *state;
        let thread = &mut threads[slot as usize];
        let epoch = thread.clock.epoch;
        let before = memory.load(&mut thread.clock, extent, age, how);
        let after = apply(before);
        if after == before {
            thread.spin.look_in_vain();
        } else {
            thread.spin.get_on();
        }
        debug_assert_eq!(epoch, thread.clock.epoch, "a load begins no epoch");
        state.judge(self, slot, extent, Operation::ReadModifyWrite, how.scope, how.location);
        let State { threads, memory, .. } = &mut *state;
        memory.replace(&mut threads[slot as usize].clock, extent, age, after, how);
        drop(state);
        if after != before {
            self.notify(extent);
        }
        before
    }

    pub(super) fn compare_exchange(
        &self,
        yielder: &Suspend,
        slot: u32,
        atomic: Atomic,
        exchange: Exchange,
    ) -> Result<u64, u64> {
        let Atomic { extent, how } = atomic;
        self.point(yielder, slot, Step::Write(extent));
        let mut state = self.state.borrow_mut();
        let State { threads, memory, .. } = &mut *state;
        let thread = &mut threads[slot as usize];
        let before = memory.peek(extent, 0);
        let succeeds = before == exchange.current;
        let order = if succeeds { how.order } else { exchange.failure };
        let newest = memory.newest(extent);
        memory.load(&mut thread.clock, extent, 0, How { order, ..how });
        if !succeeds {
            thread.spin.note(extent, newest);
            state.judge(self, slot, extent, Operation::AtomicLoad, how.scope, how.location);
            return Err(before);
        }
        thread.spin.get_on();
        state.judge(self, slot, extent, Operation::CompareExchange, how.scope, how.location);
        let State { threads, memory, .. } = &mut *state;
        memory.replace(&mut threads[slot as usize].clock, extent, 0, exchange.new, how);
        drop(state);
        if before != exchange.new {
            self.notify(extent);
        }
        Ok(before)
    }

    pub(super) fn fence(&self, yielder: &Suspend, slot: u32, how: How) {
        let step = if how.order == Ordering::SeqCst {
            Step::Fence
        } else {
            Step::Local
        };
        self.point(yielder, slot, step);
        let mut state = self.state.borrow_mut();
        let State { threads, memory, .. } = &mut *state;
        threads[slot as usize].clock.fence(how, &mut memory.fences);
    }

    /// Waits until `ready` holds of a value that a load may return.
    ///
    /// The thread can run only while there is such a value. When it does, it loads one of them, or the newest value if that is
    /// none of them: it came too late.
    pub(super) fn wait_until(
        &self,
        yielder: &Suspend,
        slot: u32,
        atomic: Atomic,
        site: WaitSite,
        ready: &mut dyn FnMut(u64) -> bool,
    ) -> u64 {
        let Atomic { extent, how } = atomic;
        let mut missed = false;
        loop {
            let values = self.values(slot, atomic);
            if self.abandoned.get() {
                return values[0];
            }
            if values.iter().any(|bits| self.ask(ready, *bits)) {
                self.point(yielder, slot, Step::Read(extent));
            } else {
                self.block_on_word(yielder, slot, atomic, site, ready, missed);
            }
            let values = self.values(slot, atomic);
            let accepted: Vec<usize> = (0..values.len()).filter(|age| self.ask(ready, values[*age])).collect();
            let too_late = accepted.first() != Some(&0);
            let options = accepted.len() + usize::from(too_late && !accepted.is_empty());
            let mut state = self.state.borrow_mut();
            let choice = match options {
                0 | 1 => 0,
                _ if self.is_over() => 0,
                options => state.scheduler.value(options),
            };
            let age = accepted.get(choice).copied();
            let State { threads, memory, .. } = &mut *state;
            let thread = &mut threads[slot as usize];
            thread.spin.get_on();
            let bits = memory.load(&mut thread.clock, extent, age.unwrap_or(0), how);
            state.judge(self, slot, extent, Operation::Wait, how.scope, how.location);
            if age.is_some() {
                return bits;
            }
            missed |= !accepted.is_empty();
        }
    }

    fn values(&self, slot: u32, atomic: Atomic) -> Vec<u64> {
        let mut state = self.state.borrow_mut();
        let State { threads, memory, .. } = &mut *state;
        let candidates = memory.candidates(&threads[slot as usize].clock, atomic.extent, atomic.how.order);
        (0..candidates).map(|age| memory.peek(atomic.extent, age)).collect()
    }

    fn block_on_word(
        &self,
        yielder: &Suspend,
        slot: u32,
        atomic: Atomic,
        site: WaitSite,
        ready: &mut dyn FnMut(u64) -> bool,
        missed: bool,
    ) {
        self.leave_if_over();
        let ready: *mut (dyn FnMut(u64) -> bool + '_) = ready;
        // SAFETY: only the lifetime changes. The condition lives on the stack of this thread, which stays suspended for as long
        // as the pointer is kept: whoever makes it runnable drops the pointer.
        let ready: *mut dyn FnMut(u64) -> bool = unsafe { std::mem::transmute(ready) };
        let mut state = self.state.borrow_mut();
        state.steps += 1;
        state.unlist(slot);
        let thread = &mut state.threads[slot as usize];
        thread.location = site.location;
        thread.step = Step::Read(atomic.extent);
        thread.standing = Standing::Waiting(Waiting::Word {
            extent: atomic.extent,
            order: atomic.how.order,
            site,
            ready,
            missed,
        });
        state.waiting.push(slot);
        if self.model.lock_step {
            state.hold_warp(self, slot);
        }
        drop(state);
        self.wait(yielder);
    }

    /// A word has a new value: those who wait for it look.
    pub(super) fn notify(&self, extent: Extent) {
        let mut state = self.state.borrow_mut();
        state.end_spins(self);
        if state.waiting.is_empty() {
            return;
        }
        let State {
            threads,
            memory,
            waiting,
            ..
        } = &mut *state;
        let mut looks = Vec::new();
        for slot in waiting.iter() {
            let thread = &threads[*slot as usize];
            if let Standing::Waiting(Waiting::Word {
                extent: waited,
                order,
                ready,
                ..
            }) = &thread.standing
                && waited.overlaps(&extent)
            {
                let candidates = memory.candidates(&thread.clock, *waited, *order);
                let values: Vec<u64> = (0..candidates).map(|age| memory.peek(*waited, age)).collect();
                looks.push((*slot, *ready, values));
            }
        }
        drop(state);
        for (slot, ready, values) in looks {
            let holds = catch_unwind(AssertUnwindSafe(|| {
                // SAFETY: the thread that waits is suspended, so its condition is where it was, and nobody else asks it: what a
                // condition does, notifies nobody.
                let ready = unsafe { &mut *ready };
                values.into_iter().any(|bits| self.ask(ready, bits))
            }));
            // A condition that panics panics again where it belongs.
            let holds = holds.unwrap_or_else(|payload| {
                discard(payload);
                true
            });
            if holds {
                let mut state = self.state.borrow_mut();
                state.waiting.retain(|waiting| *waiting != slot);
                let step = state.threads[slot as usize].step;
                state.make_runnable(slot, step);
                if self.model.lock_step {
                    state.release_warp(self, slot);
                }
            }
        }
    }
}

impl State {
    /// After which of the stores so far a store comes: how many before the newest. A store may land late: others that were made
    /// after it in time come before it.
    fn place_of_store(&mut self, engine: &Engine, slot: u32, atomic: Atomic) -> usize {
        let thread = &self.threads[slot as usize];
        let places = self.memory.places(&thread.clock, atomic.extent, atomic.how.order);
        // A loop of read-modify-writes sees the newest value in the end.
        if places == 1 || thread.spin.sees_newest() || engine.is_over() {
            return 0;
        }
        let mut choice = self.scheduler.value(places.count_ones() as usize);
        let is_place = |age: &usize| {
            let is_free = places >> age & 1 == 1;
            choice = choice.wrapping_sub(usize::from(is_free));
            is_free && choice == usize::MAX
        };
        (0..u8::BITS as usize).find(is_place).unwrap_or(0)
    }

    pub(super) fn judge(
        &mut self,
        engine: &Engine,
        slot: u32,
        extent: Extent,
        operation: Operation,
        scope: Scope,
        location: &'static Location<'static>,
    ) {
        let thread = &mut self.threads[slot as usize];
        thread.location = location;
        self.memory.judge(&thread.clock, extent, operation, scope, location);
        if operation.is_write() && !(self.coverage.is_empty() && self.passing.is_empty()) {
            self.count_store(engine, slot, extent, operation, scope);
        }
        if !self.memory.faults.is_empty() {
            self.report_faults(engine, slot, extent, (operation, scope));
        }
    }

    /// In lock step, a lane that waits holds up the others of its warp.
    pub(super) fn hold_warp(&mut self, engine: &Engine, slot: u32) {
        let (first, lanes) = engine.warp_of(slot);
        for lane in first..first + lanes as u32 {
            if matches!(self.threads[lane as usize].standing, Standing::Runnable) {
                self.unlist(lane);
                let at = self.threads[slot as usize].location;
                let held = &mut self.threads[lane as usize];
                held.standing = Standing::Held;
                if held.location == NOWHERE {
                    held.location = at;
                }
            }
        }
    }

    pub(super) fn release_warp(&mut self, engine: &Engine, slot: u32) {
        if self.is_held_up(engine, slot) {
            // The lane that could go on waits for the other lanes, as they for it.
            self.unlist(slot);
            self.threads[slot as usize].standing = Standing::Held;
            return;
        }
        let (first, lanes) = engine.warp_of(slot);
        for lane in first..first + lanes as u32 {
            if matches!(self.threads[lane as usize].standing, Standing::Held) {
                let step = self.threads[lane as usize].step;
                self.make_runnable(lane, step);
            }
        }
    }

    /// Lets lanes go on whose warp was held up by one that has given up by itself: it looked at a word for a while and went on, to
    /// where it waits for them, or has left. Whether there were any. Asked only when nobody can run, because one that has looked for
    /// the last time is told from others by what it does next.
    pub(super) fn release_stranded(&mut self, engine: &Engine) -> bool {
        let mut released = false;
        for slot in 0..self.threads.len() as u32 {
            let is_held = matches!(self.threads[slot as usize].standing, Standing::Held);
            if is_held && !self.is_held_up(engine, slot) {
                self.release_warp(engine, slot);
                released = true;
            }
        }
        released
    }

    /// Whether a lane of the thread's warp waits for a word, or spins.
    fn is_held_up(&self, engine: &Engine, slot: u32) -> bool {
        let (first, lanes) = engine.warp_of(slot);
        let lanes = first as usize..first as usize + lanes;
        let waits =
            |standing: &Standing| matches!(standing, Standing::Waiting(Waiting::Word { .. }) | Standing::Spinning);
        self.threads[lanes].iter().any(|lane| waits(&lane.standing))
    }
}
