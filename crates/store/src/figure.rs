//! Figures with their intervals, as they are stored and printed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A figure that was estimated from cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// The figure; null when it is undefined.
    pub value: Option<f64>,
    /// How many values it rests on.
    pub n: u64,
    /// How many clusters those fall into; null when each value stands for itself.
    #[serde(default)]
    pub clusters: Option<u64>,
    /// Lower end of the interval; null when it is undefined.
    pub low: Option<f64>,
    /// Upper end of the interval; null when it is undefined.
    pub high: Option<f64>,
    /// Confidence level of the interval, such as 0.95.
    pub level: f64,
    /// How the interval was computed; null when there is none.
    pub method: Option<String>,
    /// Why the figure or its interval is undefined.
    pub undefined: Option<String>,
    /// What may be concluded, in a sentence.
    pub says: String,
}

/// The figures of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunFigures {
    /// Share of the decided cases that passed.
    pub pass_rate: Figure,
    /// Lowest and highest pass rate over all cases, whatever becomes of the undecided ones; null when all are decided.
    pub pass_rate_bounds: Option<[f64; 2]>,
    /// Mean over the cases whose score is known.
    pub mean_score: Figure,
    /// Lowest and highest mean over all cases, whatever becomes of those without a score; null when all have one.
    pub mean_score_bounds: Option<[f64; 2]>,
    /// How many times more cases are needed than without clusters; null without clusters.
    pub design_effect: Option<f64>,
    /// Where the spread of scores comes from; null unless cases were answered more than once.
    pub noise: Option<NoiseParts>,
    /// Where the spread of single decisions comes from, answers and judges apart; null unless judges were asked more than
    /// once about the same answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_noise: Option<DecisionNoise>,
    /// What comparisons with other answers came to; null without such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairwise: Option<PairwiseFigures>,
    /// Criteria that were not decided the same way for each answer to the same case, the least stable first.
    pub unstable: Vec<FlippingCriterion>,
    /// What the reader should know about these figures, such as how many cases would be enough.
    pub remarks: Vec<String>,
}

/// Where the spread of scores comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoiseParts {
    /// Variance between cases.
    pub between_cases: f64,
    /// Variance between answers to the same case, each judged by itself: the noise of answers and of judging together.
    pub between_answers: f64,
    /// Share of the variance that is between cases; null when nothing varies.
    pub icc: Option<f64>,
    /// Share of the repeated cases whose verdict was not the same each time.
    pub verdict_flips: Option<Figure>,
    /// What may be concluded, in a sentence.
    pub says: String,
}

/// Where the spread of single decisions, each from 0 to 1, comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DecisionNoise {
    /// Variance between criteria and cases: no repeating reduces it.
    pub between_cases: Figure,
    /// Variance between answers to the same case: the noise of the system. Null unless cases were answered more than once.
    pub between_answers: Figure,
    /// Variance between decisions on the same answer: the noise of judging.
    pub between_verdicts: Figure,
    /// Whether a variance came out negative, which stands for one too small to be told from 0.
    pub negative: bool,
    /// What may be concluded, in a sentence.
    pub says: String,
}

/// What comparisons with other answers came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PairwiseFigures {
    /// Share of the comparisons that were won in both orders.
    pub win: Figure,
    /// Share that was lost in both orders.
    pub loss: Figure,
    /// Share that was a tie in both orders.
    pub tie: Figure,
    /// Share whose orders disagree.
    pub inconsistent: Figure,
    /// Share of the decisions that favour the answer shown first: 0.5 where place has no part.
    pub first_place: Figure,
    /// Comparisons of which an order could not be judged: part of no figure.
    pub ungraded: u64,
    /// What may be concluded about places, in a sentence.
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
    pub flip_rate: Figure,
}
