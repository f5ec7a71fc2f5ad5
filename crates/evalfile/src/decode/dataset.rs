//! A file with one case on each line, as it is remembered between its readings.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use super::context::LoadScope;
use super::suite::SuiteDefaults;

/// A dataset that was checked, and what it takes to read it again.
#[derive(Clone)]
pub(crate) struct Dataset {
    pub(crate) path: Arc<Path>,
    /// Sound cases.
    pub(crate) count: usize,
    /// Numbers of the lines that hold broken cases, rising.
    pub(crate) broken: Vec<usize>,
    /// True if a grader of any case compares all answers to it.
    pub(crate) selects: bool,
    pub(super) fingerprint: Fingerprint,
    pub(super) defaults: Arc<SuiteDefaults>,
    pub(super) reach: Arc<LoadScope>,
}

/// By what a change of the file between two readings is noticed.
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
