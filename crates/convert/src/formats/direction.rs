//! Parameters shared by all parts of a conversion between the formats.

use assize_evalfile::EvalFileFormat;

/// From which format to which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) from: EvalFileFormat,
    pub(crate) to: EvalFileFormat,
}

/// Lookup of lines in the original: a JSON pointer to a line.
pub(super) type LineOf<'l> = &'l dyn Fn(&str) -> usize;
