//! What all formats share in writing requests: checks, joined texts, headers, paths.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

use crate::error::{AskError, ErrorKind};
use crate::quirks::FormatFeatures;
use crate::request::{ChatMessage, ChatRequest, MessageRole, Part};

/// A message, with its content in the form of the format.
#[derive(Serialize)]
pub(super) struct RoleMessage<C> {
    pub(super) role: MessageRole,
    pub(super) content: C,
}

/// Content of a message to OpenAI's formats. Text alone is sent as one string: many servers accept nothing else, and
/// servers that accept parts join them in different ways.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum TextOrParts<'a, P> {
    Text(Cow<'a, str>),
    Parts(Vec<P>),
}

/// Refuses a request that no server could answer.
pub(super) fn check(request: &ChatRequest, features: FormatFeatures) -> Result<(), AskError> {
    if request.messages.is_empty() {
        return Err(bad("there is no message to send"));
    }
    if let Some(t) = request.temperature.filter(|t| !t.is_finite()) {
        return Err(bad(format!("the temperature is {t}, which is not a number that can be sent")));
    }
    if request.reasoning_effort.is_some() && !features.effort {
        return Err(bad("this provider has no `reasoning_effort`; leave it out"));
    }

    Ok(())
}

/// The single text of a request to a model that measures texts. `what` describes the model's task, for messages.
pub(super) fn single_text<'a>(request: &'a ChatRequest, what: &str) -> Result<Cow<'a, str>, AskError> {
    let text = match &*request.messages {
        [only] => text_only(&only.content),
        _ => None,
    };
    text.ok_or_else(|| bad(format!("{what}: it can't answer or judge")))
}

/// The error for a request that the format cannot express.
pub(super) fn bad(message: impl Into<String>) -> AskError {
    AskError::new(ErrorKind::BadRequest, message)
}

/// The request as JSON over HTTP.
pub(super) fn post(path: impl Into<Cow<'static, str>>, body: &impl Serialize) -> Result<HttpCall, AskError> {
    const JSON: Cow<'static, str> = Cow::Borrowed("application/json");
    let body = serde_json::to_vec(body).map_err(|error| bad(error.to_string()))?;
    Ok(HttpCall { path: path.into(), headers: vec![("accept", JSON), ("content-type", JSON)], body })
}

/// The text of parts that are all text, joined without a separator; `None` if there is a picture.
pub(super) fn text_only(parts: &[Part]) -> Option<Cow<'_, str>> {
    match parts {
        [Part::Text(text)] => Some(Cow::Borrowed(text)),
        parts => parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => Some(&**text),
                Part::Image { .. } => None,
            })
            .collect::<Option<String>>()
            .map(Cow::Owned),
    }
}

/// For formats with instructions separate from the conversation: the text of all system messages, and the other
/// messages.
pub(super) fn apart(request: &ChatRequest) -> Result<(String, Vec<&ChatMessage>), AskError> {
    let mut system: Vec<Cow<'_, str>> = Vec::new();
    let mut others = Vec::new();
    for message in &*request.messages {
        match message.role {
            MessageRole::System => system.push(
                text_only(&message.content)
                    .ok_or_else(|| bad("this provider takes no picture in a system message"))?,
            ),
            MessageRole::Tool => return Err(tool_message()),
            MessageRole::User | MessageRole::Assistant => others.push(message),
        }
    }

    if others.is_empty() {
        return Err(bad("there is no user message to send"));
    }

    Ok((system.join("\n\n"), others))
}

/// The error for a tool's output without the call that asked for it.
pub(super) fn tool_message() -> AskError {
    bad("this provider takes a tool's output only as the answer to a call of that tool")
}

/// A model's name as one segment of a path.
pub(crate) fn segment(name: &str) -> String {
    const ENCODED: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'@');
    utf8_percent_encode(name, ENCODED).to_string()
}

/// Path of a model on Hugging Face's inference server. The owner's name is a separate segment.
pub(super) fn hugging_face_path(model: &str) -> String {
    let segments: Vec<String> = model.split('/').map(segment).collect();
    format!("/models/{}", segments.join("/"))
}

/// The part of an HTTP request that the wire format decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpCall {
    /// The path under the base URL, with a leading slash.
    pub path: Cow<'static, str>,
    /// Headers besides the key's and the endpoint's; names in lower case.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
    /// The body.
    pub body: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_one_segment() {
        assert_eq!(segment("gpt-4.1:free"), "gpt-4.1%3Afree");
        assert_eq!(segment("a/b?c#d é"), "a%2Fb%3Fc%23d%20%C3%A9");
    }

    #[test]
    fn system_messages_are_taken_out_of_the_conversation() {
        let request = ChatRequest::new(vec![
            ChatMessage::system("a"),
            ChatMessage::user("q"),
            ChatMessage::system("b"),
            ChatMessage::assistant("r"),
        ]);
        let (system, others) = apart(&request).unwrap();
        assert_eq!((system.as_str(), others.len()), ("a\n\nb", 2));
        assert!(apart(&ChatRequest::new(vec![ChatMessage::system("a")])).is_err());
        assert!(apart(&ChatRequest::new(vec![ChatMessage::text(MessageRole::Tool, "4")])).is_err());
    }
}
