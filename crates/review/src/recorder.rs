//! Labels as they are given, written one by one.

use assize_engine::ProcessContext;

use crate::{
    EarlierDecision, ReviewDecision, ReviewItem, ReviewLabelMetadata, ReviewSession, ReviewerLabelError,
    ReviewerLabelFile,
};

/// Writer of the decisions of one reviewer.
#[derive(Clone)]
pub struct LabelRecorder {
    process: ProcessContext,
    labels: ReviewerLabelFile,
    given: ReviewLabelMetadata,
}

impl LabelRecorder {
    /// Creates a writer into a file.
    pub fn new(process: ProcessContext, labels: ReviewerLabelFile, given: ReviewLabelMetadata) -> Self {
        Self { process, labels, given }
    }

    /// Returns the name of the reviewer.
    pub fn who(&self) -> &str {
        &self.given.who
    }

    /// Returns the file of the reviewer.
    pub fn labels(&self) -> &ReviewerLabelFile {
        &self.labels
    }

    /// Returns the decision that the reviewer gave last on an item as it is now, with its line in the file.
    pub fn earlier(&self, item: &ReviewItem) -> Option<(usize, ReviewDecision)> {
        self.labels.latest(item, &self.given)
    }

    /// Writes a decision about the item on the screen and tells the session what came of it. It is on disk when this
    /// returns.
    ///
    /// # Errors
    /// If it can't be written; the session then shows the item undecided.
    pub fn record(
        &mut self,
        session: &mut ReviewSession,
        decision: &ReviewDecision,
    ) -> Result<(), ReviewerLabelError> {
        self.record_earlier(session, decision, &EarlierDecision::default())
    }

    /// Writes a decision that may have been made before, as in [`LabelRecorder::record`].
    ///
    /// # Errors
    /// As in [`LabelRecorder::record`].
    pub fn record_earlier(
        &mut self,
        session: &mut ReviewSession,
        decision: &ReviewDecision,
        earlier: &EarlierDecision,
    ) -> Result<(), ReviewerLabelError> {
        let Some(item) = session.item().cloned() else { return Ok(()) };
        let now = || self.process.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let at = earlier.at.clone().unwrap_or_else(now);
        let given = ReviewLabelMetadata { split: earlier.split.or(self.given.split), ..self.given.clone() };
        let written = self.labels.append_decision(&item, decision, &given, &at);
        match &written {
            Ok(()) => session.confirm_recorded(),
            Err(error) => session.reject_pending(not_recorded(error)),
        }

        written
    }
}

/// Describes why a decision was not recorded.
pub fn not_recorded(error: &ReviewerLabelError) -> String {
    format!("not recorded: {error}")
}
