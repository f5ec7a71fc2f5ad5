//! Effect of labels on the decision about a benchmark: which labels count, which are stale, and who gave them when.
//!
//! Design: `docs/design/labels.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::label_consensus::{count_people, person_key};
use crate::{
    BenchmarkFinding, BenchmarkScale, BenchmarkState, DecidedBy, Decision, GraderFindingKind, Label,
    LabelOutcome, LabelScore, SeenHash, SettledLabels, UnitInterval, at_least, settle_labels,
};

/// Handling of labels without the hash that `assize review` writes. Nothing shows which answer they belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnboundLabels {
    /// They are reported and decide nothing.
    #[default]
    Report,
    /// They count for the current answer of the case.
    Accept,
}

/// Determines who decides if people's labels contradict the decision of a judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PeopleRule {
    /// The item is disputed until a named person adjudicates.
    #[default]
    Dispute,
    /// The people, if enough of them agree.
    Override,
}

/// Relation of a label to the current item of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelBinding {
    /// It is about this item.
    Current,
    /// It is about another answer, target, case or question.
    Stale,
    /// It has no hash of the text that the person saw.
    Unbound,
}

impl LabelBinding {
    /// Returns the relation of a label to an item with this hash and target.
    pub fn new(label: &Label, seen: Option<SeenHash>, target: Option<&str>, unbound: UnboundLabels) -> Self {
        let other_target = label.system.is_some() && label.system.as_deref() != target;
        match (label.seen, unbound) {
            // A label that names another target is about that target, whatever its hash.
            _ if other_target => Self::Stale,
            (Some(hash), _) if Some(hash) == seen => Self::Current,
            (Some(_), _) => Self::Stale,
            (None, UnboundLabels::Accept) => Self::Current,
            (None, UnboundLabels::Report) => Self::Unbound,
        }
    }
}

/// Labels of one item, sorted by whether they count.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LabelAccount {
    /// Labels about this item, the last one of each named person. They count.
    pub current: Vec<Label>,
    /// Labels about an earlier version of the item, from reviewers who have not labelled the current one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<Label>,
    /// Labels without a hash of the text that the person saw. They do not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unbound: Vec<Label>,
    /// Labels without a reviewer, which do not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anonymous: Vec<Label>,
    /// Labels of people who decided differently at times that can't be ordered, which do not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unordered: Vec<Label>,
    /// Number of people who must decide before their labels count; absent if one is enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raters: Option<NonZeroU32>,
    /// The decision that people's labels replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<ReplacedDecision>,
    /// The judge's decision, if a current label contradicts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disputes: Option<ReplacedDecision>,
}

/// Number of labels that count, and number of those that do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct LabelCounts {
    /// Labels about the current version.
    pub counted: u64,
    /// Labels about another answer, target, case or question.
    pub stale: u64,
    /// Number of labels without a hash of the text that the person saw.
    pub unbound: u64,
    /// Labels without a reviewer.
    pub anonymous: u64,
    /// Labels of people who decided differently at times that can't be ordered.
    pub unordered: u64,
}

impl LabelCounts {
    /// Adds the labels of an item.
    pub fn add(&mut self, account: &LabelAccount) {
        self.counted += account.current.len() as u64;
        self.stale += account.stale.len() as u64;
        self.unbound += account.unbound.len() as u64;
        self.anonymous += account.anonymous.len() as u64;
        self.unordered += account.unordered.len() as u64;
    }
}

/// Decision of a judge that people's labels replaced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplacedDecision {
    /// State of the benchmark.
    pub state: BenchmarkState,
    /// Its score.
    pub score: Option<UnitInterval>,
    /// Reason for it, or why there is no decision.
    pub reason: String,
}

