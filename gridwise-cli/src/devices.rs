//! `gridwise devices`: what there is to run on.

use std::time::Duration;

use gridwise::host::{
    cuda,
    device::{CoreLimit, Device, DeviceError, DeviceProperties, WaitPolicy},
};
use serde::Serialize;

use crate::{
    arguments::DevicesArguments,
    console::{self, plural},
    device,
    failure::Failure,
};

/// What a table of 80 columns has for the names of all devices together.
const NAMES_WIDTH: usize = 60;

/// Shows the devices.
///
/// # Errors
///
/// [`Failure`] where a device cannot be opened, or standard output takes no more.
pub fn run(arguments: &DevicesArguments) -> Result<(), Failure> {
    let inventory = Inventory::take()?;
    if arguments.json {
        console::print_json(&inventory)
    } else {
        console::print(inventory.text())
    }
}

/// What is here and what is not.
#[derive(Serialize)]
struct Inventory {
    /// What `gridwise solve` runs on if nothing else is said.
    default: String,
    devices: Vec<Entry>,
    missing: Vec<Missing>,
}

/// A device that is here.
#[derive(Serialize)]
struct Entry {
    name: String,
    cores: usize,
    cores_of_machine: usize,
    cores_limited_by: String,
    workers: usize,
    resident_blocks: usize,
    threads_per_block: usize,
    shared_bytes: usize,
    wait: String,
    gpu: Option<Gpu>,
    barrier_nanoseconds: Option<u64>,
    launch_nanoseconds: Option<u64>,
    #[serde(skip)]
    properties: DeviceProperties,
}

/// What else there is to say of a GPU.
#[derive(Serialize)]
struct Gpu {
    model: String,
    compute_capability: String,
    memory_bytes: usize,
    cuda_version_of_driver: String,
    cooperative_launch: bool,
}

/// Makes a cell of the table.
type Describe = fn(&Entry) -> String;

/// A kind of device that is not here.
#[derive(Serialize)]
struct Missing {
    kind: &'static str,
    why: String,
}

impl Inventory {
    fn take() -> Result<Self, Failure> {
        let default = device::open(None)?;
        let mut devices = Device::all().map_err(|error| Failure::Run(error.into()))?;
        // One of another shape, if the environment asks for it.
        if devices.iter().all(|device| device.name() != default.name()) {
            devices.insert(0, default.clone());
        }
        Ok(Self {
            default: default.name(),
            devices: devices.iter().map(Entry::of).collect(),
            missing: why_no_gpu()
                .map(|why| Missing { kind: "cuda", why })
                .into_iter()
                .collect(),
        })
    }

    fn text(&self) -> String {
        let mut table = console::table();
        let width = NAMES_WIDTH / self.devices.len().max(1);
        let names = self.devices.iter().map(|entry| in_lines(&entry.name, width));
        table.set_header(std::iter::once("device".to_owned()).chain(names));
        let rows: [(&str, Describe); 7] = [
            ("cores", Entry::cores),
            ("workers", Entry::workers),
            ("resident", |entry| plural(entry.resident_blocks, "block")),
            ("a block has", Entry::block),
            ("waiting", Entry::waiting),
            ("grid barrier", |entry| duration(entry.barrier_nanoseconds)),
            ("launch", |entry| duration(entry.launch_nanoseconds)),
        ];
        for (label, describe) in rows {
            table.add_row(std::iter::once(label.to_owned()).chain(self.devices.iter().map(describe)));
        }
        let mut text = table.trim_fmt();
        text += "\n";
        for (entry, gpu) in self
            .devices
            .iter()
            .filter_map(|entry| Some((entry, entry.gpu.as_ref()?)))
        {
            text += "\n";
            text += &console::paragraph(&format!("{}: {}", entry.name, gpu.words()), 1);
            text += "\n";
        }
        if !self.missing.is_empty() {
            text += "\n Not here:\n";
        }
        for missing in &self.missing {
            text += &console::paragraph(&format!("{}: {}", missing.kind, missing.why), 3);
            text += "\n";
        }
        text += match device::from_environment() {
            Some(_) => "\n The first is the default, as GRIDWISE_DEVICE names it.",
            None => "\n The first is the default. GRIDWISE_DEVICE or --device names another.",
        };
        text += "\n Other shapes have names like cpu:blocks=2,threads=4,wait=active";
        text += "\n check is a simulated device, which names the synchronisation bugs of kernels";
        if let Some(hint) = self.devices.first().and_then(Entry::hint) {
            text += &format!("\n {hint}");
        }
        text
    }
}

impl Entry {
    fn of(device: &Device) -> Self {
        let properties = device.properties();
        // Where they cannot be measured, the rest is still worth showing.
        let costs = device.boundary_costs().ok();
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Self {
            name: device.name(),
            cores: properties.cores,
            cores_of_machine: properties.cores_of_machine,
            cores_limited_by: properties.limited_by.to_string(),
            workers: properties.workers,
            resident_blocks: device.most_resident_blocks(),
            threads_per_block: properties.threads_per_block,
            shared_bytes: properties.shared_bytes,
            wait: properties.wait.to_string(),
            gpu: properties.gpu.as_ref().map(|gpu| Gpu {
                model: gpu.model.clone(),
                compute_capability: format!("{}.{}", gpu.compute_capability.0, gpu.compute_capability.1),
                memory_bytes: gpu.memory_bytes,
                cuda_version_of_driver: gpu.driver.clone(),
                cooperative_launch: gpu.cooperative_launch,
            }),
            barrier_nanoseconds: costs.map(|costs| nanoseconds(costs.barrier)),
            launch_nanoseconds: costs.map(|costs| nanoseconds(costs.launch)),
            properties,
        }
    }

