//! Settings for calling a judge for a rubric.

use std::fmt;
use std::num::NonZeroUsize;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Number of criteria in one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JudgingMode {
    /// One call per criterion.
    #[default]
    PerCriterion,
    /// Several criteria in one call: at most this many, or all of them.
    Batched(Option<NonZeroUsize>),
}

impl fmt::Display for JudgingMode {
    /// The form used in records: `per_criterion`, `batched` or `batched:N`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PerCriterion => f.write_str("per_criterion"),
            Self::Batched(None) => f.write_str("batched"),
            Self::Batched(Some(size)) => write!(f, "batched:{size}"),
        }
    }
}

crate::named_enum! {
    /// Treatment of a decision whose quotes are not in the material shown to the judge.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
    pub enum EvidencePolicy {
        /// The decision counts and is marked.
        #[default]
        Checked = "checked",
        /// The judge is called again; without a valid quote, the criterion is then ungraded.
        Required = "required",
    }
}
