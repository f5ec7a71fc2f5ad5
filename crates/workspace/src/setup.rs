//! Settings shared by all workspaces of a run.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use assize_process::{Environment, ProgramConsent};

use crate::WorkspaceError;
use crate::workspace_root::WorkspaceRoot;

/// Redacts secrets from a text.
pub type RedactText = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// Settings shared by all workspaces of a run. Their root folder is created on first use.
pub struct WorkspaceSetup {
    temp: PathBuf,
    pub(crate) keep: bool,
    pub(crate) env: Environment,
    /// Variables of git, which is started without consent: one of them can name a program to run.
    pub(crate) git_env: Environment,
    pub(crate) consent: Option<ProgramConsent>,
    hide: RedactText,
    run: OnceLock<String>,
    depot: OnceLock<Result<WorkspaceRoot, String>>,
}

impl std::fmt::Debug for WorkspaceSetup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setup").field("temp", &self.temp).field("keep", &self.keep).finish_non_exhaustive()
    }
}

impl WorkspaceSetup {
    /// Creates settings for workspaces among the temporary files in `temp`. With `keep`, they stay there.
    /// Commands inherit `env`, and `hide` redacts their output. They are not run without `consent`. Git inherits `git_env`,
    /// which must have no variable of a file.
    pub fn new(
        temp: impl Into<PathBuf>,
        keep: bool,
        env: Environment,
        git_env: Environment,
        consent: Option<ProgramConsent>,
        hide: RedactText,
    ) -> Self {
        Self {
            temp: temp.into(),
            keep,
            env: env.outside_repositories(),
            git_env: git_env.outside_repositories(),
            consent,
            hide,
            run: OnceLock::new(),
            depot: OnceLock::new(),
        }
    }

    /// Sets the id of the run, which is passed to hooks.
    pub fn set_run(&self, run: &str) {
        // A second call would set the same run.
        let _ = self.run.set(run.to_owned());
    }

    /// Removes all workspaces. Returns the root folder if workspaces are kept and any were created.
    pub fn close(&self) -> Option<PathBuf> {
        self.depot.get()?.as_ref().ok()?.close()
    }

    pub(crate) fn run(&self) -> Option<&str> {
        self.run.get().map(String::as_str)
    }

    pub(crate) fn root(&self) -> Result<&WorkspaceRoot, WorkspaceError> {
        let opened = self
            .depot
            .get_or_init(|| WorkspaceRoot::create(&self.temp, self.keep).map_err(|error| error.to_string()));
        opened.as_ref().map_err(|error| {
            WorkspaceError::new(
                "io",
                format!("can't make a folder for workspaces in `{}`: {error}", self.temp.display()),
            )
        })
    }

    /// An error with text from a command, which is redacted.
    pub(crate) fn redacted_error(&self, kind: &'static str, message: &str) -> WorkspaceError {
        WorkspaceError::new(kind, self.redact(message))
    }

    pub(crate) fn redact(&self, text: &str) -> String {
        (self.hide)(text)
    }
}
