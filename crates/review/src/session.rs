//! State machine of a review: keys in, steps out.

use assize_rubric::{FailureSeverity, LabelOutcome, NO_FAILURE, NONE_OF_THE_ABOVE};

use crate::{FailureChoice, ReviewItem, ReviewKey, ReviewQuestion, ScoreScale};

/// Label chosen by the reviewer.
#[derive(Debug, Clone, PartialEq)]
pub enum ReviewAnswer {
    /// Outcome for the criterion of the item.
    Outcome(LabelOutcome),
    /// Code of the failure that a trace shows, [`NONE_OF_THE_ABOVE`] or [`NO_FAILURE`].
    Primary(String),
}

/// A decision, ready to be recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewDecision {
    /// The label.
    pub said: ReviewAnswer,
    /// Severity of the failure, if given.
    pub severity: Option<FailureSeverity>,
    /// Reason, if given.
    pub note: Option<String>,
    /// True if the reviewer decided on this item before and has seen the judge's decision since.
    pub after_judge: bool,
}

/// Effect of a key.
#[derive(Debug, Clone, PartialEq)]
pub enum ReviewStep {
    /// Nothing but the screen may have changed.
    Redraw,
    /// Record this decision for the current item, then call [`ReviewSession::confirm_recorded`] or [`ReviewSession::reject_pending`].
    Record(ReviewDecision),
    /// The reviewer quits.
    Quit,
}

/// Entries behind the failures of a trace: a failure without a code, and no failure.
pub(crate) const WITHOUT_CODE: [&str; 2] = [NONE_OF_THE_ABOVE, NO_FAILURE];

/// Returns the code at an index of the list of a trace.
fn code_at(choices: &[FailureChoice], at: usize) -> &str {
    let without = at.saturating_sub(choices.len()).min(WITHOUT_CODE.len() - 1);
    choices.get(at).map_or(WITHOUT_CODE[without], |choice| &choice.code)
}

/// Mode of the screen.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ReviewMode {
    /// The item is shown, undecided.
    Deciding,
    /// A note is being typed.
    Note(String),
    /// A score is being typed.
    Score(String),
    /// A failure is being chosen: the index in the list, whose last entries are [`WITHOUT_CODE`].
    Choosing(usize),
    /// The item is shown with the decision and that of the judge.
    Decided,
    /// All items are decided.
    Finished,
}

/// Progress of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReviewProgress {
    /// Number of items decided in this session.
    pub decided: usize,
    /// Number of all items.
    pub all: usize,
}

/// Review session over a list of items.
#[derive(Debug, Clone)]
pub struct ReviewSession {
    items: Vec<ReviewItem>,
    /// Number of items that are gone through; those behind them are decided only by name.
    listed: usize,
    at: usize,
    pub(crate) mode: ReviewMode,
    pub(crate) scroll: usize,
    pub(crate) note: String,
    pub(crate) severity: Option<FailureSeverity>,
    pub(crate) message: Option<String>,
    pub(crate) help: bool,
    /// Latest decision on each item.
    decided: Vec<Option<ReviewDecision>>,
    /// Items in the order of their decisions.
    history: Vec<usize>,
    pending: Option<ReviewDecision>,
}

impl ReviewSession {
    /// Creates a session at the first item.
    pub fn new(items: Vec<ReviewItem>) -> Self {
        Self::with_others(items, Vec::new())
    }

    /// Creates a session in which other items can be decided as well, by their names.
    pub fn with_others(mut items: Vec<ReviewItem>, others: Vec<ReviewItem>) -> Self {
        let listed = items.len();
        items.extend(others);

        let decided = vec![None; items.len()];
        let mut session = Self {
            items,
            listed,
            at: 0,
            mode: ReviewMode::Finished,
            scroll: 0,
            note: String::new(),
            severity: None,
            message: None,
            help: false,
            decided,
            history: Vec::new(),
            pending: None,
        };

        if listed > 0 {
            session.open(0);
        }

        session
    }

