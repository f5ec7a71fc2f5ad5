//! Writes labels one by one as the reviewer decides.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use assize_engine::ProcessContext;
use jiff::Timestamp;

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
    /// Time of the last decision, in milliseconds of Unix time.
    last: Arc<AtomicI64>,
}

impl LabelRecorder {
    /// Creates a writer that appends to a file.
    pub fn new(process: ProcessContext, labels: ReviewerLabelFile, given: ReviewLabelMetadata) -> Self {
        Self { process, labels, given, last: Arc::default() }
    }

    /// Returns the name of the reviewer.
    pub fn who(&self) -> &str {
        &self.given.who
    }

    /// Returns the file of the reviewer.
    pub fn labels(&self) -> &ReviewerLabelFile {
        &self.labels
    }

    /// Returns the reviewer's latest decision on the current version of an item, with its line in the file.
    pub fn earlier(&self, item: &ReviewItem) -> Option<(usize, ReviewDecision)> {
        self.labels.latest(item, &self.given)
    }

    /// Writes the decision on the item on the screen and informs the session. The decision is on disk when
    /// this returns.
    ///
    /// # Errors
    /// If it can't be written. The session then shows the item as undecided.
    pub fn record(
        &mut self,
        session: &mut ReviewSession,
        decision: &ReviewDecision,
    ) -> Result<(), ReviewerLabelError> {
        self.record_earlier(session, decision, &EarlierDecision::default())
    }

    /// Like [`LabelRecorder::record`], with the time and the permitted use of an earlier decision.
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
        let at = earlier.at.clone().unwrap_or_else(|| self.next_time().to_string());
        let given = ReviewLabelMetadata { split: earlier.split.or(self.given.split), ..self.given.clone() };
        let written = self.labels.append_decision(&item, decision, &given, &at);
        match &written {
            Ok(()) => session.confirm_recorded(),
            Err(error) => session.reject_pending(not_recorded(error)),
        }

        written
    }

    /// Removes the latest label of an item, as [`ReviewerLabelFile::remove_last`] does.
    ///
    /// # Errors
    /// If the file can't be read or written.
    pub fn remove_last(&mut self, item: &ReviewItem) -> Result<bool, ReviewerLabelError> {
        self.labels.remove_last(item, &self.given)
    }

    /// Returns the current time, or one millisecond after the last decision if that is later. The later of two
    /// decisions on an item counts, so no two may have the same time.
    fn next_time(&self) -> Timestamp {
        let now = self.process.now().as_millisecond();
        let later = |last: i64| Some(now.max(last.saturating_add(1)));
        let last = self.last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, later).unwrap_or(now);
        Timestamp::from_millisecond(now.max(last.saturating_add(1))).unwrap_or_else(|_| self.process.now())
    }
}

/// Describes why a decision was not recorded.
pub fn not_recorded(error: &ReviewerLabelError) -> String {
    format!("not recorded: {error}")
}
