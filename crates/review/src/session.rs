//! State machine of a review: it takes keys and returns steps.

use std::collections::BTreeSet;

use assize_report::spreadsheet_text;
use assize_rubric::{FailureSeverity, LabelOutcome, NO_FAILURE, NONE_OF_THE_ABOVE};

use crate::{FailureChoice, NamedItem, ReviewItem, ReviewKey, ReviewQuestion, ScoreScale};

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
    pub answer: ReviewAnswer,
    /// Severity of the failure, if given.
    pub severity: Option<FailureSeverity>,
    /// Reason, if given.
    pub note: Option<String>,
    /// True if the reviewer decided this item before and has seen the judge's decision since.
    pub after_judge: bool,
}

/// Effect of a key.
#[derive(Debug, Clone, PartialEq)]
pub enum ReviewStep {
    /// Only the screen may have changed.
    Redraw,
    /// Record this decision for the current item, then call [`ReviewSession::confirm_recorded`] or
    /// [`ReviewSession::reject_pending`].
    Record(ReviewDecision),
    /// The reviewer quits.
    Quit,
}

/// Entries after the failures of a trace: a failure without a code, and no failure.
pub(crate) const WITHOUT_CODE: [&str; 2] = [NONE_OF_THE_ABOVE, NO_FAILURE];

/// Returns the code at an index in the list of a trace.
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
    /// A failure is being chosen: its index in the list, whose last entries are [`WITHOUT_CODE`].
    Choosing(usize),
    /// The item is shown with the reviewer's and the judge's decisions.
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
    /// Number of skipped items that are still undecided.
    pub skipped: usize,
}

/// Review session over a list of items.
#[derive(Debug, Clone)]
pub struct ReviewSession {
    items: Vec<ReviewItem>,
    /// Number of items that the reviewer has to label; later ones can only be decided by name.
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
    /// Items that the reviewer skipped and has not opened since.
    skipped: BTreeSet<usize>,
    /// Items that enough others have decided.
    withdrawn: BTreeSet<usize>,
    /// Item that was reopened to be decided again.
    reopened: Option<usize>,
    /// True if the judge's decisions are on screen before the reviewer decides.
    pub(crate) is_judge_shown: bool,
    pending: Option<ReviewDecision>,
}

impl ReviewSession {
    /// Creates a session at the first item.
    pub fn new(items: Vec<ReviewItem>) -> Self {
        Self::with_others(items, Vec::new())
    }

    /// Creates a session in which further items can be decided by name.
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
            skipped: BTreeSet::new(),
            withdrawn: BTreeSet::new(),
            reopened: None,
            is_judge_shown: false,
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

    /// Returns true if the judge's decision may be shown, which is only after a decision was recorded.
    pub fn may_show_judge(&self) -> bool {
        self.mode == ReviewMode::Decided && self.decision().is_some()
    }

    /// Returns the progress.
    pub fn progress(&self) -> ReviewProgress {
        let others = self.decided.iter().skip(self.listed).flatten().count();
        ReviewProgress {
            decided: self.decided.iter().flatten().count(),
            all: self.listed + others - self.withdrawn.len(),
            skipped: self.skipped.len(),
        }
    }

    /// Returns the items that the reviewer has to label.
    pub fn listed(&self) -> &[ReviewItem] {
        &self.items[..self.listed]
    }

    /// Returns the item at an index, including those that can only be decided by name.
    pub fn item_at(&self, at: usize) -> Option<&ReviewItem> {
        self.items.get(at)
    }

    /// Returns the latest decision on the item at an index.
    pub fn decision_at(&self, at: usize) -> Option<&ReviewDecision> {
        self.decided.get(at).and_then(Option::as_ref)
    }

    /// Returns true if the item at an index was skipped and is still undecided.
    pub fn is_skipped(&self, at: usize) -> bool {
        self.skipped.contains(&at)
    }

    /// Returns true if enough others have decided the item at an index.
    pub fn is_withdrawn(&self, at: usize) -> bool {
        self.withdrawn.contains(&at)
    }

    /// Adds decisions recorded in an earlier session, in the order in which they were made.
    pub fn remember(&mut self, decisions: impl IntoIterator<Item = (usize, ReviewDecision)>) {
        for (at, decision) in decisions {
            if let Some(place) = self.decided.get_mut(at) {
                *place = Some(decision);
                self.history.push(at);
            }
        }
        self.at = 0;
        match (0..self.listed).find(|at| self.decided[*at].is_none()) {
            Some(at) => self.open(at),
            None => self.mode = ReviewMode::Finished,
        }
    }