    /// Returns the item on the screen; `None` when all are decided.
    pub fn item(&self) -> Option<&ReviewItem> {
        if self.mode == ReviewMode::Finished { None } else { self.items.get(self.at) }
    }

    /// Returns the index of the item on the screen.
    pub const fn index(&self) -> usize {
        self.at
    }

    /// Returns the decision on the item on the screen.
    pub fn decision(&self) -> Option<&ReviewDecision> {
        self.decided.get(self.at).and_then(Option::as_ref)
    }

    /// Returns true if the judge's decision may be shown: only after a decision was recorded.
    pub fn may_show_judge(&self) -> bool {
        self.mode == ReviewMode::Decided && self.decision().is_some()
    }

    /// Returns the progress.
    pub fn progress(&self) -> ReviewProgress {
        let others = self.decided.iter().skip(self.listed).flatten().count();
        ReviewProgress { decided: self.decided.iter().flatten().count(), all: self.listed + others }
    }

    /// Goes to the item of a case and criterion; returns false if there is none, or several.
    pub fn go_to(&mut self, case: &str, criterion: &str) -> bool {
        let mut found = self
            .items
            .iter()
            .enumerate()
            .filter(|(_, item)| item.case == case && item.criterion == criterion)
            .map(|(at, _)| at);
        match (found.next(), found.next()) {
            (Some(at), None) => {
                self.open(at);
                true
            }
            _ => false,
        }
    }

    /// Handles a key.
    pub fn handle_key(&mut self, key: ReviewKey) -> ReviewStep {
        self.message = None;

        if key == ReviewKey::Interrupt {
            return ReviewStep::Quit;
        }
        if std::mem::take(&mut self.help) {
            return ReviewStep::Redraw;
        }

        match self.mode.clone() {
            ReviewMode::Note(text) => self.handle_note_key(text, key),
            ReviewMode::Score(text) => self.handle_score_key(text, key),
            ReviewMode::Choosing(at) => self.handle_choice_key(at, key),
            ReviewMode::Deciding => self.handle_deciding_key(key),
            ReviewMode::Decided => self.handle_decided_key(key),
            ReviewMode::Finished => match key {
                ReviewKey::Char('z') => self.undo(),
                ReviewKey::Char('q') | ReviewKey::Enter | ReviewKey::Escape => ReviewStep::Quit,
                _ => ReviewStep::Redraw,
            },
        }
    }

    /// Applies a scripted decision. Errors if it does not fit the question of the item.
    pub fn decide(
        &mut self,
        said: ReviewAnswer,
        severity: Option<FailureSeverity>,
        note: Option<String>,
    ) -> Result<ReviewStep, String> {
        let item = self.item().ok_or("no items left")?;
        check_label(item, &said)?;
        self.severity = severity.or(self.severity);

        if let Some(note) = note {
            self.note = note;
        }

        Ok(self.record(said))
    }

    /// Confirms that the pending decision was written.
    pub fn confirm_recorded(&mut self) {
        let Some(decision) = self.pending.take() else { return };
        if let Some(place) = self.decided.get_mut(self.at) {
            *place = Some(decision);
            self.history.push(self.at);
            self.mode = ReviewMode::Decided;
            // The decisions of the reviewer and the judge are at the top.
            self.scroll = 0;
        }
    }

    /// Drops the pending decision, which could not be written, and shows the reason.
    pub fn reject_pending(&mut self, why: impl Into<String>) {
        self.pending = None;
        self.message = Some(why.into());
    }

    /// Leaves the item as it is and goes to the next one without a decision.
    pub fn go_to_next(&mut self) {
        let count = self.listed;
        let after = (self.at + 1..count).find(|at| self.decided[*at].is_none());
        let before = || (0..self.at.min(count)).find(|at| self.decided[*at].is_none());
        let here = || (self.at < count && self.decided[self.at].is_none()).then_some(self.at);
        match after.or_else(before).or_else(here) {
            Some(at) => self.open(at),
            None => self.mode = ReviewMode::Finished,
        }
    }

