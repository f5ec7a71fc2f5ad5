//! Judged items: one criterion on one answer.
//!
//! A run has hundreds of thousands of items, and few of them are labelled. So equal texts are shared, and
//! fields that only labels and tables have are boxed separately.

use std::sync::Arc;

use assize_rubric::{SamplingMethod, SeenHash};
use jiff::Timestamp;

use crate::labels::{LabelLocation, LabelRow};

/// Identity of an item.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ItemKey {
    /// Name of the suite; empty if there is none.
    pub suite: Arc<str>,
    /// Id of the case.
    pub case: Arc<str>,
    /// Target that gave the answer; empty if unknown.
    pub system: Arc<str>,
    /// Number of the trial.
    pub trial: u32,
    /// Id of the criterion; empty if there is only one.
    pub criterion: Arc<str>,
}

impl ItemKey {
    /// Builds the key of a row.
    pub(crate) fn from_row(row: &LabelRow) -> Self {
        Self {
            suite: row.suite.as_deref().unwrap_or_default().into(),
            case: row.case.as_str().into(),
            system: row.system.as_deref().unwrap_or_default().into(),
            trial: row.trial.unwrap_or(1),
            criterion: row.criterion.as_deref().unwrap_or_default().into(),
        }
    }
}

/// Decision of a person or judge, in numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DecisionValue {
    /// Met or not.
    Verdict(bool),
    /// A score on the criterion's scale.
    Score(f64),
    /// The criterion does not apply.
    NotApplicable,
    /// No decision: the person was unsure, or the judge left the criterion ungraded.
    Undecided,
}

impl DecisionValue {
    /// Returns the decision as a number: 1 and 0 for verdicts.
    pub fn number(self) -> Option<f64> {
        match self {
            Self::Verdict(met) => Some(if met { 1.0 } else { 0.0 }),
            Self::Score(score) => Some(score),
            Self::NotApplicable | Self::Undecided => None,
        }
    }
}

/// Decision of the judge on an item.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeItemDecision {
    /// The decision.
    pub said: DecisionValue,
    /// The judge's probability of "met", 0 to 1; `None` if it gave none.
    pub probability: Option<f64>,
    /// True if the judge and the target are models of the same family; `None` if that is unknown.
    pub same_family: Option<bool>,
    /// Total probability of all scores, 0 to 1, if the decision was read from the probabilities of scores.
    pub captured_mass: Option<f64>,
}

/// One criterion on one answer, with all decisions on it.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibrationItem {
    /// Identity of the item.
    pub key: ItemKey,
    /// Decision of the judge; `None` if it was not called.
    pub judge: Option<JudgeItemDecision>,
    /// Hash of the judged material. Labels are bound to it. `None` in tables.
    pub seen: Option<SeenHash>,
    /// Length of the answer.
    pub length: Option<f64>,
    /// Cluster of related items; they are not independent evidence.
    pub cluster: Arc<str>,
    /// Labels, and the fields of a table's row other than the judge's decision.
    pub(crate) labels: Option<Box<ItemLabels>>,
}

/// Labels of an item and the fields that come with them.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ItemLabels {
    /// Decisions of people, with their names.
    pub(crate) people: Vec<(Option<String>, DecisionValue)>,
    /// Times of these decisions.
    pub(crate) times: Vec<Option<Timestamp>>,
    /// Decision of an adjudicator, which replaces the labels of people who disagreed. It is the truth, but
    /// not a rating.
    pub(crate) adjudicated: Option<DecisionValue>,
    /// Time of the adjudication.
    pub(crate) adjudicated_at: Option<Timestamp>,
    /// Criteria of the same case and system that this one depends on.
    pub(crate) requires: Vec<String>,
    /// How the labelled case was sampled, if the labels agree on it.
    pub(crate) sampled: Option<SamplingMethod>,
    /// Probability with which the case was drawn for labelling, if the labels name exactly one.
    pub(crate) drawn: Option<f64>,
    /// True if the labels name different probabilities.
    pub(crate) drawn_twice: bool,
    /// First line about this item in a table.
    pub(crate) place: Option<LabelLocation>,
}

impl CalibrationItem {
    /// Decisions of people, with their names.
    pub fn people(&self) -> &[(Option<String>, DecisionValue)] {
        self.labels.as_ref().map_or(&[], |labels| &labels.people)
    }

    /// Decision of an adjudicator, which replaces the labels of people who disagreed.
    fn adjudicated(&self) -> Option<DecisionValue> {
        self.labels.as_ref()?.adjudicated
    }

    /// How the labelled case was sampled, if the labels agree on it.
    pub(crate) fn sampled(&self) -> Option<SamplingMethod> {
        self.labels.as_ref()?.sampled
    }

    /// Probability with which the case was drawn for labelling, if the labels name exactly one.
    pub(crate) fn drawn(&self) -> Option<f64> {
        self.labels.as_ref()?.drawn
    }

    /// Criteria of the same case and system that this one depends on.
    pub(crate) fn requires(&self) -> &[String] {
        self.labels.as_ref().map_or(&[], |labels| &labels.requires)
    }

    /// First line about this item in a table.
    pub(crate) fn place(&self) -> Option<&LabelLocation> {
        self.labels.as_ref()?.place.as_ref()
    }

    /// Decisions that the judge is compared with: the adjudicator's if there is one, otherwise everyone's.
    pub fn truths(&self) -> impl Iterator<Item = DecisionValue> + Clone + '_ {
        let adjudicated = self.adjudicated();
        let rated = self.people().iter().map(|(_, said)| *said).filter(move |_| adjudicated.is_none());
        adjudicated.into_iter().chain(rated)
    }

    /// Returns all decisions of people, adjudicators included.
    pub(crate) fn words_of_people(&self) -> impl Iterator<Item = DecisionValue> + '_ {
        self.people().iter().map(|(_, said)| *said).chain(self.adjudicated())
    }

    /// Returns all decisions of people and of the judge.
    pub(crate) fn decisions_mut(&mut self) -> impl Iterator<Item = &mut DecisionValue> {
        let judge = self.judge.iter_mut().map(|judge| &mut judge.said);
        let labels = self.labels.iter_mut();
        judge.chain(
            labels.flat_map(|labels| {
                labels.people.iter_mut().map(|(_, said)| said).chain(&mut labels.adjudicated)
            }),
        )
    }

    /// Returns the mean of the people's decisions in numbers; verdicts count as 1 and 0.
    pub fn people_mean(&self) -> Option<f64> {
        let numbers: Vec<f64> = self.truths().filter_map(DecisionValue::number).collect();
        (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
    }

    /// Returns the judge's decision as a number.
    pub fn judge_number(&self) -> Option<f64> {
        self.judge.as_ref()?.said.number()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_without_labels_is_small() {
        // A run of 100,000 cases has several hundred thousand items.
        assert!(size_of::<CalibrationItem>() <= 192, "{}", size_of::<CalibrationItem>());
    }
}
