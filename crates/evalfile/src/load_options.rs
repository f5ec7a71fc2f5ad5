//! What a load may access.

use std::path::PathBuf;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, SourceMap};
use assize_model::{Case, ProgramRunner};
use assize_table::TextEncoding;

/// Lookup of an environment variable.
pub type EnvironmentLookup = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Files and variables that a load may access.
#[derive(Clone)]
pub struct LoadOptions {
    /// Lookup of environment variables.
    pub environment: EnvironmentLookup,
    /// Absolute path of the working folder.
    pub working_folder: PathBuf,
    /// Folders that references may lead into, in addition to the repository and the working folder.
    pub extra_roots: Vec<PathBuf>,
    /// Runner of the programs that write prompts, tests and variables; `None` if they must not be run.
    pub programs: Option<Arc<dyn ProgramRunner>>,
    /// Names of the targets that take the place of those of the file; empty if none do. Programs are told of them.
    pub targets: Vec<String>,
    /// Encoding of a text table of answers or criteria; found by its bytes without one.
    pub encoding: Option<TextEncoding>,
    /// Further check of the cases that are not kept in memory.
    pub case_check: Option<CaseCheck>,
}

/// Check of a case while its line of a dataset is read, on any thread: the diagnostics point into these sources. So nobody has to
/// read a dataset again to look at its cases.
pub type CaseCheck = Arc<dyn Fn(&Case, &SourceMap) -> Vec<Diagnostic> + Send + Sync>;

impl LoadOptions {
    /// Options for files of a folder, without variables.
    pub fn new(working_folder: impl Into<PathBuf>) -> Self {
        Self {
            environment: Arc::new(|_| None),
            working_folder: working_folder.into(),
            extra_roots: Vec::new(),
            programs: None,
            targets: Vec::new(),
            encoding: None,
            case_check: None,
        }
    }
}
