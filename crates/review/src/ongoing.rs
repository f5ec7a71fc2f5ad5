//! A review that is controlled from outside, item by item, for example by pages in a browser.

use std::collections::HashMap;

use assize_rubric::{FailureSeverity, LabelOutcome};

use crate::{
    LabelRecorder, ReviewAnswer, ReviewDecision, ReviewItem, ReviewOptions, ReviewProgress, ReviewQueue,
    ReviewSession, ReviewStep, not_recorded,
};

/// Review by one person. Items are addressed by [`ReviewItem::key`], so that an address keeps its meaning
/// when the program restarts.
pub struct OngoingReview {
    session: ReviewSession,
    recorder: LabelRecorder,
    keys: HashMap<String, usize>,
    has_traces: bool,
    adjudicates: bool,
}

/// Effect of a decision that is stored on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionEffect {
    /// It was written; true if it is the reviewer's first decision on the item and not "unsure".
    Written(bool),
    /// Nothing was written because the same decision was already recorded, for example after a repeated request.
    Unchanged,
}

/// Reason a decision was not recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecisionError {
    /// It doesn't fit the question.
    #[error("{0}")]
    Unfit(String),
    /// The reviewer decided differently before and did not reopen the item.
    #[error("decided before: {0}; undo that to decide again")]
    DecidedBefore(String),
    /// The file can't be written.
    #[error("{0}")]
    Unwritten(String),
}

impl OngoingReview {
    /// Continues with the decisions that the reviewer has recorded before.
    ///
    /// Items outside the list can be decided by their keys: a page that was open before the program restarted
    /// may send a decision on an item that others have decided since.
    pub fn new(queue: ReviewQueue, options: &ReviewOptions, recorder: LabelRecorder) -> Self {
        let ReviewQueue { mut items, mut others, .. } = queue.with_decided(recorder.labels());
        let mut keys = HashMap::new();
        let mut is_new = |item: &ReviewItem| {
            let (at, key) = (keys.len(), item.key());
            let is_new = !keys.contains_key(&key);
            if is_new {
                keys.insert(key, at);
            }
            is_new
        };
        items.retain(&mut is_new);
        others.retain(&mut is_new);

        let earlier = items.iter().enumerate();
        let mut earlier: Vec<(usize, usize, ReviewDecision)> = earlier
            .filter_map(|(at, item)| {
                let (line, decision) = recorder.earlier(item)?;
                Some((line, at, decision))
            })
            .collect();
        earlier.sort_by_key(|(line, ..)| *line);

        let mut session = ReviewSession::with_others(items, others);
        session.remember(earlier.into_iter().map(|(_, at, decision)| (at, decision)));
        Self { session, recorder, keys, has_traces: options.traces, adjudicates: options.adjudicate }
    }

    /// Returns the name of the reviewer.
    pub fn who(&self) -> &str {
        self.recorder.who()
    }

    /// Returns a text that differs from that of every other review of the same items: by another person or of
    /// another kind.
    pub fn identity(&self) -> String {
        let file = self.recorder.labels().path().display();
        format!("{file}\n{}\n{}\n{}", self.who(), self.has_traces, self.adjudicates)
    }

    /// Returns the recorder of the labels.
    pub fn recorder(&self) -> &LabelRecorder {
        &self.recorder
    }

    /// Returns the items with their decisions.
    pub fn session(&self) -> &ReviewSession {
        &self.session
    }

    /// Returns the progress.
    pub fn progress(&self) -> ReviewProgress {
        self.session.progress()
    }

    /// Finds an item by its key.
    pub fn find(&self, key: &str) -> Option<usize> {
        self.keys.get(key).copied()
    }

    /// Shows an item. [`ReviewSession::may_show_judge`] then returns whether the judge's decision may be shown with it.
    pub fn show(&mut self, at: usize) -> Option<&ReviewItem> {
        self.recall(at);
        self.session.show(at);
        self.session.item()
    }

    /// Passes the reviewer's recorded decision on an item outside the list to the session.
    fn recall(&mut self, at: usize) {
        let is_other = at >= self.session.listed().len() && self.session.decision_at(at).is_none();
        let item = self.session.item_at(at).filter(|_| is_other);
        if let Some((_, decision)) = item.and_then(|item| self.recorder.earlier(item)) {
            self.session.recall(at, decision);
        }
    }

