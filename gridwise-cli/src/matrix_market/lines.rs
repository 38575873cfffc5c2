//! A cursor over the lines of a file in memory, which knows where it stands.

use std::path::Path;

use super::error::{InputError, Location};

/// The lines of a file; the lines it hands out are slices of the file.
pub(super) struct Lines<'a> {
    file: &'a Path,
    rest: &'a [u8],
    /// The line handed out last, counted from 1; 0 before the first.
    number: u64,
}

impl<'a> Lines<'a> {
    /// A cursor before the first line of `bytes`; `file` is the name for messages.
    pub(super) fn new(file: &'a Path, bytes: &'a [u8]) -> Self {
        Self {
            file,
            rest: bytes,
            number: 0,
        }
    }

    /// The file, for messages.
    pub(super) fn file(&self) -> &'a Path {
        self.file
    }

    /// The number of the line handed out last.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Where the cursor stands: the line handed out last, or the last line of the file once there are no more.
    pub(super) fn at(&self) -> Location {
        locate(self.file, self.number.max(1))
    }

    /// The next line without the white space around it, whatever it holds.
    ///
    /// # Errors
    ///
    /// [`InputError::NotText`] where it is not UTF-8.
    pub(super) fn next_line(&mut self) -> Result<Option<&'a str>, InputError> {
        match self.next_bytes() {
            Some(bytes) => self.text(bytes).map(Some),
            None => Ok(None),
        }
    }

    /// The next line that is neither blank nor a comment, without the white space around it.
    ///
    /// Comments may hold any bytes: author names in old files are often Latin-1.
    ///
    /// # Errors
    ///
    /// [`InputError::NotText`] where it is not UTF-8.
    pub(super) fn next_data(&mut self) -> Result<Option<&'a str>, InputError> {
        while let Some(bytes) = self.next_bytes() {
            if is_data(bytes) {
                return self.text(bytes).map(Some);
            }
        }
        Ok(None)
    }

    /// How many lines are left that are neither blank nor comments. The cursor does not move.
    pub(super) fn count_data(&self) -> u64 {
        let mut ahead = Self {
            file: self.file,
            rest: self.rest,
            number: self.number,
        };
        let mut count = 0;
        while let Some(bytes) = ahead.next_bytes() {
            count += u64::from(is_data(bytes));
        }
        count
    }

    /// Whether only white space is left.
    pub(super) fn rest_is_blank(&self) -> bool {
        self.rest.trim_ascii().is_empty()
    }

    fn next_bytes(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let line = match self.rest.iter().position(|&byte| byte == b'\n') {
            Some(end) => {
                let line = &self.rest[..end];
                self.rest = &self.rest[end + 1..];
                line
            }
            None => std::mem::take(&mut self.rest),
        };
        self.number += 1;
        // This also takes away the carriage return of a file from Windows.
        Some(line.trim_ascii())
    }

    fn text(&self, bytes: &'a [u8]) -> Result<&'a str, InputError> {
        str::from_utf8(bytes).map_err(|error| InputError::NotText {
            at: self.at(),
            byte: bytes[error.valid_up_to()],
        })
    }
}

/// The line `line` of `file`.
pub(super) fn locate(file: &Path, line: u64) -> Location {
    Location {
        file: file.to_path_buf(),
        line,
    }
}

fn is_data(line: &[u8]) -> bool {
    line.first().is_some_and(|&byte| byte != b'%')
}
