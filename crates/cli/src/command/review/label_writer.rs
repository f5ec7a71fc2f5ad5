//! Labels as they are given, written one by one.

use assize_review::{ReviewDecision, ReviewLabelMetadata, ReviewSession, ReviewerLabelFile};

use crate::context::CliContext;

/// Puts decisions into the file of a reviewer.
pub(super) struct LabelWriter {
    pub(super) context: CliContext,
    pub(super) labels: ReviewerLabelFile,
    pub(super) given: ReviewLabelMetadata,
}

impl LabelWriter {
    /// Writes a decision about the item on the screen and tells the session what came of it.
    pub(super) fn record(
        &mut self,
        session: &mut ReviewSession,
        decision: &ReviewDecision,
    ) -> Result<(), String> {
        let Some(item) = session.item().cloned() else { return Ok(()) };
        let at = self.context.process.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        match self.labels.append_decision(&item, decision, &self.given, &at) {
            Ok(()) => {
                session.confirm_recorded();
                Ok(())
            }
            Err(error) => {
                let message = format!("not recorded: {error}");
                session.reject_pending(message.clone());
                Err(message)
            }
        }
    }
}
