//! Metrics with their intervals, as they are stored and printed.

use std::cmp::Ordering;

use assize_rubric::{TrialStrategy, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::VerdictCounts;

/// A figure that was estimated from cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Figure")]
pub struct EstimatedMetric {
    /// The figure; null when it is undefined.
    pub value: Option<f64>,
    /// Number of values it rests on.
    pub n: u64,
    /// Number of clusters those fall into; null when each value stands for itself.
    #[serde(default)]
    pub clusters: Option<u64>,
    /// Lower end of the interval; null when it is undefined.
    pub low: Option<f64>,
    /// Upper end of the interval; null when it is undefined.
    pub high: Option<f64>,
    /// Confidence level of the interval, such as 0.95.
    pub level: f64,
    /// Method by which the interval was computed; null when there is none.
    pub method: Option<String>,
    /// Reason the metric or its interval is undefined.
    pub undefined: Option<String>,
    /// Conclusion in a sentence.
    pub says: String,
}

/// The figures of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RunFigures")]
pub struct RunMetrics {
    /// Share of the decided cases that passed.
    pub pass_rate: EstimatedMetric,
    /// Lowest and highest pass rate over all cases, whatever becomes of the undecided ones; null when all are decided.
    pub pass_rate_bounds: Option<[f64; 2]>,
    /// Mean over the cases whose score is known.
    pub mean_score: EstimatedMetric,
    /// Lowest and highest mean over all cases, whatever becomes of those without a score; null when all have one.
    pub mean_score_bounds: Option<[f64; 2]>,
    /// Factor by which more cases are needed than without clusters; null without clusters.
    pub design_effect: Option<f64>,
    /// Sources of the spread of scores; null unless cases were answered more than once.
    pub noise: Option<NoiseParts>,
    /// Sources of the spread of single decisions, answers and judges apart; null unless judges were asked more than
    /// once about the same answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_noise: Option<DecisionNoise>,
    /// Results of comparisons with other answers; null without such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairwise: Option<PairwiseMetrics>,
    /// Criteria that were not decided the same way for each answer to the same case, the least stable first.
    pub unstable: Vec<FlippingCriterion>,
    /// Results of the repeats of cases; absent unless a case is run more than once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<TrialMetrics>,
    /// The figures of each target; empty unless there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetMetrics>,
    /// Remarks for the reader about these metrics, such as how many cases would be enough.
    pub remarks: Vec<String>,
}

/// Sources of the spread of scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoiseParts {
    /// Variance between cases.
    pub between_cases: f64,
    /// Variance between answers to the same case, each judged by itself: the noise of answers and of judging together.
    pub between_answers: f64,
    /// Share of the variance that is between cases; null when nothing varies.
    pub icc: Option<f64>,
    /// Share of the repeated cases whose verdict was not the same each time.
    pub verdict_flips: Option<EstimatedMetric>,
    /// Conclusion in a sentence.
    pub says: String,
}

/// Sources of the spread of single decisions, each from 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DecisionNoise {
    /// Variance between criteria and cases: no repeating reduces it.
    pub between_cases: EstimatedMetric,
    /// Variance between answers to the same case: the noise of the system. Null unless cases were answered more than once.
    pub between_answers: EstimatedMetric,
    /// Variance between decisions on the same answer: the noise of judging.
    pub between_verdicts: EstimatedMetric,
    /// True if a variance came out negative, which stands for one too small to be told from 0.
    pub negative: bool,
    /// Conclusion in a sentence.
    pub says: String,
}

/// Results of comparisons with other answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PairwiseFigures")]
pub struct PairwiseMetrics {
    /// Share of the comparisons that were won in both orders.
    pub win: EstimatedMetric,
    /// Share that was lost in both orders.
    pub loss: EstimatedMetric,
    /// Share that was a tie in both orders.
    pub tie: EstimatedMetric,
    /// Share whose orders disagree.
    pub inconsistent: EstimatedMetric,
    /// Share of the decisions that favour the answer shown first: 0.5 where place has no part.
    pub first_place: EstimatedMetric,
    /// Comparisons of which an order could not be judged: part of no figure.
    pub ungraded: u64,
    /// Conclusion about places, in a sentence.
    pub says: String,
}

