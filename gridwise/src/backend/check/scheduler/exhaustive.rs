//! Every schedule that can make a difference, one after another: depth first, with dynamic partial-order reduction.
//!
//! After P. Abdulla, S. Aronis, B. Jonsson, K. Sagonas, "Optimal dynamic partial order reduction", POPL 2014: source sets and
//! sleep sets. Plain accesses are no decisions: two that conflict are a finding whatever their order. Departures: which value a
//! load returns is a decision of its own, below that of the thread; when nobody who could lead to the reversed order can run at
//! the earlier point, all that can are tried; where everything that could run is asleep, the schedule is finished in the
//! ordinary way, without decisions.

use std::collections::HashMap;

use super::{Candidate, Scheduler, Step, replay::encode};
use crate::backend::check::memory::clock::ThreadId;

/// A decision that can be taken otherwise.
#[derive(Debug)]
enum Node {
    Thread {
        enabled: Vec<(ThreadId, Step)>,
        /// Which of `enabled` runs in this schedule.
        chosen: usize,
        /// Which were explored, this one included.
        explored: Vec<bool>,
        /// Which have to be.
        wanted: Vec<bool>,
        /// Threads whose step here was explored before, and would bring nothing new.
        asleep: Vec<(ThreadId, Step)>,
    },
    Value {
        options: usize,
        chosen: usize,
    },
}

/// An event: which thread, at which node of the path, with which step.
#[derive(Clone, Debug)]
struct Event {
    id: ThreadId,
    node: usize,
    step: Step,
    /// For each thread, the number of its last event that this one depends on, plus 1.
    clock: HashMap<ThreadId, usize>,
}

