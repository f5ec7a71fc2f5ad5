//! Failures to write a report.

use std::{fmt, io};

use assize_store::StoreError;

/// Failure to write a report.
#[derive(Debug)]
pub enum ReportError {
    /// The run can't be read.
    Store(StoreError),
    /// The file can't be written.
    Write(io::Error),
    /// The format can't represent the request.
    Unsupported(String),
}

impl std::error::Error for ReportError {}

impl fmt::Display for ReportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::Write(error) => write!(f, "the report can't be written: {error}"),
            Self::Unsupported(message) => f.write_str(message),
        }
    }
}

impl From<StoreError> for ReportError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<io::Error> for ReportError {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}
