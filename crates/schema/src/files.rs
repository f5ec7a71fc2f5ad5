//! Schema files, one for each kind of document.

use serde_json::{Value, json};

use super::defs::{DIALECT, SchemaDefinitions};
use super::{grader, matrix, rubric, scorecard, settings, suite};

/// A named schema.
#[derive(Debug, Clone)]
pub struct SchemaFile {
    /// Name, such as `suite`.
    pub name: &'static str,
    /// Title of the schema.
    pub title: &'static str,
    /// JSON Schema, draft 2020-12, without external references.
    pub schema: Value,
}

/// Schema documents: each a definition with a title.
const DOCUMENTS: &[(&str, &str)] = &[
    ("suite", "An eval file"),
    ("matrix", "A file with prompts, providers and tests"),
    ("suite-settings", "Settings of a JSONL file of cases"),
    ("case", "A case: a line of a JSONL file"),
    ("case-in-folder", "A case in a file of its own"),
    ("template", "A template of graders"),
    ("rubric-file", "A rubric by itself"),
    ("answer", "An answer to grade: a line of a JSONL file"),
    ("targets", "A targets file"),
    ("config", "The configuration file"),
    ("prices", "The prices file"),
    ("scorecard", "A scorecard in one file"),
    ("scorecard-index", "The index of a scorecard"),
    ("scorecard-rubric", "A rubric of a scorecard"),
    ("scorecard-benchmark", "A benchmark of a scorecard"),
    ("scorecard-cases", "Cases of a scorecard"),
    ("scorecard-case", "A case of a scorecard: a line of a JSONL file"),
    ("scorecard-labels", "Labels of a scorecard"),
    ("scorecard-label", "A label of a scorecard: a line of a JSONL file"),
    ("scorecard-result", "A result of a scorecard: a line of a JSONL file"),
];

/// Returns the file name of a schema.
pub fn schema_file_name(name: &str) -> String {
    format!("{name}.schema.json")
}

/// Returns the schemas of all file formats with their names, as files of one folder. Each refers to the
/// definitions in a file beside it.
///
/// They have no `$id`, so that an editor resolves the reference against the path of the file.
pub fn schema_folder() -> Vec<(String, Value)> {
    let defs = SchemaDefinitions::all();
    let definitions = schema_file_name(DEFINITIONS);
    let stubs = DOCUMENTS.iter().map(|(name, title)| {
        let reference = format!("{definitions}#/$defs/{name}");
        (schema_file_name(name), json!({ "$schema": DIALECT, "title": title, "$ref": reference }))
    });

    let title = "Definitions that the other schemas of this folder share";
    let shared = json!({ "$schema": DIALECT, "title": title, "$defs": defs.shapes });
    let mut files: Vec<(String, Value)> = stubs.collect();
    files.push((definitions.clone(), shared));

    files
}

/// Returns the schemas of all file formats, each self-contained.
pub fn schemas() -> Vec<SchemaFile> {
    let defs = SchemaDefinitions::all();
    DOCUMENTS
        .iter()
        .map(|(name, title)| SchemaFile { name, title, schema: defs.build_document(name, title) })
        .collect()
}

/// Name of the file that holds the definitions for all others in a folder of schemas.
const DEFINITIONS: &str = "definitions";

impl SchemaDefinitions {
    /// Returns the definitions of all files.
    pub(super) fn all() -> Self {
        let mut defs = Self::default();
        rubric::add(&mut defs);
        grader::add(&mut defs);
        suite::add(&mut defs);
        matrix::add(&mut defs);
        settings::add(&mut defs);
        scorecard::add(&mut defs);

        defs
    }
}
