//! Metrics with their intervals, in the stored and printed form.

use std::cmp::Ordering;

use assize_rubric::{TrialStrategy, Usd, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::VerdictCounts;

/// A metric estimated from cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Figure")]
pub struct EstimatedMetric {
    /// Value; null if undefined.
    pub value: Option<f64>,
    /// Number of values.
    pub n: u64,
    /// Number of clusters; null if the values are independent.
    #[serde(default)]
    pub clusters: Option<u64>,
    /// Lower end of the interval; null if undefined.
    pub low: Option<f64>,
    /// Upper end of the interval; null if undefined.
    pub high: Option<f64>,
    /// Confidence level of the interval, such as 0.95.
    pub level: f64,
    /// Method of the interval; null if there is none.
    pub method: Option<String>,
    /// Reason why the metric or its interval is undefined.
    pub undefined: Option<String>,
    /// Conclusion in a sentence.
    pub says: String,
}

/// Metrics of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RunFigures")]
pub struct RunMetrics {
    /// Pass rate: share of cases with a verdict that passed, 0 to 1.
    pub pass_rate: EstimatedMetric,
    /// Lowest and highest pass rate that incomplete cases could lead to; null if no case is incomplete.
    pub pass_rate_bounds: Option<[f64; 2]>,
    /// Mean score over the cases with a score.
    pub mean_score: EstimatedMetric,
    /// Lowest and highest mean that cases without a score could lead to; null if all cases have a score.
    pub mean_score_bounds: Option<[f64; 2]>,
    /// Design effect: factor by which clustering increases the number of cases needed; null without clusters.
    pub design_effect: Option<f64>,
    /// Variance components of scores; null if no case has several trials.
    pub noise: Option<NoiseParts>,
    /// Variance components of decisions; null if no judge repeated a decision on the same answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_noise: Option<DecisionNoise>,
    /// Results of pairwise comparisons; null without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairwise: Option<PairwiseMetrics>,
    /// Criteria whose decision differs between trials of a case, least stable first.
    pub unstable: Vec<FlippingCriterion>,
    /// Results over trials; absent if every case runs once.
    #[serde(default, rename = "repeats", skip_serializing_if = "Option::is_none")]
    pub trials: Option<TrialMetrics>,
    /// Metrics of each target; empty with a single target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetMetrics>,
    /// Metrics of each prompt, in alphabetical order, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<PromptMetrics>,
    /// Derived metrics of each target and prompt, in the order of the eval file; empty if it derives none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub derived: Vec<DerivedMetric>,
    /// Means as published benchmarks compute them; absent without penalties, or where cases have other graders than a rubric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_means: Option<PublishedMeans>,
    /// Notes on the metrics, such as which shards they lack.
    pub remarks: Vec<String>,
    /// Notes on their precision, such as how many cases would be enough. Reports show them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub precision_notes: Vec<String>,
}

/// Means of scores as the scripts of published benchmarks compute them: without clipping the score of each case.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedMeans {
    /// Number of cases with a score that can reach points.
    pub cases: u64,
    /// Number of cases with a score and only penalties. ResearchRubrics counts them as 0; the other scripts leave them
    /// out.
    #[serde(default)]
    pub cases_without_points: u64,
    /// HealthBench: mean of points as shares of the points that can be reached, clipped to 0 to 1.
    pub healthbench: f64,
    /// ResearchRubrics: the same mean, not clipped, over all cases with a score.
    pub research_rubrics: f64,
    /// PRBench, normalised: mean of points as shares of the way from the fewest possible points to the most.
    pub prbench_normalised: f64,
}

impl PublishedMeans {
    /// Returns the means as a sentence.
    pub fn describe(&self) -> String {
        let Self { cases, cases_without_points, healthbench, research_rubrics, prbench_normalised } = self;
        let words = |cases: u64| if cases == 1 { "1 case".to_owned() } else { format!("{cases} cases") };
        let zeros = match cases_without_points {
            0 => String::new(),
            zeros => format!(" (with {} of penalties only, as 0)", words(*zeros)),
        };
        format!(
            "Mean of {} without clipping each: HealthBench {healthbench:.3}, ResearchRubrics \
             {research_rubrics:.3}{zeros}, PRBench (normalised) {prbench_normalised:.3}.",
            words(*cases)
        )
    }
}

/// Variance components of scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoiseParts {
    /// Variance between cases.
    pub between_cases: f64,
    /// Variance between trials of the same case: noise of answers and of judging combined.
    pub between_answers: f64,
    /// Intraclass correlation: share of the variance that is between cases; null if nothing varies.
    pub icc: Option<f64>,
    /// Share of cases whose verdict differs between trials.
    pub verdict_flips: Option<EstimatedMetric>,
    /// Conclusion in a sentence.
    pub says: String,
}

