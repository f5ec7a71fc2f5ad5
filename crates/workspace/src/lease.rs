//! The use of a workspace by one case.

use std::path::Path;
use std::sync::Arc;

use assize_model::WorkspaceIsolation;

use crate::blocking::run_blocking;
use crate::folder_handle::FolderHandle;
use crate::{CaseInfo, FileChanges, LeaseQueuePosition, Workspace, WorkspaceError, WorkspaceSnapshot};

/// A workspace that a case has acquired and holds until [`WorkspaceLease::release`].
#[derive(Debug)]
pub struct WorkspaceLease {
    workspace: Arc<Workspace>,
    folder: Arc<FolderHandle>,
    visitor: CaseInfo,
    before: Option<Arc<WorkspaceSnapshot>>,
    /// Held until the end, so that no other case acquires the workspace.
    _turn: Option<LeaseQueuePosition>,
}

impl Workspace {
    /// Prepares the workspace for a case and returns a lease. Waits for its turn if cases share it.
    pub async fn acquire(
        self: &Arc<Self>,
        mut turn: LeaseQueuePosition,
        visitor: CaseInfo,
    ) -> Result<WorkspaceLease, WorkspaceError> {
        let shared = self.spec.isolation() == WorkspaceIsolation::Shared;
        if shared {
            turn.wait().await;
        }

        let made = self.made.get_or_init(|| self.prepare_shared()).await.as_ref().map_err(Clone::clone)?;
        let folder = if shared { Arc::clone(&made.base) } else { self.acquire_copy(made, &visitor).await? };
        let (workspace, turn) = (Arc::clone(self), shared.then_some(turn));
        let mut stay = WorkspaceLease { workspace, folder, visitor, before: None, _turn: turn };
        match self.prepare(made, &stay.folder, &stay.visitor).await {
            Ok(snapshot) => {
                stay.before = Some(Arc::new(snapshot));
                Ok(stay)
            }
            Err(error) => {
                self.release(&stay.folder).await;
                Err(error)
            }
        }
    }
}

impl WorkspaceLease {
    /// Returns the absolute path of the folder to work in.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the changes in the workspace since it was acquired, with secrets redacted.
    pub async fn changes(&self) -> Result<FileChanges, WorkspaceError> {
        let Some(before) = self.before.clone() else { return Ok(FileChanges::default()) };
        let changes = run_blocking(move || {
            before.changes().map_err(|error| WorkspaceError::new("changes", error.to_string()))
        });
        let mut changes = changes.await?;
        changes.diff = self.workspace.setup.redact(&changes.diff);

        Ok(changes)
    }

    /// Releases the workspace: runs the hooks after each case, then restores or removes it. Returns an error if
    /// a hook failed.
    pub async fn release(self) -> Result<(), WorkspaceError> {
        let workspace = Arc::clone(&self.workspace);
        workspace.finish_case(&self.folder, &self.visitor).await
    }
}
