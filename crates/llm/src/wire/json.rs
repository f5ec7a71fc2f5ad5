//! Tolerant reading of JSON whose exact shape differs from server to server.

use std::time::Duration;

use serde_json::{Map, Value};

/// An error as a server reports it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ServerError {
    /// Its words, possibly long.
    pub(super) message: String,
    /// Its code, type and status word, joined by spaces.
    pub(super) code: String,
    /// The parameter it points at.
    pub(super) param: String,
    /// A status inside the body, sent by gateways that always answer 200.
    pub(super) status: Option<u16>,
    /// The wait it asks for in the body, as Google's servers do.
    pub(super) retry_after: Option<Duration>,
}

/// Reads an error body: `{"error": {...}}`, `{"error": "..."}`, `{"message": ...}`, `{"detail": ...}`, plain text.
pub(super) fn server_error(body: &[u8]) -> ServerError {
    let Ok(value) = serde_json::from_slice::<Value>(body) else {
        let text = String::from_utf8_lossy(body);
        return ServerError { message: crate::excerpt::readable(&text), ..ServerError::default() };
    };
    error_value(value.get("error").filter(|error| !error.is_null()).unwrap_or(&value))
}

/// The `error` that an object names. Some programs write an empty one if there is none.
pub fn named_error(object: &Map<String, Value>) -> Option<&Value> {
    object.get("error").filter(|error| match error {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Bool(true) | Value::Number(_) => true,
    })
}

/// The text of an error: its message, or else the whole of it.
pub fn error_words(error: &Value) -> String {
    error_value(error).message
}

/// Reads an error object, a string, or any other value.
pub(super) fn error_value(error: &Value) -> ServerError {
    if let Value::Array(items) = error
        && let Some(first) = items.first()
    {
        return error_value(first.get("error").unwrap_or(first));
    }

    let message = ["message", "Message", "detail", "msg", "error", "errors", "title"]
        .iter()
        .find_map(|key| error.get(*key).filter(|value| !value.is_null()))
        .unwrap_or(error);
    let word = |key: &str| match error.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };

    let status = ["code", "status"]
        .iter()
        .find_map(|key| match error.get(*key)? {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        })
        .and_then(|code| u16::try_from(code).ok())
        .filter(|code| (400..600).contains(code));

    let mut words = vec![word("code"), word("type")];
    // A status in words, such as RESOURCE_EXHAUSTED. A numeric one is read elsewhere.
    words.extend(error.get("status").and_then(Value::as_str).map(str::to_owned));
    words.extend(details(error).filter_map(|detail| text(detail, "/reason")));
    let violations = details(error).filter_map(|detail| detail.get("violations")?.as_array()).flatten();
    words.extend(violations.filter_map(|violation| text(violation, "/quotaId")));

    let mut full_message = match message {
        Value::String(text) => text.clone(),
        // Gateways wrap the error in another object.
        Value::Object(inner)
            if ["error", "message"].iter().any(|key| inner.get(*key).is_some_and(Value::is_string)) =>
        {
            error_value(message).message
        }
        other => other.to_string(),
    };
    let mut param = word("param");
    if let Some(behind) = behind(error) {
        full_message = format!("{full_message}: {}", behind.message);
        words.push(behind.code);
        if param.is_empty() {
            param = behind.param;
        }
    }

    words.retain(|word| !word.is_empty());
    ServerError {
        message: full_message,
        code: words.join(" "),
        param,
        status,
        retry_after: details(error).find_map(|detail| seconds(detail.get("retryDelay")?.as_str()?)),
    }
}

/// The error of the server behind a gateway. OpenRouter passes it on unchanged, and its own message has few details.
fn behind(error: &Value) -> Option<ServerError> {
    let raw = error.get("metadata")?.get("raw")?;
    let inner = match raw {
        Value::String(text) => server_error(text.as_bytes()),
        raw => error_value(raw.get("error").unwrap_or(raw)),
    };
    (!inner.message.is_empty()).then_some(inner)
}

