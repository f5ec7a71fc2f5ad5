//! Judging an answer as a whole: one number instead of a decision per criterion.

use std::sync::Arc;

use assize_rubric::Unit;

use crate::{Finding, Judged, Material};

/// One answer to be given a score.
#[derive(Debug, Clone)]
pub struct WholeTask {
    /// What may be looked at.
    pub material: Arc<Material>,
    /// The author's instructions, with `{{ name }}` for the variables; the built-in ones if absent.
    pub instructions: Option<String>,
    /// Values of the variables: untrusted text, which is only ever shown inside blocks.
    pub variables: Vec<(String, String)>,
    /// Sampling temperature; the judge's own if absent.
    pub temperature: Option<f64>,
    /// Which repeat of the case this is, from 1; never shown to a judge. Each repeat is judged anew.
    pub repeat: u32,
    /// How many times this judge is asked the same with this one, from 1.
    pub asking: u32,
}

/// What a judge made of an answer as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct WholeScore {
    /// The score.
    pub score: Unit,
    /// What the judge listed for and against the answer.
    pub findings: Vec<Finding>,
}

/// A score of an answer as a whole.
pub type WholeJudgement = Judged<WholeScore>;
