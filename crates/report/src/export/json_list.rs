//! JSON that is written one element at a time.

use std::io::Write;

use serde::Serialize;

use super::ReportError;

/// Writes a value as one line or indented.
pub(super) fn write_json(
    out: &mut dyn Write,
    value: &impl Serialize,
    pretty: bool,
) -> Result<(), ReportError> {
    let written = if pretty {
        serde_json::to_writer_pretty(&mut *out, value)
    } else {
        serde_json::to_writer(&mut *out, value)
    };
    written.map_err(|error| ReportError::Write(error.into()))
}
