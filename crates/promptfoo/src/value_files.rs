//! Values of assertions in the files that they name.

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{NodeValue, TreeNode, codes, wrong_type};
use assize_evalfile::reading::DecodeContext;

use super::nodes::{json_node, text_node};

/// Returns a value, or the text of the file that it names. In a list, each entry may name a file.
pub(super) fn read_value_file(cx: &mut DecodeContext, value: &TreeNode) -> Option<TreeNode> {
    if let NodeValue::Seq(items) = &value.data {
        let items: Option<Vec<TreeNode>> = items.iter().map(|item| read_value_file(cx, item)).collect();
        return Some(TreeNode { data: NodeValue::Seq(items?), ..*value });
    }
    let Some(path) = value.as_str().filter(|text| text.starts_with("file://") && !text.contains('\n')) else {
        return Some(value.clone());
    };
    let span = value.use_span();
    if is_code_file(path) {
        return cx.problems.reject(code_as_value(span));
    }
    if [".json", ".yaml", ".yml"].iter().any(|ending| path.ends_with(ending)) {
        return super::providers::read_settings(cx, path, span);
    }

    let file = cx.read_text(path, span)?;
    Some(text_node(span, file.text.trim()))
}

fn code_as_value(span: Span) -> Diagnostic {
    Diagnostic::error(codes::NOT_SUPPORTED, "a value can't come from a program")
        .at(span, "a program")
        .with_help("write the value, or use a `javascript` assertion")
}

/// Returns true if a path names a program, perhaps with a function behind it.
pub(super) fn is_code_file(path: &str) -> bool {
    let ends = |ending: &str| path.ends_with(ending) || path.contains(&format!("{ending}:"));
    [".js", ".cjs", ".mjs", ".ts", ".mts", ".py", ".rb"].iter().any(|ending| ends(ending))
}

/// Returns the schema of `is-json` or `contains-json`: a map, a text in YAML or JSON, or a file.
pub(super) fn schema_of(cx: &mut DecodeContext, value: &TreeNode) -> Option<TreeNode> {
    let Some(text) = value.as_str() else { return Some(value.clone()) };
    let span = value.use_span();
    if text.trim().starts_with("file://") {
        if is_code_file(text.trim()) {
            return cx.problems.reject(code_as_value(span));
        }
        return Some(value.clone());
    }

    let source = cx.sources.add("schema.yaml", text);
    match cx.try_yaml(source) {
        Some(root) if root.as_map().is_some() => Some(json_node(span, &root.to_json())),
        _ => cx.problems.reject(wrong_type(value, "`value`", "a JSON Schema")),
    }
}
