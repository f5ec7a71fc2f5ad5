//! Writes and filters the values of templates as JavaScript does, since nunjucks is written in JavaScript.

use minijinja::value::{Rest, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Value as JinjaValue, filters, functions};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::limited_text::{LimitedText, bounded};

/// Characters that are escaped in addresses and forms: all except characters without a special meaning in any part of
/// an address.
pub const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns the text that a template shows for a value. Absent values are empty, and the elements of a list are
/// joined by commas. Maps, and lists that contain maps, are written as JSON, because JavaScript's `[object
/// Object]` would be useless.
pub(super) fn script_text(value: &JinjaValue) -> String {
    match value.kind() {
        ValueKind::Undefined | ValueKind::None => String::new(),
        ValueKind::Bool => value.is_true().to_string(),
        ValueKind::Number => number_text(value),
        ValueKind::Seq | ValueKind::Iterable if !holds_maps(value, 0) => {
            let items =
                value.try_iter().map(|items| items.map(|item| script_text(&item)).collect::<Vec<_>>());
            items.unwrap_or_default().join(",")
        }
        ValueKind::Seq | ValueKind::Iterable | ValueKind::Map => json_text(value),
        _ => value.to_string(),
    }
}

/// Returns a value as JSON; nothing if it is too large or not there.
pub(super) fn json_text(value: &JinjaValue) -> String {
    if value.is_undefined() {
        return String::new();
    }
    let mut written = LimitedText::default();
    let plain = serde_json::to_value(value).map(with_whole_numbers);
    match plain.and_then(|plain| serde_json::to_writer(&mut written, &plain)) {
        Ok(()) => String::from_utf8(written.bytes).unwrap_or_default(),
        Err(_) => String::new(),
    }
}

/// Returns true if a list has a map in it, at any depth that a file can have.
fn holds_maps(value: &JinjaValue, depth: usize) -> bool {
    match value.kind() {
        ValueKind::Map => true,
        ValueKind::Seq | ValueKind::Iterable if depth < 100 => {
            value.try_iter().is_ok_and(|mut items| items.any(|item| holds_maps(&item, depth + 1)))
        }
        _ => false,
    }
}

/// Returns a number as JavaScript's `String(x)` does.
fn number_text(value: &JinjaValue) -> String {
    let written = value.to_string();
    let Ok(number) = f64::try_from(value.clone()) else { return written };
    if value.is_integer() {
        return written;
    }
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }

    let size = number.abs();
    if size >= 1e21 || size != 0.0 && size < 1e-6 {
        let text = format!("{number:e}");
        return if size >= 1e21 { text.replace('e', "e+") } else { text };
    }
    format!("{number}")
}

/// Returns a value in which numbers are written as in JavaScript's JSON: whole numbers have no decimal point.
pub(super) fn with_whole_numbers(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(with_whole_numbers).collect(),
        Value::Object(map) => {
            Value::Object(map.into_iter().map(|(key, value)| (key, with_whole_numbers(value))).collect())
        }
        Value::Number(number) if number.is_f64() => match number.as_f64() {
            // Exact: both types can represent whole numbers below 2^53.
            #[allow(clippy::cast_possible_truncation)]
            Some(float) if float.fract() == 0.0 && float.abs() < 9_007_199_254_740_992.0 => {
                json!(float as i64)
            }
            _ => Value::Number(number),
        },
        other => other,
    }
}

/// Adds the filters and functions that minijinja lacks, or that it computes differently from nunjucks.
pub(super) fn add_script_filters(environment: &mut Environment<'static>) {
    environment.add_filter("js_length", |value: &JinjaValue| script_length(value));
    environment.add_filter("js_pairs", |value: &JinjaValue| match value.kind() {
        ValueKind::Map => filters::items(value),
        _ => Ok(value.clone()),
    });
    environment.add_filter("js_operand", |value: &JinjaValue| match value.kind() {
        // Undefined names are reported elsewhere.
        ValueKind::Undefined => value.clone(),
        ValueKind::None => JinjaValue::from("null"),
        _ => JinjaValue::from(script_text(value)),
    });
    environment.add_filter("string", |value: &JinjaValue| script_text(value));
    environment.add_filter("dump", |value: &JinjaValue, indent: Option<JinjaValue>| match indent {
        None => Ok(json_text(value)),
        Some(indent) => indented_json(value, &indent),
    });
    for name in ["escape", "e", "forceescape"] {
        environment.add_filter(name, |value: &JinjaValue| escape(&script_text(value)));
    }
    environment.add_filter("round", round);
    environment.add_filter("truncate", truncate);
    environment.add_filter("urlencode", |value: &JinjaValue| url_encoded(value));
    environment.add_filter("indent", indent);
    environment.add_filter("center", center);
    environment.add_filter("replace", replace);
    environment.add_filter("join", join);
    environment.add_filter("selectattr", |values: Vec<JinjaValue>, name: String| {
        values.into_iter().filter(|item| has_attribute(item, &name)).collect::<Vec<_>>()
    });
    environment.add_filter("rejectattr", |values: Vec<JinjaValue>, name: String| {
        values.into_iter().filter(|item| !has_attribute(item, &name)).collect::<Vec<_>>()
    });
    environment.add_function("range", functions::range);
    environment
        .set_unknown_method_callback(|_, value, method, arguments| call_method(value, method, arguments));
}

