//! Reasons why a file can't be converted.

use std::path::PathBuf;

use assize_diagnostic::{Diagnostic, SourceMap};
use assize_records::RecordProblem;

use crate::ConversionNote;

/// Error of a conversion.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// The file can't be read.
    #[error("{}: can't be read: {why}", .0.display(), why = .1)]
    Unreadable(PathBuf, String),
    /// The format of the file is not recognised.
    #[error("{}: unknown kind of file; name it", .0.display())]
    UnknownFormat(PathBuf),
    /// The file itself has errors.
    #[error("{}: has errors; nothing was converted", .0.display())]
    Invalid(PathBuf, Vec<Diagnostic>, Box<SourceMap>),
    /// Some records of another tool can't be read.
    #[error("{}: {} records can't be read", .0.display(), .1.len())]
    BrokenRecords(PathBuf, Vec<RecordProblem>),
    /// The format is recognised, but no part of the file can be converted.
    #[error("{}: {why}", .0.display(), why = .1)]
    Empty(PathBuf, String, Vec<ConversionNote>),
}
