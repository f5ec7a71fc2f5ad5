//! Common settings of all workspaces of a run.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use assize_process::Environment;

use crate::PlaceError;
use crate::depot::Depot;

/// Redacts secrets from a text.
pub type Hide = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// Common settings of all workspaces of a run. Their root folder is created on first use.
pub struct Setup {
    temp: PathBuf,
    keep: bool,
    env: Environment,
    hide: Hide,
    run: OnceLock<String>,
    depot: OnceLock<Result<Depot, String>>,
}

impl std::fmt::Debug for Setup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setup").field("temp", &self.temp).field("keep", &self.keep).finish_non_exhaustive()
    }
}

impl Setup {
    /// Creates settings for workspaces among the temporary files in `temp`, where they remain with `keep`.
    /// `env` is inherited by their commands, whose output is redacted by `hide`.
    pub fn new(temp: impl Into<PathBuf>, keep: bool, env: Environment, hide: Hide) -> Self {
        Self {
            temp: temp.into(),
            keep,
            env: env.outside_repositories(),
            hide,
            run: OnceLock::new(),
            depot: OnceLock::new(),
        }
    }

    /// Sets the id of the run, which is passed to hooks.
    pub fn begin(&self, run: &str) {
        // A second call would set the same run.
        let _ = self.run.set(run.to_owned());
    }

    /// Removes all workspaces. Returns the root folder if workspaces are kept and any were created.
    pub fn close(&self) -> Option<PathBuf> {
        self.depot.get()?.as_ref().ok()?.close()
    }

    pub(crate) fn env(&self) -> &Environment {
        &self.env
    }

    pub(crate) fn run(&self) -> Option<&str> {
        self.run.get().map(String::as_str)
    }

    pub(crate) const fn keeps(&self) -> bool {
        self.keep
    }

    pub(crate) fn depot(&self) -> Result<&Depot, PlaceError> {
        let opened =
            self.depot.get_or_init(|| Depot::open(&self.temp, self.keep).map_err(|error| error.to_string()));
        opened.as_ref().map_err(|error| {
            PlaceError::new(
                "io",
                format!("can't make a folder for workspaces in `{}`: {error}", self.temp.display()),
            )
        })
    }

    /// Creates an error with redacted text from a command.
    pub(crate) fn said(&self, kind: &'static str, message: &str) -> PlaceError {
        PlaceError::new(kind, self.hide(message))
    }

    pub(crate) fn hide(&self, text: &str) -> String {
        (self.hide)(text)
    }

    /// Returns a folder for stored states.
    pub(crate) fn state(&self) -> Result<&Path, PlaceError> {
        self.depot().map(Depot::path)
    }
}
