//! JSON Schemas of a run folder's files and of labels, generated from the types that write them.

use assize_rubric::Label;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::{JudgementRow, QuestionRow, ResultRow, ReviewRow, RunInfo};

/// The schemas of a run folder and of labels: name and schema (JSON Schema, draft 2020-12). They describe the
/// output of this version, which always has fields that older versions omitted.
pub fn schemas() -> Vec<(&'static str, Value)> {
    let written = || SchemaSettings::draft2020_12().for_serialize();
    vec![
        ("run", schema_for::<RunInfo>(written())),
        ("result", schema_for::<ResultRow>(written())),
        ("judgement", schema_for::<JudgementRow>(written())),
        ("question", schema_for::<QuestionRow>(written())),
        ("review", schema_for::<ReviewRow>(written())),
        // People write labels, so their schema requires only the fields that a reader requires.
        ("label", schema_for::<Label>(SchemaSettings::draft2020_12().for_deserialize())),
    ]
}

fn schema_for<T: JsonSchema>(settings: SchemaSettings) -> Value {
    settings.into_generator().into_root_schema_for::<T>().to_value()
}
