//! Matching of a judge's decisions with human labels for the same items.

use std::collections::BTreeMap;

use assize_diagnostic::did_you_mean;
use assize_rubric::{LabelOutcome, SamplingMethod, TOLERANCE, person_key};
use assize_stats::combine::expected_score;
use jiff::Timestamp;
use serde::Serialize;

use super::item::{CalibrationItem, DecisionValue, ItemKey, ItemLabels, JudgeItemDecision};
use super::split::SplitChoice;
use crate::labels::{LabelProblem, LabelRow, TableDecision};

/// Counts of labels that were excluded, by reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ExcludedLabels {
    /// Labels about cases or criteria that were not judged.
    pub unmatched: u64,
    /// Labels about another answer or question than the judged one.
    pub stale: u64,
    /// Labels of cases the judge was tuned on or shown, or that are not in the selected split.
    pub other_split: u64,
    /// Labels of cases that were excluded by id.
    pub excluded: u64,
}

/// Items with labels and the judge's decisions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CalibrationMaterial {
    /// The items, in the order of their keys.
    pub items: Vec<CalibrationItem>,
    /// Counts of excluded labels.
    pub left_out: ExcludedLabels,
    /// Number of labels that were given after their reviewers saw the judge's decision.
    pub beside_judge: u64,
    /// Message about the closest match among the labels that match nothing.
    pub unmatched_example: Option<String>,
    /// Name of the judge, if it is known.
    pub judge: Option<String>,
}

/// Reason why the material can't be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MaterialError {
    /// Rows that contradict each other or the judged items.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Problems(Vec<LabelProblem>),
    /// No label matches a judged item.
    #[error("no label matches an item that was judged; {0}")]
    NothingMatches(String),
}

/// Options for reading a judge's decisions from a table.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeReadOptions<'r> {
    /// Lowest probability that counts as "met".
    pub threshold: f64,
    /// Name of the rater whose labels are the judge's, if it is listed among the people.
    pub rater: Option<&'r str>,
    /// True if a distribution over scores is read as its most probable score instead of its mean.
    pub likeliest: bool,
}

impl CalibrationMaterial {
    /// Builds the material from tables that have both the judge's decisions and labels. Rows with equal keys
    /// are merged.
    pub fn from_rows(
        rows: &[LabelRow],
        reading: &JudgeReadOptions<'_>,
        keep: impl Fn(&LabelRow) -> LabelInclusion,
    ) -> Result<Self, MaterialError> {
        let (mut items, mut problems) = (BTreeMap::<ItemKey, CalibrationItem>::new(), Vec::new());
        let mut left_out = ExcludedLabels::default();
        for row in rows {
            let key = ItemKey::from_row(row);
            let judge = read_judge_decision(row, reading, &mut problems);
            let item = items.entry(key).or_insert_with_key(|key| CalibrationItem {
                seen: None,
                key: key.clone(),
                judge: None,
                length: None,
                cluster: row.cluster.as_ref().unwrap_or(&row.case).as_str().into(),
                labels: Some(Box::new(ItemLabels {
                    requires: row.requires.clone(),
                    place: Some(row.place.clone()),
                    ..ItemLabels::default()
                })),
            });
            if let Some(judge) = judge {
                if item.judge.as_ref().is_some_and(|other| *other != judge) {
                    problems.push(LabelProblem {
                        place: row.place.clone(),
                        message: "an earlier row has another verdict of the judge for the same item"
                            .to_owned(),
                    });
                }
                item.judge = Some(judge);
            }

            item.length = item.length.or(row.length);
            item.add_labels(row, reading.rater, &keep, &mut left_out, &mut problems);
        }

        let material = Self { items: items.into_values().collect(), left_out, ..Self::default() };
        if problems.is_empty() { Ok(material) } else { Err(MaterialError::Problems(problems)) }
    }

