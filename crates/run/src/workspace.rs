//! The workspace of an item: acquired before the work, checked for changes, released after it.

use assize_model::Case;
use assize_store::{CaseError, CaseErrorKind, CaseStage};
use assize_targets::TargetAnswer;
use assize_workspace::{CaseInfo, LeaseQueuePosition, WorkspaceError, WorkspaceLease};

use crate::WorkItem;

/// Acquires the workspace of the item, if it has one.
pub(crate) async fn acquire_workspace(
    item: &WorkItem,
    turn: Option<LeaseQueuePosition>,
) -> Result<Option<WorkspaceLease>, CaseError> {
    let (Some(place), Some(turn)) = (&item.workplace, turn) else { return Ok(None) };
    place
        .acquire(turn, case_identity(&item.case))
        .await
        .map(Some)
        .map_err(|error| workspace_error(CaseStage::Workspace, error))
}

fn case_identity(case: &Case) -> CaseInfo {
    CaseInfo { case_id: case.id.to_string(), input: case.question(), metadata: case.metadata.clone() }
}

/// Adds the files that changed while an answer was made, and the folder.
pub(crate) async fn add_file_changes(
    stay: Option<&WorkspaceLease>,
    answer: &mut TargetAnswer,
) -> Result<(), CaseError> {
    let Some(stay) = stay else { return Ok(()) };
    let changes = stay.changes().await.map_err(|error| workspace_error(CaseStage::Workspace, error))?;
    answer.file_changes = Some(changes.diff);
    answer.workspace = Some(stay.folder().to_path_buf());
    Ok(())
}

/// Releases the workspace. A failure is recorded in addition to the result of the case.
pub(crate) async fn release_workspace(stay: Option<WorkspaceLease>) -> Option<CaseError> {
    stay?.release().await.err().map(|error| workspace_error(CaseStage::Teardown, error))
}

fn workspace_error(stage: CaseStage, error: WorkspaceError) -> CaseError {
    let kind = CaseErrorKind::from_name(error.kind).unwrap_or(CaseErrorKind::Io);
    CaseError { stage, kind, message: error.message }
}