    fn cores(&self) -> String {
        if self.gpu.is_some() {
            return plural(self.cores, "multiprocessor");
        }
        match self.properties.limited_by {
            CoreLimit::Machine => format!("{}, all of the machine", self.cores),
            limit => format!("{} of {}, limited by {limit}", self.cores, self.cores_of_machine),
        }
    }

    fn workers(&self) -> String {
        if self.gpu.is_some() {
            return format!("{}, as threads", self.workers);
        }
        let sharing = if self.workers > self.cores {
            ", more than cores: they take turns"
        } else {
            ""
        };
        format!("{}{sharing}", self.workers)
    }

    fn block(&self) -> String {
        format!(
            "{}, {} of shared memory",
            plural(self.threads_per_block, "thread"),
            bytes(self.shared_bytes)
        )
    }

    fn waiting(&self) -> String {
        if self.gpu.is_some() {
            return "in the driver".to_owned();
        }
        let how = match self.properties.wait {
            WaitPolicy::Active => "spins for ever",
            WaitPolicy::Adaptive => "spins, yields, then sleeps",
            WaitPolicy::Passive => "sleeps at once",
        };
        format!("{}: {how}", self.wait)
    }

    fn hint(&self) -> Option<&'static str> {
        match self.properties.limited_by {
            CoreLimit::AffinityMask => Some("More cores: widen the affinity mask (taskset, cpuset, batch system)."),
            CoreLimit::Quota => Some("More cores: raise the processor quota of the cgroup (cpu.max, docker --cpus)."),
            _ => None,
        }
    }
}

impl Gpu {
    fn words(&self) -> String {
        let cooperative = if self.cooperative_launch {
            "Grids that fit synchronise in one launch."
        } else {
            "It takes no cooperative launches: phases run by relaunch."
        };
        format!(
            "a {} of compute capability {}, with {:.1} GiB; its driver is for CUDA {}. {cooperative} It runs the kernels of \
             modules that a program loads.",
            self.model,
            self.compute_capability,
            self.memory_bytes as f64 / f64::from(1 << 30),
            self.cuda_version_of_driver
        )
    }
}

/// Why there is no GPU among the devices, if so.
fn why_no_gpu() -> Option<String> {
    match cuda::device_count() {
        Ok(0) => Some("there is a driver, and it finds no GPU".to_owned()),
        Ok(_) => None,
        Err(DeviceError::CudaNotBuilt) => {
            Some("this program was built without it; for GPUs: cargo install gridwise-cli --features cuda".to_owned())
        }
        Err(error) => Some(error.to_string()),
    }
}

/// The name of a device in lines of `width` characters, where it can be broken behind a setting.
fn in_lines(name: &str, width: usize) -> String {
    let (mut lines, mut length) = (String::new(), 0);
    for setting in name.split_inclusive(',') {
        if length > 0 && length + setting.len() > width {
            lines.push('\n');
            length = 0;
        }
        lines += setting;
        length += setting.len();
    }
    lines
}

fn duration(nanoseconds: Option<u64>) -> String {
    match nanoseconds {
        None => "not measured".to_owned(),
        Some(time) => console::nanoseconds(time as f64),
    }
}

fn bytes(count: usize) -> String {
    const UNITS: [(usize, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS
        .iter()
        .find(|(unit, _)| count >= *unit && count.is_multiple_of(*unit))
    {
        Some((unit, name)) => format!("{} {name}", count / unit),
        None => plural(count, "byte"),
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn bytes_come_in_the_largest_unit_that_divides_them() {
        for (count, expected) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1000, "1000 bytes"),
            (256 << 10, "256 KiB"),
            (3 << 20, "3 MiB"),
            (1 << 30, "1 GiB"),
        ] {
            assert_eq!(bytes(count), expected);
        }
    }

    #[test]
    fn a_long_name_breaks_behind_a_setting() {
        assert_eq!(in_lines("cpu:blocks=2,threads=1", 30), "cpu:blocks=2,threads=1");
        assert_eq!(
            in_lines("cpu:blocks=2,threads=1,pin=off", 25),
            "cpu:blocks=2,threads=1,\npin=off"
        );
        assert_eq!(in_lines("cpu:blocks=2,threads=1", 1), "cpu:blocks=2,\nthreads=1");
        assert_eq!(in_lines("", 0), "");
    }

    #[test]
    fn the_table_fits_80_columns_whatever_the_names() {
        let names = [
            "cpu:blocks=2,threads=1",
            "cpu:blocks=512,threads=8,wait=passive,pin=off,shared=1073741824",
        ];
        let device = Device::open("cpu:blocks=2").unwrap();
        let inventory = Inventory {
            default: names[0].to_owned(),
            devices: names.iter().map(|name| Entry::of(&device).named(name)).collect(),
            missing: Vec::new(),
        };
        let text = inventory.text();
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert!(text.contains(names[0]), "{text}");
    }

    impl Entry {
        fn named(mut self, name: &str) -> Self {
            name.clone_into(&mut self.name);
            self
        }
    }
}