    /// Adds labels to the judged items of a run. A label needs only as much of an item's key as is needed to
    /// identify the item.
    pub fn attach_labels(
        &mut self,
        rows: &[LabelRow],
        keep: impl Fn(&LabelRow) -> LabelInclusion,
    ) -> Result<(), MaterialError> {
        let mut problems = Vec::new();
        // Few cases of a run are labelled, so only the items of these are indexed.
        let mut by_case: BTreeMap<&str, Vec<usize>> =
            rows.iter().map(|row| (row.case.as_str(), Vec::new())).collect();
        for (at, item) in self.items.iter().enumerate() {
            if let Some(items) = by_case.get_mut(&*item.key.case) {
                items.push(at);
            }
        }

        let (mut matched, mut example) = (0u64, None);
        for row in rows {
            let candidates: Vec<usize> = by_case
                .get(row.case.as_str())
                .into_iter()
                .flatten()
                .copied()
                .filter(|&at| self.items[at].matches_row(row))
                .collect();
            let found = candidates.len();
            let candidates: Vec<usize> =
                candidates.into_iter().filter(|&at| self.items[at].fits_hash(row)).collect();
            match candidates.as_slice() {
                [] if found > 0 => {
                    matched += 1;
                    self.left_out.stale += row.labels.len() as u64;
                }
                [] => {
                    self.left_out.unmatched += row.labels.len() as u64;
                    example.get_or_insert_with(|| self.describe_near_miss(row));
                }
                [at] => {
                    matched += 1;
                    self.beside_judge += if row.is_after_judge { row.labels.len() as u64 } else { 0 };
                    let item = &mut self.items[*at];
                    if let Some(cluster) = &row.cluster {
                        item.cluster = cluster.as_str().into();
                    }
                    item.add_labels(row, None, &keep, &mut self.left_out, &mut problems);
                }
                several => problems.push(LabelProblem {
                    place: row.place.clone(),
                    message: self.describe_ambiguity(row, several),
                }),
            }
        }

        self.unmatched_example.clone_from(&example);

        if !problems.is_empty() {
            return Err(MaterialError::Problems(problems));
        }
        if matched == 0 && !rows.is_empty() {
            return Err(MaterialError::NothingMatches(example.unwrap_or_default()));
        }

        Ok(())
    }

    /// Describes the part of a label's key that matches nothing.
    fn describe_near_miss(&self, row: &LabelRow) -> String {
        let of_case: Vec<&CalibrationItem> =
            self.items.iter().filter(|item| *item.key.case == *row.case).collect();
        if of_case.is_empty() {
            let near = did_you_mean(&row.case, self.items.iter().map(|item| &*item.key.case));
            let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            return format!("{}: no case `{}` was judged{hint}", row.place, row.case);
        }

        let wanted = row.criterion.clone().unwrap_or_default();
        let near = did_you_mean(&wanted, of_case.iter().map(|item| &*item.key.criterion));
        let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        format!("{}: case `{}` has no such criterion `{wanted}`{hint}", row.place, row.case)
    }

    fn describe_ambiguity(&self, row: &LabelRow, several: &[usize]) -> String {
        let differ = |part: fn(&ItemKey) -> String| {
            let first = several.first().map(|&at| part(&self.items[at].key));
            several.iter().any(|&at| Some(part(&self.items[at].key)) != first)
        };
        let mut missing = Vec::new();
        for (name, part) in [
            ("criterion", (|key| key.criterion.to_string()) as fn(&ItemKey) -> String),
            ("suite", |key| key.suite.to_string()),
            ("system", |key| key.system.to_string()),
            ("repeat", |key| key.trial.to_string()),
        ] {
            if differ(part) {
                missing.push(name);
            }
        }

        let (count, names) = (several.len(), missing.join(" and "));
        format!("the label matches {count} judged items of case `{}`; add the {names}", row.case)
    }
}

/// Whether a label counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelInclusion {
    /// The label counts.
    Included,
    /// The label belongs to another split.
    OtherSplit,
    /// The case was excluded by id.
    Excluded,
}

