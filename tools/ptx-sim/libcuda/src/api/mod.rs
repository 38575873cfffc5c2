//! The exported functions.

mod context;
mod device;
mod function;
mod graphs;
mod launch;
mod memory;
mod module;
mod streams;

use crate::error::{Answer, Error};

/// The code for an answer.
fn code(answer: Answer) -> u32 {
    match answer {
        Ok(()) => 0,
        Err(Error(code)) => code,
    }
}

/// Exports functions under the driver's names. A body gives an [`Answer`]; what comes out is its code.
macro_rules! api {
    ($(fn $name:ident($($argument:ident: $ty:ty),* $(,)?) $body:block)*) => { $(
        #[doc = concat!("The driver's `", stringify!($name), "`.")]
        #[unsafe(no_mangle)]
        pub(crate) extern "C" fn $name($($argument: $ty),*) -> u32 {
            let answer = move || -> crate::error::Answer { $body };
            crate::api::code(answer())
        }
    )* };
}

use api;
