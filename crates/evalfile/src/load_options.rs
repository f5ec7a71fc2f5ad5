//! Permissions of a load: folders, variables and programs.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, SourceMap};
use assize_limits::{EXPANSION_FACTOR, MATRIX_VALUE_BYTES};
use assize_model::{Case, FilePosition, ProgramRunner, TextPart, TextVariable};
use assize_script::ScriptTime;
use assize_table::TextEncoding;
use parking_lot::Mutex;

/// Lookup of an environment variable.
pub type EnvironmentLookup = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Maximum number of places that are noted. Every variable is noted at least once.
const MAX_PLACES: usize = 200;

/// The environment as the files of a load see it. It notes each value that becomes part of a text, because texts are
/// sent to models and servers.
#[derive(Clone)]
pub struct FileEnvironment {
    lookup: EnvironmentLookup,
    in_texts: Arc<Mutex<BTreeSet<TextVariable>>>,
}

impl fmt::Debug for FileEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FileEnvironment")
    }
}

impl FileEnvironment {
    /// Creates the environment of one load.
    pub fn new(lookup: EnvironmentLookup) -> Self {
        Self { lookup, in_texts: Arc::default() }
    }

    /// Returns the value of a variable. The caller notes it.
    pub fn value(&self, name: &str) -> Option<String> {
        (self.lookup)(name)
    }

    /// Returns the lookup for settings of targets, which note their variables themselves.
    pub(crate) fn for_settings(&self) -> EnvironmentLookup {
        Arc::clone(&self.lookup)
    }

    /// Notes that a text has the value of a variable, if it is set.
    pub fn note(&self, variable: &str, part: TextPart, place: FilePosition) {
        let mut noted = self.in_texts.lock();
        if noted.len() < MAX_PLACES || noted.iter().all(|known| known.variable != variable) {
            let is_set = self.value(variable).is_some();
            noted.insert(TextVariable { place, variable: variable.to_owned(), part, is_set });
        }
    }

    /// Returns the variables whose values are part of texts, with the places of the texts.
    pub fn in_texts(&self) -> Vec<TextVariable> {
        self.in_texts.lock().iter().cloned().collect()
    }
}

/// What the files of a command have taken so far.
#[derive(Debug, Clone, Default)]
pub struct ReadTotals {
    /// Bytes of their texts.
    pub(crate) texts: usize,
    /// Bytes that their values take.
    pub(crate) values: usize,
    /// The limit on the time of scripts, once one file reached it: the scripts of further files don't run.
    pub(crate) spent_time: Option<ScriptTime>,
}

impl ReadTotals {
    /// True if the values take more than they may.
    pub fn is_too_much(&self) -> bool {
        self.values > self.texts.saturating_mul(EXPANSION_FACTOR as usize).max(MATRIX_VALUE_BYTES)
    }
}

/// Files and variables that a load may access.
#[derive(Clone)]
pub struct LoadOptions {
    /// Lookup of environment variables.
    pub environment: EnvironmentLookup,
    /// Absolute path of the working folder.
    pub working_folder: PathBuf,
    /// Folders that references may lead into, in addition to the repository and the working folder.
    pub extra_roots: Vec<PathBuf>,
    /// True if the user consented to the file's programs: they can read every file, so the file may too.
    pub reads_everywhere: bool,
    /// Runner of the programs that write prompts, tests and variables; `None` if they must not be run.
    pub programs: Option<Arc<dyn ProgramRunner>>,
    /// Names of the targets that replace the file's targets; empty if there are none. Programs get these names.
    pub targets: Vec<String>,
    /// Encoding of a text table of answers or criteria; found by its bytes without one.
    pub encoding: Option<TextEncoding>,
    /// Further check of the cases that are not kept in memory.
    pub case_check: Option<CaseCheck>,
    /// What the files have taken that are kept beside this one.
    pub read_before: ReadTotals,
}

/// Checks a case while its line of a dataset is read, on any thread, so that a dataset is not read again for the check.
/// The diagnostics point into these sources.
pub type CaseCheck = Arc<dyn Fn(&Case, &SourceMap) -> Vec<Diagnostic> + Send + Sync>;

impl LoadOptions {
    /// Options for files of a folder, without variables.
    pub fn new(working_folder: impl Into<PathBuf>) -> Self {
        Self {
            environment: Arc::new(|_| None),
            working_folder: working_folder.into(),
            extra_roots: Vec::new(),
            reads_everywhere: false,
            programs: None,
            targets: Vec::new(),
            encoding: None,
            case_check: None,
            read_before: ReadTotals::default(),
        }
    }
}
