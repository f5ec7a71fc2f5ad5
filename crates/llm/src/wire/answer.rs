//! Reads the parts of answers that all formats share: status, JSON, errors, and common parts of the reply.

use std::borrow::Cow;

use assize_rubric::Usd;
use reqwest::header::HeaderName;
use serde_json::Value;

use super::json::{self, ServerError};
use crate::classify::classify;
use crate::error::{AskError, ErrorKind};
use crate::lone_surrogates::replace_lone_surrogates;
use crate::reply::{ChatReply, FinishReason};
use crate::token_counts::TokenCounts;
use crate::transport::HttpAnswer;
use crate::unambiguous_json::UnambiguousJson;

/// The first bytes of gzip data.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// The body of a successful answer, or the error for a status that is not 2xx or a body that is not JSON.
pub(super) fn body(answer: &HttpAnswer) -> Result<Value, AskError> {
    if !(200..300).contains(&answer.status) {
        return Err(refused(answer, json::server_error(&answer.body), TokenCounts::default()));
    }

    let body = answer.body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&answer.body);
    let compressed = answer.headers.get("content-encoding").and_then(|encoding| encoding.to_str().ok());
    let compressed = compressed.filter(|encoding| !encoding.eq_ignore_ascii_case("identity"));
    if let Some(encoding) = compressed.or_else(|| body.starts_with(GZIP).then_some("gzip")) {
        let message = format!("the answer is compressed (`{encoding}`), which was not requested");
        return Err(malformed(answer, message, TokenCounts::default()));
    }

    let mut read = serde_json::from_slice(body);
    if read.is_err()
        && let Ok(whole) = std::str::from_utf8(body)
        && let Cow::Owned(replaced) = replace_lone_surrogates(whole)
    {
        read = serde_json::from_str(&replaced);
    }

    match read {
        Ok(UnambiguousJson(value)) => Ok(value),
        Err(error) if error.is_data() => {
            Err(malformed(answer, format!("the answer is ambiguous: {error}"), TokenCounts::default()))
        }
        Err(_) => {
            let start = crate::excerpt::readable(&String::from_utf8_lossy(&answer.body));
            let message = match start.trim() {
                "" => "the answer is empty".to_owned(),
                start => format!("the answer is not JSON: {start}"),
            };
            Err(malformed(answer, message, TokenCounts::default()))
        }
    }
}

/// Completes a reply that a format has read. Implausible counts are dropped, and a request id in a header is
/// preferred to the body's.
pub(super) fn complete(answer: &HttpAnswer, reply: ChatReply) -> ChatReply {
    let request_id = header_id(answer).or(reply.request_id);
    let stated_cost = reply.stated_cost.or_else(|| header_cost(answer));
    ChatReply { usage: reply.usage.plausible(), request_id, stated_cost, ..reply }
}

/// The reply of a model that was to fill in a tool. What it wrote before it called the tool is not part of it.
pub(super) fn of_tool(input: Option<&Value>, reply: ChatReply) -> ChatReply {
    let Some(input) = input else { return reply };
    let is_called = reply.finish == FinishReason::ToolCall;
    let finish = if is_called { FinishReason::Stop } else { reply.finish };
    ChatReply { text: input.to_string(), finish, ..reply }
}

/// The counts of servers that count input beside that read from and written to their cache: the names of the other input,
/// of those two, and of the output.
pub(super) fn usage_beside_cache(body: &Value, names: [&str; 4]) -> TokenCounts {
    let [rest, cached, written, output] = names.map(|name| json::count(body, &format!("/usage/{name}")));
    let beside = cached.unwrap_or(0).saturating_add(written.unwrap_or(0));
    TokenCounts { input: rest.map(|rest| rest.saturating_add(beside)), cached, output }
}

/// The reply of a model that measures a text. `measured` is its result as JSON.
pub(super) fn measured(body: &Value, measured: String) -> ChatReply {
    ChatReply { model: json::text(body, "/model"), ..ChatReply::new(measured, FinishReason::Stop) }
}

/// Refuses a 2xx answer with an error at the top or in its choice: a text beside an error is not a complete reply.
pub(super) fn refuse_named_error(
    answer: &HttpAnswer,
    body: &Value,
    usage: TokenCounts,
) -> Result<(), AskError> {
    let places = [Some(body), json::at(body, "/choices/0")];
    let Some(error) = places.into_iter().flatten().find_map(|object| json::named_error(object.as_object()?))
    else {
        return Ok(());
    };
    let mut server_error = json::error_value(error);
    // The status is that of success, even if the request is at fault.
    if server_error.code.starts_with("invalid_") || server_error.code.contains("content_policy") {
        server_error.status = server_error.status.or(Some(400));
    }
    Err(refused(answer, server_error, usage))
}

/// The reason why an answer can't be read: it lacks a part that the format promises.
pub(super) fn lacking(what: &str, body: &Value) -> String {
    format!("the answer has no {what}: {body}")
}

/// The error for an answer that is not in the server's own format.
pub(super) fn malformed(answer: &HttpAnswer, message: String, usage: TokenCounts) -> AskError {
    AskError { message, ..blank(answer, ErrorKind::MalformedReply, usage) }
}

/// The error for an answer whose status is an error, or whose status is 2xx and whose body is an error.
pub(super) fn refused(answer: &HttpAnswer, server_error: ServerError, usage: TokenCounts) -> AskError {
    let inside = server_error.status.filter(|_| (200..300).contains(&answer.status));
    let kind = classify(inside.unwrap_or(answer.status), &server_error.code, &server_error.message);
    let mut error = blank(answer, kind, usage);
    error.retry_after = server_error.retry_after;
    error.message = server_error.message;

    if (300..400).contains(&answer.status) {
        let target =
            answer.headers.get("location").and_then(|to| to.to_str().ok()).unwrap_or("another address");
        error.message = format!("it redirects to {target}, which is not followed");
    }

    error
}

fn blank(answer: &HttpAnswer, kind: ErrorKind, usage: TokenCounts) -> AskError {
    let mut error = AskError::new(kind, "");
    error.status = Some(answer.status);
    error.request_id = header_id(answer).map(String::into_boxed_str);

    let usage = usage.plausible();
    error.usage = (!usage.is_unknown()).then(|| Box::new(usage));

    error
}

/// The cost that LiteLLM states.
fn header_cost(answer: &HttpAnswer) -> Option<Usd> {
    let stated = answer.headers.get("x-litellm-response-cost")?.to_str().ok()?.trim();
    stated.parse().ok().and_then(Usd::from_dollars)
}

fn header_id(answer: &HttpAnswer) -> Option<String> {
    const NAMES: [HeaderName; 4] = [
        HeaderName::from_static("x-request-id"),
        HeaderName::from_static("request-id"),
        HeaderName::from_static("apim-request-id"),
        HeaderName::from_static("x-amzn-requestid"),
    ];
    NAMES
        .iter()
        .find_map(|name| answer.headers.get(name)?.to_str().ok())
        .filter(|id| !id.is_empty())
        .map(str::to_owned)
}