impl LabelAccount {
    /// Sorts the labels of an item.
    pub fn new<'l>(
        labels: impl IntoIterator<Item = &'l Label>,
        seen: Option<SeenHash>,
        target: Option<&str>,
        unbound: UnboundLabels,
    ) -> Self {
        let mut account = Self::default();
        for label in labels {
            if label.who.as_deref().is_none_or(|who| person_key(who).is_empty()) {
                account.anonymous.push(label.clone());
                continue;
            }
            match LabelBinding::new(label, seen, target, unbound) {
                LabelBinding::Current => account.current.push(label.clone()),
                LabelBinding::Stale => account.stale.push(label.clone()),
                LabelBinding::Unbound => account.unbound.push(label.clone()),
            }
        }

        // A later decision of a reviewer replaces an earlier one.
        account.current = latest_labels(account.current, &mut account.unordered);
        // These don't count, so it does not matter which of a person's labels is the later one.
        for labels in [&mut account.stale, &mut account.unbound] {
            let mut unordered = Vec::new();
            *labels = latest_labels(std::mem::take(labels), &mut unordered);
            unordered.dedup_by(|a, b| a.who == b.who);
            labels.append(&mut unordered);
        }

        // A reviewer who has labelled the current item no longer has stale labels.
        let person = |label: &Label| label.who.as_deref().map(person_key);
        let is_by_one_of = |labels: &[Label], label: &Label| {
            person(label).is_some_and(|who| labels.iter().any(|other| person(other).as_ref() == Some(&who)))
        };
        account.stale.retain(|label| !is_by_one_of(&account.current, label));
        account
            .unbound
            .retain(|label| !is_by_one_of(&account.current, label) && !is_by_one_of(&account.stale, label));
        account
    }

    /// Returns true if there are no labels.
    pub fn is_empty(&self) -> bool {
        self.current.is_empty()
            && self.stale.is_empty()
            && self.unbound.is_empty()
            && self.anonymous.is_empty()
            && self.unordered.is_empty()
    }

    /// Sets the number of people who must decide before their labels count.
    #[must_use]
    pub fn with_raters(self, raters: Option<NonZeroU32>) -> Self {
        Self { raters, ..self }
    }

    /// Returns the number of people who decided. Each name counts once, in any spelling, and all labels
    /// without a name count as one. Adjudicators do not count, nor do people who are unsure, nor, on a scale,
    /// people who gave no score.
    pub fn reviewers(&self, is_scaled: bool) -> usize {
        count_people(self.votes(is_scaled, false))
    }

    /// Returns true if a named adjudicator decided because the others disagree.
    pub fn is_adjudicated(&self, is_scaled: bool) -> bool {
        self.adjudication(is_scaled) != SettledLabels::Nothing
    }

    /// Decision of the adjudicators if the others disagree; otherwise there is nothing to adjudicate.
    fn adjudication(&self, is_scaled: bool) -> SettledLabels {
        match settle_labels(self.votes(is_scaled, false)) {
            SettledLabels::Differ => settle_labels(self.votes(is_scaled, true)),
            _ => SettledLabels::Nothing,
        }
    }

    /// Returns the result of the current labels: the adjudicators' decision if the others disagree, otherwise
    /// the decision of the others once enough of them have decided. On a scale of scores, pass and fail
    /// decide nothing, because they would count as its ends.
    pub fn settle(&self, scale: Option<BenchmarkScale<'_>>) -> SettledLabels {
        let is_scaled = scale.is_some();
        match self.adjudication(is_scaled) {
            SettledLabels::Nothing => {}
            adjudicated => return adjudicated,
        }

        let decided = self.reviewers(is_scaled);
        match self.raters {
            Some(raters) if decided > 0 && decided < raters.get() as usize => SettledLabels::TooFew,
            _ => settle_labels(self.votes(is_scaled, false)),
        }
    }

    /// Names and decisions of the adjudicators, or of the others. An adjudication without a name does not
    /// count.
    fn votes(
        &self,
        is_scaled: bool,
        adjudicates: bool,
    ) -> impl Iterator<Item = (Option<&str>, LabelOutcome)> {
        self.current
            .iter()
            .filter(move |label| label.adjudicates == adjudicates && (!adjudicates || label.who.is_some()))
            .map(move |label| (label.who.as_deref(), counted_outcome(label.label, is_scaled)))
    }

    /// Reads the account stored with a decision, if labels had an effect on it.
    pub fn from_details(details: Option<&Value>) -> Option<Self> {
        serde_json::from_value(details?.get(DETAILS_KEY)?.clone()).ok()
    }

    /// Describes the current labels: person, decision, time and reason.
    pub fn words(&self) -> String {
        // The adjudicator's label decides, so it comes first.
        let mut labels: Vec<&Label> = self.current.iter().collect();
        labels.sort_by_key(|label| !label.adjudicates);
        let differ = settle_labels(self.votes(false, false)) == SettledLabels::Differ;
        let words = labels.into_iter().map(|label| {
            let who = label.who.as_deref().unwrap_or("somebody");
            let at = label.at.as_deref().map(|at| format!(", {}", without_fraction(at))).unwrap_or_default();
            let note = label.note.as_deref().map(|note| format!(" ({note})")).unwrap_or_default();
            let role = match (label.adjudicates, differ) {
                (true, true) => " (adjudicator)",
                (true, false) => " (adjudicates, but the reviewers don't differ: not counted)",
                (false, _) => "",
            };
            format!("{who}{role}: {}{at}{note}", label.label.words())
        });
        words.collect::<Vec<_>>().join("; ")
    }

    /// Reason for waiting for more people.
    fn too_few_words(&self, is_scaled: bool) -> String {
        let raters = self.raters.map_or(1, NonZeroU32::get);
        format!(
            "{} of {raters} reviewers have decided: {}{}",
            self.reviewers(is_scaled),
            self.words(),
            self.unused_words()
        )
    }

    /// Reason for waiting for a person.
    fn waiting_words(&self, scale: Option<BenchmarkScale<'_>>) -> String {
        let is_verdict = |label: &Label| matches!(label.label, LabelOutcome::Met | LabelOutcome::Unmet);
        let mut words = match scale {
            Some(scale) if self.current.iter().any(is_verdict) => {
                format!("waiting for a score from {} to {}; {}", scale.min, scale.max, self.words())
            }
            _ => "waiting for a person".to_owned(),
        };
        words.push_str(&self.unused_words());
        words
    }

    /// Describes the labels that don't count, to be appended to another text.
    fn unused_words(&self) -> String {
        let mut words = String::new();
        for (labels, why) in [
            (&self.stale, "stale, of another answer or question"),
            (&self.unbound, "that name no answer"),
            (&self.anonymous, "without a reviewer"),
            (&self.unordered, "of one person that differ, without times that order them"),
        ] {
            if !labels.is_empty() {
                let who: Vec<String> = labels
                    .iter()
                    .map(|label| {
                        let who = label.who.as_deref().unwrap_or("somebody");
                        format!("{who}: {}", label.label.words())
                    })
                    .collect();
                let count = if labels.len() == 1 { "1 label" } else { &format!("{} labels", labels.len()) };
                let _ = write!(words, "; {count} {why}, not counted ({})", who.join(", "));
            }
        }

        words
    }
}

