//! One criterion: its text, its scale, its weight and its gate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CriterionId, CriterionScale, Gate, Weight};

/// A single thing to decide about an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Criterion {
    /// Criterion id, unique in its rubric.
    pub id: CriterionId,
    /// Criterion text. Empty only if score ranges describe the criterion completely.
    pub text: String,
    /// Weight in the score of the rubric.
    pub weight: Weight,
    /// Scale of the decision.
    pub scale: CriterionScale,
    /// Gate: the minimum without which the case fails.
    pub gate: Option<Gate>,
    /// Relation between the criterion text and the answer.
    pub operator: CriterionOperator,
    /// True if the judge may decide "not applicable".
    pub may_not_apply: bool,
}

impl Criterion {
    /// Creates a checklist criterion of weight 1 without a gate.
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

    /// Creates checklist criteria with these texts and the ids `c1`, `c2` and so on.
    pub fn checklists(texts: impl IntoIterator<Item = String>) -> Vec<Self> {
        let numbered = (1..).zip(texts);
        numbered.map(|(number, text)| Self::checklist(format!("c{number}"), text)).collect()
    }
}

crate::named_enum! {
    /// Relation between a met-or-unmet criterion and the answer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
    #[schemars(rename = "Operator")]
    pub enum CriterionOperator {
        /// Met if the answer does what the text says.
        #[default]
        Correctness = "correctness",
        /// Met unless the answer contradicts the fact in the text. An answer that does not mention it meets the criterion.
        Contradiction = "contradiction",
    }
}
