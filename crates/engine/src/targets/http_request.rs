//! Requests of HTTP targets: the request for a case is rendered from templates, and the answer is read from the
//! response.

use std::collections::BTreeMap;

use assize_model::{HttpBody, HttpTargetSpec};
use assize_script::{ScriptError, ScriptTime, ScriptValue};
use assize_template::{RequestEscape, UNRESERVED, render_request};
use serde_json::{Map, Value, json};

/// Request to a server, complete but for the connection. May hold secrets.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct HttpTargetRequest {
    /// Address with the query.
    pub url: String,
    /// Headers in the order of the file.
    pub headers: Vec<(String, String)>,
    /// Body; empty if there is none.
    pub body: Vec<u8>,
}

/// Answer read from a response, by the response script if there is one.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct HttpTargetReply {
    /// The answer.
    pub output: String,
    /// True if the answer is not a text: `output` then holds the value as JSON.
    pub is_json: bool,
    /// Numbers of tokens of the prompt and of the answer.
    pub tokens: [Option<u64>; 2],
    /// Cost of the answer in dollars.
    pub cost: Option<f64>,
    /// Report of a guardrail, as a map.
    pub guardrails: Option<Value>,
}

/// The case that a request is written for, with the values its templates may use.
#[derive(Debug, Clone, Copy)]
pub(super) struct HttpTargetCase<'a> {
    /// Text of the prompt, or its messages as JSON.
    pub prompt: &'a str,
    /// Messages of the prompt as JSON.
    pub messages: &'a Value,
    /// Variables of the test.
    pub vars: &'a BTreeMap<String, Value>,
}

/// Returns the part of the address that is the same for all cases, with the host. Variables of tests come after the
/// host only, so that no prompt decides where headers are sent.
///
/// # Errors
/// When the host contains variables that are not environment variables.
pub(super) fn fixed_address(spec: &HttpTargetSpec) -> Result<String, String> {
    let template_at = first_case_template(&spec.url);
    let fixed = &spec.url[..template_at.unwrap_or(spec.url.len())];
    let rendered = render_request(fixed, &Map::new(), &spec.environment, RequestEscape::Url)?;
    let after_scheme = rendered.split_once("://").map(|(_, rest)| rest);
    let has_host = after_scheme.is_some_and(|rest| rest.find(['/', '?', '#']).is_some_and(|end| end > 0));
    if template_at.is_some() && !has_host {
        return Err(
            "a variable is part of the host in `url`; only `env` may be, and others may come after it"
                .to_owned(),
        );
    }

    Ok(rendered)
}

/// Writes the request for a case. Values are escaped for the place where they stand.
///
/// # Errors
/// When a template can't be rendered, or the body is not the JSON that it says it is.
pub(super) fn write_request(
    spec: &HttpTargetSpec,
    case: &HttpTargetCase<'_>,
) -> Result<HttpTargetRequest, String> {
    let mut values: Map<String, Value> = case.vars.clone().into_iter().collect();
    values.insert("context".to_owned(), json!({"vars": case.vars, "prompt": {"raw": case.prompt}}));
    values.insert("prompt".to_owned(), Value::from(case.prompt));
    values.entry("messages").or_insert_with(|| case.messages.clone());
    let render = |text: &str, escape| render_request(text, &values, &spec.environment, escape);

    let mut url = render(&spec.url, RequestEscape::Url)?;
    for (name, text) in &spec.query {
        let mark = if url.contains('?') { '&' } else { '?' };
        let value = render(text, RequestEscape::None)?;
        url.push(mark);
        url.push_str(&query_pair(name, &value));
    }
    let headers =
        spec.headers.iter().map(|(name, text)| Ok((name.clone(), render(text, RequestEscape::None)?)));
    let mut headers = headers.collect::<Result<Vec<_>, String>>()?;

    let (body, kind) = match &spec.body {
        None => (String::new(), None),
        Some(HttpBody::Json(value)) => (render_json(value, &render)?.to_string(), Some("application/json")),
        Some(HttpBody::JsonText(text)) => {
            // An author who writes `{{ prompt | dump }}` escapes it himspec.
            let own = ["dump", "tojson"].iter().any(|filter| text.contains(filter));
            let body = render(text, if own { RequestEscape::None } else { RequestEscape::Json })?;
            serde_json::from_str::<Value>(&body)
                .map_err(|error| format!("its body is not JSON once the values are inserted: {error}"))?;
            (body, Some("application/json"))
        }
        Some(HttpBody::Form(fields)) => {
            let mut pairs = Vec::with_capacity(fields.len());
            for (name, value) in fields {
                let value = match value {
                    Value::String(text) => render(text, RequestEscape::None)?,
                    other => other.to_string(),
                };
                pairs.push(query_pair(name, &value));
            }
            (pairs.join("&"), Some("application/x-www-form-urlencoded"))
        }
        Some(HttpBody::Text(text)) => (render(text, RequestEscape::None)?, None),
    };
    if let Some(kind) = kind
        && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"))
    {
        headers.push(("content-type".to_owned(), kind.to_owned()));
    }

    Ok(HttpTargetRequest { url, headers, body: body.into_bytes() })
}

