//! Data of a case that hooks receive.

use serde_json::{Map, Value};

/// Data of a case, as passed to hooks.
#[derive(Debug, Clone)]
pub struct CaseInfo {
    /// Id of the case; may contain any characters.
    pub case_id: String,
    /// Input of the case as text.
    pub input: String,
    /// Metadata of the case from the eval file.
    pub metadata: Map<String, Value>,
}