/// A criterion that was not decided the same way for each answer to the same case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlippingCriterion {
    /// Name of the suite.
    pub suite: String,
    /// Name of the grader.
    pub grader: String,
    /// Id of the criterion.
    pub criterion: String,
    /// Share of the repeated cases in which it was not decided the same each time.
    pub flip_rate: EstimatedMetric,
}

/// Rate of one criterion or check over the results it was asked of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CriterionRate {
    /// Name of the suite.
    pub suite: String,
    /// Name of the grader.
    pub grader: String,
    /// Id of the criterion; of a check, the name of the grader.
    pub criterion: String,
    /// Text of the criterion; of a check, its finding, if it is the same in all cases.
    pub text: String,
    /// Weight in the rubric, of a check in the case; below zero for a penalty.
    pub weight: f64,
    /// True if `rate` is the mean of scores from 0 to 1; false if it is the share that meet it.
    pub scored: bool,
    /// The rate over the results that were decided, with its interval.
    pub rate: EstimatedMetric,
    /// Results that nobody could decide.
    pub ungraded: u64,
    /// Results to which it does not apply.
    pub not_applicable: u64,
}

impl CriterionRate {
    /// Compares rates so that the worst comes first. A penalty is the worse the more often it is met. What nobody decided
    /// comes last.
    pub fn cmp_worst_first(&self, other: &Self) -> Ordering {
        let quality = |one: &Self| match one.rate.value {
            Some(value) if one.weight < 0.0 => 1.0 - value,
            Some(value) => value,
            None => 2.0,
        };
        let names = |one: &Self| (one.suite.clone(), one.grader.clone(), one.criterion.clone());

        quality(self).total_cmp(&quality(other)).then_with(|| names(self).cmp(&names(other)))
    }
}

/// Metrics of one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "TargetFigures")]
pub struct TargetMetrics {
    /// The target; null for answers that were given.
    pub target: Option<String>,
    /// Its cases by verdict; of repeated cases what their repeats come to.
    pub counts: VerdictCounts,
    /// Share of its decided rows that passed.
    pub pass_rate: EstimatedMetric,
    /// Mean over its rows whose score is known.
    pub mean_score: EstimatedMetric,
}

/// Results of the repeats of cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RepeatFigures")]
pub struct TrialMetrics {
    /// Cases by what their repeats come to, each target apart.
    pub counts: VerdictCounts,
    /// The chances of several attempts, by their number.
    pub pass_k: Vec<PassKRow>,
    /// The cases that are run more than once, in the order of suites, ids and targets.
    pub cases: Vec<CaseTrialsRow>,
}

/// Chances of k attempts at a case, estimated without bias from all that were made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PassKRow {
    /// The number of attempts.
    pub k: u32,
    /// Chance that at least one of them passes: pass@k.
    pub any: EstimatedMetric,
    /// Chance that all of them pass: pass^k.
    pub all: EstimatedMetric,
}

/// One case and its repeats.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RepeatedCaseRow")]
pub struct CaseTrialsRow {
    /// Name of the suite.
    pub suite: String,
    /// Id of the case.
    pub case_id: String,
    /// Name of the target; null when the answer was given.
    pub target: Option<String>,
    /// Rule that makes one verdict of the repeats.
    pub strategy: TrialStrategy,
    /// Repeats that were asked for.
    pub count: u32,
    /// Repeats that were run.
    pub run: u32,
    /// Repeats with a verdict.
    pub decided: u32,
    /// Repeats that passed.
    pub passed: u32,
    /// True if it was not run, because a case it depends on did not pass.
    #[serde(default)]
    pub skipped: bool,
    /// The verdict on the case.
    pub verdict: Verdict,
    /// The score that stands for the case; null when it is not known.
    pub score: Option<f64>,
    /// Mean of its scores, with an interval over its repeats.
    pub mean_score: EstimatedMetric,
}