/// Returns true if an answer of this status is a success: from 200 to 299, unless a script decides it.
pub(super) fn accepts_status(spec: &HttpTargetSpec, status: u16, time: &ScriptTime) -> bool {
    match &spec.status {
        None => (200..300).contains(&status),
        Some(script) => {
            matches!(
                script.call_within(&[("status", &Value::from(status))], time),
                Ok(ScriptValue::Json(Value::Bool(true)))
            )
        }
    }
}

/// Reads an answer with the response script; without one, the answer is the body, and a JSON map or list is a value. `Ok(None)`
/// if there is none in it.
///
/// # Errors
/// When the script fails, or says that the answer is an error.
pub(super) fn read_answer(
    spec: &HttpTargetSpec,
    status: u16,
    headers: &BTreeMap<String, String>,
    text: &str,
    prompt: &str,
    vars: &BTreeMap<String, Value>,
) -> Result<Option<HttpTargetReply>, String> {
    let parsed: Value = serde_json::from_str(text).unwrap_or(Value::Null);
    let found = match &spec.response {
        None if parsed.is_string() => parsed,
        // Assertions see the value.
        None if parsed.is_object() || parsed.is_array() => json!({"output": parsed}),
        None => Value::from(text),
        Some(script) => {
            let context = json!({
                "response": {"status": status, "headers": headers, "data": parsed},
                "vars": vars,
                "prompt": prompt,
            });
            let arguments = [("json", &parsed), ("text", &Value::from(text)), ("context", &context)];
            let called = script.call(&arguments);
            called
                .map(ScriptValue::into_json)
                .map_err(|error| match error {
                    ScriptError::Thrown(message) => {
                        format!("`response` can't read the answer of the server: {message}")
                    }
                    other => format!("`response` can't be run: {other}"),
                })?
                .unwrap_or_default()
        }
    };

    read_reply(&found)
}

/// Returns the position of the first template expression or block that is not an `env` variable.
fn first_case_template(text: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text[from..].find('{').map(|at| from + at) {
        let inner = text[at..].strip_prefix("{{");
        let names_environment =
            inner.is_some_and(|inner| inner.trim_start_matches(['-', ' ']).starts_with("env."));
        if !names_environment && (inner.is_some() || text[at..].starts_with("{%")) {
            return Some(at);
        }
        from = at + if names_environment { 2 } else { 1 };
    }

    None
}

fn query_pair(name: &str, value: &str) -> String {
    let encode = |text: &str| percent_encoding::utf8_percent_encode(text, UNRESERVED).to_string();
    format!("{}={}", encode(name), encode(value))
}

/// Renders the texts of a JSON value. A text that consists of a single template becomes the list or map that it
/// evaluates to.
fn render_json(
    value: &Value,
    render: &dyn Fn(&str, RequestEscape) -> Result<String, String>,
) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => {
            let rendered = render(text, RequestEscape::None)?;
            let trimmed = text.trim();
            let is_one =
                trimmed.starts_with("{{") && trimmed.ends_with("}}") && trimmed.matches("{{").count() == 1;
            // Rendered as text, a list would be joined with commas. So render as JSON first.
            let modes = [RequestEscape::Json, RequestEscape::None];
            let structure = modes.iter().filter(|_| is_one).find_map(|mode| {
                let written =
                    render(text, *mode).ok().filter(|text| text.trim_start().starts_with(['[', '{']))?;
                serde_json::from_str(&written).ok()
            });
            structure.unwrap_or(Value::String(rendered))
        }
        Value::Array(items) => {
            items.iter().map(|item| render_json(item, render)).collect::<Result<_, _>>()?
        }
        Value::Object(map) => {
            let rendered = map.iter().map(|(key, value)| Ok((key.clone(), render_json(value, render)?)));
            Value::Object(rendered.collect::<Result<_, String>>()?)
        }
        other => other.clone(),
    })
}

/// Reads the answer from what the script returned: a text, a map with `output`, or any other value as JSON.
fn read_reply(found: &Value) -> Result<Option<HttpTargetReply>, String> {
    let as_text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string(other).unwrap_or_default(),
    };
    if found.is_null() {
        return Ok(None);
    }
    if let Some(error) = found.get("error").filter(|error| !error.is_null() && found.get("output").is_none())
    {
        // Only the result of a script can get here: a body without a script is wrapped in `output`.
        return Err(format!("the server says: {}", as_text(error)));
    }
    let Some(output) = found.get("output").filter(|output| !output.is_null()) else {
        return Ok(Some(HttpTargetReply {
            output: as_text(found),
            is_json: !found.is_string(),
            ..HttpTargetReply::default()
        }));
    };

    let tokens = |key: &str| found.get("tokenUsage")?.get(key)?.as_u64();
    Ok(Some(HttpTargetReply {
        output: as_text(output),
        is_json: !output.is_string(),
        tokens: [tokens("prompt"), tokens("completion")],
        cost: found.get("cost").and_then(Value::as_f64).filter(|cost| *cost >= 0.0),
        guardrails: found.get("guardrails").filter(|told| told.is_object()).cloned(),
    }))
}

