//! Substitution of `${{ NAME }}`: inserts values from the environment into the strings of a tree.

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{MapEntry, NodeValue, TreeNode, codes};

use super::DecodeContext;

use assize_model::TextPart;

/// Keys whose values are settings of workspaces, which Git and programs receive.
const WORKSPACE_KEYS: [&str; 3] = ["workspace", "hooks", "repos"];

/// Keys of suites, cases, rubrics and `execution` that choose among targets and models or limit the run. Their values are no
/// part of a text.
const CHOICE_KEYS: [&str; 14] = [
    "target", "targets", "judge", "judging", "evidence", "truncate", "workers", "cache", "cache_path",
    "budget_usd", "threshold", "borderline", "fail_on_error", "trials",
];

/// Replaces every `${{ NAME }}` and `${{ NAME:-default }}` in the strings below `node`. If a string is exactly
/// one such reference, it becomes a boolean or number if the value looks like one. `$${{ NAME }}` escapes the
/// reference. A variable that is not set is an error. Others are noted, because texts are sent to models and servers.
///
/// Only plain names count: `${{ secrets.NAME }}` and the like are ordinary text.
pub(crate) fn interpolate(cx: &mut DecodeContext, node: &mut TreeNode) {
    substitute_below(cx, node, ValueUse::Text(TextPart::Case));
}

/// Like [`interpolate`], for settings of a workspace.
pub(crate) fn interpolate_settings(cx: &mut DecodeContext, node: &mut TreeNode) {
    substitute_below(cx, node, ValueUse::Text(TextPart::Workspace));
}

/// Use of the values below a node.
#[derive(Clone, Copy)]
enum ValueUse {
    /// Texts of this part of the file.
    Text(TextPart),
    /// A choice of targets or models, or a limit.
    Choice,
}

impl ValueUse {
    /// The use of the value of a key of a map with this use.
    fn below(self, key: &str) -> Self {
        if WORKSPACE_KEYS.contains(&key) { Self::Text(TextPart::Workspace) } else { self }
    }
}

fn substitute_below(cx: &mut DecodeContext, node: &mut TreeNode, used_as: ValueUse) {
    let place = node.use_span();
    match &mut node.data {
        NodeValue::Str(text) => {
            if let Some(data) = substitute(cx, text, place, used_as) {
                node.data = data;
            }
        }
        NodeValue::Seq(items) => items.iter_mut().for_each(|item| substitute_below(cx, item, used_as)),
        NodeValue::Map(entries) => {
            for entry in entries.iter_mut() {
                substitute_below(cx, &mut entry.value, used_as.below(&entry.key));
            }
            mark_unset_keys(cx, entries);
        }
        NodeValue::Null | NodeValue::Bool(_) | NodeValue::Int(_) | NodeValue::Float(_) => {}
    }
}

/// Replaces the references in the values of a suite or a case, except in the value of the key `except`. An
/// unset variable in `description` is only a note, because a run does not need the description.
pub(crate) fn interpolate_described(cx: &mut DecodeContext, entries: &mut [MapEntry], except: &str) {
    // `targets` has its own rules: its values are settings.
    let is_text = |entry: &&mut MapEntry| entry.key != except && entry.key != "targets";
    for entry in entries.iter_mut().filter(is_text) {
        let is_description = entry.key == "description";
        let notes = std::mem::replace(&mut cx.problems.notes_unset, is_description);
        match &mut entry.value.data {
            NodeValue::Map(settings) if entry.key == "execution" => {
                for setting in settings.iter_mut() {
                    substitute_below(cx, &mut setting.value, use_of_setting(&setting.key));
                }
                mark_unset_keys(cx, settings);
            }
            _ => substitute_below(cx, &mut entry.value, use_of_setting(&entry.key)),
        }
        cx.problems.notes_unset = notes;
    }

    mark_unset_keys(cx, entries);
}

/// Like [`interpolate`], for a rubric file, which may have settings in addition to its criteria.
pub(crate) fn interpolate_rubric(cx: &mut DecodeContext, node: &mut TreeNode) {
    let NodeValue::Map(entries) = &mut node.data else { return interpolate(cx, node) };
    for entry in entries.iter_mut() {
        substitute_below(cx, &mut entry.value, use_of_setting(&entry.key));
    }
    mark_unset_keys(cx, entries);
}

