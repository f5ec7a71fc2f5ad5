//! OpenTelemetry traces in OTLP/JSON, with the attributes of its conventions for generative AI.
//!
//! Names of attributes: <https://opentelemetry.io/docs/specs/semconv/gen-ai/>.

use std::collections::BTreeMap;

use assize_rubric::{Role, Tokens};
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{Reader, Understood};
use crate::builder::{Builder, Ended};
use crate::json::{arguments, between, content, count, text};
use crate::{Format, Trace};

/// Spans are logged in the order in which they ended, so all are read before any is interpreted.
#[derive(Default)]
pub(super) struct OpenTelemetry {
    spans: Vec<Span>,
}

struct Span {
    trace: String,
    name: String,
    start: Option<Timestamp>,
    end: Option<Timestamp>,
    attributes: Map<String, Value>,
    events: Vec<(String, Map<String, Value>)>,
    /// Status message of a failed span.
    error: Option<String>,
}

impl Reader for OpenTelemetry {
    fn record(&mut self, record: &Value) -> Understood {
        let either = |value: &Value, new: &str, old: &str| -> Vec<Value> {
            let list = value.get(new).or_else(|| value.get(old));
            list.and_then(Value::as_array).cloned().unwrap_or_default()
        };
        if record.get("resourceSpans").or_else(|| record.get("resource_spans")).is_none() {
            let other = ["resourceLogs", "resourceMetrics"].into_iter().find(|key| record.get(key).is_some());
            return Understood::No(other.unwrap_or("a record without spans").to_owned());
        }
        for resource in either(record, "resourceSpans", "resource_spans") {
            for scope in either(&resource, "scopeSpans", "scope_spans") {
                self.spans.extend(either(&scope, "spans", "spans").iter().map(Span::read));
            }
        }
        Understood::Yes
    }

    fn finish(self: Box<Self>) -> Vec<Trace> {
        let mut sessions: BTreeMap<String, Vec<Span>> = BTreeMap::new();
        for span in self.spans {
            sessions.entry(span.trace.clone()).or_default().push(span);
        }
        let mut traces: Vec<Trace> = sessions.into_values().filter_map(session).collect();
        traces.sort_by_key(|trace| trace.started);
        traces
    }
}

