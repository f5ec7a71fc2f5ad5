//! OpenTelemetry traces in OTLP/JSON, with the attributes of its conventions for generative AI.
//!
//! Names of attributes: <https://opentelemetry.io/docs/specs/semconv/gen-ai/>.

use std::collections::{BTreeMap, HashSet};

use assize_rubric::{MessageRole, Tokens};
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::record_reader::{TraceRecordReader, TraceRecordStatus};
use crate::builder::{TraceBuilder, TraceCallResult};
use crate::json::{content_text, count, duration_between, parse_arguments, text};
use crate::{AgentTrace, LogFormat, SessionEnd};

/// Spans are logged in the order in which they ended, so all are read before any is interpreted.
#[derive(Default)]
pub(super) struct OpenTelemetryReader {
    spans: Vec<OtelSpan>,
}

struct OtelSpan {
    trace: String,
    name: String,
    start: Option<Timestamp>,
    end: Option<Timestamp>,
    attributes: Map<String, Value>,
    events: Vec<(String, Map<String, Value>)>,
    /// Status message of a failed span.
    error: Option<String>,
    /// The span in the form for scripts.
    shown: Value,
}

impl TraceRecordReader for OpenTelemetryReader {
    fn record(&mut self, record: &Value) -> TraceRecordStatus {
        let Some(spans) = spans_of(record) else {
            let other = ["resourceLogs", "resourceMetrics"].into_iter().find(|key| record.get(key).is_some());
            return TraceRecordStatus::Unknown(other.unwrap_or("a record without spans").to_owned());
        };
        self.spans.extend(spans.into_iter().map(OtelSpan::read));

        TraceRecordStatus::Known
    }

    fn finish(self: Box<Self>) -> Vec<AgentTrace> {
        let mut sessions: BTreeMap<String, Vec<OtelSpan>> = BTreeMap::new();
        let mut seen = HashSet::new();
        for span in self.spans {
            // Exporters send a span again if they don't know whether it arrived.
            let id = span.shown["spanId"].as_str().map(|id| format!("{} {id}", span.trace));
            if id.is_some_and(|id| !seen.insert(id)) {
                continue;
            }
            sessions.entry(span.trace.clone()).or_default().push(span);
        }

        let mut traces: Vec<AgentTrace> = sessions.into_values().filter_map(build_session).collect();
        traces.sort_by_key(|trace| trace.started);

        traces
    }
}

/// The spans of an export in OTLP/JSON, each a map with `name`, `spanId`, `parentSpanId`, `startTime` and
/// `endTime` in milliseconds, `statusCode`, `statusMessage` and `attributes`, if they are known. `None` for
/// anything else.
pub fn span_list(export: &Value) -> Option<Value> {
    Some(spans_of(export)?.into_iter().map(shown_span).collect())
}

/// The spans of a record in their original form; `None` if it is not a record of spans.
fn spans_of(record: &Value) -> Option<Vec<&Value>> {
    fn either<'a>(value: &'a Value, new: &str, old: &str) -> Option<&'a Vec<Value>> {
        value.get(new).or_else(|| value.get(old))?.as_array()
    }

    let mut spans = Vec::new();
    for resource in either(record, "resourceSpans", "resource_spans")? {
        for scope in either(resource, "scopeSpans", "scope_spans").into_iter().flatten() {
            spans.extend(either(scope, "spans", "spans").into_iter().flatten());
        }
    }
    Some(spans)
}

/// A span with promptfoo's names.
fn shown_span(span: &Value) -> Value {
    let code = match &span["status"]["code"] {
        Value::String(word) => match word.as_str() {
            "STATUS_CODE_OK" => Some(1),
            "STATUS_CODE_ERROR" => Some(2),
            _ => Some(0),
        },
        code => code.as_u64(),
    };
    let millis = |key| nanosecond_time(span, key).map(|at| at.as_nanosecond() as f64 / 1e6);
    let known = [
        ("name", text(span, "name").map(Value::from)),
        ("spanId", text(span, "spanId").map(Value::from)),
        ("parentSpanId", text(span, "parentSpanId").filter(|id| !id.is_empty()).map(Value::from)),
        ("startTime", millis("startTimeUnixNano").map(Value::from)),
        ("endTime", millis("endTimeUnixNano").map(Value::from)),
        ("statusCode", code.map(Value::from)),
        ("statusMessage", text(&span["status"], "message").map(Value::from)),
        ("attributes", Some(Value::Object(attributes(&span["attributes"])))),
    ];
    Value::Object(known.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect())
}