/// Rounds like nunjucks: halves are rounded up, for negative numbers too.
fn round(
    value: &JinjaValue,
    precision: Option<i32>,
    method: Option<&str>,
) -> Result<JinjaValue, minijinja::Error> {
    let number = match value.as_str() {
        Some(text) => text.trim().parse().ok(),
        None => f64::try_from(value.clone()).ok(),
    };
    let Some(number) = number.filter(|number| number.is_finite()) else {
        return Err(minijinja::Error::new(ErrorKind::InvalidOperation, "`round` needs a number"));
    };

    let factor = 10_f64.powi(precision.unwrap_or(0));
    let scaled = number * factor;
    let rounded = match method {
        Some("ceil") => scaled.ceil(),
        Some("floor") => scaled.floor(),
        _ if scaled - scaled.floor() >= 0.5 => scaled.floor() + 1.0,
        _ => scaled.floor(),
    };
    Ok(JinjaValue::from(rounded / factor))
}

/// Returns JavaScript's `value.length`: UTF-16 code units of a string, elements of a list, or the key `length`
/// of a map.
fn script_length(value: &JinjaValue) -> JinjaValue {
    match value.kind() {
        ValueKind::String => JinjaValue::from(value.to_string().encode_utf16().count()),
        ValueKind::Seq | ValueKind::Iterable => JinjaValue::from(value.try_iter().map_or(0, Iterator::count)),
        _ => value.get_attr("length").unwrap_or(JinjaValue::UNDEFINED),
    }
}

fn has_attribute(item: &JinjaValue, name: &str) -> bool {
    item.get_attr(name).is_ok_and(|value| value.is_true())
}

fn indented_json(value: &JinjaValue, indent: &JinjaValue) -> Result<String, Error> {
    let step = match indent.as_str() {
        Some(text) => text.chars().take(10).collect(),
        None => " ".repeat(usize::try_from(i64::try_from(indent.clone())?.clamp(0, 10)).unwrap_or(0)),
    };
    let plain: Value = serde_json::from_str(&json_text(value))
        .map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))?;
    if step.is_empty() {
        return Ok(plain.to_string());
    }

    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(step.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    serde::Serialize::serialize(&plain, &mut serializer)
        .map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))?;
    bounded(bytes.len())?;
    String::from_utf8(bytes).map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))
}

fn escape(text: &str) -> Result<String, Error> {
    bounded(text.len())?;
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\\' => escaped.push_str("&#92;"),
            other => escaped.push(other),
        }
    }
    bounded(escaped.len())?;
    Ok(escaped)
}

/// Shortens a text: at the limit if `inside` is true, else at the last space before it.
fn truncate(
    value: &JinjaValue,
    limit: Option<usize>,
    inside: Option<bool>,
    ending: Option<String>,
) -> String {
    let text = script_text(value);
    let limit = limit.filter(|limit| *limit > 0).unwrap_or(255);
    if text.chars().count() <= limit {
        return text;
    }

    let cut = text.char_indices().nth(limit).map_or(text.len(), |(at, _)| at);
    let end = if inside.unwrap_or(false) {
        cut
    } else {
        // A space directly after the limit counts as well.
        let after = text[cut..].chars().next().map_or(cut, |letter| cut + letter.len_utf8());
        text[..after].rfind(' ').unwrap_or(cut)
    };
    format!("{}{}", &text[..end], ending.as_deref().unwrap_or("..."))
}

fn url_encoded(value: &JinjaValue) -> Result<String, Error> {
    let encoded = match value.kind() {
        ValueKind::String => percent_encoded(&value.to_string()),
        ValueKind::Map => {
            let mut pairs = Vec::new();
            for key in value.try_iter()? {
                let item = value.get_item(&key)?;
                pairs.push(format!(
                    "{}={}",
                    percent_encoded(&script_text(&key)),
                    percent_encoded(&script_text(&item))
                ));
            }
            pairs.join("&")
        }
        kind => {
            let reason = format!("`urlencode` takes a text or a map, not a {kind}");
            return Err(Error::new(ErrorKind::InvalidOperation, reason));
        }
    };
    bounded(encoded.len())?;
    Ok(encoded)
}

