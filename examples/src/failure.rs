//! How an example ends that fails.

use std::{error::Error, fmt};

/// Any error, as `main` returns it: shown by its message, where an error alone would be shown by its fields.
pub struct Failure(Box<dyn Error>);

impl<E: Error + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(Box::new(error))
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
