//! Modules.

use super::api;
use crate::driver::{FunctionState, ModuleState, current, driver, healthy};
use crate::error::{Answer, Error};
use crate::pointer::{Out, Text, put_text};
use ptx_sim::Module;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// What the compiler would say of a text.
fn refusal(module: &Module, version: i32, capability: (u32, u32)) -> Option<(Error, String)> {
    let number = |text: &str| {
        text.split_once('.')
            .and_then(|(a, b)| Some(a.parse::<i32>().ok()? * 10 + b.parse::<i32>().ok()?))
    };
    // Each driver knows the PTX of its own time.
    let known = match version {
        ..12000 => 70 + (version - 11000) / 10,
        12000..12070 => 80 + (version - 12000) / 10,
        12070..12090 => 87,
        12090..13000 => 88,
        _ => 90 + (version - 13000) / 10,
    };
    let wanted = number(module.version())?;
    if wanted > known {
        return Some((
            Error::UNSUPPORTED_PTX_VERSION,
            format!("PTX version {} is newer than this driver knows", module.version()),
        ));
    }
    let target: u32 = module
        .target()
        .strip_prefix("sm_")?
        .trim_end_matches(|c: char| !c.is_ascii_digit())
        .parse()
        .ok()?;
    let own = capability.0 * 10 + capability.1;
    (target > own).then(|| {
        (
            Error::INVALID_PTX,
            format!(
                "target {} is newer than this device, which is sm_{own}",
                module.target()
            ),
        )
    })
}

/// Loads a text; on failure also the words of what is wrong.
fn load(place: Out<u64>, image: Text) -> Result<(), (Error, String)> {
    let plain = |error: Error| (error, String::new());
    let context = healthy().map_err(plain)?;
    if place.is_null() {
        return Err(plain(Error::INVALID_VALUE));
    }
    let bytes = image.bytes().map_err(plain)?;
    if bytes.starts_with(b"\x7fELF") || bytes.starts_with(b"\x50\xed\x55\xba") {
        return Err((Error::INVALID_IMAGE, "only PTX is known here".to_owned()));
    }
    let text = String::from_utf8(bytes).map_err(|_| (Error::INVALID_PTX, "the text is not UTF-8".to_owned()))?;
    let module = driver()
        .decode(text)
        .map_err(|error| (Error::INVALID_PTX, format!("ptx-sim: {error}")))?;
    if let Some(refusal) = refusal(&module, driver().version, context.device.shape.capability) {
        return Err(refusal);
    }
    let loaded = context
        .device
        .sim
        .load(&module)
        .ok_or_else(|| plain(Error::OUT_OF_MEMORY))?;
    place
        .set(driver().modules.add(Arc::new(ModuleState { loaded })))
        .map_err(plain)
}

fn load_and_report(place: Out<u64>, image: Text) -> Answer {
    load(place, image).map_err(|(error, words)| {
        if let Ok(context) = current()
            && !words.is_empty()
        {
            context.report(&words);
        }
        error
    })
}

const INFO_LOG: u32 = 3;
const INFO_LOG_BYTES: u32 = 4;
const ERROR_LOG: u32 = 5;
const ERROR_LOG_BYTES: u32 = 6;

api! {
    fn cuModuleLoadData(place: Out<u64>, image: Text) {
        load_and_report(place, image)
    }

    fn cuModuleLoadDataEx(place: Out<u64>, image: Text, count: u32, options: Out<u32>, values: Out<u64>) {
        let find = |wanted: u32| (0..count as usize).find(|&i| options.at(i).get() == Ok(wanted));
        // A log is a buffer and its size; the size comes back as what was written.
        let write = |buffer: u32, size: u32, words: &str| -> Answer {
            let (Some(buffer), Some(size)) = (find(buffer), find(size)) else { return Ok(()) };
            let capacity = values.at(size).get()? as u32 as usize;
            put_text(values.cast::<Out<u8>>().at(buffer).get()?, capacity, words)?;
            values.at(size).set(words.len().min(capacity.saturating_sub(1)) as u64)
        };
        let result = load(place, image);
        let words = match &result {
            Ok(()) => "",
            Err((_, words)) => words,
        };
        write(ERROR_LOG, ERROR_LOG_BYTES, words)?;
        write(INFO_LOG, INFO_LOG_BYTES, "")?;
        result.map_err(|(error, _)| error)
    }

    fn cuModuleLoad(place: Out<u64>, path: Text) {
        let mut text = std::fs::read(path.string()?).map_err(|_| Error::FILE_NOT_FOUND)?;
        text.push(0);
        let pointer: *const u8 = text.as_ptr();
        load_and_report(place, Text::from_buffer(pointer))
    }

    fn cuModuleUnload(module: u64) {
        healthy()?.wait();
        driver().modules.remove(module)?;
        Ok(())
    }

    fn cuModuleGetFunction(place: Out<u64>, module: u64, name: Text) {
        let context = healthy()?;
        let state = driver().modules.get(module)?;
        let name = name.string()?;
        if state.loaded.module().kernel(&name).is_none() {
            return Err(Error::NOT_FOUND);
        }
        let mut c_name = name.clone().into_bytes();
        c_name.push(0);
        place.set(driver().functions.add(Arc::new(FunctionState {
            module: state,
            module_handle: module,
            name,
            c_name: c_name.into(),
            device: Arc::clone(&context.device),
            dynamic_shared: AtomicU32::new(u32::MAX),
        })))
    }

    fn cuModuleGetGlobal_v2(address: Out<u64>, bytes: Out<usize>, module: u64, name: Text) {
        healthy()?;
        let (found, size) = driver().modules.get(module)?.loaded.variable(&name.string()?).ok_or(Error::NOT_FOUND)?;
        address.offer(found);
        bytes.offer(size as usize);
        Ok(())
    }

    fn cuModuleGetLoadingMode(mode: Out<u32>) {
        mode.set(1)
    }
}
