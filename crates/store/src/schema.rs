//! What a run folder's files look like, as JSON Schemas: made from the types that write them.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::{JudgementRow, ResultRow, RunInfo};

/// The schemas of a run folder: name and schema (JSON Schema, draft 2020-12). They describe what this version
/// writes: what an older one left out is there, and nothing else is.
pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![("run", of::<RunInfo>()), ("result", of::<ResultRow>()), ("judgement", of::<JudgementRow>())]
}

fn of<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>().to_value()
}
