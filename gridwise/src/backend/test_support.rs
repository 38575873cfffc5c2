//! What tests of back ends share.

use std::{
    panic::resume_unwind,
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

/// Fails instead of hanging; and with the panic of `work`, if it panics.
#[track_caller]
pub(crate) fn within_a_minute<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
    let (result, received) = mpsc::channel();
    let thread = thread::spawn(move || {
        // Nobody listens any more if time is up.
        let _ = result.send(work());
    });
    match received.recv_timeout(Duration::from_secs(60)) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => panic!("it does not end within a minute"),
        Err(RecvTimeoutError::Disconnected) => match thread.join() {
            Err(payload) => resume_unwind(payload),
            Ok(()) => unreachable!("it has sent its result, or panicked"),
        },
    }
}
