//! Tidies input schemas for clients: descriptions in one line, and no Rust-specific formats.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool};
use serde_json::Value;

/// Puts a tool's texts on one line each, and removes formats such as `uint32`, about which validators warn.
pub(crate) fn tidy(tool: &mut Tool) {
    if let Some(description) = &tool.description {
        tool.description = Some(one_line(description).into());
    }

    let mut schema: JsonObject = (*tool.input_schema).clone();
    schema.values_mut().for_each(tidy_schema);
    tool.input_schema = Arc::new(schema);
}

fn tidy_schema(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(tidy_schema),
        Value::Object(map) => {
            if map.get("format").is_some_and(Value::is_string) {
                map.shift_remove("format");
            }
            if let Some(Value::String(text)) = map.get_mut("description") {
                *text = one_line(text);
            }
            map.values_mut().for_each(tidy_schema);
        }
        _ => {}
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