    /// Returns the item to begin or continue with; `None` if all are done.
    pub fn current(&mut self) -> Option<usize> {
        let at = self.session.index();
        let is_open = self.session.decision_at(at).is_none() && !self.session.is_withdrawn(at);
        if self.session.item().is_none() || !is_open {
            self.session.go_to_next();
        }
        self.session.item().map(|_| self.session.index())
    }

    /// Returns the next undecided item after the one at an index.
    pub fn after(&mut self, at: usize) -> Option<usize> {
        self.session.show(at);
        self.session.go_to_next();
        self.session.item().map(|_| self.session.index())
    }

    /// Leaves an item for later and returns the next one.
    pub fn skip(&mut self, at: usize) -> Option<usize> {
        self.session.show(at);
        self.session.skip();
        self.session.item().map(|_| self.session.index())
    }

    /// Reopens the item decided last and returns it; `None` if nothing was decided.
    pub fn undo(&mut self) -> Option<usize> {
        self.session.can_undo().then(|| {
            self.session.undo();
            self.session.index()
        })
    }

    /// Opens a decided item again.
    pub fn reopen(&mut self, at: usize) {
        self.session.reopen(at);
    }

    /// Decides an item. The decision is on disk when this returns.
    ///
    /// # Errors
    /// If it doesn't fit the question, if the item was decided differently before and not reopened, or if it
    /// can't be written.
    pub fn decide(
        &mut self,
        at: usize,
        answer: ReviewAnswer,
        severity: Option<FailureSeverity>,
        note: Option<String>,
    ) -> Result<DecisionEffect, DecisionError> {
        self.recall(at);
        let before = self.session.decision_at(at).cloned();
        self.session.show(at);
        let is_open = !self.session.may_show_judge();
        let step = self.session.decide(answer, severity, note).map_err(DecisionError::Unfit)?;
        let ReviewStep::Record(decision) = step else { return Ok(DecisionEffect::Unchanged) };

        if let Some(before) = &before {
            let is_same = before.answer == decision.answer
                && before.severity == decision.severity
                && before.note == decision.note;
            if is_same {
                self.session.keep_decision();
                return Ok(DecisionEffect::Unchanged);
            }
            if !is_open {
                self.session.keep_decision();
                let words = crate::decision_words(&before.answer, before.severity, before.note.as_deref());
                return Err(DecisionError::DecidedBefore(words));
            }
        }

        let is_decisive = decision.answer != ReviewAnswer::Outcome(LabelOutcome::Unsure);
        let written = self.recorder.record(&mut self.session, &decision);
        written.map_err(|error| DecisionError::Unwritten(not_recorded(&error)))?;
        Ok(DecisionEffect::Written(before.is_none() && is_decisive))
    }

    /// Decides an item while the judge's decision is shown, and replaces an earlier decision. The label records that
    /// the judge's decision was seen.
    ///
    /// # Errors
    /// If it doesn't fit the question, or can't be written.
    pub fn decide_openly(
        &mut self,
        at: usize,
        answer: ReviewAnswer,
        note: Option<String>,
    ) -> Result<DecisionEffect, DecisionError> {
        self.recall(at);
        self.session.reopen(at);
        self.session.is_judge_shown = true;
        self.decide(at, answer, None, note)
    }

    /// Takes back what [`decide_openly`](Self::decide_openly) recorded last, if it is about this item. An earlier
    /// decision on it counts again.
    ///
    /// # Errors
    /// If the reviewer's last label is another one, or the file can't be written.
    pub fn take_back(&mut self, at: usize) -> Result<(), DecisionError> {
        self.recall(at);
        let item = self.session.item_at(at).cloned();
        let removed = item.map_or(Ok(false), |item| self.recorder.remove_last(&item));
        match removed {
            Ok(true) => {
                self.session.reopen(at);
                Ok(())
            }
            Ok(false) => Err(DecisionError::Unfit(
                "the last label in your file is another one; decide again instead".to_owned(),
            )),
            Err(error) => Err(DecisionError::Unwritten(not_recorded(&error))),
        }
    }