/// Variance components of decisions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DecisionNoise {
    /// Variance between criteria and cases. Trials and repeats do not reduce it.
    pub between_cases: EstimatedMetric,
    /// Variance between answers to the same case: noise of the target. Null if no case has several trials.
    pub between_answers: EstimatedMetric,
    /// Variance between decisions on the same answer: noise of judging.
    pub between_verdicts: EstimatedMetric,
    /// True if a variance was estimated below 0 and counts as 0.
    pub negative: bool,
    /// Conclusion in a sentence.
    pub says: String,
}

/// Results of comparisons with other answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PairwiseFigures")]
pub struct PairwiseMetrics {
    /// Share of comparisons won in both orders.
    pub win: EstimatedMetric,
    /// Share of comparisons lost in both orders.
    pub loss: EstimatedMetric,
    /// Share of comparisons tied in both orders.
    pub tie: EstimatedMetric,
    /// Share of comparisons whose orders disagree.
    pub inconsistent: EstimatedMetric,
    /// Share of decisions for the answer shown first; 0.5 without position bias.
    pub first_place: EstimatedMetric,
    /// Number of comparisons with an ungraded order. They are excluded from all metrics.
    pub ungraded: u64,
    /// Conclusion about position bias in a sentence.
    pub says: String,
}

/// A criterion whose decision differs between trials of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlippingCriterion {
    /// Name of the suite.
    pub suite: String,
    /// Name of the grader.
    pub grader: String,
    /// Criterion id.
    pub criterion: String,
    /// Share of cases in which its decision differs between trials.
    pub flip_rate: EstimatedMetric,
}

/// Rate of a criterion or grader over the results it was applied to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CriterionRate {
    /// Name of the suite.
    pub suite: String,
    /// Name of the grader.
    pub grader: String,
    /// Criterion id, or the name of a grader without criteria.
    pub criterion: String,
    /// Criterion text. For a grader without criteria: its description, if it is the same in all cases.
    pub text: String,
    /// Weight in the rubric, or of the grader in the case. Negative for a penalty.
    pub weight: f64,
    /// Whether it is a gate; `None` for a grader without criteria.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<bool>,
    /// True if `rate` is a mean score, 0 to 1, rather than a share of results.
    pub scored: bool,
    /// Rate over decided results, with its interval.
    pub rate: EstimatedMetric,
    /// Number of ungraded results.
    pub ungraded: u64,
    /// Number of results to which it does not apply.
    pub not_applicable: u64,
}

impl CriterionRate {
    /// Compares rates so that the criterion that costs most comes first: the one that counts against most results. A mean score
    /// of 0.6 over 10 results costs as much as 4 results that do not meet a criterion. Rates without a decided result come last.
    /// Equal ones are ordered by rate, then by name and text, so that every run of the same cases lists them in the same order.
    pub fn cmp_worst_first(&self, other: &Self) -> Ordering {
        let names = [self, other].map(|one| [&one.suite, &one.grader, &one.criterion, &one.text]);
        let [lost, others] = [self, other].map(Self::lost_share);
        let count = |one: &Self, lost: Option<f64>| lost.map_or(-1.0, |lost| lost * one.rate.n as f64);

        count(other, others)
            .total_cmp(&count(self, lost))
            .then_with(|| others.unwrap_or(-1.0).total_cmp(&lost.unwrap_or(-1.0)))
            .then_with(|| names[0].cmp(&names[1]))
    }

    /// Number of results that the criterion counts against; `None` if it is scored or nothing is decided.
    pub fn failures(&self) -> Option<u64> {
        let lost = self.lost_share().filter(|_| !self.scored)?;
        Some((lost * self.rate.n as f64).round() as u64)
    }

    /// Share of the results that the criterion counts against, or of the score that is missing. For a penalty, a higher rate is
    /// worse.
    fn lost_share(&self) -> Option<f64> {
        self.rate.value.map(|value| if self.weight < 0.0 { value } else { 1.0 - value })
    }
}

/// Metrics of one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "TargetFigures")]
pub struct TargetMetrics {
    /// Target; null if the answers were given.
    pub target: Option<String>,
    /// Metrics of its results.
    #[serde(flatten)]
    pub part: PartMetrics,
}

/// Metrics of one prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PromptFigures")]
pub struct PromptMetrics {
    /// Name of the prompt.
    pub prompt: String,
    /// Metrics of its results.
    #[serde(flatten)]
    pub part: PartMetrics,
}

