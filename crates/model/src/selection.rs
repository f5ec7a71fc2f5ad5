//! Graders that compare all answers to a test.

use std::collections::BTreeMap;

use super::PanelSpec;

/// A choice among the answers to a test from all its targets and prompts.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerSelection {
    /// The answer that a judge prefers.
    Best(BestAnswerRule),
    /// The answer with the highest score of the other graders.
    MaxScore(MaxScoreRule),
}

/// A judge compares each two answers in both orders; the answer with the most wins is chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct BestAnswerRule {
    /// Criteria for preferring an answer, in the author's words; never empty.
    pub criteria: Vec<String>,
    /// Judge; the run's judge if absent.
    pub judge: Option<String>,
    /// Several judges, or one asked several times.
    pub panel: PanelSpec,
}

/// Combination of the scores of the other graders of the case.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MaxScoreRule {
    /// True for the weighted sum, false for the weighted mean.
    pub sums: bool,
    /// Weights by the name of the grader, finite and not negative; 1 for all others.
    pub weights: BTreeMap<String, f64>,
    /// Minimum of the combined score: below it, no answer is chosen.
    pub threshold: Option<f64>,
}