    /// Adds a decision on one item recorded in an earlier session. The item on the screen stays.
    pub fn recall(&mut self, at: usize, decision: ReviewDecision) {
        if let Some(place) = self.decided.get_mut(at) {
            *place = Some(decision);
        }
    }

    /// Shows the item at an index, with its decision if it has one and was not reopened.
    pub fn show(&mut self, at: usize) {
        self.open(at);
        if self.decision_at(at).is_some() && self.reopened != Some(at) {
            self.mode = ReviewMode::Decided;
        }
    }

    /// Skips the item on the screen and goes to the next one.
    pub fn skip(&mut self) {
        if self.decision().is_none() && self.at < self.listed {
            self.skipped.insert(self.at);
        }
        self.reopened = None;
        self.go_to_next();
    }

    /// Counts another reviewer's decision. The session no longer asks about an item that enough people have
    /// decided. A decision made in this session stays.
    pub fn count_other(&mut self, at: usize) {
        let Some(item) = self.items.get_mut(at) else { return };
        item.wanted = item.wanted.map(|wanted| wanted.saturating_sub(1));
        if item.wanted == Some(0) && at < self.listed && self.decided[at].is_none() {
            self.skipped.remove(&at);
            self.withdrawn.insert(at);
        }
    }

    /// Returns true if there is a decision to undo.
    pub fn can_undo(&self) -> bool {
        !self.history.is_empty()
    }

    /// Reopens a decided item, like [`undo`](Self::undo) does with the latest one.
    pub fn reopen(&mut self, at: usize) {
        if self.decision_at(at).is_some() {
            self.open(at);
            self.reopened = Some(at);
        }
    }

    /// Drops the pending decision. The recorded one stays.
    pub fn keep_decision(&mut self) {
        self.pending = None;
        self.reopened = None;
    }

