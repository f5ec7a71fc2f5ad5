//! State machine of a review: keys in, steps out.

use assize_rubric::{LabelOutcome, Severity};

use crate::{Item, Key, NONE_OF_THE_ABOVE, Question};

/// Label chosen by the reviewer.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// Outcome for the criterion of the item.
    Outcome(LabelOutcome),
    /// Code of the failure that a trace shows, or [`NONE_OF_THE_ABOVE`].
    Primary(String),
}

/// A decision, ready to be recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The label.
    pub said: Said,
    /// Severity of the failure, if given.
    pub severity: Option<Severity>,
    /// Reason, if given.
    pub note: Option<String>,
    /// True if the reviewer decided on this item before and has seen the judge's decision since.
    pub after_judge: bool,
}

/// Effect of a key.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Nothing but the screen may have changed.
    Stay,
    /// Record this decision for the current item, then call [`Session::recorded`] or [`Session::refused`].
    Record(Decision),
    /// The reviewer quits.
    Quit,
}

/// Mode of the screen.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Mode {
    /// The item is shown, undecided.
    Deciding,
    /// A note is being typed.
    Note(String),
    /// A score is being typed.
    Score(String),
    /// A failure is being chosen: the index in the list, whose last entry is "none of them".
    Choosing(usize),
    /// The item is shown with the decision and that of the judge.
    Decided,
    /// All items are decided.
    Finished,
}

/// Progress of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// Number of items decided in this session.
    pub decided: usize,
    /// Number of all items.
    pub all: usize,
}

/// Review session over a list of items.
#[derive(Debug, Clone)]
pub struct Session {
    items: Vec<Item>,
    at: usize,
    pub(crate) mode: Mode,
    pub(crate) scroll: usize,
    pub(crate) note: String,
    pub(crate) severity: Option<Severity>,
    pub(crate) message: Option<String>,
    pub(crate) help: bool,
    /// Latest decision on each item.
    decided: Vec<Option<Decision>>,
    /// Items in the order of their decisions.
    history: Vec<usize>,
    pending: Option<Decision>,
}

impl Session {
    /// Creates a session at the first item.
    pub fn new(items: Vec<Item>) -> Self {
        let decided = vec![None; items.len()];
        let mut session = Self {
            items,
            at: 0,
            mode: Mode::Finished,
            scroll: 0,
            note: String::new(),
            severity: None,
            message: None,
            help: false,
            decided,
            history: Vec::new(),
            pending: None,
        };
        session.open(0);
        session
    }

    /// Returns the item on the screen; `None` when all are decided.
    pub fn item(&self) -> Option<&Item> {
        if self.mode == Mode::Finished { None } else { self.items.get(self.at) }
    }

    /// Returns the index of the item on the screen.
    pub const fn place(&self) -> usize {
        self.at
    }

    /// Returns the decision on the item on the screen.
    pub fn decision(&self) -> Option<&Decision> {
        self.decided.get(self.at).and_then(Option::as_ref)
    }

    /// Returns true if the judge's decision may be shown: only after a decision was recorded.
    pub fn may_show_judge(&self) -> bool {
        self.mode == Mode::Decided && self.decision().is_some()
    }

