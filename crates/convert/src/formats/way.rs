//! What every part of a conversion between the formats is told.

use assize_evalfile::EvalFileFormat;

/// From which format to which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) from: EvalFileFormat,
    pub(crate) to: EvalFileFormat,
}

/// Where the lines of the original are looked up: a JSON pointer to a line.
pub(super) type LineOf<'l> = &'l dyn Fn(&str) -> usize;
