//! Replaying a schedule from its token.

use super::{Candidate, Pct, Random, RoundRobin, Scheduler, Step};
use crate::{
    backend::check::{memory::clock::ThreadId, model::Model},
    check::Shape,
};

/// A list of decisions, taken one after the other; then the ordinary ones. One schedule.
#[derive(Debug)]
pub(crate) struct Recorded {
    contiguous: bool,
    choices: Vec<u32>,
    next: usize,
    done: bool,
}

impl Recorded {
    fn new(contiguous: bool, choices: Vec<u32>) -> Self {
        Self {
            contiguous,
            choices,
            next: 0,
            done: false,
        }
    }

    fn take(&mut self) -> u32 {
        let choice = self.choices.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        choice
    }
}

/// How index maps deal out, as it begins a token.
const DEALINGS: [&str; 2] = ["choices", "contiguous"];

/// Decisions as text: a number each, those that repeat as `number*times`.
pub(super) fn encode(contiguous: bool, choices: impl Iterator<Item = u32>) -> String {
    let mut text = format!("{}:", DEALINGS[usize::from(contiguous)]);
    let mut runs: Vec<(u32, usize)> = Vec::new();
    for choice in choices {
        match runs.last_mut() {
            Some((last, times)) if *last == choice => *times += 1,
            _ => runs.push((choice, 1)),
        }
    }
    for (at, (choice, times)) in runs.iter().enumerate() {
        if at > 0 {
            text.push('.');
        }
        text.push_str(&choice.to_string());
        if *times > 1 {
            text.push('*');
            text.push_str(&times.to_string());
        }
    }
    text
}

fn decode(text: &str) -> Option<Vec<u32>> {
    let mut choices = Vec::new();
    for run in text.split('.').filter(|run| !run.is_empty()) {
        let (choice, times) = run.split_once('*').unwrap_or((run, "1"));
        let times = times.parse::<usize>().ok().filter(|times| *times < 1 << 24)?;
        choices.extend(std::iter::repeat_n(choice.parse::<u32>().ok()?, times));
    }
    Some(choices)
}

impl Scheduler for Recorded {
    fn begin(&mut self) -> bool {
        self.next = 0;
        !std::mem::replace(&mut self.done, true)
    }

    /// The number of the thread is recorded, because positions among the runnable mean nothing to a reader.
    fn thread(&mut self, current: ThreadId, runnable: &[Candidate]) -> usize {
        // As in the exhaustive scheduler, which records these tokens.
        if let Some(local) = runnable.iter().position(|candidate| candidate.step == Step::Local) {
            return local;
        }
        let position = |id| runnable.iter().position(|candidate| candidate.id == id);
        let id = if self.next < self.choices.len() {
            self.take()
        } else {
            current
        };
        position(id).unwrap_or(0)
    }

    fn value(&mut self, options: usize) -> usize {
        (self.take() as usize).min(options - 1)
    }

    fn deals_contiguously(&mut self) -> bool {
        self.contiguous
    }

    fn token(&self) -> String {
        encode(self.contiguous, self.choices.iter().copied())
    }
}

/// What a token says: a schedule, and the shape of grids where a launch does not say, if it was one of several.
pub(crate) struct Replay {
    pub(crate) scheduler: Box<dyn Scheduler>,
    pub(crate) shape: Option<Shape>,
}

impl Replay {
    /// The device to replay on, and what decides there.
    pub(crate) fn on(self, model: Model) -> (Model, Box<dyn Scheduler>) {
        (
            self.shape.map_or(model, |shape| model.with_shape(shape)),
            self.scheduler,
        )
    }
}

/// The token of the schedule that is running, with the shape of grids if the model has one.
pub(crate) fn replay_token(scheduler: &dyn Scheduler, shape: Option<Shape>) -> String {
    let schedule = scheduler.token();
    match shape {
        Some(shape) => format!("{schedule}@{}", shape.token()),
        None => schedule,
    }
}

/// What a token describes, for one schedule; `None` if it is not a token.
pub(crate) fn from_token(token: &str) -> Option<Replay> {
    let (schedule, shape) = match token.split_once('@') {
        Some((schedule, shape)) => (schedule, Some(Shape::of_token(shape)?)),
        None => (token, None),
    };
    let scheduler = scheduler_of(schedule)?;
    Some(Replay { scheduler, shape })
}

fn scheduler_of(schedule: &str) -> Option<Box<dyn Scheduler>> {
    let (kind, rest) = schedule.split_once(':').unwrap_or((schedule, ""));
    let mut numbers = rest.split(':').map(|number| number.parse::<u64>().ok());
    let mut number = || numbers.next().flatten();
    match kind {
        "round_robin" => Some(Box::new(RoundRobin::default())),
        "random" => Some(Box::new(Random::new(number()?, number()?))),
        "pct" => {
            let (seed, depth, schedule, length) = (number()?, number()?, number()?, number()?);
            Some(Box::new(Pct::new(
                seed,
                depth as usize,
                schedule,
                Some(length as usize),
            )))
        }
        dealing if DEALINGS.contains(&dealing) => Some(Box::new(Recorded::new(dealing == DEALINGS[1], decode(rest)?))),
        _ => None,
    }
}
