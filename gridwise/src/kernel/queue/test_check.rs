//! The work queues on the checking device: every schedule of a small grid is silent, and every weaker queue is found.

use crate::{
    backend::check::mutation::{Equivalent, Subject, wrong},
    check::{Builder, Explore, Model, Report},
    prelude::*,
};

mod chunks;
mod ring;
mod tasks;
mod weaker;

fn model(blocks: usize) -> Model {
    let mut model = Model::small();
    model.multiprocessors = blocks;
    model.exact = true;
    // A run takes a few hundred; a block that does not wait where it should goes round and round.
    model.step_budget = 5_000;
    model
}

/// How a program is explored.
#[derive(Clone, Copy)]
enum How {
    /// Every schedule, and every value that a load may return.
    All,
    /// So many random schedules, of what has too many.
    Some(usize),
    /// So many schedules in which threads seldom take turns: for what shows when one goes far ahead of another.
    FewEvents(usize),
    /// The first of all schedules: enough for what goes wrong somewhere in the beginning.
    First,
}

fn explore(how: How, blocks: usize, test: impl Fn(&Device)) -> Report {
    let builder = Builder::new().model(model(blocks));
    match how {
        How::All => builder.explore(Explore::Exhaustive).run(test),
        How::Some(schedules) => builder.schedules(schedules).run(test),
        How::FewEvents(schedules) => builder
            .explore(Explore::Pct { depth: 2 })
            .schedules(schedules)
            .run(test),
        How::First => builder.explore(Explore::Exhaustive).schedules(200).run(test),
    }
}

fn is_silent(name: &str, report: &Report) {
    assert!(report.is_clean() && report.complete, "{name}: {report}");
    println!("{name}: {} schedules, {:.1?}", report.schedules, report.elapsed);
}

/// Waits until `count` threads are here.
fn meet<A: Acc>(acc: A, here: &SpanMut<'_, u32>, count: u32) {
    here.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
    here.atomic(0).wait_until(acc, Ordering::Relaxed, |now| now == count);
}