/// Whether an event of that thread and number comes before what has this clock.
fn knows(clock: &HashMap<ThreadId, usize>, id: ThreadId, number: usize) -> bool {
    clock.get(&id).is_some_and(|known| *known > number)
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Exhaustive {
    path: Vec<Node>,
    depth: usize,
    started: bool,
    /// Events of the running launch.
    events: Vec<Event>,
    /// Those that the next step may conflict with: the last write of each location, and the reads since.
    recent: Vec<usize>,
    clocks: HashMap<ThreadId, HashMap<ThreadId, usize>>,
    asleep: Vec<(ThreadId, Step)>,
    /// Everything is asleep: what follows was seen before.
    redundant: bool,
    /// Whether index maps deal out contiguous parts: once everything is explored where they do not.
    contiguous: bool,
    /// Whether any was asked to.
    dealt: bool,
    /// Tries every thread everywhere instead, for tests.
    #[cfg(test)]
    pub(super) naive: bool,
}

fn join(into: &mut HashMap<ThreadId, usize>, from: &HashMap<ThreadId, usize>) {
    for (id, number) in from {
        let known = into.entry(*id).or_default();
        *known = (*known).max(*number);
    }
}

impl Exhaustive {
    /// Goes back to the last decision with something left to try, and takes it.
    fn back_up(&mut self) -> bool {
        while let Some(node) = self.path.last_mut() {
            match node {
                Node::Value { options, chosen } if *chosen + 1 < *options => {
                    *chosen += 1;
                    return true;
                }
                Node::Thread {
                    enabled,
                    chosen,
                    explored,
                    wanted,
                    asleep,
                } => {
                    asleep.push(enabled[*chosen]);
                    let awake = |at: &usize| !asleep.iter().any(|(id, _)| *id == enabled[*at].0);
                    let next = (0..enabled.len()).find(|at| wanted[*at] && !explored[*at] && awake(at));
                    if let Some(next) = next {
                        *chosen = next;
                        explored[next] = true;
                        return true;
                    }
                }
                Node::Value { .. } => {}
            }
            self.path.pop();
        }
        false
    }

    /// Starts anew with contiguous parts, if any were dealt out, and none were contiguous so far.
    fn deal_otherwise(&mut self) -> bool {
        self.dealt && !std::mem::replace(&mut self.contiguous, true)
    }

    /// Finds the earlier events that this step could come before, and asks for that. Returns the clock of the step.
    fn look_for_races(&mut self, id: ThreadId, step: Step) -> HashMap<ThreadId, usize> {
        let before = self.clocks.get(&id).cloned().unwrap_or_default();
        let mut clock = before.clone();
        let conflicting = |number: &usize| self.events[*number].step.conflicts(&step);
        let conflicts: Vec<usize> = self.recent.iter().copied().filter(conflicting).collect();
        for number in &conflicts {
            join(&mut clock, &self.events[*number].clock);
        }
        for number in conflicts {
            let event = &self.events[number];
            if event.id != id && !knows(&before, event.id, number) {
                self.ask_for_reversal(number, id, &clock);
            }
        }
        clock
    }

    /// Makes sure that a schedule is tried in which this step of `id` comes before the event, together with what it depends on.
    fn ask_for_reversal(&mut self, number: usize, id: ThreadId, clock: &HashMap<ThreadId, usize>) {
        let event = &self.events[number];
        // What does not depend on the event could come before it. Of that, a thread may go first if its first event depends on
        // nothing else of it.
        let free: Vec<usize> = (number + 1..self.events.len())
            .filter(|later| !knows(&self.events[*later].clock, event.id, number))
            .collect();
        let depends = |clock: &HashMap<ThreadId, usize>, of: ThreadId| {
            free.iter()
                .any(|other| self.events[*other].id != of && knows(clock, self.events[*other].id, *other))
        };
        let mut seen = Vec::new();
        let mut first = Vec::new();
        for later in &free {
            let Event { id, clock, .. } = &self.events[*later];
            if !seen.contains(id) {
                seen.push(*id);
                if !depends(clock, *id) {
                    first.push(*id);
                }
            }
        }
        if !seen.contains(&id) && !depends(clock, id) {
            first.push(id);
        }
        let Node::Thread {
            enabled,
            wanted,
            asleep,
            ..
        } = &mut self.path[event.node]
        else {
            return;
        };
        let place = |id: &ThreadId| enabled.iter().position(|(other, _)| other == id);
        let is_asked =
            |id: &ThreadId| place(id).is_some_and(|at| wanted[at]) || asleep.iter().any(|(other, _)| other == id);
        if first.iter().any(is_asked) {
            return;
        }
        match first.iter().find_map(place) {
            Some(at) => wanted[at] = true,
            None => wanted.fill(true),
        }
    }

    fn record(&mut self, id: ThreadId, step: Step, node: usize) {
        let mut clock = self.look_for_races(id, step);
        let number = self.events.len();
        clock.insert(id, number + 1);
        self.clocks.insert(id, clock.clone());
        // A write to the same bytes takes the place of what conflicts with it: whatever could race with those now races with
        // this, or was asked about before.
        if matches!(step, Step::Write(_) | Step::Fence) {
            let events = &self.events;
            self.recent.retain(|number| !events[*number].step.conflicts(&step));
        }
        self.recent.push(number);
        self.events.push(Event { id, node, step, clock });
    }
}

impl Scheduler for Exhaustive {
    fn begin(&mut self) -> bool {
        let more = !self.started || self.back_up() || self.deal_otherwise();
        self.started = true;
        self.depth = 0;
        self.asleep.clear();
        self.redundant = false;
        self.begin_launch();
        more
    }

    fn begin_launch(&mut self) {
        self.events.clear();
        self.recent.clear();
        self.clocks.clear();
        self.asleep.clear();
    }

    fn thread(&mut self, current: ThreadId, runnable: &[Candidate]) -> usize {
        let of_current = || runnable.iter().position(|candidate| candidate.id == current);
        if self.redundant {
            return of_current().unwrap_or(0);
        }
        // What concerns nobody else goes first, and is no decision.
        if let Some(local) = runnable.iter().position(|candidate| candidate.step == Step::Local) {
            return local;
        }
        if self.depth == self.path.len() {
            let asleep = |candidate: &Candidate| self.asleep.iter().any(|(id, _)| *id == candidate.id);
            let first = of_current()
                .filter(|at| !asleep(&runnable[*at]))
                .or_else(|| runnable.iter().position(|candidate| !asleep(candidate)));
            let Some(chosen) = first else {
                self.redundant = true;
                return of_current().unwrap_or(0);
            };
            let mut explored = vec![false; runnable.len()];
            explored[chosen] = true;
            let mut wanted = explored.clone();
            #[cfg(test)]
            wanted.fill(self.naive || runnable.len() == 1);
            wanted[chosen] = true;
            self.path.push(Node::Thread {
                enabled: runnable
                    .iter()
                    .map(|candidate| (candidate.id, candidate.step))
                    .collect(),
                chosen,
                wanted,
                explored,
                asleep: self.asleep.clone(),
            });
        }
        let node = self.depth;
        self.depth += 1;
        let Node::Thread {
            enabled,
            chosen,
            asleep,
            ..
        } = &self.path[node]
        else {
            // Not reached by a kernel that does the same thing in the same schedule.
            return 0;
        };
        let (id, step) = enabled[*chosen];
        #[cfg(test)]
        let asleep: &[_] = if self.naive { &[] } else { asleep };
        self.asleep = asleep
            .iter()
            .filter(|(other, theirs)| *other != id && !theirs.conflicts(&step))
            .copied()
            .collect();
        self.record(id, step, node);
        runnable.iter().position(|candidate| candidate.id == id).unwrap_or(0)
    }

    fn value(&mut self, options: usize) -> usize {
        if self.redundant {
            return 0;
        }
        if self.depth == self.path.len() {
            self.path.push(Node::Value { options, chosen: 0 });
        }
        let node = self.depth;
        self.depth += 1;
        match &self.path[node] {
            Node::Value { chosen, .. } => (*chosen).min(options - 1),
            Node::Thread { .. } => 0,
        }
    }

    fn met(&mut self, threads: &mut dyn Iterator<Item = ThreadId>) {
        let threads: Vec<_> = threads.collect();
        let mut joined = HashMap::new();
        for id in &threads {
            if let Some(clock) = self.clocks.get(id) {
                join(&mut joined, clock);
            }
        }
        for id in threads {
            self.clocks.insert(id, joined.clone());
        }
    }

    fn stuck(&mut self, waiting: &[Candidate]) {
        // A load that never came might have come earlier.
        for candidate in waiting {
            self.look_for_races(candidate.id, candidate.step);
        }
    }

    fn deals_contiguously(&mut self) -> bool {
        self.dealt = true;
        self.contiguous
    }

    fn token(&self) -> String {
        encode(
            self.contiguous,
            self.path[..self.depth.min(self.path.len())]
                .iter()
                .map(|node| match node {
                    Node::Thread { enabled, chosen, .. } => enabled[*chosen].0,
                    Node::Value { chosen, .. } => *chosen as u32,
                }),
        )
    }
}
