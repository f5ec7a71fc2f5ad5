//! Parameters that all parts of a conversion between the formats share.

use assize_model::EvalFileFormat;

/// The two formats of a conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FormatDirection {
    pub(crate) from: EvalFileFormat,
    pub(crate) to: EvalFileFormat,
}

/// Returns the line in the original file of a JSON pointer.
pub(super) type LineOf<'l> = &'l dyn Fn(&str) -> usize;
