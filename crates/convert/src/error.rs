//! Reasons why a file can't be converted.

use std::path::PathBuf;

use assize_diagnostic::{Diagnostic, SourceMap};

use crate::ConversionNote;

/// Failure of a conversion.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// The file cannot be read.
    #[error("{}: can't be read: {why}", .0.display(), why = .1)]
    Unreadable(PathBuf, String),
    /// The format of the file is not recognised.
    #[error("{}: unknown kind of file; name it", .0.display())]
    UnknownFormat(PathBuf),
    /// The file has errors of its own.
    #[error("{}: has errors; nothing was converted", .0.display())]
    Invalid(PathBuf, Vec<Diagnostic>, Box<SourceMap>),
    /// The format is recognised, but nothing in the file can be converted.
    #[error("{}: {why}", .0.display(), why = .1)]
    Empty(PathBuf, String, Vec<ConversionNote>),
}
