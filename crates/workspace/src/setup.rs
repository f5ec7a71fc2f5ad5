//! What all workspaces of a run have in common.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use assize_process::Environment;

use crate::PlaceError;
use crate::depot::Depot;

/// Takes out of a text what must not be shown.
pub type Hide = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// What all workspaces of a run have in common. The folder they lie in is made when the first of them is.
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
    /// Workspaces that lie among the temporary files in `temp` and, with `keep`, stay there. `env` is what their commands
    /// inherit; what those say passes through `hide`.
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

    /// Says which run they are for, which hooks are told.
    pub fn begin(&self, run: &str) {
        // A second call would be about the same run.
        let _ = self.run.set(run.to_owned());
    }

    /// Removes all workspaces; the folder of those that are kept, if any were made.
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

    /// An error whose words come from a command.
    pub(crate) fn said(&self, kind: &'static str, message: &str) -> PlaceError {
        PlaceError::new(kind, self.hide(message))
    }

    pub(crate) fn hide(&self, text: &str) -> String {
        (self.hide)(text)
    }

    /// A folder of its own for the state of something before it changes.
    pub(crate) fn state(&self) -> Result<&Path, PlaceError> {
        self.depot().map(Depot::path)
    }
}