impl Span {
    fn read(span: &Value) -> Self {
        let failed = matches!(&span["status"]["code"], Value::Number(n) if n.as_u64() == Some(2))
            || text(&span["status"], "code") == Some("STATUS_CODE_ERROR");
        let said = text(&span["status"], "message").unwrap_or("the span failed");
        let events = span["events"].as_array().into_iter().flatten();
        Self {
            trace: text(span, "traceId").unwrap_or_default().to_owned(),
            name: text(span, "name").unwrap_or_default().to_owned(),
            start: nanos(span, "startTimeUnixNano"),
            end: nanos(span, "endTimeUnixNano"),
            attributes: attributes(&span["attributes"]),
            events: events
                .map(|event| {
                    (text(event, "name").unwrap_or_default().to_owned(), attributes(&event["attributes"]))
                })
                .collect(),
            error: failed.then(|| said.to_owned()),
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.attributes.get(name)?.as_str()
    }

    fn count(&self, names: &[&str]) -> Option<u64> {
        names.iter().find_map(|name| {
            let value = self.attributes.get(*name)?;
            value.as_u64().or_else(|| value.as_str()?.parse().ok())
        })
    }

    /// Returns the operation of the span; older spans without an operation name are identified by their
    /// attributes.
    fn operation(&self) -> &str {
        match self.text("gen_ai.operation.name") {
            Some(operation) => operation,
            None if self.attributes.contains_key("gen_ai.tool.name") => "execute_tool",
            None if self.attributes.contains_key("gen_ai.request.model") => "chat",
            None => "",
        }
    }

    /// Returns the messages under an attribute of the span or of one of its events: a list, or a list written
    /// as text.
    fn messages(&self, name: &str) -> Vec<Value> {
        let of_event = || self.events.iter().find_map(|(_, attributes)| attributes.get(name));
        match self.attributes.get(name).or_else(of_event).map(arguments) {
            Some(Value::Array(messages)) => messages,
            _ => Vec::new(),
        }
    }
}

fn session(mut spans: Vec<Span>) -> Option<Trace> {
    spans.sort_by_key(|span| (span.start, span.end));
    let mut builder = Builder::new(Format::OpenTelemetry);
    let mut is_first = true;
    for span in &spans {
        builder.seen(span.start);
        builder.seen(span.end);
        builder.session(span.text("gen_ai.conversation.id"));
        match span.operation() {
            "chat" | "generate_content" | "text_completion" => {
                chat(&mut builder, span, is_first);
                is_first = false;
            }
            "execute_tool" => tool(&mut builder, span),
            "invoke_agent" | "invoke_workflow" if span.error.is_some() => {
                builder.error(span.error.clone().unwrap_or_default());
            }
            _ => {}
        }
    }
    builder.session(spans.first().map(|span| span.trace.as_str()));
    builder.finish()
}

/// Reads a model reply. Every call repeats the earlier messages, so only the first one's input is read.
fn chat(builder: &mut Builder, span: &Span, is_first: bool) {
    builder.model(span.text("gen_ai.response.model").or_else(|| span.text("gen_ai.request.model")));
    let tokens = Tokens {
        input: span.count(&["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"]),
        cached: span.count(&["gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cached_input_tokens"]),
        output: span.count(&["gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"]),
    };
    if tokens != Tokens::default() {
        builder.step_usage(tokens);
    }
    for message in span.messages("gen_ai.input.messages") {
        parts(builder, &message, Role::User, span.start, is_first);
    }
    for message in span.messages("gen_ai.output.messages") {
        parts(builder, &message, Role::Assistant, span.end, true);
    }
    for (name, attributes) in &span.events {
        let event = Value::Object(attributes.clone());
        let role = match name.as_str() {
            "gen_ai.system.message" => Role::System,
            "gen_ai.user.message" => Role::User,
            "gen_ai.choice" => Role::Assistant,
            _ => continue,
        };
        if role != Role::Assistant && !is_first {
            continue;
        }
        let message = event.get("message").map(arguments).filter(Value::is_object).unwrap_or(event);
        builder.message(role, content(&arguments(&message["content"])), span.end, false);
        for call in arguments(&message["tool_calls"]).as_array().into_iter().flatten() {
            let function = &call["function"];
            let name = text(function, "name").unwrap_or_default();
            builder.call(text(call, "id"), name, arguments(&function["arguments"]), span.end, false);
        }
    }
}

/// Reads the parts of a message. `take` is true if its texts are new; results of calls always are.
fn parts(builder: &mut Builder, message: &Value, otherwise: Role, at: Option<Timestamp>, take: bool) {
    let role = match text(message, "role") {
        Some("system" | "developer") => Role::System,
        Some("user") => Role::User,
        Some("assistant" | "model") => Role::Assistant,
        _ => otherwise,
    };
    for part in message["parts"].as_array().into_iter().flatten() {
        match text(part, "type").unwrap_or_default() {
            "text" if take => {
                builder.message(role, text(part, "content").unwrap_or_default().to_owned(), at, false);
            }
            "tool_call" if take => {
                let name = text(part, "name").unwrap_or_default();
                builder.call(text(part, "id"), name, arguments(&part["arguments"]), at, false);
            }
            "tool_call_response" => {
                if let Some(id) = text(part, "id") {
                    let output = part.get("response").or_else(|| part.get("result")).map(arguments);
                    builder.ended(id, Ended { output, ..Ended::default() });
                }
            }
            _ => {}
        }
    }
}

/// Reads the span of a tool: the most reliable source of its name, time and failure.
fn tool(builder: &mut Builder, span: &Span) {
    let in_name = || span.name.strip_prefix("execute_tool ").filter(|name| !name.is_empty());
    let name = span.text("gen_ai.tool.name").or_else(in_name).unwrap_or_default();
    let given = span.attributes.get("gen_ai.tool.call.arguments").map_or(Value::Null, arguments);
    // A tool span without an id is a call of its own.
    let own = format!("span at {:?}", span.start);
    let id = span.text("gen_ai.tool.call.id").unwrap_or(&own);
    if !builder.knows_call(id) {
        builder.call(Some(id), name, given, span.start, false);
    }
    let error = span.error.clone().or_else(|| span.text("error.type").map(str::to_owned));
    let output = span.attributes.get("gen_ai.tool.call.result").map(arguments);
    let ended = Ended {
        failed: Some(error.is_some()),
        output: output.or_else(|| error.map(Value::String)),
        duration: span.start.zip(span.end).and_then(|(from, to)| between(from, to)),
        at: span.end,
    };
    builder.ended(id, ended);
}

/// Reads nanoseconds since 1970, which JSON writes as text.
fn nanos(span: &Value, key: &str) -> Option<Timestamp> {
    let number = count(span, key)?;
    Timestamp::from_nanosecond(i128::from(number)).ok()
}

/// Converts a list of keys with typed values to a plain object.
fn attributes(list: &Value) -> Map<String, Value> {
    let entries = list.as_array().into_iter().flatten();
    entries
        .filter_map(|entry| Some((text(entry, "key")?.to_owned(), any_value(entry.get("value")?))))
        .collect()
}

fn any_value(value: &Value) -> Value {
    let Some((kind, inner)) = value.as_object().and_then(|object| object.iter().next()) else {
        return Value::Null;
    };
    match kind.as_str() {
        // 64-bit integers are written as text.
        "intValue" => {
            inner.as_str().and_then(|text| text.parse::<i64>().ok()).map_or(inner.clone(), Value::from)
        }
        "arrayValue" => {
            let values = inner["values"].as_array().into_iter().flatten();
            Value::Array(values.map(any_value).collect())
        }
        "kvlistValue" => Value::Object(attributes(&inner["values"])),
        _ => inner.clone(),
    }
}