/// Returns the use of the value of a key of a suite, a case, a rubric or `execution`.
fn use_of_setting(key: &str) -> ValueUse {
    if CHOICE_KEYS.contains(&key) { ValueUse::Choice } else { ValueUse::Text(TextPart::Case).below(key) }
}

/// Records the keys whose whole value is an unset variable, so that they are not reported as missing.
fn mark_unset_keys(cx: &mut DecodeContext, entries: &[MapEntry]) {
    let Some(head) = entries.first().map(|entry| entry.key_span) else { return };
    for entry in entries.iter().filter(|entry| entry.value.as_str() == Some("")) {
        cx.problems.mark_unset_key(head, &entry.key, entry.value.use_span());
    }
}

fn substitute(cx: &mut DecodeContext, text: &str, place: Span, used_as: ValueUse) -> Option<NodeValue> {
    if !text.contains("${{") {
        return None;
    }

    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    let mut from_environment = false;
    while let Some(at) = rest.find("${{") {
        let (before, reference) = rest.split_at(at);
        let Some((whole, name, default)) = parse_reference(reference) else {
            result.push_str(&rest[..at + 3]);
            rest = &rest[at + 3..];
            continue;
        };
        if let Some(before) = before.strip_suffix('$') {
            result.push_str(before);
            result.push_str(whole);
        } else {
            result.push_str(before);
            if let ValueUse::Text(part) = used_as {
                cx.reach.environment.note(name, part, cx.position(place));
            }
            match (cx.reach.environment.value(name), default) {
                (Some(value), _) => {
                    cx.problems.hide(&value, &format!("${{{{ {name} }}}}"), place);
                    result.push_str(&value);
                    from_environment = true;
                }
                (None, Some(default)) => {
                    result.push_str(default);
                    from_environment = true;
                }
                (None, None) => cx.problems.add_unset(unset_variable(name, place)),
            }
        }

        rest = &reference[whole.len()..];
    }

    result.push_str(rest);
    let only_reference =
        from_environment && parse_reference(text.trim()).is_some_and(|(whole, ..)| whole == text.trim());
    Some(if only_reference { parse_typed_value(result) } else { NodeValue::Str(result) })
}

/// Returns true if a text has the form of an API key of a well-known service, a JSON web token, or a private
/// key.
pub fn looks_like_secret(value: &str) -> bool {
    const PREFIXES: [&str; 18] = [
        "sk-", "sk_live_", "rk_live_", "gsk_", "xai-", "hf_", "r8_", "AIza", "AKIA", "ASIA", "ghp_", "gho_",
        "ghs_", "github_pat_", "glpat-", "npm_", "xoxb-", "xoxp-",
    ];
    /// Minimum length of a key.
    const SHORTEST: usize = 16;

    let value = value.trim();
    let is_word =
        value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let is_key = |prefix: &&str| value.starts_with(*prefix) && value.len() >= SHORTEST;

    // A JSON web token: three parts in Base64. The first part is a JSON object.
    let is_token = value.starts_with("eyJ") && value.matches('.').count() == 2;
    (is_word && has_digit && (PREFIXES.iter().any(is_key) || is_token))
        || (value.starts_with("-----BEGIN ") && value.contains("PRIVATE KEY"))
}

fn unset_variable(name: &str, place: Span) -> Diagnostic {
    Diagnostic::error(codes::VARIABLE_NOT_SET, format!("the environment variable `{name}` is not set"))
        .at(place, "needed here")
        .with_help(format!("set `{name}` in the environment or in the `.env` file"))
        .with_help(format!("or give a default: `${{{{ {name}:-value }}}}`"))
}

