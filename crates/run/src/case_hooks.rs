//! Code of an author that is run around cases.

use std::sync::Arc;

use assize_llm::BoxFuture;
use assize_model::Case;
use assize_rubric::IdentityWriter;
use assize_store::{CaseError, CaseErrorKind, CaseRecord, CaseStage};

use crate::WorkItem;

/// Code that is run before and after each case of a suite.
pub trait CaseHooks: Send + Sync {
    /// Returns the case to run in the place of that of the item; `None` if it stays as it is. The id of a case never changes.
    ///
    /// # Errors
    /// The reason for which the case can't be run, in words.
    fn before_case<'a>(&'a self, item: &'a WorkItem) -> BoxFuture<'a, Result<Option<Arc<Case>>, String>>;

    /// Tells of the result of an item whose case [`CaseHooks::before_case`] returned.
    fn after_case<'a>(&'a self, item: &'a WorkItem, record: &'a CaseRecord) -> BoxFuture<'a, ()>;

    /// Writes everything about the code that may change a case.
    fn write_identity(&self, identity: &mut IdentityWriter);
}

/// Returns the item as its hooks change it.
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