impl OtelSpan {
    fn read(span: &Value) -> Self {
        let failed = matches!(&span["status"]["code"], Value::Number(n) if n.as_u64() == Some(2))
            || text(&span["status"], "code") == Some("STATUS_CODE_ERROR");
        let message = text(&span["status"], "message").unwrap_or("the span failed");
        let events = span["events"].as_array().into_iter().flatten();
        Self {
            trace: text(span, "traceId").unwrap_or_default().to_owned(),
            name: text(span, "name").unwrap_or_default().to_owned(),
            start: nanosecond_time(span, "startTimeUnixNano"),
            end: nanosecond_time(span, "endTimeUnixNano"),
            attributes: attributes(&span["attributes"]),
            events: events
                .map(|event| {
                    (text(event, "name").unwrap_or_default().to_owned(), attributes(&event["attributes"]))
                })
                .collect(),
            error: failed.then(|| message.to_owned()),
            shown: shown_span(span),
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
        match self.attributes.get(name).or_else(of_event).map(parse_arguments) {
            Some(Value::Array(messages)) => messages,
            _ => Vec::new(),
        }
    }
}

fn build_session(mut spans: Vec<OtelSpan>) -> Option<AgentTrace> {
    spans.sort_by_key(|span| (span.start, span.end));
    let mut builder = TraceBuilder::new(LogFormat::OpenTelemetry);
    let mut is_first = true;
    let mut failure = None;
    for span in &spans {
        builder.record_time(span.start);
        builder.record_time(span.end);
        builder.session(span.text("gen_ai.conversation.id"));

        match span.operation() {
            "chat" | "generate_content" | "text_completion" => {
                add_chat(&mut builder, span, is_first);
                is_first = false;
            }
            "execute_tool" => add_tool(&mut builder, span),
            "invoke_agent" | "invoke_workflow" if span.error.is_some() => {
                failure.clone_from(&span.error);
            }
            _ => {}
        }
    }

    // The span of the agent begins before all others, and its failure ends them.
    if let Some(reason) = failure {
        builder.fail(reason);
    }
    builder.session(spans.first().map(|span| span.trace.as_str()));
    let trace = builder.finish()?;
    Some(AgentTrace { spans: Some(spans.into_iter().map(|span| span.shown).collect()), ..trace })
}

/// Reads a model reply. Every call repeats the earlier messages, so only the first one's input is read.
fn add_chat(builder: &mut TraceBuilder, span: &OtelSpan, is_first: bool) {
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
        add_parts(builder, &message, MessageRole::User, span.start, is_first);
    }

    for message in span.messages("gen_ai.output.messages") {
        add_parts(builder, &message, MessageRole::Assistant, span.end, true);
        if text(&message, "finish_reason") == Some("length") {
            builder.end(SessionEnd::CutOff("the limit of a reply".to_owned()));
        }
    }
    if let Some(reason) = &span.error {
        builder.fail(reason.clone());
    }

    for (name, attributes) in &span.events {
        let event = Value::Object(attributes.clone());
        let role = match name.as_str() {
            "gen_ai.system.message" => MessageRole::System,
            "gen_ai.user.message" => MessageRole::User,
            "gen_ai.choice" => MessageRole::Assistant,
            _ => continue,
        };
        if role != MessageRole::Assistant && !is_first {
            continue;
        }

        let message = event.get("message").map(parse_arguments).filter(Value::is_object).unwrap_or(event);
        builder.add_message(role, content_text(&parse_arguments(&message["content"])), span.end, false);

        for call in parse_arguments(&message["tool_calls"]).as_array().into_iter().flatten() {
            let function = &call["function"];
            let name = text(function, "name").unwrap_or_default();
            builder.add_call(
                text(call, "id"),
                name,
                parse_arguments(&function["arguments"]),
                span.end,
                false,
            );
        }
    }
}

/// Reads the parts of a message. `take` is true if its texts are new; results of calls are always read.
fn add_parts(
    builder: &mut TraceBuilder,
    message: &Value,
    otherwise: MessageRole,
    at: Option<Timestamp>,
    take: bool,
) {
    let role = match text(message, "role") {
        Some("system" | "developer") => MessageRole::System,
        Some("user") => MessageRole::User,
        Some("assistant" | "model") => MessageRole::Assistant,
        _ => otherwise,
    };
    for part in message["parts"].as_array().into_iter().flatten() {
        match text(part, "type").unwrap_or_default() {
            "text" if take => {
                builder.add_message(role, text(part, "content").unwrap_or_default().to_owned(), at, false);
            }
            "tool_call" if take => {
                let name = text(part, "name").unwrap_or_default();
                builder.add_call(text(part, "id"), name, parse_arguments(&part["arguments"]), at, false);
            }
            "tool_call_response" => {
                if let Some(id) = text(part, "id") {
                    let output = part.get("response").or_else(|| part.get("result")).map(parse_arguments);
                    builder.record_result(id, TraceCallResult { output, ..TraceCallResult::default() });
                }
            }
            _ => {}
        }
    }
}

/// Reads the span of a tool, which is the most reliable source of its name, time and failure.
fn add_tool(builder: &mut TraceBuilder, span: &OtelSpan) {
    let in_name = || span.name.strip_prefix("execute_tool ").filter(|name| !name.is_empty());
    let name = span.text("gen_ai.tool.name").or_else(in_name).unwrap_or_default();
    let given = span.attributes.get("gen_ai.tool.call.arguments").map_or(Value::Null, parse_arguments);

    // A tool span without an id is a separate call.
    let own = format!("span at {:?}", span.start);
    let id = span.text("gen_ai.tool.call.id").unwrap_or(&own);
    if !builder.knows_call(id) {
        builder.add_call(Some(id), name, given, span.start, false);
    }

    let error = span.error.clone().or_else(|| span.text("error.type").map(str::to_owned));
    let output = span.attributes.get("gen_ai.tool.call.result").map(parse_arguments);
    let ended = TraceCallResult {
        failed: Some(error.is_some()),
        output: output.or_else(|| error.map(Value::String)),
        duration: span.start.zip(span.end).and_then(|(from, to)| duration_between(from, to)),
        at: span.end,
    };
    builder.record_result(id, ended);
}

/// Reads nanoseconds since 1970, which JSON writes as text.
fn nanosecond_time(span: &Value, key: &str) -> Option<Timestamp> {
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