/// Returns a filter by a label's split and by the ids of cases that were shown to the judge.
pub fn label_filter(choice: SplitChoice, excluded: &[String]) -> impl Fn(&LabelRow) -> LabelInclusion + '_ {
    move |row| {
        if excluded.contains(&row.case) {
            LabelInclusion::Excluded
        } else if choice.includes(&row.case, row.split) {
            LabelInclusion::Included
        } else {
            LabelInclusion::OtherSplit
        }
    }
}

fn to_decision_value(outcome: LabelOutcome) -> DecisionValue {
    match outcome {
        LabelOutcome::Met => DecisionValue::Verdict(true),
        LabelOutcome::Unmet => DecisionValue::Verdict(false),
        LabelOutcome::Score(score) => DecisionValue::Score(score),
        LabelOutcome::NotApplicable => DecisionValue::NotApplicable,
        LabelOutcome::Unsure => DecisionValue::Undecided,
    }
}

/// Minimum total probability of all scores. Below it, most of the judge's probability was on words that are
/// not scores, and the decision counts as ungraded.
pub(crate) const MIN_CAPTURED_MASS: f64 = 0.5;

fn read_judge_decision(
    row: &LabelRow,
    reading: &JudgeReadOptions<'_>,
    problems: &mut Vec<LabelProblem>,
) -> Option<JudgeItemDecision> {
    let decision = |said| {
        let probability = row.probability;
        Some(JudgeItemDecision { said, probability, same_family: None, captured_mass: None })
    };
    if let Some(rater) = reading.rater {
        let mut own = row.labels.iter().filter(|(who, _)| is_person(who.as_deref(), rater));
        return own.next().and_then(|(_, outcome)| decision(to_decision_value(*outcome)));
    }

    if let Some(judged) = row.judge {
        return decision(match judged {
            TableDecision::Decided(outcome) => to_decision_value(outcome),
            TableDecision::Ungraded => DecisionValue::Undecided,
        });
    }

    if let Some(probability) = row.probability {
        return decision(DecisionValue::Verdict(probability >= reading.threshold));
    }
    if row.probabilities.is_empty() {
        return None;
    }

    let logs: Vec<(f64, Option<f64>)> =
        row.probabilities.iter().map(|&(score, p)| (score, (p > 0.0).then(|| p.ln()))).collect();
    match expected_score(&logs) {
        Ok(found) => {
            let said = match (found.mass >= MIN_CAPTURED_MASS - TOLERANCE, reading.likeliest) {
                (false, _) => DecisionValue::Undecided,
                (true, true) => DecisionValue::Score(found.likeliest),
                (true, false) => DecisionValue::Score(found.score),
            };
            decision(said).map(|judge| JudgeItemDecision { captured_mass: Some(found.mass), ..judge })
        }
        Err(reason) => {
            problems.push(LabelProblem { place: row.place.clone(), message: format!("no score: {reason}") });
            None
        }
    }
}

/// Returns true if a name is this person's; spelling variants count as equal.
pub fn is_person(who: Option<&str>, person: &str) -> bool {
    let key = person_key(person);
    who.is_some_and(|who| who == person || (!key.is_empty() && person_key(who) == key))
}

impl CalibrationItem {
    /// Returns true if a label can refer to this item.
    pub(crate) fn matches_row(&self, row: &LabelRow) -> bool {
        let key = &self.key;
        let same =
            |wanted: &Option<String>, found: &str| wanted.as_ref().is_none_or(|wanted| wanted == found);
        let criterion = row.criterion.as_ref().is_none_or(|wanted| {
            **wanted == *key.criterion || key.criterion.rsplit_once('/').is_some_and(|(_, id)| id == wanted)
        });
        criterion
            && same(&row.suite, &key.suite)
            && same(&row.system, &key.system)
            && row.trial.is_none_or(|trial| trial == key.trial)
    }

