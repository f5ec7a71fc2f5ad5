//! JSON Schema in a build without it.

use serde_json::Value;

const MISSING: &str =
    "this build of Assize has no JSON Schema; build it with `--features full`, as released programs are";

/// Why a schema can't be used: this build has no JSON Schema.
pub fn schema_problem(_: &Value) -> Option<String> {
    Some(MISSING.to_owned())
}

/// Fails, because this build has no JSON Schema.
pub(super) fn violations(_: &Value, _: &Value) -> Result<Vec<String>, String> {
    Err(MISSING.to_owned())
}
