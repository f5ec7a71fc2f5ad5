//! Context of the process: environment, folders, clock, and the signal to stop.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use assize_evalfile::{EnvironmentLookup, LoadOptions};
use assize_llm::FILE_VARIABLES;

use crate::trust::TrustedFolders;

/// Future that completes when the process should stop.
pub type StopSignal = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Environment, folders, clock and stop signal of the process, read once by its front end. Code below the front
/// end does not ask the operating system for them.
#[derive(Clone)]
pub struct ProcessContext {
    variables: Arc<BTreeMap<String, String>>,
    /// Names of the variables that a file in the working folder set, separated by spaces.
    file_variables: Arc<str>,
    /// Folder of the configuration, the reply cache and the stored runs. Relative paths of options start here.
    pub working_folder: PathBuf,
    /// True if relative paths of options stay as written.
    keeps_paths: bool,
    /// Folder for temporary files.
    pub temp_folder: PathBuf,
    clock: fn() -> jiff::Timestamp,
    /// True if the environment allows programs of all files.
    allows_programs: bool,
    /// File with the user's list of trusted folders; `None` if the user has no data folder.
    trust_file: Option<PathBuf>,
    stop_signal: Arc<dyn Fn() -> StopSignal + Send + Sync>,
}

impl ProcessContext {
    /// Creates a process without environment variables and without a stop signal. A relative working folder,
    /// such as `.`, is resolved now, so it stays the same if the process changes its folder later.
    pub fn new(working_folder: PathBuf, temp_folder: PathBuf, clock: fn() -> jiff::Timestamp) -> Self {
        Self {
            variables: Arc::default(),
            file_variables: Arc::from(""),
            working_folder: std::path::absolute(&working_folder).unwrap_or(working_folder),
            keeps_paths: false,
            temp_folder,
            clock,
            allows_programs: false,
            trust_file: None,
            stop_signal: Arc::new(|| Box::pin(std::future::pending())),
        }
    }

    /// Sets another working folder, in which relative paths of options then start.
    #[must_use]
    pub fn with_working_folder(self, folder: PathBuf) -> Self {
        let working_folder = std::path::absolute(&folder).unwrap_or(folder);
        Self { working_folder, keeps_paths: false, ..self }
    }

    /// Sets the environment variables.
    pub fn with_variables(self, variables: BTreeMap<String, String>) -> Self {
        Self { variables: Arc::new(variables), ..self }
    }

    /// Sets which of the variables come from a file in the working folder. Keys of the environment are not sent
    /// to addresses from such variables.
    pub fn with_file_variables(self, names: &[String]) -> Self {
        Self { file_variables: names.join(" ").into(), ..self }
    }

    /// Sets what the user allows files to start, in general. Both must come from the user's own environment, never
    /// from a file of variables.
    #[must_use]
    pub fn with_consent(self, allows_programs: bool, trust_file: Option<PathBuf>) -> Self {
        Self { allows_programs, trust_file, ..self }
    }

    /// Whether the environment allows programs of all files.
    pub(crate) const fn allows_programs(&self) -> bool {
        self.allows_programs
    }

    /// File with the user's list of trusted folders.
    pub fn trust_file(&self) -> Option<&Path> {
        self.trust_file.as_deref()
    }

    /// The folders that the user trusts.
    pub(crate) fn trusted_folders(&self) -> Result<TrustedFolders, String> {
        self.trust_file().map_or_else(|| Ok(TrustedFolders::default()), TrustedFolders::read)
    }

    /// Keeps relative paths of options as written in messages and records. Only for a process that stays in its
    /// working folder.
    #[must_use]
    pub fn with_paths_as_written(self) -> Self {
        Self { keeps_paths: true, ..self }
    }

    /// Sets the stop signal. The function is called when a run starts; before that, there is no work to shut down.
    pub fn with_stop_signal(self, signal: impl Fn() -> StopSignal + Send + Sync + 'static) -> Self {
        Self { stop_signal: Arc::new(signal), ..self }
    }

    /// The value of an environment variable. An empty one counts as not set.
    pub fn variable(&self, name: &str) -> Option<String> {
        (self.environment())(name)
    }

    /// The value of a variable that the user set, as opposed to a file in the working folder, which may be a stranger's.
    pub fn user_variable(&self, name: &str) -> Option<String> {
        self.variable(name).filter(|_| !self.is_of_file(name))
    }

    /// The variables that the user set, for programs that are started without consent.
    pub(crate) fn user_variables(&self) -> impl Iterator<Item = (&String, &String)> {
        self.variables.iter().filter(|(name, _)| !self.is_of_file(name))
    }

    fn is_of_file(&self, name: &str) -> bool {
        self.file_variables.split(' ').any(|known| known == name)
    }

    /// Returns all variables, for child processes.
    pub fn variables(&self) -> &BTreeMap<String, String> {
        &self.variables
    }

    /// A lookup of variables that can be passed on. Files of variables are often copied with empty values, so
    /// these count as not set.
    pub fn environment(&self) -> EnvironmentLookup {
        let (variables, file_variables) = (Arc::clone(&self.variables), Arc::clone(&self.file_variables));

        Arc::new(move |name| match name {
            FILE_VARIABLES => Some(file_variables.to_string()),
            name => variables.get(name).filter(|value| !value.trim().is_empty()).cloned(),
        })
    }

    /// Resolves the path of an option: a relative path starts in the working folder.
    pub fn resolve(&self, path: impl AsRef<Path>) -> PathBuf {
        if self.keeps_paths { path.as_ref().to_path_buf() } else { self.working_folder.join(path) }
    }

    /// Returns options for reading files in this process.
    pub fn load_options(&self, roots: &[PathBuf]) -> LoadOptions {
        LoadOptions {
            environment: self.environment(),
            extra_roots: roots.iter().map(|root| self.resolve(root)).collect(),
            ..LoadOptions::new(self.working_folder.clone())
        }
    }

    /// Returns the current time, in UTC.
    pub fn now(&self) -> jiff::Timestamp {
        (self.clock)()
    }

    /// Returns the clock.
    pub fn clock(&self) -> fn() -> jiff::Timestamp {
        self.clock
    }

    /// Waits until the process should stop.
    pub fn stopped(&self) -> StopSignal {
        (self.stop_signal)()
    }
}