/// A time for display, without the fraction of its second.
fn without_fraction(at: &str) -> String {
    match at.split_once('.') {
        Some((second, rest)) => format!("{second}{}", rest.trim_start_matches(|c: char| c.is_ascii_digit())),
        None => at.to_owned(),
    }
}

/// Key under which the labels of a decision are stored in its details.
const DETAILS_KEY: &str = "labels";

/// Returns the latest label of each person by its time, in the order of people's names, so that the order of rows in a
/// file changes nothing. Labels as an adjudicator and as a reviewer are independent. If a person decided differently
/// and the times do not show which decision is the later one, none of these labels counts.
fn latest_labels(labels: Vec<Label>, unordered: &mut Vec<Label>) -> Vec<Label> {
    let mut people: BTreeMap<(String, bool), Vec<Label>> = BTreeMap::new();
    for label in labels {
        let who = label.who.as_deref().map(person_key).unwrap_or_default();
        people.entry((who, label.adjudicates)).or_default().push(label);
    }

    let mut latest = Vec::new();
    for mut own in people.into_values() {
        own.sort_by_cached_key(|label| (label.time(), label.label.to_string(), label.note.clone()));
        if are_ordered(&own) {
            latest.extend(own.pop());
        } else {
            unordered.append(&mut own);
        }
    }

    latest
}

/// Returns true if the last of one person's labels, which are sorted by time, is the later decision.
pub fn are_ordered(labels: &[Label]) -> bool {
    let Some(last) = labels.last() else { return true };
    labels
        .iter()
        .filter(|label| label.label != last.label)
        .all(|label| label.time().zip(last.time()).is_some_and(|(earlier, later)| earlier < later))
}

/// Returns the outcome that a label counts as.
const fn counted_outcome(outcome: LabelOutcome, is_scaled: bool) -> LabelOutcome {
    match outcome {
        LabelOutcome::Met | LabelOutcome::Unmet if is_scaled => LabelOutcome::Unsure,
        outcome => outcome,
    }
}

