//! The largest text that a template may become.

use std::io;

use assize_limits::RENDERED_BYTES as MAX_RENDERED_BYTES;
use minijinja::ErrorKind;

pub(super) fn bounded(bytes: usize) -> Result<(), minijinja::Error> {
    if bytes <= MAX_RENDERED_BYTES {
        return Ok(());
    }
    let limit = format!("the text becomes larger than {} MiB", MAX_RENDERED_BYTES / 1024 / 1024);
    Err(minijinja::Error::new(ErrorKind::InvalidOperation, limit))
}

/// A text that takes no more than the limit.
#[derive(Default)]
pub(super) struct LimitedText {
    pub(super) bytes: Vec<u8>,
    pub(super) is_full: bool,
}

impl io::Write for LimitedText {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + part.len() > MAX_RENDERED_BYTES {
            self.is_full = true;
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.bytes.extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
