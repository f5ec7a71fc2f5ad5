//! Decoder of HTTP targets.

use std::collections::BTreeMap;

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{NodeValue, TreeNode, codes, wrong_type};
use assize_model::{HttpBody, HttpTargetSpec, SecretText};
use assize_script::{Script, ScriptError};

use super::entry::TargetEntryReader;
use super::http_script::{RESPONSE_PARAMETERS, STATUS_PARAMETERS, response_script};
use super::value::seconds;

const METHODS: [&str; 6] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"];

/// Decodes the settings of an HTTP target. Returns `None` after adding a diagnostic, or when a variable is not
/// set.
pub(super) fn decode_http_target(entry: &mut TargetEntryReader<'_, '_, '_>) -> Option<HttpTargetSpec> {
    entry.demand(&["url"], "a server needs `url`", "url: https://example.com/answer");
    let url = entry.object.text("url", entry.problems);
    let headers = texts(entry, "headers");
    let query = texts(entry, "query");
    let environment = texts(entry, "env").into_iter().filter(|(_, value)| !value.is_empty());
    let environment: BTreeMap<_, _> =
        environment.map(|(name, value)| (name, SecretText::new(value))).collect();

    let content_type = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    let content_type = content_type.map(|(_, value)| value.to_ascii_lowercase());
    let body = entry.object.value("body").filter(|node| !node.is_null());
    let body = body.map(|node| body_of(node, content_type.as_deref()));

    let method = entry.object.text("method", entry.problems);
    let usual = if body.is_some() { "POST" } else { "GET" };
    let method = match method {
        None => usual,
        Some(written) => {
            let known = METHODS.iter().find(|method| written.value.trim().eq_ignore_ascii_case(method));
            if known.is_none() {
                Diagnostic::error(codes::UNKNOWN_CHOICE, "unknown `method`")
                    .at(written.span, "not known")
                    .with_help(format!("use one of {}", METHODS.join(", ")))
                    .add_to(entry.problems);
            }
            known.copied().unwrap_or(usual)
        }
    };

    let response = script(entry, "response", &RESPONSE_PARAMETERS);
    let status = script(entry, "status", &STATUS_PARAMETERS);
    let timeout = seconds(&mut entry.object, entry.problems);

    Some(HttpTargetSpec {
        url: url?.value.trim().to_owned(),
        method,
        headers,
        query,
        body,
        response,
        status,
        environment,
        timeout,
    })
}

/// Returns the strings of a map, in the order of the file.
fn texts(entry: &mut TargetEntryReader<'_, '_, '_>, key: &'static str) -> Vec<(String, String)> {
    let Some(node) = entry.object.value(key).filter(|node| !node.is_null()) else { return Vec::new() };
    let Some(items) = node.as_map() else {
        entry.problems.add(wrong_type(node, &format!("`{key}`"), "a map of names and texts"));
        return Vec::new();
    };

    let mut found = Vec::with_capacity(items.len());
    for item in items {
        match &item.value.data {
            NodeValue::Str(text) => found.push((item.key.clone(), text.clone())),
            NodeValue::Seq(_) | NodeValue::Map(_) | NodeValue::Null => {
                entry.problems.add(wrong_type(&item.value, &format!("`{}` of `{key}`", item.key), "a text"));
            }
            _ => found.push((item.key.clone(), item.value.to_json().to_string())),
        }
    }

    found
}

/// Returns the body in the form that the content type requires. Without a content type, the form is guessed
/// from the value.
fn body_of(node: &TreeNode, content_type: Option<&str>) -> HttpBody {
    let is_form = content_type.is_some_and(|kind| kind.contains("x-www-form-urlencoded"));
    let is_json = content_type.is_some_and(|kind| kind.contains("json"));
    match &node.data {
        NodeValue::Str(text) => {
            let begin = text.trim_start();
            let looks_like_json =
                begin.starts_with('[') || begin.starts_with('{') && !begin.starts_with("{{");
            if is_json || content_type.is_none() && looks_like_json {
                serde_json::from_str(text).map_or_else(|_| HttpBody::JsonText(text.clone()), HttpBody::Json)
            } else {
                HttpBody::Text(text.clone())
            }
        }
        NodeValue::Map(_) if is_form => match node.to_json() {
            serde_json::Value::Object(fields) => HttpBody::Form(fields),
            other => HttpBody::Json(other),
        },
        _ => HttpBody::Json(node.to_json()),
    }
}

fn script(
    entry: &mut TargetEntryReader<'_, '_, '_>,
    key: &'static str,
    parameters: &[&str],
) -> Option<Script> {
    let written = entry.object.text(key, entry.problems)?;
    match response_script(&written.value, parameters) {
        Ok(script) => Some(script),
        Err(error) => {
            report_script(entry, written.span, &error, parameters);
            None
        }
    }
}

fn report_script(
    entry: &mut TargetEntryReader<'_, '_, '_>,
    span: Span,
    error: &ScriptError,
    parameters: &[&str],
) {
    Diagnostic::error(codes::BAD_SCRIPT, error.title())
        .at(span, error.to_string())
        .with_help(format!("write an expression, or a function of {}", parameters.join(", ")))
        .add_to(entry.problems);
}
