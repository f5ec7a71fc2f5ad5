//! The process a run lives in: environment, folders, clock, and the signal to stop.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use assize_evalfile::{EnvironmentLookup, LoadOptions};
use assize_llm::FILE_VARIABLES;

/// Future that completes when the process is asked to stop.
pub type StopSignal = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Environment, folders, clock and stop signal of the process, read once by its front end. Nothing below asks the
/// operating system for them.
#[derive(Clone)]
pub struct ProcessContext {
    variables: Arc<BTreeMap<String, String>>,
    /// Names of the variables that a file of the working folder set, separated by spaces.
    file_variables: Arc<str>,
    /// Folder of the configuration, the reply cache and the stored runs. Relative paths in options begin in the folder that
    /// the operating system knows, so that both are the same or options hold absolute paths.
    pub working_folder: PathBuf,
    /// Folder for files that nobody keeps.
    pub temp_folder: PathBuf,
    clock: fn() -> jiff::Timestamp,
    stop_signal: Arc<dyn Fn() -> StopSignal + Send + Sync>,
}

impl ProcessContext {
    /// Process without variables that nobody stops.
    pub fn new(working_folder: PathBuf, temp_folder: PathBuf, clock: fn() -> jiff::Timestamp) -> Self {
        Self {
            variables: Arc::default(),
            file_variables: Arc::from(""),
            working_folder,
            temp_folder,
            clock,
            stop_signal: Arc::new(|| Box::pin(std::future::pending())),
        }
    }

    /// Sets the environment variables.
    pub fn with_variables(self, variables: BTreeMap<String, String>) -> Self {
        Self { variables: Arc::new(variables), ..self }
    }

    /// Tells which of the variables a file of the working folder set. Keys of the others are not sent to addresses of
    /// these.
    pub fn with_file_variables(self, names: &[String]) -> Self {
        Self { file_variables: names.join(" ").into(), ..self }
    }

    /// Sets the signal to stop. It is asked for when a run begins: before that, nothing has to be ended in good order.
    pub fn with_stop_signal(self, signal: impl Fn() -> StopSignal + Send + Sync + 'static) -> Self {
        Self { stop_signal: Arc::new(signal), ..self }
    }

    /// Value of an environment variable.
    pub fn variable(&self, name: &str) -> Option<String> {
        (self.environment())(name)
    }

    /// All variables, for processes that inherit them.
    pub fn variables(&self) -> &BTreeMap<String, String> {
        &self.variables
    }

    /// Lookup of variables that can be handed down.
    pub fn environment(&self) -> EnvironmentLookup {
        let (variables, file_variables) = (Arc::clone(&self.variables), Arc::clone(&self.file_variables));

        Arc::new(move |name| match name {
            FILE_VARIABLES => Some(file_variables.to_string()),
            name => variables.get(name).cloned(),
        })
    }

    /// Options for reading files here.
    pub fn load_options(&self, roots: &[PathBuf]) -> LoadOptions {
        LoadOptions {
            environment: self.environment(),
            working_folder: self.working_folder.clone(),
            extra_roots: roots.to_vec(),
        }
    }

    /// Current time, in UTC.
    pub fn now(&self) -> jiff::Timestamp {
        (self.clock)()
    }

    /// The clock itself.
    pub(crate) fn clock(&self) -> fn() -> jiff::Timestamp {
        self.clock
    }

    /// Waits until the process is asked to stop.
    pub fn stopped(&self) -> StopSignal {
        (self.stop_signal)()
    }
}
