//! Scoring an answer as a whole: one number instead of a decision per criterion.

use std::sync::Arc;

use assize_rubric::Unit;

use crate::{Finding, Judged, Material};

/// A request to score one answer.
#[derive(Debug, Clone)]
pub struct WholeTask {
    /// The texts that the judge may see.
    pub material: Arc<Material>,
    /// The author's instructions, with `{{ name }}` for the variables; the built-in ones if absent.
    pub instructions: Option<String>,
    /// Values of the variables: untrusted text, which is only ever inserted in blocks.
    pub variables: Vec<(String, String)>,
    /// Sampling temperature; the judge's own if absent.
    pub temperature: Option<f64>,
    /// Number of the case's repeat, from 1; never shown to a judge. Each repeat is judged anew.
    pub repeat: u32,
    /// Number of this call among repeated calls of the judge, from 1.
    pub asking: u32,
}

/// Score of a whole answer.
#[derive(Debug, Clone, PartialEq)]
pub struct WholeScore {
    /// The score.
    pub score: Unit,
    /// Findings that the judge listed for and against the answer.
    pub findings: Vec<Finding>,
}

/// Judge's decision on the score of a whole answer.
pub type WholeJudgement = Judged<WholeScore>;