    /// Reopens the item decided last. The written line stays in the file; the new one overrides it.
    pub fn undo(&mut self) -> ReviewStep {
        match self.history.pop() {
            Some(at) => {
                // The old note and severity were about the old decision.
                self.open(at);
                self.message = Some(
                    "decide again, with a new note: a new line is added, and it counts; the old one stays"
                        .to_owned(),
                );
            }
            None => self.message = Some("nothing to undo".to_owned()),
        }
        ReviewStep::Redraw
    }

    fn open(&mut self, at: usize) {
        self.at = at;
        self.scroll = 0;
        self.note.clear();
        self.severity = None;
        self.mode = if at < self.items.len() { ReviewMode::Deciding } else { ReviewMode::Finished };
    }

    fn record(&mut self, said: ReviewAnswer) -> ReviewStep {
        let note = self.note.trim();
        let is_clean = matches!(&said, ReviewAnswer::Primary(code) if code == NO_FAILURE);
        let decision = ReviewDecision {
            said,
            severity: self.severity.filter(|_| !is_clean),
            note: (!note.is_empty()).then(|| note.to_owned()),
            after_judge: self.decision().is_some() && self.item().is_some_and(|item| item.judge.is_some()),
        };

        self.pending = Some(decision.clone());
        ReviewStep::Record(decision)
    }

    fn handle_deciding_key(&mut self, key: ReviewKey) -> ReviewStep {
        if self.scroll_by_key(key) {
            return ReviewStep::Redraw;
        }

        let Some(question) = self.item().map(|item| item.question.clone()) else { return ReviewStep::Redraw };
        let verdict = matches!(question, ReviewQuestion::Verdict(_));
        let outcome = match key {
            ReviewKey::Char('p') => Some(LabelOutcome::Met),
            ReviewKey::Char('f') => Some(LabelOutcome::Unmet),
            ReviewKey::Char('n') => Some(LabelOutcome::NotApplicable),
            ReviewKey::Char('u') => Some(LabelOutcome::Unsure),
            _ => None,
        };
        match (key, outcome) {
            (_, Some(outcome)) if verdict => {
                let said = ReviewAnswer::Outcome(outcome);
                match self.item().map(|item| check_label(item, &said)) {
                    Some(Err(why)) => {
                        self.message = Some(why);
                        ReviewStep::Redraw
                    }
                    _ => self.record(said),
                }
            }
            (ReviewKey::Char('v'), _) if matches!(question, ReviewQuestion::Verdict(Some(_))) => {
                self.mode = ReviewMode::Score(String::new());
                ReviewStep::Redraw
            }
            (ReviewKey::Char('c') | ReviewKey::Enter, _) if !verdict => {
                self.mode = ReviewMode::Choosing(0);
                ReviewStep::Redraw
            }
            (ReviewKey::Char('0'), _) if !verdict => {
                self.record(ReviewAnswer::Primary(NONE_OF_THE_ABOVE.to_owned()))
            }
            (ReviewKey::Char('o'), _) if !verdict => {
                self.record(ReviewAnswer::Primary(NO_FAILURE.to_owned()))
            }
            _ => self.handle_common_key(key),
        }
    }

    fn handle_common_key(&mut self, key: ReviewKey) -> ReviewStep {
        match key {
            ReviewKey::Char('s') => {
                self.severity = match self.severity {
                    None => Some(FailureSeverity::Low),
                    Some(FailureSeverity::Low) => Some(FailureSeverity::Medium),
                    Some(FailureSeverity::Medium) => Some(FailureSeverity::High),
                    Some(FailureSeverity::High) => None,
                };
                ReviewStep::Redraw
            }
            ReviewKey::Char('e') => {
                self.mode = ReviewMode::Note(self.note.clone());
                ReviewStep::Redraw
            }
            ReviewKey::Char('x') => {
                self.go_to_next();
                ReviewStep::Redraw
            }
            ReviewKey::Char('z') => self.undo(),
            ReviewKey::Char('?') => {
                self.help = true;
                ReviewStep::Redraw
            }
            ReviewKey::Char('q') => ReviewStep::Quit,
            _ => ReviewStep::Redraw,
        }
    }

