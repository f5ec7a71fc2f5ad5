//! One row of a label table, read and checked.

use assize_rubric::{LabelOutcome, LabelSplit, SamplingMethod, SeenHash};
use jiff::Timestamp;

use super::LabelLocation;

/// Decision of a judge in a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TableDecision {
    /// The judge decided.
    Decided(LabelOutcome),
    /// The judge could not decide. This is neither a zero nor a pass.
    Ungraded,
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelRow {
    /// Location of the row.
    pub place: LabelLocation,
    /// Id of the case; the line number if the table has no column for it.
    pub case: String,
    /// Name of the suite.
    pub suite: Option<String>,
    /// Target that gave the answer.
    pub system: Option<String>,
    /// Number of the trial.
    pub trial: Option<u32>,
    /// Id of the criterion.
    pub criterion: Option<String>,
    /// True if the criterion is the first failure that was found in the whole case, out of all possible ones.
    pub first_failure: bool,
    /// Prompt or version of the judge that gave the label.
    pub prompt: Option<String>,
    /// Time of the labels.
    pub at: Option<Timestamp>,
    /// Labels of people, with their names; empty if there are none.
    pub labels: Vec<(Option<String>, LabelOutcome)>,
    /// Decision of the judge; `None` if the table has none.
    pub judge: Option<TableDecision>,
    /// The judge's probability of "met", 0 to 1.
    pub probability: Option<f64>,
    /// The judge's probability of each score, 0 to 1.
    pub probabilities: Vec<(f64, f64)>,
    /// Length of the answer, in any unit.
    pub length: Option<f64>,
    /// Cluster of related items.
    pub cluster: Option<String>,
    /// Criteria of the same case that this one depends on.
    pub requires: Vec<String>,
    /// Hash of the material that the reviewer saw.
    pub seen: Option<SeenHash>,
    /// Sampling of the labelled case.
    pub sampled: Option<SamplingMethod>,
    /// Probability with which the case was drawn for labelling, above 0 and up to 1.
    pub drawn: Option<f64>,
    /// Permitted use of the label.
    pub split: Option<LabelSplit>,
    /// True if the labels decide where others disagree.
    pub adjudicates: bool,
    /// Which of two answers people prefer.
    pub preferred: Option<String>,
    /// The judge's preferences in both orders.
    pub orders: [Option<String>; 2],
    /// Repeated scores, a list for each answer; a failed one is `None`.
    pub scores: Vec<Vec<Option<f64>>>,
    /// True if the reviewer had seen the judge's decision.
    pub is_after_judge: bool,
    /// Reason of the reviewer.
    pub note: Option<String>,
    /// Judge that gave the repeated scores; `None` for other rows, and if the table does not name it.
    pub scored_by: Option<String>,
}
