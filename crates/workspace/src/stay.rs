//! Use of a workspace by one case.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::workplace::blocking;
use crate::{FileChanges, PlaceError, Snapshot, Turn, Visitor, Workplace};

/// A workspace that a case has acquired and holds until [`Stay::end`].
#[derive(Debug)]
pub struct Stay {
    place: Arc<Workplace>,
    folder: PathBuf,
    visitor: Visitor,
    before: Option<Arc<Snapshot>>,
    /// Held until the end, so that no other case acquires the workspace.
    _turn: Option<Turn>,
}

impl Stay {
    pub(crate) fn new(place: Arc<Workplace>, folder: PathBuf, visitor: Visitor, turn: Option<Turn>) -> Self {
        Self { place, folder, visitor, before: None, _turn: turn }
    }

    pub(crate) fn before(&mut self, snapshot: Snapshot) {
        self.before = Some(Arc::new(snapshot));
    }

    /// Returns the absolute path of the folder to work in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) const fn visitor(&self) -> &Visitor {
        &self.visitor
    }

    /// Returns the changes in the workspace since it was acquired, with secrets redacted.
    pub async fn changes(&self) -> Result<FileChanges, PlaceError> {
        let Some(before) = self.before.clone() else { return Ok(FileChanges::default()) };
        let changes =
            blocking(move || before.changes().map_err(|error| PlaceError::new("changes", error.to_string())));
        let mut changes = changes.await?;
        changes.diff = self.place.hide(&changes.diff);
        Ok(changes)
    }

    /// Releases the workspace: runs the hooks after each case, then restores or removes it. Errors if a hook
    /// failed.
    pub async fn end(self) -> Result<(), PlaceError> {
        let place = Arc::clone(&self.place);
        place.depart(&self).await
    }
}