impl Decision {
    /// Applies labels to a benchmark that waits for them: one with `manual_sme`, or one that is queued
    /// because its judge was uncertain, judges disagreed, or no judge answered. The judge's decision is kept
    /// in the details.
    ///
    /// Has no effect on the decision if labels are stale, unbound, unsure, too few or evenly split.
    pub fn apply_labels(&mut self, account: LabelAccount, scale: Option<BenchmarkScale<'_>>) {
        let reason = self.reason.clone();
        let Some(finding) = self.grader_mut() else { return };
        let Some(mut before) = finding.benchmark().copied() else { return };
        if before.decided_by == Some(DecidedBy::Person) {
            // The current labels replace those that decided when the run was made.
            before = BenchmarkFinding {
                seen: before.seen,
                ..BenchmarkFinding::undecided(BenchmarkState::Waiting, before.scaled)
            };
        }

        let by_people = matches!(before.state, BenchmarkState::Waiting | BenchmarkState::ReviewersDiffer);
        let is_queued = by_people
            || matches!(
                before.state,
                BenchmarkState::Uncertain | BenchmarkState::JudgesDiffer | BenchmarkState::Missing
            );
        if !is_queued {
            return;
        }

        let undecided =
            |state| BenchmarkFinding { pass: None, raw_score: None, decided_by: None, state, ..before };
        let settled = account.settle(scale);
        let (found, score, words) = match settled {
            SettledLabels::Nothing if by_people => {
                let words = account.waiting_words(scale);
                (undecided(BenchmarkState::Waiting), Err(words.clone()), words)
            }
            SettledLabels::Nothing => {
                let unused = account.unused_words();
                (before, finding.score.clone().map_err(|error| error + &unused), reason.clone() + &unused)
            }
            SettledLabels::TooFew if by_people => {
                let words = account.too_few_words(scale.is_some());
                (undecided(BenchmarkState::Waiting), Err(words.clone()), words)
            }
            SettledLabels::TooFew => {
                let words = format!("{reason}; {}", account.too_few_words(scale.is_some()));
                (before, finding.score.clone(), words)
            }
            SettledLabels::Differ => {
                let words = format!("reviewers disagree: {}", account.words());
                (undecided(BenchmarkState::ReviewersDiffer), Err(words.clone()), words)
            }
            SettledLabels::Decided(label) => match LabelScore::new(label, scale) {
                LabelScore::NotApplicable | LabelScore::Score(_) => {
                    decided(before, label, scale, account.words())
                }
                LabelScore::OffScale(raw) => {
                    let words = format!("{raw} is not on the scale of the benchmark");
                    (undecided(BenchmarkState::Missing), Err(words.clone()), words)
                }
                LabelScore::Undecided => return,
            },
        };

        let mut account = account;
        if !by_people && matches!(settled, SettledLabels::Decided(_) | SettledLabels::Differ) {
            let message = finding.error().map_or(reason, str::to_owned);
            account.before =
                Some(ReplacedDecision { state: before.state, score: finding.score(), reason: message });
        }

        finding.score = score;
        finding.kind = GraderFindingKind::Benchmark(found);
        if !account.is_empty() {
            finding.details = Some(serde_json::json!({ DETAILS_KEY: account }));
        } else if finding.details.as_ref().is_some_and(|details| details.get(DETAILS_KEY).is_some()) {
            // Labels that counted in the run have been removed since.
            finding.details = None;
        }

        let is_decided = matches!(settled, SettledLabels::Decided(_)) && finding.score.is_ok();
        self.reason = match &account.before {
            Some(before) if is_decided => {
                format!("{words}; before: {}, {}", before.state.name().replace('_', " "), before.reason)
            }
            _ => words,
        };
        if is_decided {
            self.ungraded = None;
        }
    }
}

impl Decision {
    /// Compares the labels of people with the decision of a judge, which counts unless a named person adjudicates. A
    /// label that contradicts it makes the decision disputed; the decision of a gate is then ungraded. `threshold` is
    /// the pass threshold of the benchmark, and `people` determines whether people decide without an adjudicator.
    pub fn dispute_by_labels(
        &mut self,
        mut account: LabelAccount,
        scale: Option<BenchmarkScale<'_>>,
        threshold: UnitInterval,
        gate: bool,
        people: PeopleRule,
    ) {
        if account.is_empty() {
            return;
        }

        let reason = self.reason.clone();
        let Some(finding) = self.grader_mut() else { return };
        let Some(judged) = finding.benchmark().copied() else { return };
        let passes = finding.score().map(|score| at_least(score.get(), threshold.get()));
        let contradicts = |outcome: LabelOutcome| match LabelScore::new(outcome, scale) {
            LabelScore::Score(score) => passes != Some(at_least(score.get(), threshold.get())),
            LabelScore::NotApplicable => judged.state != BenchmarkState::NotApplicable,
            LabelScore::Undecided | LabelScore::OffScale(_) => false,
        };
        let decision =
            ReplacedDecision { state: judged.state, score: finding.score(), reason: reason.clone() };
        let is_disputed = account.votes(scale.is_some(), false).any(|(_, outcome)| contradicts(outcome));
        let adjudicated = match settle_labels(account.votes(scale.is_some(), true)) {
            SettledLabels::Nothing if is_disputed && people == PeopleRule::Override => account.settle(scale),
            adjudicated => adjudicated,
        };

        let mut new_reason = None;
        match adjudicated {
            SettledLabels::Decided(label)
                if matches!(
                    LabelScore::new(label, scale),
                    LabelScore::Score(_) | LabelScore::NotApplicable
                ) =>
            {
                let (found, score, words) = decided(judged, label, scale, account.words());
                finding.score = score;
                finding.kind = GraderFindingKind::Benchmark(found);
                new_reason = Some(format!("{words}; before: the judge, {reason}"));
                account.before = Some(decision);
            }
            _ if is_disputed => {
                let verdict = match passes {
                    Some(true) => "pass",
                    Some(false) => "fail",
                    None => "no verdict",
                };
                let why = reason.trim_end_matches('.');
                let words =
                    format!("disputed: the judge says {verdict} ({why}); people say {}", account.words());
                if gate {
                    finding.score = Err(words.clone());
                    finding.kind = GraderFindingKind::Benchmark(BenchmarkFinding {
                        pass: None,
                        raw_score: None,
                        decided_by: None,
                        state: BenchmarkState::Disputed,
                        ..judged
                    });
                }
                new_reason = Some(words);
                account.disputes = Some(decision);
            }
            _ => {}
        }

        finding.details = Some(serde_json::json!({ DETAILS_KEY: account }));
        if let Some(reason) = new_reason {
            self.reason = reason;
        }
    }
}

