//! A run of several launches, as phases by relaunch are: what was promised of it, and how it stands so far.

use std::collections::HashMap;

use super::{
    coverage::Coverage,
    engine::Engine,
    memory::{Memory, RegionKind},
    promise::WordPromised,
    state::State,
};
use crate::check::finding::Finding;

/// What is kept between two launches of a run.
#[derive(Default)]
pub(super) struct Run {
    coverage: Coverage,
    promises: Vec<WordPromised>,
    /// Numbers of the buffers, by the regions that the above names: the next launch may have others.
    numbers: Vec<Option<usize>>,
    /// What words held when the run first used them, by number of the buffer and offset.
    pub(super) initial: HashMap<(usize, usize), u64>,
    /// What there is to report if the run ends here.
    pub(super) open: Vec<Finding>,
}

fn number(memory: &Memory, region: usize) -> Option<usize> {
    match memory.kind(region) {
        RegionKind::Buffer { number, .. } => Some(number),
        _ => None,
    }
}

impl Engine {
    /// Goes on with what the launches of the run before this one promised.
    pub(super) fn resume_run(&mut self, run: Run) {
        let state = self.state.get_mut();
        let regions: HashMap<usize, usize> = (0..state.memory.regions())
            .filter_map(|region| Some((number(&state.memory, region)?, region)))
            .collect();
        let now = |region: usize| regions.get(&run.numbers[region].as_ref().copied()?).copied();
        state.coverage = run.coverage;
        state.coverage.renumber(now);
        let promises = run.promises.into_iter();
        state.promises = promises.filter_map(|promised| promised.renumbered(now)).collect();
        state.run_initial = Some(run.initial);
    }
}

impl State {
    /// What the next launch of the run needs, of which this one was a part.
    pub(super) fn leave_run(&mut self) -> Run {
        let mut initial = self.run_initial.take().unwrap_or_default();
        for region in 0..self.memory.regions() {
            if let Some(number) = number(&self.memory, region) {
                for (offset, held) in self.memory.initial_of_words(region) {
                    initial.entry((number, offset)).or_insert(held);
                }
            }
        }
        Run {
            coverage: std::mem::take(&mut self.coverage),
            promises: std::mem::take(&mut self.promises),
            numbers: (0..self.memory.regions())
                .map(|region| number(&self.memory, region))
                .collect(),
            initial,
            open: std::mem::take(&mut self.open),
        }
    }
}
