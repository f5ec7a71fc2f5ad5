//! Values of assertions as strings and lists of strings.

use assize_diagnostic::{Diagnostic, Span, SpannedValue, did_you_mean};
use assize_document::{MapEntry, NodeValue, TreeNode, codes};

use super::nodes::{MapNode, list_node, text_node};

/// Returns a number or a boolean as a string.
pub(super) fn text_of(node: &TreeNode) -> TreeNode {
    let text = match &node.data {
        NodeValue::Int(number) => number.to_string(),
        NodeValue::Float(number) => number.to_string(),
        NodeValue::Bool(flag) => flag.to_string(),
        _ => return node.clone(),
    };
    text_node(node.use_span(), text)
}

/// Returns a given answer as text. Messages are returned unchanged.
pub(super) fn given_text(output: &TreeNode) -> TreeNode {
    if is_given_value(output) {
        text_node(output.use_span(), output.to_json().to_string())
    } else {
        text_of(output)
    }
}

/// Returns a transform that parses a given map or list, so that scripts see the value itself and not its text.
pub(super) fn given_transform(output: &TreeNode) -> Option<TreeNode> {
    is_given_value(output).then(|| {
        let mut transform = MapNode::new(output.use_span());
        transform.add_text("value", "JSON.parse(output)");
        transform.finish()
    })
}

fn is_given_value(output: &TreeNode) -> bool {
    let is_message = |node: &TreeNode| node.get("role").is_some();
    match &output.data {
        NodeValue::Map(_) => !is_message(output),
        NodeValue::Seq(items) => !items.iter().any(is_message),
        _ => false,
    }
}

/// Returns a list of strings. A single string is split at its commas; quoted parts stay whole. Returns `None`
/// if a quote is not closed, or is followed by anything but a comma.
pub(super) fn texts_of(node: &TreeNode) -> Option<TreeNode> {
    let items = match &node.data {
        NodeValue::Seq(items) => items.iter().map(text_of).collect(),
        NodeValue::Str(text) => {
            split_list(text)?.into_iter().map(|part| text_node(node.use_span(), part)).collect()
        }
        _ => vec![text_of(node)],
    };
    Some(list_node(node.use_span(), items))
}

fn split_list(text: &str) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix(',') {
            rest = after.trim_start();
            continue;
        }
        let Some(quoted) = rest.strip_prefix('"') else {
            let end = rest.find(',').unwrap_or(rest.len());
            parts.push(rest[..end].trim().to_owned());
            rest = rest[end..].trim_start();
            continue;
        };

        let mut part = String::new();
        let mut letters = quoted.char_indices().peekable();
        let mut end = None;
        while let Some((at, letter)) = letters.next() {
            let next = letters.peek().map(|(_, next)| *next);
            match letter {
                '\\' if matches!(next, Some('"' | '\\')) => part.extend(letters.next().map(|(_, next)| next)),
                '"' if next == Some('"') => part.extend(letters.next().map(|(_, next)| next)),
                '"' => {
                    end = Some(at + 1);
                    break;
                }
                _ => part.push(letter),
            }
        }
        parts.push(part);
        rest = quoted[end?..].trim_start();
        if !rest.is_empty() && !rest.starts_with(',') {
            return None;
        }
    }

    Some(parts)
}

/// Returns the error about a test that names a provider that is not in the file.
pub(super) fn unknown_provider<'n>(
    wanted: &SpannedValue<String>,
    names: impl Iterator<Item = &'n str>,
) -> Diagnostic {
    let title = format!("there is no provider `{}`", wanted.value);
    let diagnostic =
        Diagnostic::error(codes::UNKNOWN_TARGET, title).at(wanted.span, "not one of `providers`");
    match did_you_mean(&wanted.value, names) {
        Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")),
        None => diagnostic.with_help("name a provider by its `label` or `id`"),
    }
}

/// Returns the error that a set has no list of assertions, or an empty one.
pub(super) fn set_without_members(span: Span, found: Option<&MapEntry>) -> Diagnostic {
    let (at, label) = match found {
        None => (span, "no `assert` here"),
        Some(entry) if entry.value.as_seq().is_some() => (entry.key_span, "an empty list"),
        Some(entry) => (entry.key_span, "not a list"),
    };
    Diagnostic::error(codes::MISSING_SETTING, "a set has no assertions")
        .at(at, label)
        .with_help("list its members under `assert`")
}

/// Returns the warning that a part of a file always passes because its threshold is 0.
pub(super) fn always_reached(part: &str, span: Span) -> Diagnostic {
    Diagnostic::warning(codes::READ_DIFFERENTLY, format!("{part} with `threshold: 0` always passes"))
        .at(span, "every score reaches 0")
        .with_help("raise it, or remove it so that each assertion must pass")
}

/// Returns the warning that a key is accepted and not used.
pub(super) fn no_effect(entry: &MapEntry, why: &str) -> Diagnostic {
    Diagnostic::warning(codes::NO_EFFECT, format!("`{}` has no effect", entry.key))
        .at(entry.key_span, why)
        .with_help("remove it")
}
