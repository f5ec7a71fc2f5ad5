//! The workspace of an item: coming to it, what was changed there, leaving it.

use assize_evalfile::Case;
use assize_store::{CaseError, CaseErrorKind, CaseStage};
use assize_targets::Answer;
use assize_workspace::{PlaceError, Stay, Turn, Visitor};

use crate::WorkItem;

/// Lends the item its workspace, if it has one.
pub(crate) async fn enter(item: &WorkItem, turn: Option<Turn>) -> Result<Option<Stay>, CaseError> {
    let (Some(place), Some(turn)) = (&item.workplace, turn) else { return Ok(None) };
    place
        .enter(turn, visitor(&item.case))
        .await
        .map(Some)
        .map_err(|error| failed(CaseStage::Workspace, error))
}

fn visitor(case: &Case) -> Visitor {
    Visitor { case_id: case.id.to_string(), input: case.question(), metadata: case.metadata.clone() }
}

/// Adds to an answer what was changed while it was made, and where.
pub(crate) async fn look(stay: Option<&Stay>, answer: &mut Answer) -> Result<(), CaseError> {
    let Some(stay) = stay else { return Ok(()) };
    let changes = stay.changes().await.map_err(|error| failed(CaseStage::Workspace, error))?;
    answer.file_changes = Some(changes.diff);
    answer.workspace = Some(stay.folder().to_path_buf());
    Ok(())
}

/// Gives the workspace back. What fails then is told beside whatever came of the case.
pub(crate) async fn leave(stay: Option<Stay>) -> Option<CaseError> {
    stay?.end().await.err().map(|error| failed(CaseStage::Teardown, error))
}

fn failed(stage: CaseStage, error: PlaceError) -> CaseError {
    let kind = CaseErrorKind::from_name(error.kind).unwrap_or(CaseErrorKind::Io);
    CaseError { stage, kind, message: error.message }
}
