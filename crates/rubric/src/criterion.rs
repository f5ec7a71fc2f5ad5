//! One criterion: its text, its scale, its weight and its gate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CriterionId, CriterionScale, Gate, Weight};

/// One thing a good answer must do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Criterion {
    /// Unique in its rubric.
    pub id: CriterionId,
    /// Text of the criterion, in the author's words. Empty only where score bands say it all.
    pub text: String,
    /// Weight in the score.
    pub weight: Weight,
    /// Scale of the decision.
    pub scale: CriterionScale,
    /// Minimum the criterion must reach, else the whole case fails.
    pub gate: Option<Gate>,
    /// Reading of the text.
    pub operator: CriterionOperator,
    /// True if the judge may answer "not applicable".
    pub may_not_apply: bool,
}

impl Criterion {
    /// A checklist criterion of weight 1 that gates nothing.
    pub fn checklist(id: impl Into<std::sync::Arc<str>>, text: impl Into<String>) -> Self {
        Self {
            id: CriterionId::new(id),
            text: text.into(),
            weight: Weight::ONE,
            scale: CriterionScale::Checklist,
            gate: None,
            operator: CriterionOperator::Correctness,
            may_not_apply: false,
        }
    }
}

/// Reading of a checklist criterion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Operator")]
pub enum CriterionOperator {
    /// Met when the answer does what the text says.
    #[default]
    Correctness,
    /// The text is a fact; met as long as the answer does not contradict it. Silence is fine.
    Contradiction,
}
