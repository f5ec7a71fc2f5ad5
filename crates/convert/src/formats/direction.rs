//! Parameters shared by all parts of a conversion between the formats.

use assize_model::EvalFileFormat;

/// Formats of a conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FormatDirection {
    pub(crate) from: EvalFileFormat,
    pub(crate) to: EvalFileFormat,
}

/// Lookup of lines in the original: a JSON pointer to a line.
pub(super) type LineOf<'l> = &'l dyn Fn(&str) -> usize;