    fn handle_decided_key(&mut self, key: ReviewKey) -> ReviewStep {
        if self.scroll_by_key(key) {
            return ReviewStep::Redraw;
        }
        match key {
            ReviewKey::Enter | ReviewKey::Char(' ' | 'x') => {
                self.go_to_next();
                ReviewStep::Redraw
            }
            ReviewKey::Char('z') => self.undo(),
            ReviewKey::Char('q') => ReviewStep::Quit,
            _ => ReviewStep::Redraw,
        }
    }

    fn handle_note_key(&mut self, mut text: String, key: ReviewKey) -> ReviewStep {
        match key {
            ReviewKey::Enter => {
                self.note = text;
                self.mode = ReviewMode::Deciding;
            }
            ReviewKey::Escape => self.mode = ReviewMode::Deciding,
            _ => {
                type_key(&mut text, key);
                self.mode = ReviewMode::Note(text);
            }
        }
        ReviewStep::Redraw
    }

    fn handle_score_key(&mut self, mut text: String, key: ReviewKey) -> ReviewStep {
        match key {
            ReviewKey::Escape => self.mode = ReviewMode::Deciding,
            ReviewKey::Enter => {
                let said = text.trim().parse().map(|score| ReviewAnswer::Outcome(LabelOutcome::Score(score)));
                let fitting =
                    said.map_err(|_| format!("`{}` is not a number", text.trim())).and_then(|said| {
                        let item = self.item().ok_or("no items left")?;
                        check_label(item, &said).map(|()| said)
                    });
                match fitting {
                    Ok(said) => return self.record(said),
                    Err(why) => self.message = Some(why),
                }
            }
            _ => {
                type_key(&mut text, key);
                self.mode = ReviewMode::Score(text);
            }
        }
        ReviewStep::Redraw
    }

    fn handle_choice_key(&mut self, at: usize, key: ReviewKey) -> ReviewStep {
        let Some(ReviewQuestion::Primary(choices)) = self.item().map(|item| &item.question) else {
            return ReviewStep::Redraw;
        };
        let none = choices.len();
        let last = none + WITHOUT_CODE.len() - 1;
        let page = 10;
        let to = match key {
            ReviewKey::Enter => {
                let code = code_at(choices, at).to_owned();
                return self.record(ReviewAnswer::Primary(code));
            }
            ReviewKey::Escape => {
                self.mode = ReviewMode::Deciding;
                return ReviewStep::Redraw;
            }
            ReviewKey::Up | ReviewKey::Char('k') => at.saturating_sub(1),
            ReviewKey::Down | ReviewKey::Char('j') => (at + 1).min(last),
            ReviewKey::PageUp => at.saturating_sub(page),
            ReviewKey::PageDown => (at + page).min(last),
            ReviewKey::Home => 0,
            ReviewKey::Char('0') => none,
            ReviewKey::End | ReviewKey::Char('o') => last,
            _ => at,
        };

        self.mode = ReviewMode::Choosing(to);
        ReviewStep::Redraw
    }

    /// Scrolls the text if the key asks for it, and returns true then. Only the screen knows the end of the
    /// text; it limits the position.
    fn scroll_by_key(&mut self, key: ReviewKey) -> bool {
        const PAGE: usize = 10;

        self.scroll = match key {
            ReviewKey::Up | ReviewKey::Char('k') => self.scroll.saturating_sub(1),
            ReviewKey::Down | ReviewKey::Char('j') => self.scroll.saturating_add(1),
            ReviewKey::PageUp | ReviewKey::Char('b') => self.scroll.saturating_sub(PAGE),
            ReviewKey::PageDown => self.scroll.saturating_add(PAGE),
            ReviewKey::Char(' ') if self.mode == ReviewMode::Deciding => self.scroll.saturating_add(PAGE),
            ReviewKey::Home => 0,
            ReviewKey::End => usize::MAX,
            _ => return false,
        };
        true
    }
}

fn type_key(text: &mut String, key: ReviewKey) {
    match key {
        ReviewKey::Char(c) if !c.is_control() => text.push(c),
        ReviewKey::Backspace => {
            text.pop();
        }
        _ => {}
    }
}