#[cfg(test)]
mod tests {
    use assize_evalfile::reading::{RESPONSE_PARAMETERS, response_script};
    use assize_model::SecretText;

    use super::*;

    fn spec() -> HttpTargetSpec {
        HttpTargetSpec {
            url: "{{ env.BASE }}/a/{{ name }}".to_owned(),
            method: "POST",
            headers: vec![("Authorization".to_owned(), "Bearer {{env.TOKEN}}".to_owned())],
            query: Vec::new(),
            body: None,
            response: None,
            status: None,
            environment: [("BASE", "http://h:1/v1"), ("TOKEN", "t{{ x")]
                .map(|(name, value)| (name.to_owned(), SecretText::new(value)))
                .into(),
            timeout: None,
        }
    }

    fn written(spec: &HttpTargetSpec, name: &str) -> Result<HttpTargetRequest, String> {
        let vars = BTreeMap::from([("name".to_owned(), Value::from(name))]);
        write_request(spec, &HttpTargetCase { prompt: "a \"b\"\n", messages: &json!([]), vars: &vars })
    }

    #[test]
    fn values_are_escaped_where_they_stand() {
        let request = written(&spec(), "x/../y?z=1").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(request.url, "http://h:1/v1/a/x%2F..%2Fy%3Fz%3D1");
        assert_eq!(request.headers, [("Authorization".to_owned(), "Bearer t{{ x".to_owned())]);
        assert!(written(&spec(), "..").is_err(), "a part of the path must not lead out of it");

        for (body, sent) in [
            (HttpBody::JsonText("{\"p\": \"{{prompt}}\"}".to_owned()), r#"{"p": "a \"b\"\n"}"#),
            (HttpBody::JsonText("{\"p\": {{prompt | dump}}}".to_owned()), r#"{"p": "a \"b\"\n"}"#),
            (HttpBody::Json(json!({"p": ["{{prompt}}", 1]})), r#"{"p":["a \"b\"\n",1]}"#),
            (HttpBody::Json(json!("{{ messages }}")), "[]"),
            (HttpBody::Text("{{ prompt }}!".to_owned()), "a \"b\"\n!"),
        ] {
            let request = written(&HttpTargetSpec { body: Some(body), ..spec() }, "n").expect("a request");
            assert_eq!(String::from_utf8_lossy(&request.body), sent);
        }
    }

    #[test]
    fn the_host_is_the_same_for_all_cases() {
        assert_eq!(fixed_address(&spec()).as_deref(), Ok("http://h:1/v1/a/"));
        for url in
            ["http://{{ name }}/a", "http://h{{ name }}", "{{ name }}", "{% if name %}http://h/{% endif %}"]
        {
            let found = fixed_address(&HttpTargetSpec { url: url.to_owned(), ..spec() });
            assert!(found.is_err(), "{url}: {found:?}");
        }
    }

    #[test]
    fn a_body_of_json_is_a_value() {
        let read = |body: &str| {
            let reply =
                read_answer(&spec(), 200, &BTreeMap::new(), body, "", &BTreeMap::new()).ok().flatten();
            reply.map(|reply| (reply.output, reply.is_json))
        };
        for (body, output, is_json) in [
            (r#"{"error": "\u00fc"}"#, r#"{"error":"ü"}"#, true),
            ("[1]", "[1]", true),
            (r#""text""#, "text", false),
            ("5", "5", false),
            ("so [1]", "so [1]", false),
        ] {
            assert_eq!(read(body), Some((output.to_owned(), is_json)), "{body}");
        }
    }

    #[test]
    fn an_answer_is_found_by_an_expression_a_function_or_a_body() {
        let read = |code: &str| {
            let script = response_script(code, &RESPONSE_PARAMETERS).map_err(|error| error.to_string())?;
            let spec = HttpTargetSpec { response: Some(script), ..spec() };
            read_answer(&spec, 200, &BTreeMap::new(), "{\"a\": {\"b\": \"c\"}}", "", &BTreeMap::new())
        };
        let output = |code: &str| read(code).map(|reply| reply.map(|reply| reply.output));
        for code in [
            "json.a.b",
            "(json) => json.a.b",
            "function (json, text) { return json.a.b; }",
            "const it = json.a;\nreturn it.b;",
            "({output: json.a.b})",
            "JSON.parse(text).a.b;",
        ] {
            assert_eq!(output(code), Ok(Some("c".to_owned())), "{code}");
        }
        assert_eq!(output("json.a"), Ok(Some("{\"b\":\"c\"}".to_owned())));
        assert_eq!(read("json.a").map(|reply| reply.map(|reply| reply.is_json)), Ok(Some(true)));
        assert_eq!(read("json.a.b").map(|reply| reply.map(|reply| reply.is_json)), Ok(Some(false)));
        assert_eq!(output("json.x"), Ok(None));
        assert_eq!(output("({error: 'broken'})"), Err("the server says: broken".to_owned()));
        assert!(output("json.x.y").is_err() && output("json.(").is_err());
    }
}