    /// Counts another reviewer's decision on an item. The session no longer asks about the item when enough
    /// people have decided it.
    pub fn decided_by_other(&mut self, key: &str) {
        if let Some(at) = self.find(key) {
            self.session.count_other(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use assize_engine::ProcessContext;

    use super::*;
    use crate::session::tests::items;
    use crate::{ReviewMaterial, ReviewerLabelFile, label_file_path};

    fn open(folder: &Path, who: &str, items: Vec<ReviewItem>) -> OngoingReview {
        open_material(folder, who, ReviewMaterial { items, ..ReviewMaterial::default() })
    }

    fn open_material(folder: &Path, who: &str, material: ReviewMaterial) -> OngoingReview {
        let process =
            ProcessContext::new(folder.to_owned(), folder.to_owned(), || jiff::Timestamp::UNIX_EPOCH);
        let options = ReviewOptions::default();
        let labels = ReviewerLabelFile::open(label_file_path(folder, who)).expect("sound labels");
        let given = options.label_metadata(who);
        let queue = ReviewQueue::new(material, &options, &given, &labels).expect("items");
        OngoingReview::new(queue, &options, LabelRecorder::new(process, labels, given))
    }

    fn pass() -> ReviewAnswer {
        ReviewAnswer::Outcome(LabelOutcome::Met)
    }

    fn fail() -> ReviewAnswer {
        ReviewAnswer::Outcome(LabelOutcome::Unmet)
    }

    fn lines(folder: &Path, who: &str) -> Vec<String> {
        let text = std::fs::read_to_string(label_file_path(folder, who)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_decision_that_is_sent_twice_is_written_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut review = open(folder.path(), "ann", items(2));
        assert_eq!(review.decide(0, pass(), None, None), Ok(DecisionEffect::Written(true)));
        assert_eq!(review.decide(0, pass(), None, None), Ok(DecisionEffect::Unchanged));

        // The reply got lost when the server stopped, so the page sends the decision again.
        let mut review = open(folder.path(), "ann", items(2));
        assert_eq!(review.decide(0, pass(), None, Some(" ".to_owned())), Ok(DecisionEffect::Unchanged));
        assert_eq!(lines(folder.path(), "ann").len(), 1);
        let other = review.decide(0, fail(), None, None);
        assert!(matches!(&other, Err(DecisionError::DecidedBefore(words)) if words == "pass"), "{other:?}");
        assert_eq!(lines(folder.path(), "ann").len(), 1);
    }

    #[test]
    fn a_review_goes_on_with_its_decisions_its_number_of_items_and_its_undo() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut review = open(folder.path(), "ann", items(3));
        assert_eq!(review.current(), Some(0));
        review.decide(1, fail(), None, Some("why".to_owned())).expect("written");
        review.decide(0, pass(), None, None).expect("written");

        let mut again = open(folder.path(), "ann", items(3));
        let progress = again.progress();
        assert_eq!((progress.decided, progress.all), (2, 3));
        assert_eq!(again.current(), Some(2));
        again.show(1);
        assert!(again.session().may_show_judge(), "it was decided before");
        again.show(2);
        assert!(!again.session().may_show_judge());

        assert_eq!(again.undo(), Some(0), "the last one first");
        again.show(0);
        assert!(!again.session().may_show_judge());
        assert_eq!(again.decide(0, fail(), None, None), Ok(DecisionEffect::Written(false)));
        let lines = lines(folder.path(), "ann");
        assert!(lines.len() == 3 && lines[2].contains("\"x-after-judge\":true"), "{lines:?}");
        assert_eq!((again.undo(), again.undo(), again.undo()), (Some(0), Some(1), None));
        again.reopen(1);
        assert_eq!(again.decide(1, pass(), None, None), Ok(DecisionEffect::Written(false)));
    }

    #[test]
    fn an_item_that_left_the_queue_is_decided_by_its_key() {
        let folder = tempfile::tempdir().expect("a folder");
        let open_limited = || {
            let mut all = items(2);
            let other = all.pop().into_iter().collect();
            let material = ReviewMaterial { items: all, others: other, ..ReviewMaterial::default() };
            open_material(folder.path(), "ben", material)
        };
        let key = items(2)[1].key();
        let mut review = open_limited();
        assert_eq!((review.progress().all, review.session().listed().len()), (1, 1));
        let at = review.find(&key).expect("every item of the run has a place");
        review.show(at);
        assert!(!review.session().may_show_judge());
        assert_eq!(review.decide(at, fail(), None, None), Ok(DecisionEffect::Written(true)));
        assert_eq!((review.progress().decided, review.progress().all), (1, 2));
        assert_eq!(review.after(at), Some(0), "it goes on with what is listed");

        // The reply got lost, but the next session knows the recorded decision too.
        let mut again = open_limited();
        assert_eq!(again.decide(at, fail(), None, None), Ok(DecisionEffect::Unchanged));
        assert!(matches!(again.decide(at, pass(), None, None), Err(DecisionError::DecidedBefore(_))));
        assert_eq!(lines(folder.path(), "ben").len(), 1);
    }

    #[test]
    fn a_decision_beside_the_judges_says_so_and_replaces_an_earlier_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut review = open(folder.path(), "ann", items(2));
        assert_eq!(review.decide_openly(1, pass(), None), Ok(DecisionEffect::Written(true)));
        assert_eq!(review.decide_openly(1, pass(), None), Ok(DecisionEffect::Unchanged));
        assert_eq!(
            review.decide_openly(1, fail(), Some("no".to_owned())),
            Ok(DecisionEffect::Written(false))
        );
        let lines = lines(folder.path(), "ann");
        assert!(
            lines.len() == 2 && lines.iter().all(|line| line.contains("\"x-after-judge\":true")),
            "{lines:?}"
        );
    }

    #[test]
    fn only_the_last_label_is_taken_back_and_an_earlier_one_counts_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let open = || open(folder.path(), "ann", items(2));
        let mut review = open();
        assert!(review.take_back(1).is_err(), "nothing was decided");
        review.decide(0, pass(), None, None).expect("written");
        assert!(review.take_back(0).is_err(), "a blind decision stays");
        review.decide_openly(1, pass(), None).expect("written");
        review.decide_openly(0, fail(), Some("no".to_owned())).expect("written");
        let written = lines(folder.path(), "ann");

        // A program that starts again takes back the same.
        for mut review in [open(), review] {
            let path = label_file_path(folder.path(), "ann");
            std::fs::write(path, format!("{}\n", written.join("\n"))).expect("written");
            assert!(review.take_back(1).is_err(), "the last label is about another item");
            for at in [0, 1] {
                assert_eq!(review.take_back(at), Ok(()));
            }
            assert_eq!(lines(folder.path(), "ann"), written[..1]);
            let earlier = open().recorder().earlier(&items(2)[0]).map(|(_, decision)| decision.answer);
            assert_eq!(earlier, Some(pass()));
            assert!(review.take_back(0).is_err() && review.take_back(1).is_err());
        }
    }

    #[test]
    fn skipped_items_are_counted_until_they_are_decided() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut review = open(folder.path(), "ann", items(2));
        assert_eq!(review.skip(0), Some(1));
        assert_eq!(review.progress().skipped, 1);
        assert_eq!(review.skip(1), Some(0), "they come again");
        review.decide(0, pass(), None, None).expect("written");
        assert_eq!(review.progress().skipped, 1);
        assert_eq!(review.after(0), Some(1));
        review.decide(1, pass(), None, None).expect("written");
        assert_eq!((review.after(1), review.current()), (None, None));
        assert_eq!(review.progress().skipped, 0);
    }

    #[test]
    fn nobody_is_asked_about_what_enough_others_have_decided() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut all = items(2);
        all[0].wanted = Some(1);
        let key = all[0].key();
        let mut review = open(folder.path(), "ben", all);
        review.decided_by_other(&key);
        assert_eq!((review.current(), review.progress().all), (Some(1), 1));

        // A reviewer who has the page open can still decide.
        assert_eq!(review.decide(0, pass(), None, None), Ok(DecisionEffect::Written(true)));
        assert_eq!(review.progress().all, 2);
        review.decided_by_other("unknown");
    }
}
