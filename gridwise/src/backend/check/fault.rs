//! What an access showed, as findings: both places, the memory, and the order that is missing.

use super::{
    engine::Engine,
    memory::{Access, Conflict, Extent, Fault, RegionKind, missing},
    state::State,
};
use crate::{
    check::finding::{Deed, Finding, Kind, Missing, Operation, Place},
    kernel::Scope,
};

/// Bytes of the largest word: larger accesses are of whole slices.
const LARGEST_WORD: usize = 8;

impl State {
    /// Reports what the access that a thread has just made showed.
    #[cold]
    pub(super) fn report_faults(&mut self, engine: &Engine, slot: u32, extent: Extent, did: (Operation, Scope)) {
        let now = self.place(slot, Deed::Access(did.0, did.1));
        let memory = self.memory.name(extent, now.block);
        for fault in std::mem::take(&mut self.memory.faults) {
            let finding = match fault {
                Fault::Uninitialised => Some(Finding::new(Kind::Uninitialised, engine.kernel, now)),
                Fault::Unordered { earlier, conflict } => {
                    self.unordered(engine, slot, extent, now, (earlier, conflict))
                }
            };
            if let Some(mut finding) = finding {
                finding.memory = Some(memory);
                self.report(finding);
            }
        }
    }

    /// `None` if these lines are known to be unordered: to look for what is missing takes time.
    fn unordered(
        &self,
        engine: &Engine,
        slot: u32,
        extent: Extent,
        now: Place,
        (earlier, conflict): (Access, Conflict),
    ) -> Option<Finding> {
        let kind = match conflict {
            Conflict::Size => Kind::MixedSize,
            Conflict::Scope => Kind::ScopeTooNarrow,
            Conflict::Race if matches!(self.memory.kind(extent.region), RegionKind::Shared { .. }) => Kind::SharedRace,
            Conflict::Race => Kind::GlobalRace,
        };
        let deed = Deed::Access(earlier.operation, earlier.scope);
        let place = Place::new(earlier.location, earlier.block, earlier.thread, deed);
        let mut finding = Finding::new(kind, engine.kernel, place);
        finding.second = Some(now);
        let is_known = |finding: &Finding| self.findings.iter().any(|other| other.is_like(finding));
        if is_known(&finding) {
            return None;
        }
        let missing = match (conflict, now.deed) {
            (Conflict::Scope, Deed::Access(_, scope)) => Missing::AtomicScope {
                first: earlier.scope == Scope::Block,
                second: scope == Scope::Block,
            },
            _ => {
                let threads = self.past.iter().chain(self.threads.iter().map(|thread| &thread.clock));
                missing(&self.threads[slot as usize].clock, threads, &earlier)
            }
        };
        if matches!(missing, Missing::WiderScope { .. }) {
            finding.kind = Kind::ScopeTooNarrow;
        }
        finding.missing = Some(missing);
        finding.note = note(&earlier, now, extent.size);
        Some(finding)
    }
}

/// How the two accesses differ, where that is the fault or a part of it.
fn note(earlier: &Access, now: Place, size: usize) -> Option<String> {
    let sizes = (usize::from(earlier.size), size);
    if sizes.0 != sizes.1 && sizes.0.max(sizes.1) <= LARGEST_WORD {
        return Some(format!("the first is of {} bytes, the second of {}", sizes.0, sizes.1));
    }
    let is_atomic = matches!(now.deed, Deed::Access(operation, _) if operation.is_atomic());
    match (earlier.operation.is_atomic(), is_atomic) {
        (true, false) => Some("the first is atomic, the second is not".to_owned()),
        (false, true) => Some("the second is atomic, the first is not".to_owned()),
        _ => None,
    }
}
