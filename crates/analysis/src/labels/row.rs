//! One line of a table of labels, read and checked.

use assize_rubric::{LabelOutcome, Sampling, Split};

use super::Place;

/// What a judge decided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Judged {
    /// It decided.
    Said(LabelOutcome),
    /// It could not be made to decide. Never a zero, never a pass.
    Ungraded,
}

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Where it stands.
    pub place: Place,
    /// Id of the case; the number of the line where the table has no such column.
    pub case: String,
    /// Name of the suite.
    pub suite: Option<String>,
    /// Who gave the answer.
    pub system: Option<String>,
    /// Which repeat of the case.
    pub repeat: Option<u32>,
    /// Id of the criterion.
    pub criterion: Option<String>,
    /// Whether the criterion is the first failure that somebody found in the whole case, out of all there may be.
    pub first_failure: bool,
    /// What people decided, with their names; empty where nobody did.
    pub labels: Vec<(Option<String>, LabelOutcome)>,
    /// What the judge decided; `None` where the table does not say.
    pub judge: Option<Judged>,
    /// The judge's probability of "met", 0 to 1.
    pub probability: Option<f64>,
    /// The judge's probability of each score, 0 to 1.
    pub probabilities: Vec<(f64, f64)>,
    /// Length of the answer, in any unit.
    pub length: Option<f64>,
    /// What several items have in common.
    pub cluster: Option<String>,
    /// Criteria of the same case that this one depends on.
    pub requires: Vec<String>,
    /// How the case came to be labelled.
    pub sampled: Option<Sampling>,
    /// What the label may be used for.
    pub split: Option<Split>,
    /// The answer people prefer of two.
    pub preferred: Option<String>,
    /// The judge's preferences in either order.
    pub orders: [Option<String>; 2],
    /// Repeated scores, a list for each answer; a failed one is `None`.
    pub scores: Vec<Vec<Option<f64>>>,
}