/// Parses the reference at the beginning of `text`: the whole reference, its name and its default.
fn parse_reference(text: &str) -> Option<(&str, &str, Option<&str>)> {
    let inner = text.strip_prefix("${{")?;
    let end = inner.find("}}")?;
    let whole = &text[..end + 5];
    let inner = inner[..end].trim();
    let (name, default) = match inner.split_once(":-") {
        Some((name, default)) => (name.trim_end(), Some(default.trim())),
        None => (inner, None),
    };
    let mut letters = name.chars();
    let starts_well = letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');

    (starts_well && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')).then_some((whole, name, default))
}

/// Returns the value of a reference that is the whole string: `true`, `false` and plain decimal numbers get
/// their types, and all other values are strings.
fn parse_typed_value(text: String) -> NodeValue {
    match text.as_str() {
        "true" => return NodeValue::Bool(true),
        "false" => return NodeValue::Bool(false),
        _ => {}
    }

    let digits = text.strip_prefix('-').unwrap_or(&text);
    let plain = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.ends_with(|c: char| c.is_ascii_digit())
        && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        && digits.bytes().filter(|b| *b == b'.').count() <= 1
        // A number with leading zeros is an id or a code.
        && (!digits.starts_with('0') || digits == "0" || digits.starts_with("0."));
    if plain {
        if let Ok(value) = text.parse::<i64>() {
            return NodeValue::Int(value);
        }
        if let Ok(value) = text.parse::<f64>() {
            return NodeValue::Float(value);
        }
    }

    NodeValue::Str(text)
}

#[cfg(test)]
mod tests {
    use assize_document::read_yaml;

    use super::*;
    use crate::tests::contexts::context_with;

    #[test]
    fn values_of_secrets_are_told_from_others() {
        for value in [
            "sk-proj-0123456789abcdef",
            "ghp_0123456789abcdefghij",
            "AKIA0123456789ABCDEF",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
            "-----BEGIN RSA PRIVATE KEY-----\nMII",
        ] {
            assert!(looks_like_secret(value), "{value}");
        }
        for value in [
            "",
            "sk-",
            "sk-learn",
            "ski-resort-in-the-alps",
            "sk-learn is a library of 2007 for Python",
            "gpt-6-luna",
            "hf_datasets",
            "http://localhost:8000/v1",
            "eyJ",
        ] {
            assert!(!looks_like_secret(value), "{value}");
        }
    }

    fn run(text: &str) -> (TreeNode, DecodeContext) {
        let mut cx = context_with(|name| match name {
            "NAME" => Some("Ada".into()),
            "COUNT" => Some("12".into()),
            "YES" => Some("true".into()),
            "CODE" => Some("007".into()),
            "EMPTY" => Some(String::new()),
            _ => None,
        });
        let source = cx.sources.add("a.yaml", text);
        let mut node = read_yaml(&cx.sources, source, &mut cx.problems).expect("valid");
        interpolate(&mut cx, &mut node);
        (node, cx)
    }

    #[test]
    fn references_are_filled_and_whole_values_are_typed() {
        let text = "- ${{ NAME }}\n- hi ${{NAME}}, ${{ COUNT }}\n- ${{ COUNT }}\n- ${{ YES }}\n- ${{ CODE }}\n\
                    - ${{ NONE:-0.5 }}\n- '[${{ EMPTY }}]'\n- $${{ NAME }}\n- ${{ secrets.NAME }}\n- '${{ open'\n";
        let (node, cx) = run(text);
        assert_eq!(cx.problems.error_count(), 0);
        let values: Vec<NodeValue> = node.as_seq().expect("list").iter().map(|n| n.data.clone()).collect();
        let s = |text: &str| NodeValue::Str(text.into());
        assert_eq!(
            values,
            vec![
                s("Ada"),
                s("hi Ada, 12"),
                NodeValue::Int(12),
                NodeValue::Bool(true),
                s("007"),
                NodeValue::Float(0.5),
                s("[]"),
                s("${{ NAME }}"),
                s("${{ secrets.NAME }}"),
                s("${{ open"),
            ]
        );
    }

    #[test]
    fn a_variable_that_is_not_set_is_a_complaint_at_its_place() {
        let (_, cx) = run("a: 1\nb: x ${{ MISSING }} y\n");
        let found = cx.problems.into_vec();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].code, codes::VARIABLE_NOT_SET);
        assert_eq!(cx.sources.position(found[0].primary.span).line, 2);
        assert!(found[0].title.contains("MISSING"));
    }
}
