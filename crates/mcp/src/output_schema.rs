//! Schemas of tool results: the members that a client can rely on. Rows, explanations and plans have more
//! members, described by their own schemas.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool};
use serde_json::{Value, json};

/// Adds the schema of its results to a tool.
pub(crate) fn add(tool: &mut Tool) {
    let list = json!({ "type": "array", "items": { "type": "object" } });
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    let object = json!({ "type": "object" });
    let count = json!({ "type": "integer", "minimum": 0 });
    let text = json!({ "type": "string" });
    let or_null = |kind: &str| json!({ "type": [kind, "null"] });

    let (required, members) = match &*tool.name {
        "validate" => (
            vec!["valid", "files", "diagnostics", "errors", "warnings"],
            json!({ "valid": { "type": "boolean" }, "files": list, "errors": count, "warnings": count }),
        ),
        "plan" => (
            vec!["cases", "calls", "judges", "tokens_estimated", "cost_usd", "warnings"],
            json!({ "cases": count, "calls": count, "judges": list, "warnings": texts }),
        ),
        "grade" => (
            vec!["results", "summary", "stopped", "warnings"],
            json!({ "results": list, "summary": object, "stopped": or_null("string"), "warnings": texts }),
        ),
        "run_eval" => (
            vec!["run_id", "status"],
            json!({
                "run_id": text, "status": text, "summary": object, "cases": count, "cases_finished": count,
                "next": text,
            }),
        ),
        "list_runs" => {
            (vec!["runs", "running", "has_more"], json!({ "runs": list, "has_more": { "type": "boolean" } }))
        }
        "results" => (
            vec!["run_id", "status", "summary", "results", "next_cursor"],
            json!({
                "run_id": text, "status": text, "results": list, "next_cursor": or_null("string"),
                "cases": count, "cases_finished": count,
            }),
        ),
        "explain" => (vec!["run_result", "cases"], json!({ "run_result": text, "cases": list })),
        _ => return,
    };

    let mut schema = json!({ "type": "object", "properties": members, "required": required });
    for (name, notes) in [("notes", &texts), ("diagnostics", &list), ("notes_omitted", &count)] {
        schema["properties"][name] = notes.clone();
    }
    if let Value::Object(schema) = schema {
        tool.output_schema = Some(Arc::new(JsonObject::from_iter(schema)));
    }
}