/// Checks that a label answers the question of an item.
fn check_label(item: &ReviewItem, said: &ReviewAnswer) -> Result<(), String> {
    match (&item.question, said) {
        (ReviewQuestion::Primary(choices), ReviewAnswer::Primary(code)) => {
            let known =
                WITHOUT_CODE.contains(&code.as_str()) || choices.iter().any(|choice| choice.code == *code);
            if known { Ok(()) } else { Err(format!("unknown code `{code}`")) }
        }
        (ReviewQuestion::Verdict(scale), ReviewAnswer::Outcome(LabelOutcome::Score(score))) => match scale {
            None => {
                Err("this criterion has no scale; decide pass, fail, not applicable or unsure".to_owned())
            }
            Some(scale) if (scale.min..=scale.max).contains(score) => Ok(()),
            Some(scale) => Err(format!("{score} is not on the scale from {} to {}", scale.min, scale.max)),
        },
        (
            ReviewQuestion::Verdict(Some(scale)),
            ReviewAnswer::Outcome(LabelOutcome::Met | LabelOutcome::Unmet),
        ) => {
            let ScoreScale { min, max } = scale;
            Err(format!("enter a score from {min} to {max}: this criterion has a scale"))
        }
        (ReviewQuestion::Verdict(_), ReviewAnswer::Outcome(LabelOutcome::NotApplicable))
            if !item.may_not_apply =>
        {
            Err("this criterion always applies, since it has no `allow_not_applicable`".to_owned())
        }
        (ReviewQuestion::Verdict(_), ReviewAnswer::Outcome(_)) => Ok(()),
        (ReviewQuestion::Primary(_), ReviewAnswer::Outcome(_)) => {
            Err(format!("name the code of a failure, {NONE_OF_THE_ABOVE} or {NO_FAILURE}"))
        }
        (ReviewQuestion::Verdict(_), ReviewAnswer::Primary(code)) => {
            Err(format!("`{code}` is not a decision: use pass, fail, not_applicable or unsure"))
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{FailureChoice, JudgeAccount, ReviewReason, ReviewSection, ReviewSectionKind, ReviewWeight};

    pub(crate) fn items(count: usize) -> Vec<ReviewItem> {
        (0..count)
            .map(|n| ReviewItem {
                case: format!("case-{n}"),
                suite: None,
                system: None,
                repeat: None,
                criterion: "tone".to_owned(),
                version: "v1".to_owned(),
                seen: None,
                weight: ReviewWeight::Counted,
                is_stale: false,
                sections: vec![
                    section(ReviewSectionKind::Question, "Criterion", "The answer is kind."),
                    section(ReviewSectionKind::Material, "Answer", &"line\n".repeat(100)),
                ],
                question: ReviewQuestion::Verdict(None),
                may_not_apply: true,
                judge: Some(JudgeAccount {
                    outcome: Some(LabelOutcome::Unmet),
                    reason: "SECRET-REASON".to_owned(),
                    confidence: Some("high"),
                }),
                why: ReviewReason::Check,
            })
            .collect()
    }

    fn section(about: ReviewSectionKind, title: &str, text: &str) -> ReviewSection {
        ReviewSection { about, title: title.to_owned(), text: text.to_owned() }
    }

    fn records(session: &mut ReviewSession, key: ReviewKey) -> ReviewDecision {
        match session.handle_key(key) {
            ReviewStep::Record(decision) => {
                session.confirm_recorded();
                decision
            }
            other => panic!("{key:?} led to {other:?}"),
        }
    }

    fn type_in(session: &mut ReviewSession, text: &str) {
        for c in text.chars() {
            assert_eq!(session.handle_key(ReviewKey::Char(c)), ReviewStep::Redraw);
        }
    }

    #[test]
    fn a_decision_takes_note_and_severity_along_and_opens_the_judge() {
        let mut session = ReviewSession::new(items(2));
        session.handle_key(ReviewKey::Char('s'));
        session.handle_key(ReviewKey::Char('s'));
        session.handle_key(ReviewKey::Char('e'));
        type_in(&mut session, "quite pf");
        session.handle_key(ReviewKey::Enter);
        assert!(!session.may_show_judge());
        let decision = records(&mut session, ReviewKey::Char('f'));
        assert_eq!(decision.said, ReviewAnswer::Outcome(LabelOutcome::Unmet));
        assert_eq!(decision.severity, Some(FailureSeverity::Medium));
        assert_eq!(decision.note.as_deref(), Some("quite pf"));
        assert!(session.may_show_judge());
        session.handle_key(ReviewKey::Enter);
        assert_eq!(session.item().map(|item| item.case.as_str()), Some("case-1"));
        assert!(!session.may_show_judge(), "the next item hides its judge again");
    }

    #[test]
    fn what_was_decided_can_only_be_amended() {
        let mut session = ReviewSession::new(items(1));
        assert!(!records(&mut session, ReviewKey::Char('p')).after_judge);
        assert_eq!(session.handle_key(ReviewKey::Char('f')), ReviewStep::Redraw, "no silent change");
        session.handle_key(ReviewKey::Char('z'));
        assert!(!session.may_show_judge());
        let amended = records(&mut session, ReviewKey::Char('f'));
        assert!(amended.after_judge);
        assert_eq!(session.progress(), ReviewProgress { decided: 1, all: 1 });
        session.handle_key(ReviewKey::Enter);
        assert_eq!(session.item(), None);
        assert_eq!(session.handle_key(ReviewKey::Char('q')), ReviewStep::Quit);
    }

    #[test]
    fn a_note_belongs_to_the_decision_it_was_written_for() {
        let mut session = ReviewSession::new(items(1));
        session.handle_key(ReviewKey::Char('e'));
        type_in(&mut session, "fine");
        session.handle_key(ReviewKey::Enter);
        records(&mut session, ReviewKey::Char('p'));
        session.handle_key(ReviewKey::Char('z'));
        assert_eq!(records(&mut session, ReviewKey::Char('f')).note, None);
    }

    #[test]
    fn other_items_are_decided_by_name_and_are_not_gone_through() {
        let mut all = items(2);
        let others = vec![all.remove(1)];
        let mut session = ReviewSession::with_others(all, others);
        assert_eq!(session.progress(), ReviewProgress { decided: 0, all: 1 });
        assert!(session.go_to("case-1", "tone"));
        records(&mut session, ReviewKey::Char('p'));
        assert_eq!(session.progress(), ReviewProgress { decided: 1, all: 2 });
        session.handle_key(ReviewKey::Enter);
        assert_eq!(session.item().map(|item| item.case.as_str()), Some("case-0"));
        let mut empty = ReviewSession::with_others(Vec::new(), items(1));
        assert_eq!(empty.item(), None, "nothing is asked");
        assert!(empty.go_to("case-0", "tone"));
        assert_eq!(empty.item().map(|item| item.case.as_str()), Some("case-0"));
    }

    #[test]
    fn what_could_not_be_written_was_not_decided() {
        let mut session = ReviewSession::new(items(1));
        assert!(matches!(session.handle_key(ReviewKey::Char('p')), ReviewStep::Record(_)));
        session.reject_pending("disk full");
        assert!(!session.may_show_judge());
        assert_eq!((session.decision(), session.progress().decided), (None, 0));
        session.confirm_recorded();
        assert_eq!(session.progress().decided, 0, "nothing is pending any more");
    }

    #[test]
    fn skipped_items_come_again_at_the_end() {
        let mut session = ReviewSession::new(items(3));
        session.handle_key(ReviewKey::Char('x'));
        records(&mut session, ReviewKey::Char('p'));
        session.handle_key(ReviewKey::Enter);
        records(&mut session, ReviewKey::Char('n'));
        session.handle_key(ReviewKey::Enter);
        assert_eq!(session.item().map(|item| item.case.as_str()), Some("case-0"));
        session.handle_key(ReviewKey::Char('x'));
        assert!(session.item().is_some(), "the last one left can't be skipped away");
    }

    #[test]
    fn scores_must_be_on_the_scale() {
        let mut all = items(1);
        all[0].question = ReviewQuestion::Verdict(Some(ScoreScale { min: 1.0, max: 5.0 }));
        let mut session = ReviewSession::new(all);
        for key in ['p', 'f'] {
            assert_eq!(session.handle_key(ReviewKey::Char(key)), ReviewStep::Redraw, "no end of the scale");
            assert!(session.message.as_deref().is_some_and(|text| text.contains("a score from 1 to 5")));
        }
        session.handle_key(ReviewKey::Char('v'));
        type_in(&mut session, "7");
        assert_eq!(session.handle_key(ReviewKey::Enter), ReviewStep::Redraw);
        assert!(session.message.as_deref().is_some_and(|text| text.contains("from 1 to 5")));
        session.handle_key(ReviewKey::Backspace);
        type_in(&mut session, "4.5");
        assert_eq!(
            records(&mut session, ReviewKey::Enter).said,
            ReviewAnswer::Outcome(LabelOutcome::Score(4.5))
        );
    }

    #[test]
    fn a_trace_gets_one_code_or_none_of_them() {
        let mut all = items(2);
        let choices = ["A1", "A2"].map(|code| FailureChoice {
            code: code.to_owned(),
            text: "x".to_owned(),
            criterion: String::new(),
            seen: None,
        });
        for item in &mut all {
            item.question = ReviewQuestion::Primary(choices.to_vec());
        }
        let mut session = ReviewSession::new(all);
        assert_eq!(session.handle_key(ReviewKey::Char('p')), ReviewStep::Redraw, "a trace is not passed");
        session.handle_key(ReviewKey::Char('c'));
        session.handle_key(ReviewKey::Down);
        assert_eq!(records(&mut session, ReviewKey::Enter).said, ReviewAnswer::Primary("A2".to_owned()));
        session.handle_key(ReviewKey::Enter);
        assert_eq!(
            records(&mut session, ReviewKey::Char('0')).said,
            ReviewAnswer::Primary(NONE_OF_THE_ABOVE.to_owned())
        );
        session.handle_key(ReviewKey::Char('z'));
        session.handle_key(ReviewKey::Char('s'));
        let clean = records(&mut session, ReviewKey::Char('o'));
        assert_eq!(clean.said, ReviewAnswer::Primary(NO_FAILURE.to_owned()));
        assert_eq!(clean.severity, None, "no failure has no severity");
        session.handle_key(ReviewKey::Char('z'));
        session.handle_key(ReviewKey::Char('c'));
        session.handle_key(ReviewKey::Char('0'));
        assert_eq!(
            records(&mut session, ReviewKey::Enter).said,
            ReviewAnswer::Primary(NONE_OF_THE_ABOVE.to_owned()),
            "an entry of the list"
        );
        session.handle_key(ReviewKey::Char('z'));
        session.handle_key(ReviewKey::Char('c'));
        session.handle_key(ReviewKey::End);
        assert_eq!(
            records(&mut session, ReviewKey::Enter).said,
            ReviewAnswer::Primary(NO_FAILURE.to_owned()),
            "the last one"
        );
        session.handle_key(ReviewKey::Char('z'));
        assert!(session.decide(ReviewAnswer::Primary("A9".to_owned()), None, None).is_err());
    }

    #[test]
    fn an_interrupt_leaves_from_anywhere() {
        let mut session = ReviewSession::new(items(1));
        session.handle_key(ReviewKey::Char('e'));
        assert_eq!(session.handle_key(ReviewKey::Interrupt), ReviewStep::Quit);
    }

    #[test]
    fn a_criterion_that_always_applies_takes_no_other_word() {
        let mut item = items(1).remove(0);
        let said = ReviewAnswer::Outcome(LabelOutcome::NotApplicable);
        assert_eq!(check_label(&item, &said), Ok(()));
        item.may_not_apply = false;
        let refused = check_label(&item, &said);
        assert!(refused.is_err_and(|why| why.contains("always applies")));
    }
}
