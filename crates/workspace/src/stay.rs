//! One case's use of a workspace.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::workplace::blocking;
use crate::{FileChanges, PlaceError, Snapshot, Turn, Visitor, Workplace};

/// A workspace that is lent to a case until [`Stay::end`].
#[derive(Debug)]
pub struct Stay {
    place: Arc<Workplace>,
    folder: PathBuf,
    visitor: Visitor,
    before: Option<Arc<Snapshot>>,
    /// Held until the end, so that nobody else comes in.
    _turn: Option<Turn>,
}

impl Stay {
    pub(crate) fn new(place: Arc<Workplace>, folder: PathBuf, visitor: Visitor, turn: Option<Turn>) -> Self {
        Self { place, folder, visitor, before: None, _turn: turn }
    }

    pub(crate) fn before(&mut self, snapshot: Snapshot) {
        self.before = Some(Arc::new(snapshot));
    }

    /// The folder to work in; absolute.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) const fn visitor(&self) -> &Visitor {
        &self.visitor
    }

    /// What has changed in it since it was lent, without what must not be shown.
    pub async fn changes(&self) -> Result<FileChanges, PlaceError> {
        let Some(before) = self.before.clone() else { return Ok(FileChanges::default()) };
        let changes =
            blocking(move || before.changes().map_err(|error| PlaceError::new("changes", error.to_string())));
        let mut changes = changes.await?;
        changes.diff = self.place.hide(&changes.diff);
        Ok(changes)
    }

    /// Gives it back: runs what follows after each case, puts it back or removes it. An error says that the former failed.
    pub async fn end(self) -> Result<(), PlaceError> {
        let place = Arc::clone(&self.place);
        place.depart(&self).await
    }
}
