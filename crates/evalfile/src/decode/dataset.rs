//! A file with one case per line, and the state that is kept between two readings.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use super::context::LoadScope;
use super::suite::SuiteDefaults;

/// A checked dataset, with the data needed to read it again.
#[derive(Clone)]
pub(crate) struct Dataset {
    pub(crate) path: Arc<Path>,
    /// Number of valid cases.
    pub(crate) count: usize,
    /// Numbers of the lines with invalid cases, ascending.
    pub(crate) broken: Vec<usize>,
    /// True if a grader of any case compares all answers to it.
    pub(crate) selects: bool,
    pub(super) fingerprint: Fingerprint,
    pub(super) defaults: Arc<SuiteDefaults>,
    pub(super) reach: Arc<LoadScope>,
}

/// Detects that the file was changed between two readings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fingerprint {
    length: u64,
    modified: Option<SystemTime>,
}

impl Fingerprint {
    pub(super) fn from_file(file: &File) -> io::Result<Self> {
        let meta = file.metadata()?;
        Ok(Self { length: meta.len(), modified: meta.modified().ok() })
    }
}
