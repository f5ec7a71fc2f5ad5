//! Code of an author that runs around cases.

use std::sync::Arc;

use assize_llm::BoxFuture;
use assize_model::Case;
use assize_rubric::IdentityWriter;
use assize_store::{CaseError, CaseErrorKind, CaseRecord, CaseStage};

use crate::WorkItem;

/// Code that runs before and after each case of a suite.
pub trait CaseHooks: Send + Sync {
    /// Returns the case to run instead of the item's own; `None` if it is unchanged. The id of a case never
    /// changes.
    ///
    /// # Errors
    /// Why the case can't be run, in words.
    fn before_case<'a>(&'a self, item: &'a WorkItem) -> BoxFuture<'a, Result<Option<Arc<Case>>, String>>;

    /// Handles the result of an item whose case [`CaseHooks::before_case`] returned.
    fn after_case<'a>(&'a self, item: &'a WorkItem, record: &'a CaseRecord) -> BoxFuture<'a, ()>;

    /// Writes everything about the code that may affect a case.
    fn write_identity(&self, identity: &mut IdentityWriter);
}

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
