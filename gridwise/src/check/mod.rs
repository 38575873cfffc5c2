//! Finds what is wrong with a kernel's synchronisation, on a simulated device.
//!
//! ```
//! use gridwise::{check, prelude::*};
//!
//! #[repr(C)]
//! struct Shift<'a> {
//!     data: SpanMut<'a, u32>,
//! }
//!
//! // SAFETY: this is the claim that is checked: every thread reads its neighbour's element, and writes its own after the barrier.
//! unsafe impl GridKernel for Shift<'_> {
//!     const NAME: &'static str = "shift";
//!     type Shared = ();
//!
//!     fn run<A: GridAcc>(self, acc: A, _: ()) {
//!         let me = acc.thread_index_in_grid();
//!         let neighbour = self.data.get(acc, (me + 1) % self.data.len());
//!         acc.sync_grid(); // take it away, and the model panics with a data race
//!         self.data.set(acc, me, neighbour);
//!     }
//! }
//!
//! check::model(|device| {
//!     let queue = device.queue();
//!     let mut data = queue.upload(&[1, 2, 3, 4]).unwrap();
//!     queue.launch_cooperative(Blocks::Exactly(2).threads(2), Shift { data: data.span_mut() }).unwrap();
//!     assert_eq!(queue.download(&data).unwrap(), [2, 3, 4, 1]);
//! });
//! ```
//!
//! [`model`] runs a closure many times, each time on a fresh device with another schedule: who runs when, which of the values
//! that an atomic word had a load returns; and in every other one index maps [deal out](Dealing) contiguous parts, as on a CPU. Where
//! a launch leaves its shape to the device, grids of several [shapes](Builder::shapes) are tried, for a kernel is right for any.
//! Faults are judged by the order of events, never by the outcome, so most show in the first schedule. Each [`Finding`] names both
//! places, the order that is missing, and a token: with `GRIDWISE_CHECK_REPLAY` set to it, the same test runs that one schedule.
//! `GRIDWISE_CHECK_SCHEDULES` sets how many schedules are tried.
//!
//! A kernel can promise more than order, and the device looks: that it stores every element once
//! ([`promise_stored_once`](crate::prelude::SpanMut::promise_stored_once)), whatever cuts its indices; that a word of a barrier or queue of one's own is at
//! its start when the launch begins ([`promise_began_at`](crate::prelude::Atomic::promise_began_at)) and when it ends
//! ([`promise_ends_at`](crate::prelude::Atomic::promise_ends_at)). The library's queues promise that nothing is left in them.
//!
//! Any program runs on such a device with `GRIDWISE_DEVICE=check`, and, as index maps deal out on a CPU, with `check:deal=contiguous`;
//! [`Model`] says which options there are. A launch with faults then returns
//! [`LaunchError::Faults`](crate::prelude::LaunchError::Faults), or, if there is but one fault and every device sees it (a panic, a
//! deadlock), the error that every device gives; [`findings`] has the rest.
//!
//! # Limitations
//!
//! * Of data, only the sizes that a test asks for are tried: a race that needs a shorter last frame shows with one. Of grids, only
//!   those that a launch asks for, or the [shapes](Builder::shapes) that are tried.
//! * Loads do not return values from the future ("load buffering"). Otherwise loads lag behind, and stores and
//!   read-modify-writes land late, as far as coherence and the order of events allow; compare-and-swaps take the newest value.
//! * A word remembers its last eight values.
//! * Sequentially consistent loads return the newest value, and so are stronger than the language and PTX promise where they are
//!   mixed with weaker accesses to the same word. Sequentially consistent fences are as the language has them.
//! * A plain load returns the newest value: a race is a finding, what it might read is not explored.
//! * What a [`Span`](crate::prelude::Span) reads is not seen: nobody may write it during the launch.
//! * In the fast mode each location remembers four accesses, so a race with a fifth may stay unseen; the exact mode remembers all.
//! * A launch starts after everything before it and ends before everything after it; two launches never overlap. That two that
//!   do share a barrier or a queue is kept from happening by their types: a view stays on the thread that asks for the launch,
//!   and what hands out work is borrowed for it. (A kernel may hold references to memory of the host, which no device sees.)
//!   What a launch leaves in state that another uses is found where kernels promise how they find and leave it.
//! * Device memory is never uninitialised, on any device; that a launch reads what no launch has written is not found. Shared
//!   memory is, at the start of each block.
//! * An index that is covered twice or never, and work that is left, are found where a kernel promises otherwise, and in the
//!   library's queues. In phases by relaunch, what `enter` promises is looked at within each launch.
//! * Faults in host code, in the order of queues and events, or by data that the host changes, are not looked for.

use crate::{
    backend::check::scheduler::{Replay, from_token},
    host::device::DeviceError,
    prelude::Device,
};

mod builder;
pub mod finding;
pub mod gallery;
mod json;
mod report;
mod shape;
#[cfg(test)]
mod test;

pub use crate::backend::check::model::{BlockOrder, Dealing, Model, Schedule};
pub use builder::{Builder, Explore};
pub use finding::{Finding, Findings, Kind};
pub use report::Report;
pub use shape::Shape;

/// Runs one schedule again: the token of a finding.
pub const REPLAY_VARIABLE: &str = "GRIDWISE_CHECK_REPLAY";
/// How many schedules are tried, where the builder does not say otherwise.
pub const SCHEDULES_VARIABLE: &str = "GRIDWISE_CHECK_SCHEDULES";

/// Runs `test` under many schedules, with [`Builder`]'s defaults.
///
/// # Panics
/// With a report, if any schedule shows a fault, or `test` panics under one.
pub fn model(test: impl Fn(&Device)) {
    Builder::new().check(test);
}

/// What a checking device has found so far, in all its launches; nothing on another device.
///
/// # Panics
/// Inside a kernel of the device.
#[track_caller]
pub fn findings(device: &Device) -> Vec<Finding> {
    device.as_check().map_or_else(Vec::new, |check| check.findings())
}

/// Changes a checking device between two launches, as the resources of a shared machine change under a program: fewer
/// multiprocessors, other work that holds some. `false` if `device` is not a checking device.
///
/// # Errors
/// If a number of the model is out of range.
pub fn reshape(device: &Device, model: Model) -> Result<bool, DeviceError> {
    model.validate()?;
    Ok(device.as_check().is_some_and(|check| {
        check.set_model(model);
        true
    }))
}

/// Whether the text is one that [`REPLAY_VARIABLE`] can be set to.
pub fn is_replay_token(token: &str) -> bool {
    from_token(token).is_some()
}

/// What the token in the environment says, if one is set.
///
/// # Panics
/// If it is not a token: running something else instead would hide the mistake.
pub(crate) fn replay_from_env() -> Option<Replay> {
    let token = std::env::var(REPLAY_VARIABLE).ok().filter(|token| !token.is_empty())?;
    match from_token(&token) {
        Some(replay) => Some(replay),
        None => panic!("{REPLAY_VARIABLE} is `{token}`, which is not a replay token"),
    }
}
