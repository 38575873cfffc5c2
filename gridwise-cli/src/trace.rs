//! Timelines of launches, as files that Perfetto and Chrome show.

#[cfg(test)]
mod test;

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
    time::Duration,
};

use gridwise::host::{
    device::Device,
    trace::{Activity, LaunchTrace, ThreadTrace, Trace, Tracer, WaitFor},
};
use serde_json::{Value, json};

use crate::{
    arguments::TraceArguments,
    console::plural,
    output::{self, OutputError},
};

/// A timeline that was asked for.
#[derive(Debug)]
pub struct Timeline<'a> {
    path: &'a Path,
    most_events: usize,
    tracer: Tracer,
}

impl<'a> Timeline<'a> {
    /// Of launches from now on, if one was asked for.
    pub fn asked_for(arguments: &'a TraceArguments) -> Option<Self> {
        Some(Self {
            path: arguments.path.as_deref()?,
            most_events: arguments.events,
            tracer: Tracer::new(arguments.events),
        })
    }

    /// What records it.
    pub fn tracer(&self) -> &Tracer {
        &self.tracer
    }

    /// Writes it, in the [trace-event format]. What is missing is said in the file, and to standard error.
    ///
    /// A process of the timeline is a thread of the host that launched. It has a track of launches, then one for each thread of
    /// each resident block: the blocks that it ran, and in them what was work and what was waiting, with the place in the kernel.
    ///
    /// [trace-event format]: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
    ///
    /// # Errors
    ///
    /// As [`output::write()`].
    pub fn write(&self, device: &Device) -> Result<(), OutputError> {
        let trace = self.tracer.trace();
        output::write(self.path, |file: &File| {
            let mut out = BufWriter::new(file);
            timeline(&mut out, &device.name(), self.most_events, &trace)?;
            out.flush()
        })?;
        if trace.dropped > 0 {
            let (path, kept, dropped) = (self.path.display(), self.most_events, plural(trace.dropped, "event"));
            // Where this cannot be said, it still stands in the file.
            let _ = writeln!(
                io::stderr(),
                "gridwise: {path}: keeps {kept} events; {dropped} that came later are not in it (--trace-events keeps more)"
            );
        }
        Ok(())
    }
}

/// Writes the whole file.
fn timeline(out: &mut impl Write, device: &str, most_events: usize, trace: &Trace) -> io::Result<()> {
    let about = json!({
        "device": device,
        "most_events": most_events,
        "dropped_events": trace.dropped,
    });
    write!(
        out,
        "{{\"displayTimeUnit\":\"ns\",\"otherData\":{about},\"traceEvents\":["
    )?;
    let mut events = Events { out, first: true };
    let layout = Layout::of(trace);
    for (&host, &threads) in &layout.threads_per_block {
        let name = if host == 0 {
            device.to_owned()
        } else {
            format!("{device}, host thread {host}")
        };
        events.name("process_name", [host, LAUNCHES], &name)?;
        events.name("thread_name", [host, LAUNCHES], "launches")?;
        for place in 0..layout.places[&host] {
            for thread in 0..threads {
                let name = if threads == 1 {
                    format!("resident block {place}")
                } else {
                    format!("resident block {place}, thread {thread}")
                };
                events.name("thread_name", [host, layout.track(host, place, thread)], &name)?;
            }
        }
    }
    for launch in &trace.launches {
        let host = launch.host_thread;
        let args = json!({"blocks": launch.blocks, "threads_per_block": launch.threads_per_block});
        events.span(
            "launch",
            launch.kernel,
            [host, LAUNCHES],
            (launch.start, launch.end),
            &args,
        )?;
        for thread in &launch.threads {
            events.thread(launch, thread, [host, layout.track(host, thread.place, thread.thread)])?;
        }
    }
    out.write_all(b"\n]}\n")
}

/// The track of the launches. The number 0 means the idle task to viewers, for tracks and for processes.
const LAUNCHES: usize = 1;

/// Which tracks there are, by the number of the host's thread.
#[derive(Default)]
struct Layout {
    places: BTreeMap<usize, usize>,
    /// The most of any launch.
    threads_per_block: BTreeMap<usize, usize>,
}

impl Layout {
    fn of(trace: &Trace) -> Self {
        let mut layout = Self::default();
        for launch in &trace.launches {
            let threads = layout.threads_per_block.entry(launch.host_thread).or_default();
            *threads = launch.threads_per_block.max(*threads);
            let places = layout.places.entry(launch.host_thread).or_default();
            *places = launch
                .threads
                .iter()
                .map(|thread| thread.place + 1)
                .fold(*places, usize::max);
        }
        layout
    }

