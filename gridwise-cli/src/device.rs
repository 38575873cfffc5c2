//! Opening the device that was asked for.

use std::env;

use gridwise::host::device::{DEVICE_VARIABLE, Device};

use crate::failure::Failure;

/// Opens the device that `--device` names, else the one that the environment names, else the usual one.
///
/// # Errors
///
/// [`Failure::Device`], which says who named it.
pub fn open(name: Option<&str>) -> Result<Device, Failure> {
    match name {
        Some(name) => Device::open(name).map_err(|source| Failure::Device {
            asked: format!("--device {name}"),
            source,
        }),
        None => Device::from_env().map_err(|source| Failure::Device {
            asked: from_environment().map_or_else(
                || "the usual device".to_owned(),
                |name| format!("{DEVICE_VARIABLE}={name}"),
            ),
            source,
        }),
    }
}

/// The name that the environment gives, if any.
pub fn from_environment() -> Option<String> {
    let name = env::var_os(DEVICE_VARIABLE)?;
    (!name.is_empty()).then(|| name.to_string_lossy().into_owned())
}