    /// Returns the reason that a person gave for a decision on this item.
    pub fn note_of<'l>(
        &self,
        rows: &'l [LabelRow],
        who: Option<&str>,
        decision: DecisionValue,
    ) -> Option<&'l str> {
        let is_meant = |(name, outcome): &(Option<String>, LabelOutcome)| {
            name.as_deref() == who && to_decision_value(*outcome) == decision
        };
        let mut fitting = rows.iter().filter(|row| self.matches_row(row) && self.fits_hash(row));
        fitting.rfind(|row| row.labels.iter().any(is_meant))?.note.as_deref()
    }

    /// Returns true unless the label is about another answer or question.
    fn fits_hash(&self, row: &LabelRow) -> bool {
        row.seen.is_none() || self.seen.is_none() || row.seen == self.seen
    }

    fn add_labels(
        &mut self,
        row: &LabelRow,
        rater: Option<&str>,
        keep: &impl Fn(&LabelRow) -> LabelInclusion,
        left_out: &mut ExcludedLabels,
        problems: &mut Vec<LabelProblem>,
    ) {
        let labels: Vec<&(Option<String>, LabelOutcome)> = row
            .labels
            .iter()
            .filter(|(who, _)| !rater.is_some_and(|rater| is_person(who.as_deref(), rater)))
            .collect();
        if labels.is_empty() {
            return;
        }

        match keep(row) {
            LabelInclusion::Included => {}
            LabelInclusion::OtherSplit => {
                left_out.other_split += labels.len() as u64;
                return;
            }
            LabelInclusion::Excluded => {
                left_out.excluded += labels.len() as u64;
                return;
            }
        }

        let own = self.labels.get_or_insert_default();
        // If the rows of an item name different kinds of sampling, the item counts as chosen by hand.
        let chosen = Some(SamplingMethod::Chosen);
        let is_first = own.people.is_empty() && own.adjudicated.is_none();
        own.sampled = match (is_first, own.sampled, row.sampled) {
            (true, _, new) => new,
            (false, Some(old), Some(new)) if old != new => chosen,
            (false, old, new) => old.and(new),
        };
        own.drawn_twice |= !is_first && own.drawn.is_some() && row.drawn.is_some() && own.drawn != row.drawn;
        own.drawn = match (is_first, own.drawn, row.drawn) {
            (true, _, new) => new,
            (false, old, new) => old.filter(|_| old == new),
        };

        let mut report = |message: &str| {
            problems.push(LabelProblem { place: row.place.clone(), message: message.to_owned() });
        };
        for (who, outcome) in labels {
            let said = to_decision_value(*outcome);
            // Rows are in the order of their times, so a later label of a person replaces an earlier one.
            let is_unclear = |earlier: DecisionValue, at: Option<Timestamp>| {
                earlier != said && at.zip(row.at).is_none_or(|(earlier, later)| earlier >= later)
            };
            if row.adjudicates && who.is_some() {
                if own.adjudicated.is_some_and(|earlier| is_unclear(earlier, own.adjudicated_at)) {
                    report(
                        "another row adjudicates this item differently, and no times (`at`) say which is the later",
                    );
                }
                (own.adjudicated, own.adjudicated_at) = (Some(said), row.at);
                continue;
            }

            let earlier = own.people.iter().position(|(other, _)| {
                other.as_deref().is_some_and(|other| is_person(who.as_deref(), other))
            });
            match earlier {
                Some(at) => {
                    if is_unclear(own.people[at].1, own.times[at]) {
                        report(
                            "another row has another label of this item by the same person, and no times (`at`) say which is the later",
                        );
                    }
                    (own.people[at].1, own.times[at]) = (said, row.at);
                }
                None if who.is_none() && own.people.iter().any(|(other, _)| other.is_none()) => {
                    report("a second label of the same item without a rater; name the raters in `who`");
                }
                None => {
                    own.people.push((who.clone(), said));
                    own.times.push(row.at);
                }
            }
        }
    }
}