/// Metrics of a part of the results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PartFigures")]
pub struct PartMetrics {
    /// Cases by verdict; for cases with several trials, by the combined verdict.
    pub counts: VerdictCounts,
    /// Pass rate of the results that have a verdict.
    pub pass_rate: EstimatedMetric,
    /// Mean score of the results that have a score.
    pub mean_score: EstimatedMetric,
    /// Cost of the results in US dollars; null if not fully known.
    #[serde(default)]
    pub cost_usd: Option<Usd>,
}

/// Metrics of the parts of a run, with their names; a target without a name is that of given answers.
pub type PartTable<'m> = Vec<(Option<&'m str>, &'m PartMetrics)>;

impl RunMetrics {
    /// Returns the metrics by target and by prompt; empty for one target or one prompt.
    pub fn tables(&self) -> [(&'static str, PartTable<'_>); 2] {
        let targets = self.targets.iter().map(|one| (one.target.as_deref(), &one.part));
        let prompts = self.prompts.iter().map(|one| (Some(one.prompt.as_str()), &one.part));
        [("target", targets.collect()), ("prompt", prompts.collect())]
    }
}

/// A metric computed from the named scores of the results of a target and prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DerivedMetric {
    /// Name.
    pub name: String,
    /// Formula over the sums of named scores.
    pub formula: String,
    /// Name of the suite.
    pub suite: String,
    /// Target; null if the answers were given.
    pub target: Option<String>,
    /// Name of the prompt, if the eval file has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Value; null if undefined.
    pub value: Option<f64>,
    /// Lowest and highest value that ungraded scores could lead to; null if the value is defined or has no bounds.
    pub bounds: Option<[f64; 2]>,
    /// Number of results, `__count` in formulas.
    pub n: u64,
    /// Reason why the value is undefined.
    pub undefined: Option<String>,
}

/// Results over trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RepeatFigures")]
pub struct TrialMetrics {
    /// Cases by their combined verdict, counted per target.
    pub counts: VerdictCounts,
    /// Estimates of pass@k and pass^k by number of attempts.
    pub pass_k: Vec<PassKRow>,
    /// Cases with several trials, ordered by suite, id and target.
    pub cases: Vec<CaseTrialsRow>,
}

/// Unbiased estimates of pass@k and pass^k.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PassKRow {
    /// Number of attempts.
    pub k: u32,
    /// Probability that at least one attempt passes (pass@k).
    pub any: EstimatedMetric,
    /// Probability that all attempts pass (pass^k).
    pub all: EstimatedMetric,
}

/// A case with its trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RepeatedCaseRow")]
pub struct CaseTrialsRow {
    /// Name of the suite.
    pub suite: String,
    /// Id of the case.
    pub case_id: String,
    /// Id of the test, if it makes several cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// Name of the prompt, if the eval file has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Name of the target; null if the answer was given.
    pub target: Option<String>,
    /// Rule that combines the trials.
    pub strategy: TrialStrategy,
    /// Number of planned trials.
    pub count: u32,
    /// Number of trials that ran.
    pub run: u32,
    /// Number of trials with a verdict.
    pub decided: u32,
    /// Number of trials that passed.
    pub passed: u32,
    /// True if it was skipped because a case it depends on did not pass.
    #[serde(default)]
    pub skipped: bool,
    /// Combined verdict of the case.
    pub verdict: Verdict,
    /// Combined score of the case; null if unknown.
    pub score: Option<f64>,
    /// Mean score with an interval over the trials.
    pub mean_score: EstimatedMetric,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_that_are_equal_are_in_the_order_of_their_names_and_texts() {
        let rate = |grader: &str, text: &str, value: f64| CriterionRate {
            suite: "suite".into(),
            grader: grader.into(),
            criterion: "rubric-1".into(),
            text: text.into(),
            weight: 1.0,
            gate: Some(false),
            scored: false,
            rate: EstimatedMetric {
                value: Some(value),
                n: 2,
                clusters: None,
                low: None,
                high: None,
                level: 0.95,
                method: None,
                undefined: None,
                says: String::new(),
            },
            ungraded: 0,
            not_applicable: 0,
        };
        let sorted = [
            rate("a", "z", 0.5),
            rate("a", "Says 1", 1.0),
            rate("a", "Says 2", 1.0),
            rate("b", "Says 0", 1.0),
        ];
        // The order must not depend on the order of hash maps.
        let mut rates = [3, 2, 0, 1].map(|at: usize| sorted[at].clone());
        rates.sort_by(CriterionRate::cmp_worst_first);
        assert_eq!(rates, sorted);
    }
}
