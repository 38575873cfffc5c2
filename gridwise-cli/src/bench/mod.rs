//! `gridwise bench`: what synchronisation costs on this machine.

mod break_even;
mod costs;
mod kernels;
mod report;
mod sampling;

use std::{fs::File, io::Write, time::Instant};

use gridwise::host::device::Device;

use crate::{arguments::BenchArguments, console, device, failure::Failure, output, plot, trace::Timeline};
use break_even::BreakEven;
use report::Report;
use sampling::Effort;

/// Measures what was asked for, and reports.
///
/// Nothing is shown meanwhile: what draws on a terminal would take time from what is measured.
///
/// # Errors
///
/// [`Failure`] where the device has no times to measure, a launch fails, or the results cannot be written.
pub fn run(arguments: &BenchArguments) -> Result<(), Failure> {
    output::check_all(
        &[
            ("--plot", arguments.plot.as_deref()),
            ("--trace", arguments.trace.path.as_deref()),
        ],
        &[],
    )?;
    let device = device::open(arguments.device.as_deref())?;
    refuse_what_has_no_times(&device)?;
    let report = measure(&device, arguments)?;
    if let Some(path) = &arguments.plot {
        let svg = plot::break_even_svg(&report.points(), &report.title(), report.break_even.nanoseconds);
        output::write(path, |mut file: &File| file.write_all(svg.as_bytes()))?;
    }
    if let Some(timeline) = Timeline::asked_for(&arguments.trace) {
        // Opened anew: recording takes time, which would be in what was measured.
        drop(device);
        let traced = device::open_traced(Some(&report.device), Some(timeline.tracer()))?;
        break_even::run_both(&traced, report.break_even.nanoseconds)?;
        timeline.write(&traced)?;
    }
    if arguments.json {
        console::print_json(&report)
    } else {
        console::print(report.text())
    }
}

fn refuse_what_has_no_times(device: &Device) -> Result<(), Failure> {
    let name = device.name();
    let why = if device.properties().gpu.is_some() {
        "the kernels that measure are compiled for the CPU alone; gridwise devices says what a grid barrier and a launch take on a GPU"
    } else if name.starts_with("check") {
        "it is simulated, and the time that takes says nothing of any machine; bench measures cpu devices, such as cpu:blocks=2"
    } else {
        return Ok(());
    };
    Err(Failure::NotMeasurable { device: name, why })
}

fn measure(device: &Device, arguments: &BenchArguments) -> Result<Report, Failure> {
    let start = Instant::now();
    let effort = Effort::new(arguments.quick);
    let grid_barriers = costs::grid_barriers(device, effort)?;
    let block_barrier = costs::block_barrier(device, effort)?;
    let launch = costs::empty_launch(device, effort)?;
    let phases = break_even::measure(device, effort, arguments.quick)?;
    let usual = grid_barriers.iter().find(|barrier| barrier.default);
    let barrier = usual.map_or(launch.hot, |barrier| barrier.timing);
    let break_even = BreakEven::find(device, &phases, barrier, launch.hot)?;
    let properties = device.properties();
    // Where workers share cores, they disturb each other.
    let alone = properties.workers <= properties.cores;
    Ok(Report {
        device: device.name(),
        cores: properties.cores,
        workers: properties.workers,
        blocks: device.most_resident_blocks(),
        threads_per_block: properties.threads_per_block,
        quick: arguments.quick,
        disturbed: alone && (barrier.is_spread() || launch.hot.is_spread()),
        grid_barriers,
        block_barrier,
        launch,
        phases,
        break_even,
        plot: arguments.plot.clone(),
        trace: arguments.trace.path.clone(),
        seconds: start.elapsed().as_secs_f64(),
    })
}
