//! Cases whose verdict changed, with the criteria that changed.

use std::borrow::Cow;
use std::cmp::Ordering;

use assize_rubric::{Verdict, VoteValue};
use assize_store::{ResultRow, named_case};
use serde::Serialize;

use super::mismatch::shared_criteria;
use crate::facts::{CaseFact, NameTable};

pub(super) fn name_with_trial(case_id: &str, prompt: Option<&str>, trial: u32) -> String {
    let name = named_case(case_id, prompt);
    if trial > 1 { format!("{name} (trial {trial})") } else { name.into_owned() }
}

/// A case that passes on one side only.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VerdictFlip {
    /// Name of the suite.
    pub suite: String,
    /// Id of the case; of its test, if that has several prompts.
    pub case_id: String,
    /// Name of the prompt, if the runs have several and none was selected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Number of the trial.
    pub trial: u32,
    /// Result in the base.
    pub base: FlipSide,
    /// Result in the candidate.
    pub candidate: FlipSide,
    /// The criteria that were decided differently.
    pub criteria: Vec<CriterionFlip>,
}

/// Result of a case on one side.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FlipSide {
    /// Verdict of the case.
    pub verdict: Verdict,
    /// Score, if it is known.
    pub score: Option<f64>,
}

/// A criterion that was decided differently.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CriterionFlip {
    /// Name of the grader.
    pub grader: String,
    /// Id of the criterion.
    pub criterion: String,
    /// Text of the criterion; empty if none is stored.
    pub text: String,
    /// True if the criterion is a penalty; a value of 1 then means that it was incurred.
    pub penalty: bool,
    /// True if a side was decided on a scale; values of 0 and 1 are then scores.
    #[serde(skip)]
    pub is_scored: bool,
    /// Value in the base, 0 to 1; null if it did not apply or was ungraded.
    pub base: Option<f64>,
    /// Value in the candidate.
    pub candidate: Option<f64>,
    /// For each side, the base first: true if the criterion does not apply, so that a missing value does not
    /// mean ungraded.
    #[serde(skip)]
    pub not_applicable: [bool; 2],
    /// Reason in the base; null until the rows are looked up.
    pub base_reason: Option<String>,
    /// Reason in the candidate.
    pub candidate_reason: Option<String>,
}

impl CriterionFlip {
    /// The text of the criterion, or else its grader and id.
    pub fn name(&self) -> Cow<'_, str> {
        let Self { grader, criterion, text, .. } = self;
        if text.trim().is_empty() { format!("{grader}/{criterion}").into() } else { text.into() }
    }

    /// Whether the candidate is better or worse by this criterion; `Equal` where a side has no value.
    pub fn direction(&self) -> Ordering {
        match (self.base, self.candidate) {
            (Some(base), Some(candidate)) if self.penalty => base.total_cmp(&candidate),
            (Some(base), Some(candidate)) => candidate.total_cmp(&base),
            _ => Ordering::Equal,
        }
    }
}

impl VerdictFlip {
    pub(crate) fn new(base: &CaseFact, candidate: &CaseFact, names: &NameTable) -> Self {
        let value = |decision| match decision {
            VoteValue::Value(value) => Some(value),
            VoteValue::NotApplicable | VoteValue::Missing => None,
        };
        let changed = shared_criteria(base, candidate).filter(|(a, b)| a.decision != b.decision);
        Self {
            suite: names.text(base.suite).to_owned(),
            case_id: names.text(base.case).to_owned(),
            prompt: base.prompt.map(|prompt| names.text(prompt).to_owned()),
            trial: base.trial,
            base: FlipSide { verdict: base.verdict, score: base.score },
            candidate: FlipSide { verdict: candidate.verdict, score: candidate.score },
            criteria: changed
                .map(|(a, b)| CriterionFlip {
                    grader: names.text(a.grader).to_owned(),
                    criterion: names.text(a.id).to_owned(),
                    text: names.text(b.text).to_owned(),
                    penalty: b.is_fault,
                    is_scored: a.is_scored || b.is_scored,
                    base: value(a.decision),
                    candidate: value(b.decision),
                    not_applicable: [a, b].map(|side| side.decision == VoteValue::NotApplicable),
                    base_reason: None,
                    candidate_reason: None,
                })
                .collect(),
        }
    }

    /// Returns the name of the case, with the trial if it is not the first.
    pub fn name(&self) -> String {
        name_with_trial(&self.case_id, self.prompt.as_deref(), self.trial)
    }

    /// Copies the reasons from a stored row if it belongs to this case.
    pub fn copy_reasons(&mut self, row: &ResultRow, from_candidate: bool) {
        let is_prompt = self.prompt.is_none() || self.prompt.as_deref() == row.prompt.as_deref();
        let is_case =
            **row.test_id() == *self.case_id && *row.suite == *self.suite && row.trial == self.trial;
        if !is_case || !is_prompt {
            return;
        }
        for flip in &mut self.criteria {
            let found = row
                .graders
                .iter()
                .filter(|grader| grader.name == flip.grader)
                .flat_map(|grader| &grader.criteria)
                .find(|criterion| *criterion.id == *flip.criterion);

            let reason = if from_candidate { &mut flip.candidate_reason } else { &mut flip.base_reason };
            *reason = found.map(|criterion| criterion.reason.clone());
        }
    }
}
