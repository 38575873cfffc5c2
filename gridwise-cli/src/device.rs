//! Opening the device that was asked for.

use std::env;

use gridwise::host::{
    device::{DEVICE_VARIABLE, Device, DeviceError},
    trace::Tracer,
};

use crate::failure::Failure;

/// Opens the device that `--device` names, else the one that the environment names, else the usual one.
///
/// # Errors
///
/// [`Failure::Device`], which says who named it.
pub fn open(name: Option<&str>) -> Result<Device, Failure> {
    open_by(name, Device::open)
}

/// As [`open()`], with its launches recorded if there is a tracer.
///
/// # Errors
///
/// As [`open()`]; and where the device records none.
pub fn open_traced(name: Option<&str>, tracer: Option<&Tracer>) -> Result<Device, Failure> {
    match tracer {
        Some(tracer) => open_by(name, |name| Device::open_traced(name, tracer)),
        None => open(name),
    }
}

fn open_by(name: Option<&str>, open: impl FnOnce(&str) -> Result<Device, DeviceError>) -> Result<Device, Failure> {
    let (name, asked) = match (name, from_environment()) {
        (Some(name), _) => (name.to_owned(), format!("--device {name}")),
        (None, Some(name)) => (name.clone(), format!("{DEVICE_VARIABLE}={name}")),
        (None, None) => ("cpu".to_owned(), "the usual device".to_owned()),
    };
    open(&name).map_err(|source| Failure::Device { asked, source })
}

/// The name that the environment gives, if any.
pub fn from_environment() -> Option<String> {
    let name = env::var_os(DEVICE_VARIABLE)?;
    (!name.is_empty()).then(|| name.to_string_lossy().into_owned())
}