    /// Goes to the item named by a line.
    ///
    /// # Errors
    /// If there is no such item, if there are several, or if the line is about an earlier version of the item, with
    /// another answer or question.
    pub fn go_to(&mut self, named: &NamedItem) -> Result<(), String> {
        let NamedItem { case, criterion, key, seen } = named;
        // Ids in a table are escaped for spreadsheets.
        let is_named =
            |id: &str, given: &str| id == given || (key.is_some() && spreadsheet_text(id) == given);
        let items = self.items.iter().enumerate();
        let found: Vec<(usize, &ReviewItem)> = items
            .filter(|(_, item)| is_named(&item.case, case) && is_named(&item.criterion, criterion))
            .collect();
        let is_current = |item: &ReviewItem| {
            let is_asked = matches!(item.question, ReviewQuestion::Verdict(_));
            let is_seen = |seen: &String| !is_asked || item.seen.is_some_and(|now| now.to_string() == *seen);
            key.as_ref().is_none_or(|key| item.key() == *key) && seen.as_ref().is_none_or(is_seen)
        };
        let current: Vec<usize> =
            found.iter().filter(|(_, item)| is_current(item)).map(|(at, _)| *at).collect();

        match (current.as_slice(), found.is_empty()) {
            ([at], _) => {
                self.open(*at);
                Ok(())
            }
            ([], false) => Err(format!(
                "the label is stale: case `{case}`, criterion `{criterion}` has another answer or question now than when it was \
                 labelled or exported"
            )),
            _ => Err(format!("case `{case}` has no criterion `{criterion}` for people to decide")),
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

    /// Applies a scripted decision.
    ///
    /// # Errors
    /// If it doesn't fit the question of the item.
    pub fn decide(
        &mut self,
        answer: ReviewAnswer,
        severity: Option<FailureSeverity>,
        note: Option<String>,
    ) -> Result<ReviewStep, String> {
        let item = self.item().ok_or("no items left")?;
        check_label(item, &answer)?;
        self.severity = severity.or(self.severity);

        if let Some(note) = note {
            self.note = note;
        }

        Ok(self.record(answer))
    }

    /// Confirms that the pending decision has been written.
    pub fn confirm_recorded(&mut self) {
        let Some(decision) = self.pending.take() else { return };
        if let Some(place) = self.decided.get_mut(self.at) {
            *place = Some(decision);
            self.history.push(self.at);
            self.skipped.remove(&self.at);
            self.withdrawn.remove(&self.at);
            self.reopened = None;
            self.mode = ReviewMode::Decided;
            // The decisions of the reviewer and the judge are at the top of the screen.
            self.scroll = 0;
        }
    }

    /// Drops the pending decision because it could not be written, and shows the reason.
    pub fn reject_pending(&mut self, why: impl Into<String>) {
        self.pending = None;
        self.message = Some(why.into());
    }

    /// Goes to the next undecided item. The current one is not changed.
    pub fn go_to_next(&mut self) {
        let count = self.listed;
        let is_open = |at: &usize| self.decided[*at].is_none() && !self.withdrawn.contains(at);
        let after = (self.at + 1..count).find(is_open);
        let before = || (0..self.at.min(count)).find(is_open);
        let here = || Some(self.at).filter(|at| *at < count && is_open(at));
        match after.or_else(before).or_else(here) {
            Some(at) => self.open(at),
            None => self.mode = ReviewMode::Finished,
        }
    }

    /// Reopens the latest decided item. The written line stays in the file; a new one overrides it.
    pub fn undo(&mut self) -> ReviewStep {
        match self.history.pop() {
            Some(at) => {
                // The old note and severity belong to the old decision.
                self.open(at);
                self.reopened = Some(at);
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

    fn record(&mut self, answer: ReviewAnswer) -> ReviewStep {
        let note = self.note.trim();
        let is_clean = matches!(&answer, ReviewAnswer::Primary(code) if code == NO_FAILURE);
        let decision = ReviewDecision {
            answer,
            severity: self.severity.filter(|_| !is_clean),
            note: (!note.is_empty()).then(|| note.to_owned()),
            after_judge: (self.is_judge_shown || self.decision().is_some())
                && self.item().is_some_and(|item| item.judge.is_some()),
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
                let answer = ReviewAnswer::Outcome(outcome);
                match self.item().map(|item| check_label(item, &answer)) {
                    Some(Err(why)) => self.message = Some(why),
                    _ => return self.record(answer),
                }
            }
            (ReviewKey::Char('v'), _) if matches!(question, ReviewQuestion::Verdict(Some(_))) => {
                self.mode = ReviewMode::Score(String::new());
            }
            (ReviewKey::Char('c') | ReviewKey::Enter, _) if !verdict => self.mode = ReviewMode::Choosing(0),
            (ReviewKey::Char('0'), _) if !verdict => {
                return self.record(ReviewAnswer::Primary(NONE_OF_THE_ABOVE.to_owned()));
            }
            (ReviewKey::Char('o'), _) if !verdict => {
                return self.record(ReviewAnswer::Primary(NO_FAILURE.to_owned()));
            }
            _ => return self.handle_common_key(key),
        }
        ReviewStep::Redraw
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
            }
            ReviewKey::Char('e') => self.mode = ReviewMode::Note(self.note.clone()),
            ReviewKey::Char('x') => self.skip(),
            ReviewKey::Char('z') => return self.undo(),
            ReviewKey::Char('?') => self.help = true,
            ReviewKey::Char('q') => return ReviewStep::Quit,
            _ => {}
        }
        ReviewStep::Redraw
    }

    fn handle_decided_key(&mut self, key: ReviewKey) -> ReviewStep {
        if self.scroll_by_key(key) {
            return ReviewStep::Redraw;
        }
        match key {
            ReviewKey::Enter | ReviewKey::Char(' ' | 'x') => self.go_to_next(),
            ReviewKey::Char('z') => return self.undo(),
            ReviewKey::Char('q') => return ReviewStep::Quit,
            _ => {}
        }
        ReviewStep::Redraw
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
                let answer =
                    text.trim().parse().map(|score| ReviewAnswer::Outcome(LabelOutcome::Score(score)));
                let fitting =
                    answer.map_err(|_| format!("`{}` is not a number", text.trim())).and_then(|answer| {
                        let item = self.item().ok_or("no items left")?;
                        check_label(item, &answer).map(|()| answer)
                    });
                match fitting {
                    Ok(answer) => return self.record(answer),
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

    /// Scrolls the text if the key is for scrolling, and returns true in that case. Only the screen knows where the
    /// text ends, so the screen limits the position.
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

/// Checks that a label fits the question of an item.
fn check_label(item: &ReviewItem, answer: &ReviewAnswer) -> Result<(), String> {
    match (&item.question, answer) {
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
pub(crate) mod tests;
