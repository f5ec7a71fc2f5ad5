//! What a run folder's files and labels look like, as JSON Schemas: made from the types that write them.

use assize_rubric::Label;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::{JudgementRow, ResultRow, ReviewRow, RunInfo};

/// The schemas of a run folder and of labels: name and schema (JSON Schema, draft 2020-12). They describe what this version
/// writes: what an older one left out is there, and nothing else is.
pub fn schemas() -> Vec<(&'static str, Value)> {
    let written = || SchemaSettings::draft2020_12().for_serialize();
    vec![
        ("run", of::<RunInfo>(written())),
        ("result", of::<ResultRow>(written())),
        ("judgement", of::<JudgementRow>(written())),
        ("review", of::<ReviewRow>(written())),
        // People write labels: what is demanded is what a reader demands.
        ("label", of::<Label>(SchemaSettings::draft2020_12().for_deserialize())),
    ]
}

fn of<T: JsonSchema>(settings: SchemaSettings) -> Value {
    settings.into_generator().into_root_schema_for::<T>().to_value()
}
