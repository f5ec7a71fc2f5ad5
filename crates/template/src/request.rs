//! Texts of requests as templates.

use std::collections::BTreeMap;

use assize_model::SecretText;
use minijinja::value::{Serde, ValueKind};
use minijinja::{ErrorKind, UndefinedBehavior, Value as JinjaValue};
use serde_json::{Map, Value};

use super::render::{TemplateWork, first_line, full_environment, has_markers, render_text, write_value};
use super::script_values::{UNRESERVED, json_text, script_text};

/// Escaping of values in the texts of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestEscape {
    /// None.
    None,
    /// Texts are inside of the quotes of JSON; other values are JSON.
    Json,
    /// Values are parts of an address. A value of an environment variable may contain several parts.
    Url,
}

/// Renders a text of a request. `secrets` are the environment variables that it may use.
///
/// # Errors
/// When it is not a template, or uses an unknown name. The reason quotes no value.
pub fn render_request(
    text: &str,
    values: &Map<String, Value>,
    secrets: &BTreeMap<String, SecretText>,
    escape: RequestEscape,
) -> Result<String, String> {
    if !has_markers(text) {
        return Ok(text.to_owned());
    }

    let mut all: BTreeMap<String, JinjaValue> =
        values.iter().map(|(name, value)| (name.clone(), JinjaValue::from(Serde(value)))).collect();
    let trusted: BTreeMap<String, JinjaValue> = secrets
        .iter()
        .map(|(name, value)| (name.clone(), JinjaValue::from_safe_string(value.expose().to_owned())))
        .collect();
    all.insert("env".to_owned(), JinjaValue::from(trusted));
    let names: Vec<String> = all.keys().cloned().collect();
    let values = JinjaValue::from(all);

    let mut environment = full_environment(UndefinedBehavior::SemiStrict);
    environment.set_formatter(move |out, state, value| match escape {
        _ if value.is_undefined() => write_value(out, state, value),
        RequestEscape::Json => {
            let text = json_text(value);
            let is_text = value.kind() == ValueKind::String;
            let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).filter(|_| is_text);
            out.write_str(inner.unwrap_or(&text)).map_err(minijinja::Error::from)
        }
        RequestEscape::Url if !value.is_safe() => {
            let text = script_text(value);
            if matches!(text.as_str(), "." | "..") {
                let reason = "a value that is `.` or `..` can't be part of an address";
                return Err(minijinja::Error::new(ErrorKind::InvalidOperation, reason));
            }
            let encoded = percent_encoding::utf8_percent_encode(&text, UNRESERVED).to_string();
            out.write_str(&encoded).map_err(minijinja::Error::from)
        }
        RequestEscape::None | RequestEscape::Url => write_value(out, state, value),
    });

    render_text(&environment, text, &values, &TemplateWork::default()).map_err(|error| {
        if error.kind() == ErrorKind::UndefinedError {
            return format!(
                "a template of the request names an unknown value; known are {}",
                names.join(", ")
            );
        }
        format!("a template of the request can't be rendered: {}", first_line(&error))
    })
}