    /// Returns the progress.
    pub fn left(&self) -> Left {
        Left { decided: self.decided.iter().flatten().count(), all: self.items.len() }
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
    pub fn press(&mut self, key: Key) -> Step {
        self.message = None;
        if key == Key::Interrupt {
            return Step::Quit;
        }
        if std::mem::take(&mut self.help) {
            return Step::Stay;
        }
        match self.mode.clone() {
            Mode::Note(text) => self.in_note(text, key),
            Mode::Score(text) => self.in_score(text, key),
            Mode::Choosing(at) => self.choosing(at, key),
            Mode::Deciding => self.deciding(key),
            Mode::Decided => self.after(key),
            Mode::Finished => match key {
                Key::Char('z') => self.undo(),
                Key::Char('q') | Key::Enter | Key::Escape => Step::Quit,
                _ => Step::Stay,
            },
        }
    }

    /// Applies a scripted decision. Errors if it does not fit the question of the item.
    pub fn decide(
        &mut self,
        said: Said,
        severity: Option<Severity>,
        note: Option<String>,
    ) -> Result<Step, String> {
        let item = self.item().ok_or("nothing is left to decide")?;
        fits(item, &said)?;
        self.severity = severity.or(self.severity);
        if let Some(note) = note {
            self.note = note;
        }
        Ok(self.record(said))
    }

    /// Confirms that the pending decision was written.
    pub fn recorded(&mut self) {
        let Some(decision) = self.pending.take() else { return };
        if let Some(place) = self.decided.get_mut(self.at) {
            *place = Some(decision);
            self.history.push(self.at);
            self.mode = Mode::Decided;
            // The decisions of the reviewer and the judge are at the top.
            self.scroll = 0;
        }
    }

    /// Drops the pending decision, which could not be written, and shows the reason.
    pub fn refused(&mut self, why: impl Into<String>) {
        self.pending = None;
        self.message = Some(why.into());
    }

    /// Leaves the item as it is and goes to the next one without a decision.
    pub fn next(&mut self) {
        let count = self.items.len();
        let after = (self.at + 1..count).find(|at| self.decided[*at].is_none());
        let before = || (0..self.at.min(count)).find(|at| self.decided[*at].is_none());
        let here = || (self.at < count && self.decided[self.at].is_none()).then_some(self.at);
        match after.or_else(before).or_else(here) {
            Some(at) => self.open(at),
            None => self.mode = Mode::Finished,
        }
    }

    /// Reopens the item decided last. The written line stays in the file; the new one overrides it.
    pub fn undo(&mut self) -> Step {
        match self.history.pop() {
            Some(at) => {
                let was = self.decided[at].clone();
                self.open(at);
                if let Some(was) = was {
                    self.note = was.note.unwrap_or_default();
                    self.severity = was.severity;
                }
                self.message =
                    Some("decide again: a new line is added, and it counts; the old one stays".to_owned());
            }
            None => self.message = Some("nothing was decided in this session yet".to_owned()),
        }
        Step::Stay
    }

    fn open(&mut self, at: usize) {
        self.at = at;
        self.scroll = 0;
        self.note.clear();
        self.severity = None;
        self.mode = if at < self.items.len() { Mode::Deciding } else { Mode::Finished };
    }

    fn record(&mut self, said: Said) -> Step {
        let note = self.note.trim();
        let decision = Decision {
            said,
            severity: self.severity,
            note: (!note.is_empty()).then(|| note.to_owned()),
            after_judge: self.decision().is_some() && self.item().is_some_and(|item| item.judge.is_some()),
        };
        self.pending = Some(decision.clone());
        Step::Record(decision)
    }

    fn deciding(&mut self, key: Key) -> Step {
        if self.scrolled(key) {
            return Step::Stay;
        }
        let Some(question) = self.item().map(|item| item.question.clone()) else { return Step::Stay };
        let verdict = matches!(question, Question::Verdict(_));
        let outcome = match key {
            Key::Char('p') => Some(LabelOutcome::Met),
            Key::Char('f') => Some(LabelOutcome::Unmet),
            Key::Char('n') => Some(LabelOutcome::NotApplicable),
            Key::Char('u') => Some(LabelOutcome::Unsure),
            _ => None,
        };
        match (key, outcome) {
            (_, Some(outcome)) if verdict => self.record(Said::Outcome(outcome)),
            (Key::Char('v'), _) if matches!(question, Question::Verdict(Some(_))) => {
                self.mode = Mode::Score(String::new());
                Step::Stay
            }
            (Key::Char('c') | Key::Enter, _) if !verdict => {
                self.mode = Mode::Choosing(0);
                Step::Stay
            }
            (Key::Char('0'), _) if !verdict => self.record(Said::Primary(NONE_OF_THE_ABOVE.to_owned())),
            _ => self.common(key),
        }
    }

    fn common(&mut self, key: Key) -> Step {
        match key {
            Key::Char('s') => {
                self.severity = match self.severity {
                    None => Some(Severity::Low),
                    Some(Severity::Low) => Some(Severity::Medium),
                    Some(Severity::Medium) => Some(Severity::High),
                    Some(Severity::High) => None,
                };
                Step::Stay
            }
            Key::Char('e') => {
                self.mode = Mode::Note(self.note.clone());
                Step::Stay
            }
            Key::Char('x') => {
                self.next();
                Step::Stay
            }
            Key::Char('z') => self.undo(),
            Key::Char('?') => {
                self.help = true;
                Step::Stay
            }
            Key::Char('q') => Step::Quit,
            _ => Step::Stay,
        }
    }

    fn after(&mut self, key: Key) -> Step {
        if self.scrolled(key) {
            return Step::Stay;
        }
        match key {
            Key::Enter | Key::Char(' ' | 'x') => {
                self.next();
                Step::Stay
            }
            Key::Char('z') => self.undo(),
            Key::Char('q') => Step::Quit,
            _ => Step::Stay,
        }
    }

    fn in_note(&mut self, mut text: String, key: Key) -> Step {
        match key {
            Key::Enter => {
                self.note = text;
                self.mode = Mode::Deciding;
            }
            Key::Escape => self.mode = Mode::Deciding,
            _ => {
                typed(&mut text, key);
                self.mode = Mode::Note(text);
            }
        }
        Step::Stay
    }

    fn in_score(&mut self, mut text: String, key: Key) -> Step {
        match key {
            Key::Escape => self.mode = Mode::Deciding,
            Key::Enter => {
                let said = text.trim().parse().map(|score| Said::Outcome(LabelOutcome::Score(score)));
                let fitting = said.map_err(|_| format!("`{}` is no number", text.trim())).and_then(|said| {
                    let item = self.item().ok_or("nothing is left to decide")?;
                    fits(item, &said).map(|()| said)
                });
                match fitting {
                    Ok(said) => return self.record(said),
                    Err(why) => self.message = Some(why),
                }
            }
            _ => {
                typed(&mut text, key);
                self.mode = Mode::Score(text);
            }
        }
        Step::Stay
    }

    fn choosing(&mut self, at: usize, key: Key) -> Step {
        let Some(Question::Primary(choices)) = self.item().map(|item| &item.question) else {
            return Step::Stay;
        };
        let last = choices.len();
        let page = 10;
        let to = match key {
            Key::Enter => {
                let code = choices.get(at).map_or(NONE_OF_THE_ABOVE, |choice| &choice.code).to_owned();
                return self.record(Said::Primary(code));
            }
            Key::Escape => {
                self.mode = Mode::Deciding;
                return Step::Stay;
            }
            Key::Up | Key::Char('k') => at.saturating_sub(1),
            Key::Down | Key::Char('j') => (at + 1).min(last),
            Key::PageUp => at.saturating_sub(page),
            Key::PageDown => (at + page).min(last),
            Key::Home => 0,
            Key::End | Key::Char('0') => last,
            _ => at,
        };
        self.mode = Mode::Choosing(to);
        Step::Stay
    }

    /// Scrolls the text if the key asks for it, and returns true then. Only the screen knows the end of the
    /// text; it limits the position.
    fn scrolled(&mut self, key: Key) -> bool {
        const PAGE: usize = 10;
        self.scroll = match key {
            Key::Up | Key::Char('k') => self.scroll.saturating_sub(1),
            Key::Down | Key::Char('j') => self.scroll.saturating_add(1),
            Key::PageUp | Key::Char('b') => self.scroll.saturating_sub(PAGE),
            Key::PageDown => self.scroll.saturating_add(PAGE),
            Key::Char(' ') if self.mode == Mode::Deciding => self.scroll.saturating_add(PAGE),
            Key::Home => 0,
            Key::End => usize::MAX,
            _ => return false,
        };
        true
    }
}

fn typed(text: &mut String, key: Key) {
    match key {
        Key::Char(c) if !c.is_control() => text.push(c),
        Key::Backspace => {
            text.pop();
        }
        _ => {}
    }
}

/// Checks that a label answers the question of an item.
fn fits(item: &Item, said: &Said) -> Result<(), String> {
    match (&item.question, said) {
        (Question::Primary(choices), Said::Primary(code)) => {
            let known = code == NONE_OF_THE_ABOVE || choices.iter().any(|choice| choice.code == *code);
            if known { Ok(()) } else { Err(format!("there is no code `{code}` to choose")) }
        }
        (Question::Verdict(scale), Said::Outcome(LabelOutcome::Score(score))) => match scale {
            None => {
                Err("this criterion has no scale; decide pass, fail, not applicable or unsure".to_owned())
            }
            Some(scale) if (scale.min..=scale.max).contains(score) => Ok(()),
            Some(scale) => Err(format!("{score} is not on the scale from {} to {}", scale.min, scale.max)),
        },
        (Question::Verdict(_), Said::Outcome(_)) => Ok(()),
        (Question::Primary(_), Said::Outcome(_)) => {
            Err(format!("name the code of a failure, or {NONE_OF_THE_ABOVE}"))
        }
        (Question::Verdict(_), Said::Primary(code)) => {
            Err(format!("`{code}` is no decision: use pass, fail, not_applicable or unsure"))
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{About, Choice, JudgeSaid, ScoreScale, Section, Why};

    pub(crate) fn items(count: usize) -> Vec<Item> {
        (0..count)
            .map(|n| Item {
                case: format!("case-{n}"),
                suite: None,
                system: None,
                repeat: None,
                criterion: "tone".to_owned(),
                version: "v1".to_owned(),
                sections: vec![
                    section(About::Question, "Criterion", "The answer is kind."),
                    section(About::Material, "Answer", &"line\n".repeat(100)),
                ],
                question: Question::Verdict(None),
                judge: Some(JudgeSaid {
                    outcome: Some(LabelOutcome::Unmet),
                    reason: "SECRET-REASON".to_owned(),
                    confidence: Some("high"),
                }),
                why: Why::Check,
            })
            .collect()
    }

    fn section(about: About, title: &str, text: &str) -> Section {
        Section { about, title: title.to_owned(), text: text.to_owned() }
    }

    fn records(session: &mut Session, key: Key) -> Decision {
        match session.press(key) {
            Step::Record(decision) => {
                session.recorded();
                decision
            }
            other => panic!("{key:?} led to {other:?}"),
        }
    }

    fn type_in(session: &mut Session, text: &str) {
        for c in text.chars() {
            assert_eq!(session.press(Key::Char(c)), Step::Stay);
        }
    }

    #[test]
    fn a_decision_takes_note_and_severity_along_and_opens_the_judge() {
        let mut session = Session::new(items(2));
        session.press(Key::Char('s'));
        session.press(Key::Char('s'));
        session.press(Key::Char('e'));
        type_in(&mut session, "quite pf");
        session.press(Key::Enter);
        assert!(!session.may_show_judge());
        let decision = records(&mut session, Key::Char('f'));
        assert_eq!(decision.said, Said::Outcome(LabelOutcome::Unmet));
        assert_eq!(decision.severity, Some(Severity::Medium));
        assert_eq!(decision.note.as_deref(), Some("quite pf"));
        assert!(session.may_show_judge());
        session.press(Key::Enter);
        assert_eq!(session.item().map(|item| item.case.as_str()), Some("case-1"));
        assert!(!session.may_show_judge(), "the next item hides its judge again");
    }

    #[test]
    fn what_was_decided_can_only_be_amended() {
        let mut session = Session::new(items(1));
        assert!(!records(&mut session, Key::Char('p')).after_judge);
        assert_eq!(session.press(Key::Char('f')), Step::Stay, "no silent change");
        session.press(Key::Char('z'));
        assert!(!session.may_show_judge());
        let amended = records(&mut session, Key::Char('f'));
        assert!(amended.after_judge);
        assert_eq!(session.left(), Left { decided: 1, all: 1 });
        session.press(Key::Enter);
        assert_eq!(session.item(), None);
        assert_eq!(session.press(Key::Char('q')), Step::Quit);
    }

    #[test]
    fn what_could_not_be_written_was_not_decided() {
        let mut session = Session::new(items(1));
        assert!(matches!(session.press(Key::Char('p')), Step::Record(_)));
        session.refused("disk full");
        assert!(!session.may_show_judge());
        assert_eq!((session.decision(), session.left().decided), (None, 0));
        session.recorded();
        assert_eq!(session.left().decided, 0, "nothing is pending any more");
    }

    #[test]
    fn skipped_items_come_again_at_the_end() {
        let mut session = Session::new(items(3));
        session.press(Key::Char('x'));
        records(&mut session, Key::Char('p'));
        session.press(Key::Enter);
        records(&mut session, Key::Char('n'));
        session.press(Key::Enter);
        assert_eq!(session.item().map(|item| item.case.as_str()), Some("case-0"));
        session.press(Key::Char('x'));
        assert!(session.item().is_some(), "the last one left can't be skipped away");
    }

    #[test]
    fn scores_must_be_on_the_scale() {
        let mut all = items(1);
        all[0].question = Question::Verdict(Some(ScoreScale { min: 1.0, max: 5.0 }));
        let mut session = Session::new(all);
        session.press(Key::Char('v'));
        type_in(&mut session, "7");
        assert_eq!(session.press(Key::Enter), Step::Stay);
        assert!(session.message.as_deref().is_some_and(|text| text.contains("from 1 to 5")));
        session.press(Key::Backspace);
        type_in(&mut session, "4.5");
        assert_eq!(records(&mut session, Key::Enter).said, Said::Outcome(LabelOutcome::Score(4.5)));
    }

    #[test]
    fn a_trace_gets_one_code_or_none_of_them() {
        let mut all = items(2);
        let choices = ["A1", "A2"].map(|code| Choice { code: code.to_owned(), text: "x".to_owned() });
        for item in &mut all {
            item.question = Question::Primary(choices.to_vec());
        }
        let mut session = Session::new(all);
        assert_eq!(session.press(Key::Char('p')), Step::Stay, "a trace is not passed");
        session.press(Key::Char('c'));
        session.press(Key::Down);
        assert_eq!(records(&mut session, Key::Enter).said, Said::Primary("A2".to_owned()));
        session.press(Key::Enter);
        assert_eq!(records(&mut session, Key::Char('0')).said, Said::Primary(NONE_OF_THE_ABOVE.to_owned()));
        session.press(Key::Char('z'));
        assert!(session.decide(Said::Primary("A9".to_owned()), None, None).is_err());
    }

    #[test]
    fn an_interrupt_leaves_from_anywhere() {
        let mut session = Session::new(items(1));
        session.press(Key::Char('e'));
        assert_eq!(session.press(Key::Interrupt), Step::Quit);
    }
}
