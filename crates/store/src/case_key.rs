//! Identity of a case in a run.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Key that identifies a case of a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct CaseKey {
    /// Name of the suite.
    pub suite: Arc<str>,
    /// Id of the case.
    pub case_id: Arc<str>,
    /// Name of the target.
    pub target: Option<Arc<str>>,
    /// Number of the trial.
    #[serde(rename = "repeat")]
    pub trial: u32,
}