    fn track(&self, host: usize, place: usize, thread: usize) -> usize {
        LAUNCHES + 1 + place * self.threads_per_block[&host] + thread
    }
}

/// Writes events, with commas between. A track is the numbers of its process and of itself.
struct Events<'a, W> {
    out: &'a mut W,
    first: bool,
}

impl<W: Write> Events<'_, W> {
    fn event(&mut self, event: &Value) -> io::Result<()> {
        let comma = if self.first { "" } else { "," };
        self.first = false;
        write!(self.out, "{comma}\n{event}")
    }

    fn name(&mut self, what: &str, [process, track]: [usize; 2], name: &str) -> io::Result<()> {
        self.event(&json!({"ph": "M", "pid": process + 1, "tid": track, "name": what, "args": {"name": name}}))
    }

    fn span(
        &mut self,
        category: &str,
        name: &str,
        [process, track]: [usize; 2],
        (start, end): (Duration, Duration),
        args: &Value,
    ) -> io::Result<()> {
        let (at, took) = (microseconds(start), microseconds(end.saturating_sub(start)));
        self.event(&json!({
            "ph": "X", "pid": process + 1, "tid": track, "cat": category, "name": name, "ts": at, "dur": took, "args": args,
        }))
    }

    /// The blocks that a thread ran, and what it did in them.
    fn thread(&mut self, launch: &LaunchTrace, thread: &ThreadTrace, track: [usize; 2]) -> io::Result<()> {
        let mut spans = thread.spans.iter().peekable();
        while let Some(span) = spans.next() {
            let Activity::Block(block) = span.activity else {
                // Between two blocks.
                self.wait(span.activity, (span.start, span.end), track, None)?;
                continue;
            };
            let name = format!("{}, block {block}", launch.kernel);
            self.span("block", &name, track, (span.start, span.end), &json!({}))?;
            let mut done = span.start;
            let mut round = 0;
            while let Some(wait) = spans.next_if(|next| is_wait_within(next.activity)) {
                self.rest("work", (done, wait.start), track)?;
                let at_grid_barrier = matches!(
                    wait.activity,
                    Activity::Wait {
                        what: WaitFor::GridBarrier,
                        ..
                    }
                );
                round += usize::from(at_grid_barrier);
                self.wait(
                    wait.activity,
                    (wait.start, wait.end),
                    track,
                    at_grid_barrier.then_some(round),
                )?;
                done = wait.end;
            }
            let cut = thread.dropped > 0 && spans.peek().is_none();
            self.rest(if cut { "not recorded" } else { "work" }, (done, span.end), track)?;
        }
        Ok(())
    }

    /// What lies between two spans, if anything does.
    fn rest(&mut self, name: &str, times: (Duration, Duration), track: [usize; 2]) -> io::Result<()> {
        if times.0 < times.1 {
            self.span(name, name, track, times, &json!({}))?;
        }
        Ok(())
    }

    /// `round`: how many grid barriers the block has arrived at.
    fn wait(
        &mut self,
        activity: Activity,
        times: (Duration, Duration),
        track: [usize; 2],
        round: Option<usize>,
    ) -> io::Result<()> {
        let Activity::Wait { what, location } = activity else {
            return Ok(());
        };
        let mut args = json!({"at": format!("{}:{}", location.file(), location.line())});
        if let Some(round) = round {
            args["round"] = round.into();
        }
        if times.0 < times.1 {
            return self.span("wait", waiting_for(what), track, times, &args);
        }
        let name = format!("{}, without a wait", waiting_for(what));
        let [process, track] = track;
        self.event(&json!({
            "ph": "i", "s": "t", "pid": process + 1, "tid": track, "cat": "wait", "name": name, "ts": microseconds(times.0), "args": args,
        }))
    }
}

/// Whether it is a wait of a block that runs.
fn is_wait_within(activity: Activity) -> bool {
    matches!(activity, Activity::Wait { what, .. } if what != WaitFor::BlockEnd)
}

fn waiting_for(what: WaitFor) -> &'static str {
    match what {
        WaitFor::GridBarrier => "grid barrier",
        WaitFor::BlockBarrier => "block barrier",
        WaitFor::Word => "atomic word",
        WaitFor::BlockEnd => "end of the block",
        WaitFor::Warp => "warp",
        WaitFor::Spin => "spin",
    }
}

fn microseconds(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}
