//! Values of assertions: as they are written, or in the files that they name.

use assize_diagnostic::{Diagnostic, Span};

use super::assertions::{AssertionParts, AssertionValues, missing_value};
use super::nodes::{MapNode, json_node, text_node};
use crate::codes;
use crate::decode::DecodeContext;
use crate::decode::map_reader::wrong_type;
use crate::tree::TreeNode;

pub(super) fn add_value(
    cx: &mut DecodeContext,
    grader: &mut MapNode,
    assertion: &AssertionParts,
    parts: &AssertionValues<'_>,
    convert: impl Fn(&TreeNode) -> TreeNode,
) -> Option<()> {
    let Some(value) = &parts.value else {
        cx.problems.add(missing_value(assertion));
        return None;
    };
    let value = read_value_file(cx, value)?;
    grader.add("value", value.use_span(), convert(&value));
    Some(())
}

/// Returns a value, or the text of the file that it names.
pub(super) fn read_value_file(cx: &mut DecodeContext, value: &TreeNode) -> Option<TreeNode> {
    let Some(path) = value.as_str().filter(|text| text.starts_with("file://") && !text.contains('\n')) else {
        return Some(value.clone());
    };
    let span = value.use_span();
    if is_code_file(path) {
        cx.problems.add(code_as_value(span));
        return None;
    }
    if [".json", ".yaml", ".yml"].iter().any(|ending| path.ends_with(ending)) {
        return super::providers::read_settings(cx, path, span);
    }

    let file = cx.read_text(path, span)?;
    Some(text_node(span, file.text.trim()))
}

fn code_as_value(span: Span) -> Diagnostic {
    Diagnostic::error(codes::NOT_SUPPORTED, "a value can't come from a program", span, "a program")
        .with_help("write the value, or use a `javascript` assertion")
}

/// Returns true if a path names a program, perhaps with a function behind it.
pub(super) fn is_code_file(path: &str) -> bool {
    let ends = |ending: &str| path.ends_with(ending) || path.contains(&format!("{ending}:"));
    [".js", ".cjs", ".mjs", ".ts", ".mts", ".py", ".rb"].iter().any(|ending| ends(ending))
}

/// Returns the schema of `is-json`: a map, a text in YAML or JSON, or a file.
pub(super) fn schema_of(cx: &mut DecodeContext, value: &TreeNode) -> Option<TreeNode> {
    let Some(text) = value.as_str() else { return Some(value.clone()) };
    let span = value.use_span();
    if text.trim().starts_with("file://") {
        if is_code_file(text.trim()) {
            cx.problems.add(code_as_value(span));
            return None;
        }
        return Some(value.clone());
    }

    let mut quiet = cx.problems.fork();
    let source = cx.sources.add("schema.yaml", text);
    match crate::tree::read_yaml(&cx.sources, source, &mut quiet) {
        Some(root) if root.as_map().is_some() => Some(json_node(span, &root.to_json())),
        _ => {
            cx.problems.add(wrong_type(value, "`value` of `is-json`", "a JSON Schema"));
            None
        }
    }
}

/// Keys of the `value` of `is-sql`, and those of the grader.
const SQL_KEYS: [(&str, &str); 3] = [
    ("databaseType", "database_type"),
    ("allowedTables", "allowed_tables"),
    ("allowedColumns", "allowed_columns"),
];

/// Writes `is-sql` or `contains-sql`.
pub(super) fn write_sql(
    cx: &mut DecodeContext,
    grader: &mut MapNode,
    assertion: &AssertionParts,
    parts: &AssertionValues<'_>,
) -> Option<()> {
    grader.add_text("type", assertion.kind.name);
    let Some(value) = &parts.value else { return Some(()) };
    let value = read_value_file(cx, value)?;
    let Some(entries) = value.as_map() else {
        cx.problems.add(wrong_type(&value, &format!("`value` of `{}`", assertion.full_name()), "a map"));
        return None;
    };
    for entry in entries.iter().filter(|entry| !entry.value.is_null()) {
        let known = SQL_KEYS.iter().find(|(camel, snake)| entry.key == *camel || entry.key == *snake);
        if let Some((_, key)) = known {
            grader.add(key, entry.key_span, entry.value.clone());
        } else {
            let reason = "`value` has `databaseType`, `allowedTables` and `allowedColumns`";
            cx.problems.add(super::tests::no_effect(entry, reason));
        }
    }

    Some(())
}