/// Encodes a text as `encodeURIComponent` does.
fn percent_encoded(text: &str) -> String {
    const ESCAPED: &AsciiSet = &UNRESERVED.remove(b'!').remove(b'*').remove(b'\'').remove(b'(').remove(b')');
    utf8_percent_encode(text, ESCAPED).to_string()
}

fn indent(value: &JinjaValue, width: Option<usize>, first: Option<bool>) -> Result<String, Error> {
    let text = script_text(value);
    let width = width.unwrap_or(4);
    let lines = text.matches('\n').count() + 1;
    bounded(text.len().saturating_add(lines.saturating_mul(width)))?;

    let space = " ".repeat(width);
    let lines: Vec<String> = text
        .split('\n')
        .enumerate()
        .map(
            |(at, line)| {
                if at == 0 && first != Some(true) { line.to_owned() } else { format!("{space}{line}") }
            },
        )
        .collect();
    Ok(lines.join("\n"))
}

fn center(value: &JinjaValue, width: Option<usize>) -> Result<String, Error> {
    let text = script_text(value);
    let width = width.unwrap_or(80);
    bounded(text.len().saturating_add(width))?;
    let missing = width.saturating_sub(text.chars().count());
    // If there is an odd space, nunjucks puts it at the end.
    Ok(format!("{}{text}{}", " ".repeat(missing / 2), " ".repeat(missing.div_ceil(2))))
}

fn replace(value: &JinjaValue, from: String, to: String, limit: Option<usize>) -> Result<String, Error> {
    let text = script_text(value);
    let limit = limit.unwrap_or(usize::MAX);
    let count = if from.is_empty() { text.chars().count() + 1 } else { text.matches(&from).count() };
    bounded(text.len().saturating_add(count.min(limit).saturating_mul(to.len())))?;
    Ok(text.replacen(&from, &to, limit))
}

fn join(
    values: Vec<JinjaValue>,
    between: Option<String>,
    attribute: Option<String>,
) -> Result<String, Error> {
    let between = between.unwrap_or_default();
    bounded(values.len().saturating_mul(between.len()))?;
    let texts: Vec<String> = values
        .iter()
        .map(|value| match &attribute {
            Some(name) => script_text(&value.get_attr(name).unwrap_or(JinjaValue::UNDEFINED)),
            None => script_text(value),
        })
        .collect();
    bounded(texts.iter().map(String::len).sum())?;
    Ok(texts.join(&between))
}

/// Calls a method of a JavaScript string or list that templates use.
fn call_method(value: &JinjaValue, method: &str, arguments: &[JinjaValue]) -> Result<JinjaValue, Error> {
    let text = value.as_str();
    let is_list = matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable);
    let first = arguments.first().map(script_text);
    Ok(match (method, text, first) {
        ("toUpperCase", Some(text), None) => text.to_uppercase().into(),
        ("toLowerCase", Some(text), None) => text.to_lowercase().into(),
        ("trim", Some(text), None) => text.trim().into(),
        ("includes", Some(text), Some(part)) => text.contains(&part).into(),
        ("startsWith", Some(text), Some(part)) => text.starts_with(&part).into(),
        ("endsWith", Some(text), Some(part)) => text.ends_with(&part).into(),
        ("split", Some(text), Some(between)) if !between.is_empty() => {
            text.split(&between).map(JinjaValue::from).collect()
        }
        ("join", None, between) if is_list => {
            let between = between.unwrap_or_else(|| ",".to_owned());
            join(value.try_iter()?.collect(), Some(between), None)?.into()
        }
        ("includes", None, Some(_)) if is_list => {
            value.try_iter()?.any(|item| Some(&item) == arguments.first()).into()
        }
        ("toString", _, None) => script_text(value).into(),
        _ => {
            return Err(Error::new(
                ErrorKind::UnknownMethod,
                format!("the method `{method}` is not read here"),
            ));
        }
    })
}

/// Adds minijinja's own filters for text in such a way that they receive values as JavaScript writes them.
pub(super) fn add_text_filters(environment: &mut Environment<'static>) {
    type TextFilter = fn(&str) -> String;
    let filters: [(&str, TextFilter); 5] = [
        ("upper", str::to_uppercase),
        ("lower", str::to_lowercase),
        ("striptags", strip_tags),
        ("nl2br", |text| text.replace('\n', "<br />\n")),
        ("trim", |text| text.trim().to_owned()),
    ];
    for (name, filter) in filters {
        environment.add_filter(name, move |value: &JinjaValue, _rest: Rest<JinjaValue>| {
            let text = filter(&script_text(value));
            bounded(text.len()).map(|()| text)
        });
    }
}

fn strip_tags(text: &str) -> String {
    let mut inside = false;
    text.chars()
        .filter(|c| {
            let keep = !inside && *c != '<';
            inside = (inside || *c == '<') && *c != '>';
            keep
        })
        .collect()
}