fn details(error: &Value) -> impl Iterator<Item = &Value> {
    error.get("details").and_then(Value::as_array).into_iter().flatten()
}

/// A duration such as `37s` or `1.5s`.
fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.trim().strip_suffix('s')?.parse().ok()?).ok()
}

/// The value at a path such as `/choices/0/message`, whose names need no escaping.
pub(super) fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('/').skip(1).try_fold(value, |value, step| match value {
        Value::Object(object) => object.get(step),
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    })
}

/// A count: a whole number that is not negative. Anything else is unknown.
pub(super) fn count(value: &Value, path: &str) -> Option<u64> {
    at(value, path)?.as_u64()
}

/// A text that is not empty.
pub(super) fn text(value: &Value, path: &str) -> Option<String> {
    at(value, path)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_of_error_yields_its_message() {
        let table = [
            (r#"{"error":{"message":"m","type":"t","param":"p","code":"c"}}"#, "m", "c t", "p", None),
            (r#"{"error":"m"}"#, "m", "", "", None),
            (r#"{"message":"m","code":503}"#, "m", "503", "", Some(503)),
            (r#"{"detail":[{"loc":["body"]}]}"#, r#"[{"loc":["body"]}]"#, "", "", None),
            (r#"[{"error":{"message":"m","code":429}}]"#, "m", "429", "", Some(429)),
            (r#"{"error":null,"message":"m"}"#, "m", "", "", None),
            (r#"{"x":1}"#, r#"{"x":1}"#, "", "", None),
            ("upstream died", "upstream died", "", "", None),
            ("", "", "", "", None),
        ];
        for (body, message, code, param, status) in table {
            let expected = ServerError {
                message: message.into(),
                code: code.into(),
                param: param.into(),
                status,
                retry_after: None,
            };
            assert_eq!(server_error(body.as_bytes()), expected, "{body}");
        }
    }

    #[test]
    fn what_stands_behind_a_gateway_is_read() {
        let inner = r#"{"error":{"message":"Unsupported parameter: 'seed'","type":"invalid_request_error","param":"seed"}}"#;
        let body = serde_json::json!({"error": {"message": "Provider returned error", "code": 400,
            "metadata": {"raw": inner, "provider_name": "OpenAI"}}});
        let error = server_error(body.to_string().as_bytes());
        assert_eq!(error.message, "Provider returned error: Unsupported parameter: 'seed'");
        assert_eq!((error.code.as_str(), error.param.as_str()), ("400 invalid_request_error", "seed"));
        let words = serde_json::json!({"error": {"message": "Provider returned error", "code": 429,
            "metadata": {"raw": "m is temporarily rate-limited upstream."}}});
        let error = server_error(words.to_string().as_bytes());
        assert_eq!(error.message, "Provider returned error: m is temporarily rate-limited upstream.");
    }

    #[test]
    fn googles_status_reason_and_wait_are_read() {
        let body = br#"{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED","details":[
            {"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"RATE_LIMIT_EXCEEDED"},
            {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"37.5s"}]}}"#;
        let error = server_error(body);
        assert_eq!(error.code, "429 RESOURCE_EXHAUSTED RATE_LIMIT_EXCEEDED");
        assert_eq!((error.status, error.retry_after), (Some(429), Some(Duration::from_millis(37_500))));
        for odd in ["-3s", "x", "3", "1e99s"] {
            assert_eq!(seconds(odd), None, "{odd}");
        }
    }

    #[test]
    fn counts_that_are_not_counts_are_unknown() {
        let value = serde_json::json!({"a": 3, "b": -1, "c": 1.5, "d": null, "e": "7"});
        assert_eq!(count(&value, "/a"), Some(3));
        for path in ["/b", "/c", "/d", "/e", "/f"] {
            assert_eq!(count(&value, path), None, "{path}");
        }
    }
}
