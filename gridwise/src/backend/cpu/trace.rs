//! What the threads of a launch did, where somebody wants to know: see `README.md`, "Traces".

use std::time::Duration;

use crate::{
    host::{
        launch::LaunchPlan,
        trace::{Activity, LaunchTrace, ThreadTrace, TraceSpan, Tracer},
    },
    kernel::hardware::{WaitFor, WaitSite},
    sync::{Mutex, Padded, lock},
};

/// Block barriers that a grid barrier consists of, beside the meeting of the blocks.
const INSIDE_GRID_BARRIER: u8 = 2;

/// Of the ranks of a launch.
#[derive(Debug)]
pub(super) struct Tracks {
    tracer: Tracer,
    /// Looks with a pause between that a waiting thread takes here, instead of before it gets here.
    pub(super) looks: u32,
    tracks: Vec<Padded<Mutex<Track>>>,
}

#[derive(Debug, Default)]
struct Track {
    spans: Vec<TraceSpan>,
    /// Spans that it may have.
    room: usize,
    dropped: usize,
    /// The span of the block that runs.
    block: Option<usize>,
    /// Block barriers to come that are part of a grid barrier.
    inside: u8,
}

impl Tracks {
    /// For a launch on that many ranks.
    pub(super) fn new(tracer: &Tracer, ranks: usize, looks: u32) -> Self {
        // One is for the launch itself.
        let room = tracer.room().saturating_sub(1) / ranks;
        let track = || Track {
            room,
            ..Track::default()
        };
        Self {
            tracer: tracer.clone(),
            looks,
            tracks: (0..ranks).map(|_| Padded(Mutex::new(track()))).collect(),
        }
    }

    pub(super) fn now(&self) -> Duration {
        self.tracer.now()
    }

    pub(super) fn begin_block(&self, rank: usize, block: usize) {
        let now = self.now();
        let mut track = lock(&self.tracks[rank].0);
        track.inside = 0;
        track.block = track.push(Activity::Block(block), now, now);
    }

    pub(super) fn end_block(&self, rank: usize) {
        let now = self.now();
        let mut track = lock(&self.tracks[rank].0);
        if let Some(block) = track.block.take() {
            track.spans[block].end = now;
        }
    }

    /// At a barrier. Whether the thread has to wait is yet to be seen.
    pub(super) fn arrive(&self, rank: usize, site: WaitSite) {
        let now = self.now();
        let mut track = lock(&self.tracks[rank].0);
        match site.what {
            WaitFor::GridBarrier => track.inside = INSIDE_GRID_BARRIER,
            _ if track.inside > 0 => {
                track.inside -= 1;
                return;
            }
            _ => {}
        }
        track.push(wait(site), now, now);
    }

    /// A thread has waited since then.
    pub(super) fn waited(&self, rank: usize, site: WaitSite, since: Duration) {
        let now = self.now();
        let mut track = lock(&self.tracks[rank].0);
        if matches!(site.what, WaitFor::GridBarrier | WaitFor::BlockBarrier) {
            // It has arrived there. The barriers inside a grid barrier are the grid barrier.
            if let (0, Some(arrived)) = (track.dropped, track.spans.len().checked_sub(1)) {
                track.spans[arrived].end = now;
            }
            return;
        }
        track.push(wait(site), since, now);
    }

    /// Hands in what was recorded.
    pub(super) fn hand_in(self, plan: &LaunchPlan, start: Duration) {
        let end = self.now();
        let tracks = self.tracks.into_iter().enumerate().map(|(rank, track)| {
            let track = std::mem::take(&mut *lock(&track.0));
            ThreadTrace {
                place: rank / plan.threads,
                thread: rank % plan.threads,
                spans: track.spans,
                dropped: track.dropped,
            }
        });
        self.tracer.add(LaunchTrace {
            kernel: plan.kernel,
            host_thread: 0,
            blocks: plan.blocks,
            threads_per_block: plan.threads,
            start,
            end,
            threads: tracks.collect(),
        });
    }
}

impl Track {
    /// The index of the span, if there was room for it. After one that there was none for there is for none.
    fn push(&mut self, activity: Activity, start: Duration, end: Duration) -> Option<usize> {
        if self.dropped > 0 || self.spans.len() >= self.room {
            self.dropped += 1;
            return None;
        }
        self.spans.push(TraceSpan { activity, start, end });
        Some(self.spans.len() - 1)
    }
}

fn wait(site: WaitSite) -> Activity {
    Activity::Wait {
        what: site.what,
        location: site.location,
    }
}
