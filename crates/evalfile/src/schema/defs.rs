//! Schema definitions, and the documents built from them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::shape::{MapSchema, ValueSchema};
use super::{grader, rubric, scorecard, settings, suite};

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

/// The dialect of all schemas.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The file of a folder of schemas that holds the definitions of all others.
const DEFINITIONS: &str = "definitions";

/// Schema documents: each a definition with a title.
const DOCUMENTS: &[(&str, &str)] = &[
    ("suite", "An eval file"),
    ("suite-settings", "Settings beside a JSONL file of cases"),
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

/// All definitions by name.
#[derive(Debug, Default)]
pub(super) struct SchemaDefinitions {
    shapes: BTreeMap<&'static str, Value>,
    /// Definitions of maps, each with the decoder's name for it.
    pub(super) maps: Vec<(&'static str, MapSchema)>,
}

impl SchemaDefinitions {
    /// Returns the definitions of all files.
    pub(super) fn all() -> Self {
        let mut defs = Self::default();
        rubric::add(&mut defs);
        grader::add(&mut defs);
        suite::add(&mut defs);
        settings::add(&mut defs);
        scorecard::add(&mut defs);

        defs
    }

    /// Adds a shape.
    pub(super) fn add_shape(&mut self, name: &'static str, shape: ValueSchema) {
        self.shapes.insert(name, shape.0);
    }

    /// Adds a map.
    pub(super) fn add_keys(&mut self, name: &'static str, keys: MapSchema) {
        self.add_shape(name, keys.to_schema());
        self.maps.push((name, keys));
    }

    /// Returns a document with one definition at its root, and the definitions it refers to, directly or not.
    pub(super) fn build_document(&self, name: &str, title: &str) -> Value {
        let mut reached = BTreeSet::new();
        let mut ways: Vec<&str> = vec![name];
        while let Some(at) = ways.pop() {
            if let Some((known, shape)) = self.shapes.get_key_value(at)
                && reached.insert(*known)
            {
                collect_references(shape, &mut ways);
            }
        }

        let beside: Map<String, Value> =
            reached.iter().map(|name| ((*name).to_owned(), self.shapes[name].clone())).collect();
        json!({
            "$schema": DIALECT,
            "$id": format!("urn:assize:schema:{name}"),
            "title": title,
            "$ref": format!("#/$defs/{name}"),
            "$defs": beside,
        })
    }
}

/// Collects the names that a schema refers to.
fn collect_references<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                match inner.as_str().and_then(|text| text.strip_prefix("#/$defs/")) {
                    Some(name) if key == "$ref" => found.push(name),
                    _ => collect_references(inner, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, found)),
        _ => {}
    }
}

/// Returns the file name of a schema.
pub fn schema_file_name(name: &str) -> String {
    format!("{name}.schema.json")
}

/// Returns the schemas of all file formats, as files of one folder by name: each refers to the definitions in a file
/// beside it.
///
/// They have no `$id`, so that an editor resolves the reference against the place of the file.
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

/// Returns the schemas of all file formats, each whole in itself.
pub fn schemas() -> Vec<SchemaFile> {
    let defs = SchemaDefinitions::all();
    DOCUMENTS
        .iter()
        .map(|(name, title)| SchemaFile { name, title, schema: defs.build_document(name, title) })
        .collect()
}
