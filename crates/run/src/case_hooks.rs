//! Runs the code of an author before a case.

use assize_store::{CaseError, CaseErrorKind, CaseStage};

use crate::WorkItem;

/// Returns the item with the changes of its hooks.
///
/// # Errors
/// The failure of a hook, as the error of the case.
pub(crate) async fn apply_before_hooks(item: WorkItem) -> Result<WorkItem, Box<(WorkItem, CaseError)>> {
    let Some(hooks) = item.hooks.clone() else { return Ok(item) };
    match hooks.before_case(&item).await {
        Ok(None) => Ok(item),
        Ok(Some(case)) => Ok(WorkItem { case, ..item }),
        Err(message) => {
            let error = CaseError { stage: CaseStage::Load, kind: CaseErrorKind::Hook, message };
            Err(Box::new((item, error)))
        }
    }
}