/// Creates the finding if people agree.
fn decided(
    before: BenchmarkFinding,
    label: LabelOutcome,
    scale: Option<BenchmarkScale<'_>>,
    words: String,
) -> (BenchmarkFinding, Result<Option<UnitInterval>, String>, String) {
    let (state, score) = match LabelScore::new(label, scale) {
        LabelScore::Score(score) => (BenchmarkState::Scored, Some(score)),
        _ => (BenchmarkState::NotApplicable, None),
    };
    // A score does not decide whether this single case passes or fails.
    let (pass, raw_score) = match label {
        LabelOutcome::Met => (Some(true), None),
        LabelOutcome::Unmet => (Some(false), None),
        LabelOutcome::Score(raw) => (None, Some(raw)),
        LabelOutcome::NotApplicable | LabelOutcome::Unsure => (None, None),
    };
    let found = BenchmarkFinding { state, pass, raw_score, decided_by: Some(DecidedBy::Person), ..before };

    (found, Ok(score), words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{JudgeIdentity, NormalisationFormula, SubjectHash};

    fn seen(answer: &str) -> SeenHash {
        SeenHash::new(SubjectHash::new(&"q".to_owned(), &"i".to_owned()), None, answer)
    }

    fn label(who: &str, outcome: LabelOutcome, seen: Option<SeenHash>) -> Label {
        Label {
            who: Some(who.to_owned()),
            at: Some("2026-01-02".to_owned()),
            seen,
            ..Label::new("c", "k", outcome)
        }
    }

    fn decision(state: BenchmarkState, score: Result<Option<UnitInterval>, String>) -> Decision {
        let finding = BenchmarkFinding {
            decided_by: Some(DecidedBy::Judge),
            seen: Some(seen("now")),
            ..BenchmarkFinding::undecided(state, false)
        };
        Decision::new(JudgeIdentity::default(), finding.with_score(score, Vec::new()), "so it said")
    }

    fn apply(decision: &Decision, labels: &[Label], unbound: UnboundLabels) -> Decision {
        let mut changed = decision.clone();
        let seen = decision.benchmark().and_then(|found| found.seen);
        changed.apply_labels(LabelAccount::new(labels, seen, None, unbound), None);
        changed
    }

    fn outcome(decision: &Decision) -> (BenchmarkState, Option<f64>) {
        let state = decision.benchmark().expect("a benchmark").state;
        (
            state,
            decision.grader().and_then(super::super::finding::GraderFinding::score).map(UnitInterval::get),
        )
    }

    #[test]
    fn only_a_label_of_what_is_there_now_counts() {
        let waiting = BenchmarkFinding {
            seen: Some(seen("now")),
            ..BenchmarkFinding::undecided(BenchmarkState::Waiting, false)
        };
        let waiting = Decision::new(
            JudgeIdentity::default(),
            waiting.with_score(Err("waits".to_owned()), Vec::new()),
            "",
        );
        let labels_with = |seen| [label("ann", LabelOutcome::Met, seen)];
        assert_eq!(
            outcome(&apply(&waiting, &labels_with(Some(seen("now"))), UnboundLabels::Report)),
            (BenchmarkState::Scored, Some(1.0))
        );
        for unbound in [UnboundLabels::Report, UnboundLabels::Accept] {
            let stale = apply(&waiting, &labels_with(Some(seen("then"))), unbound);
            assert_eq!(outcome(&stale), (BenchmarkState::Waiting, None));
            assert!(stale.reason.contains("1 label stale"), "{}", stale.reason);
        }
        assert_eq!(
            outcome(&apply(&waiting, &labels_with(None), UnboundLabels::Report)),
            (BenchmarkState::Waiting, None)
        );
        assert_eq!(
            outcome(&apply(&waiting, &labels_with(None), UnboundLabels::Accept)),
            (BenchmarkState::Scored, Some(1.0))
        );
        let mut other = labels_with(None);
        other[0].system = Some("another".to_owned());
        assert_eq!(outcome(&apply(&waiting, &other, UnboundLabels::Accept)), (BenchmarkState::Waiting, None));

        // A matching hash does not help a label that names another target.
        let mut other = labels_with(Some(seen("now")));
        other[0].system = Some("another".to_owned());
        assert_eq!(outcome(&apply(&waiting, &other, UnboundLabels::Report)), (BenchmarkState::Waiting, None));
    }

    #[test]
    fn people_take_the_place_of_a_judge_and_of_people_before_them() {
        let now = |who, outcome| label(who, outcome, Some(seen("now")));
        let unsure = decision(BenchmarkState::Uncertain, Ok(Some(UnitInterval::ZERO)));
        let changed = apply(&unsure, &[now("ann", LabelOutcome::Met)], UnboundLabels::Report);
        assert_eq!(outcome(&changed), (BenchmarkState::Scored, Some(1.0)));
        assert_eq!(changed.reason, "ann: pass, 2026-01-02; before: uncertain, so it said");
        let account = LabelAccount::from_details(changed.grader().and_then(|found| found.details.as_ref()));
        assert_eq!(
            account.and_then(|account| account.before).map(|before| before.state),
            Some(BenchmarkState::Uncertain)
        );
        let differ = apply(
            &unsure,
            &[now("ann", LabelOutcome::Met), now("ben", LabelOutcome::Unmet)],
            UnboundLabels::Report,
        );
        assert_eq!(outcome(&differ), (BenchmarkState::ReviewersDiffer, None));
        let silent = apply(&unsure, &[now("ann", LabelOutcome::Unsure)], UnboundLabels::Report);
        assert_eq!(outcome(&silent), (BenchmarkState::Uncertain, Some(0.0)));

        let mut earlier = changed.clone();
        let Some(finding) = earlier.grader_mut() else { panic!("a grader") };
        finding.details = None;
        assert_eq!(
            outcome(&apply(&earlier, &[], UnboundLabels::Report)),
            (BenchmarkState::Waiting, None),
            "taken back"
        );
    }

    #[test]
    fn on_a_scale_only_scores_count() {
        let formula = NormalisationFormula::parse("(x-min)/(max-min)").expect("sound");
        let scale = Some(BenchmarkScale { min: 1.0, max: 5.0, formula: &formula });
        let account =
            |outcome| LabelAccount { current: vec![label("ann", outcome, None)], ..LabelAccount::default() };
        let waiting = decision(BenchmarkState::Waiting, Err("waits".to_owned()));
        let mut passed = waiting.clone();
        passed.apply_labels(account(LabelOutcome::Met), scale);
        assert_eq!(outcome(&passed), (BenchmarkState::Waiting, None));
        assert!(passed.reason.contains("a score from 1 to 5; ann: pass"), "{}", passed.reason);
        let mut scored = waiting;
        scored.apply_labels(account(LabelOutcome::Score(3.0)), scale);
        assert_eq!(outcome(&scored), (BenchmarkState::Scored, Some(0.5)));
    }

    #[test]
    fn an_adjudicator_decides_and_too_few_decide_nothing() {
        let now = |who, outcome| label(who, outcome, Some(seen("now")));
        let build = |labels: &[Label], raters| {
            LabelAccount::new(labels, Some(seen("now")), None, UnboundLabels::Report)
                .with_raters(NonZeroU32::new(raters))
        };
        let mut labels = vec![now("ann", LabelOutcome::Met)];
        assert_eq!(build(&labels, 2).settle(None), SettledLabels::TooFew);
        assert_eq!(build(&labels, 1).settle(None), SettledLabels::Decided(LabelOutcome::Met));
        labels.push(now("ben", LabelOutcome::Unsure));
        assert_eq!(
            (build(&labels, 2).settle(None), build(&labels, 2).reviewers(false)),
            (SettledLabels::TooFew, 1)
        );
        labels[1] = now("ben", LabelOutcome::Unmet);
        assert_eq!(build(&labels, 2).settle(None), SettledLabels::Differ);

        labels.push(Label { adjudicates: true, ..now("ann", LabelOutcome::Unmet) });
        let account = build(&labels, 5);
        assert_eq!(
            account.settle(None),
            SettledLabels::Decided(LabelOutcome::Unmet),
            "however many are asked for"
        );
        assert_eq!((account.reviewers(false), account.is_adjudicated(false)), (2, true));
        assert!(account.words().starts_with("ann (adjudicator): fail, 2026-01-02; ann: pass"));
        labels.push(Label { adjudicates: true, ..now("cleo", LabelOutcome::Met) });
        assert_eq!(build(&labels, 1).settle(None), SettledLabels::Differ, "there is no third level");

        let nobody = Label { adjudicates: true, who: None, ..now("x", LabelOutcome::Met) };
        let apart = [now("ann", LabelOutcome::Met), now("ben", LabelOutcome::Unmet)];
        let with = |label: &Label| build(&[&apart[..], std::slice::from_ref(label)].concat(), 1).settle(None);
        assert_eq!(with(&nobody), SettledLabels::Differ, "an adjudicator has a name");
        let stale = Label { adjudicates: true, ..label("cleo", LabelOutcome::Met, Some(seen("then"))) };
        assert_eq!(with(&stale), SettledLabels::Differ);

        // If the reviewers agree, there is nothing to adjudicate.
        let cleo = Label { adjudicates: true, ..now("cleo", LabelOutcome::Met) };
        assert_eq!(build(std::slice::from_ref(&cleo), 2).settle(None), SettledLabels::Nothing);
        let fails = ["ann", "ben"].map(|who| now(who, LabelOutcome::Unmet));
        for (labels, expected) in
            [(&fails[..], SettledLabels::Decided(LabelOutcome::Unmet)), (&fails[..1], SettledLabels::TooFew)]
        {
            let account = build(&[labels, std::slice::from_ref(&cleo)].concat(), 2);
            assert_eq!((account.settle(None), account.is_adjudicated(false)), (expected, false));
            assert!(account.words().contains("don't differ: not counted"), "{}", account.words());
        }
    }

    #[test]
    fn one_person_is_one_reviewer_however_the_name_is_written() {
        let reviewers = |names: &[&str]| {
            let labels: Vec<Label> =
                names.iter().map(|who| label(who, LabelOutcome::Met, Some(seen("now")))).collect();
            LabelAccount::new(&labels, Some(seen("now")), None, UnboundLabels::Report).reviewers(false)
        };
        for same in [["ann", "Ann"], ["ann", " ANN"], ["ann", "ann\u{200b}"], ["\u{e4}nn", "a\u{308}nn"]] {
            assert_eq!(reviewers(&same), 1, "{same:?}");
        }
        assert_eq!(reviewers(&["ann", "ben"]), 2);

        let nobody = Label { who: None, ..label("x", LabelOutcome::Met, Some(seen("now"))) };
        let labels = [nobody.clone(), nobody, label("ann", LabelOutcome::Met, Some(seen("now")))];
        let account = LabelAccount::new(&labels, Some(seen("now")), None, UnboundLabels::Report);
        assert_eq!(account.reviewers(false), 1, "a label without a reviewer does not count");
        assert_eq!(account.anonymous.len(), 2);
    }

    /// All orders of the labels.
    fn permutations(labels: &[Label]) -> Vec<Vec<Label>> {
        let [first, rest @ ..] = labels else { return vec![Vec::new()] };
        let mut found = Vec::new();
        for order in permutations(rest) {
            for at in 0..=order.len() {
                let mut order = order.clone();
                order.insert(at, first.clone());
                found.push(order);
            }
        }

        found
    }

    #[test]
    fn the_later_label_of_a_person_counts_in_any_order_of_rows() {
        let at = |who, outcome, at: &str| Label {
            at: (!at.is_empty()).then(|| at.to_owned()),
            ..label(who, outcome, Some(seen("now")))
        };
        let labels = [
            at("ann", LabelOutcome::Met, "2026-01-02T12:00:00+02:00"),
            at("Ann", LabelOutcome::Unmet, "2026-01-02T11:00:00Z"),
            at("ben", LabelOutcome::Unmet, "2026-01-01"),
            at("ben", LabelOutcome::Met, ""),
        ];
        for order in permutations(&labels) {
            let account = LabelAccount::new(&order, Some(seen("now")), None, UnboundLabels::Report);
            let counted: Vec<_> =
                account.current.iter().map(|label| (label.who.as_deref(), label.label)).collect();
            assert_eq!(counted, [(Some("Ann"), LabelOutcome::Unmet)], "{order:?}");
            assert_eq!(account.unordered.len(), 2, "the times of ben's labels order nothing");
        }
        let same = [at("ann", LabelOutcome::Met, ""), at("ann", LabelOutcome::Met, "")];
        let account = LabelAccount::new(&same, Some(seen("now")), None, UnboundLabels::Report);
        assert_eq!((account.current.len(), account.unordered.len()), (1, 0));
    }

    #[test]
    fn a_label_that_contradicts_a_judge_is_a_dispute_until_somebody_adjudicates() {
        let judged = decision(BenchmarkState::Scored, Ok(Some(UnitInterval::ONE)));
        let now = |who, outcome| label(who, outcome, Some(seen("now")));
        let compare = |labels: &[Label], gate| {
            let mut changed = judged.clone();
            let account = LabelAccount::new(labels, Some(seen("now")), None, UnboundLabels::Report);
            changed.dispute_by_labels(account, None, UnitInterval::ONE, gate, PeopleRule::Dispute);
            let details = changed.grader().and_then(|found| found.details.as_ref());
            let is_disputed =
                LabelAccount::from_details(details).is_some_and(|found| found.disputes.is_some());
            (outcome(&changed), is_disputed)
        };
        let (scored, disputed) = ((BenchmarkState::Scored, Some(1.0)), (BenchmarkState::Disputed, None));
        let fails = [now("ann", LabelOutcome::Unmet), now("ben", LabelOutcome::Met)];
        assert_eq!(compare(&fails[1..], true), (scored, false));
        assert_eq!(compare(&fails, true), (disputed, true));
        assert_eq!(compare(&fails, false), (scored, true));

        let cleo = Label { adjudicates: true, ..now("cleo", LabelOutcome::Unmet) };
        let adjudicated = [&fails[..], &[cleo]].concat();
        assert_eq!(compare(&adjudicated, true), ((BenchmarkState::Scored, Some(0.0)), false));
    }

    #[test]
    fn people_too_few_leave_what_a_judge_was_not_sure_of() {
        let unsure = decision(BenchmarkState::Uncertain, Ok(Some(UnitInterval::ZERO)));
        let labels = [label("ann", LabelOutcome::Met, Some(seen("now")))];
        let mut changed = unsure.clone();
        let account = LabelAccount::new(&labels, Some(seen("now")), None, UnboundLabels::Report);
        changed.apply_labels(account.with_raters(NonZeroU32::new(2)), None);
        assert_eq!(outcome(&changed), (BenchmarkState::Uncertain, Some(0.0)));
        assert_eq!(changed.reason, "so it said; 1 of 2 reviewers have decided: ann: pass, 2026-01-02");
    }

    #[test]
    fn a_reviewer_who_was_asked_again_has_nothing_stale() {
        let labels = [
            label("ann", LabelOutcome::Met, Some(seen("then"))),
            label("Ann ", LabelOutcome::Unmet, Some(seen("now"))),
            label("ben", LabelOutcome::Met, Some(seen("then"))),
        ];
        let account = LabelAccount::new(&labels, Some(seen("now")), None, UnboundLabels::Report);
        assert_eq!((account.current.len(), account.stale.len(), account.reviewers(false)), (1, 1, 1));
    }

    #[test]
    fn the_order_of_rows_changes_nothing() {
        let at = |time: &str, who: &str, outcome| Label {
            at: Some(time.to_owned()),
            ..label(who, outcome, Some(seen("now")))
        };
        let labels = [
            at("2026-01-02", "ann", LabelOutcome::Met),
            at("2026-01-03", "Ann", LabelOutcome::Unmet),
            at("2026-01-02", "ben", LabelOutcome::Unmet),
            at("2026-01-04", "ben", LabelOutcome::Met),
            at("2026-01-05", "cleo", LabelOutcome::Unmet),
        ];
        let judged = decision(BenchmarkState::Scored, Ok(Some(UnitInterval::ONE)));
        let mut found = Vec::new();
        for first in 0..labels.len() {
            for step in 1..labels.len() {
                // The number of labels is prime, so that every step visits all of them.
                let order = (0..labels.len()).map(|index| &labels[(first + index * step) % labels.len()]);
                let account = LabelAccount::new(order, Some(seen("now")), None, UnboundLabels::Report);
                let mut changed = judged.clone();
                changed.dispute_by_labels(
                    account.clone(),
                    None,
                    UnitInterval::ONE,
                    true,
                    PeopleRule::Override,
                );
                found.push((account.settle(None), changed.reason.clone(), outcome(&changed)));
            }
        }
        assert_eq!(found[0].0, SettledLabels::Decided(LabelOutcome::Unmet));
        assert_eq!(found[0].2, (BenchmarkState::Scored, Some(0.0)));
        assert!(found.iter().all(|one| *one == found[0]), "{found:?}");
    }
}
