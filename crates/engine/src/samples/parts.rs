//! Samples made from parts: JSON values as in chat APIs and datasets.

use assize_model::GivenOutput;
use assize_rubric::{CaseMessage, MessageRole};
use serde_json::Value;

use super::GradingSample;

/// The parts of a sample. The answer is in either `output` or `messages`.
#[derive(Debug, Clone, Default)]
pub struct SampleParts {
    /// The question: a text, messages with `role` and `content`, or anything else, which is shown as JSON.
    pub input: Option<Value>,
    /// The answer: a text, or anything else, which is graded as its JSON text.
    pub output: Option<Value>,
    /// The whole conversation. The answer is everything from the assistant after the last message of another role: the
    /// text of its last message, with the tool calls before it. Everything before the answer is the question. `input`
    /// replaces the messages before the first one of the assistant.
    pub messages: Option<Vec<Value>>,
    /// An answer known to be good: a text, or anything else, which is shown as JSON.
    pub reference: Option<Value>,
    /// Description of a good answer.
    pub expected_outcome: Option<String>,
    /// Tags that select benchmarks of a scorecard.
    pub tags: Vec<String>,
}

/// A problem with a part of a sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleProblem {
    /// JSON pointer to the part, below the sample.
    pub path: String,
    /// The problem and how to fix it.
    pub message: String,
}

impl SampleProblem {
    fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

impl GradingSample {
    /// Creates a sample of these parts.
    ///
    /// # Errors
    /// When a message has no role, or there is no answer.
    pub fn from_parts(id: impl Into<String>, parts: SampleParts) -> Result<Self, SampleProblem> {
        let SampleParts { input, output, messages, reference, expected_outcome, tags } = parts;
        let (output, path, earlier) = match (output, messages) {
            (Some(Value::String(text)), _) => (GivenOutput::Text(text), "/output", EarlierTurns::default()),
            // Messages belong under `messages`. A list here is an answer that is a list.
            (Some(value), _) => (GivenOutput::Text(to_text(value)), "/output", EarlierTurns::default()),
            (None, messages) => {
                let (earlier, answer) = split_conversation(messages.unwrap_or_default())?;
                (GivenOutput::Json(Value::Array(answer)), "/messages", earlier)
            }
        };

        let EarlierTurns { opening, further } = earlier;
        let further_from = opening.len();
        let mut input = match input {
            Some(input) => read_input(input)?,
            None => read_messages(opening, "/messages", 0)?,
        };
        input.extend(read_messages(further, "/messages", further_from)?);
        let mut sample = Self::new(id, &output).map_err(|error| SampleProblem::new(path, error.message))?;
        sample.input = input;
        sample.reference = reference.map(to_text);
        sample.expected_outcome = expected_outcome;
        sample.tags = tags;

        Ok(sample)
    }
}

/// The part of a conversation that the last answer replies to.
#[derive(Default)]
struct EarlierTurns {
    /// Messages before the first one of the assistant.
    opening: Vec<Value>,
    /// The other messages before the last answer.
    further: Vec<Value>,
}

/// Splits a conversation into the messages before its last answer, and the messages of the answer.
fn split_conversation(mut messages: Vec<Value>) -> Result<(EarlierTurns, Vec<Value>), SampleProblem> {
    let role = |message: &Value| message.get("role").and_then(Value::as_str).unwrap_or_default().to_owned();
    let is_assistant = |message: &Value| role(message) == "assistant";
    let Some(last) = messages.last() else {
        let message = "the list is empty; the answer is its last message of the assistant";
        return Err(SampleProblem::new("/messages", message));
    };

    // An unknown role is reported as such. `model`, for example, may well mean the assistant.
    for (index, message) in messages.iter().enumerate() {
        read_role(message, &format!("/messages/{index}"))?;
    }
    let is_other = |message: &Value| !matches!(&*role(message), "assistant" | "tool" | "function");
    if !messages.iter().any(is_assistant) || is_other(last) {
        let message = format!(
            "the conversation ends with a message of the role `{}`; the answer is the last message, of the role `assistant`",
            role(last)
        );
        return Err(SampleProblem::new("/messages", message));
    }

    let opening = messages.iter().position(is_assistant).unwrap_or(0);
    let answer = messages.iter().rposition(is_other).map_or(0, |index| index + 1).max(opening);
    for (index, message) in messages.iter().enumerate().skip(answer) {
        refuse_media(message, &format!("/messages/{index}"))?;
    }

    let answer = messages.split_off(answer);
    let further = messages.split_off(opening);
    Ok((EarlierTurns { opening: messages, further }, answer))
}

fn read_input(input: Value) -> Result<Vec<CaseMessage>, SampleProblem> {
    match input {
        Value::Array(list) if list.iter().any(|entry| entry.get("role").is_some()) => {
            read_messages(list, "/input", 0)
        }
        other => Ok(vec![CaseMessage::text(MessageRole::User, to_text(other))]),
    }
}

/// Reads the messages of a list at `path`. The first of them has the index `from` there.
fn read_messages(list: Vec<Value>, path: &str, from: usize) -> Result<Vec<CaseMessage>, SampleProblem> {
    let read = |(index, message): (usize, Value)| {
        let path = format!("{path}/{index}");
        let role = read_role(&message, &path)?;
        refuse_media(&message, &path)?;

        Ok(CaseMessage::text(role, message_text(&message)))
    };
    (from..).zip(list).map(read).collect()
}

fn read_role(message: &Value, path: &str) -> Result<MessageRole, SampleProblem> {
    match message.get("role").and_then(Value::as_str).unwrap_or_default() {
        "developer" => Ok(MessageRole::System),
        "function" => Ok(MessageRole::Tool),
        role => MessageRole::from_name(role).ok_or_else(|| {
            let expected = "expected system, developer, user, assistant or tool";
            SampleProblem::new(format!("{path}/role"), expected)
        }),
    }
}

/// Refuses content that a judge can't see, because the judge would not know that it is missing. In tool results, a text
/// names such content instead.
fn refuse_media(message: &Value, path: &str) -> Result<(), SampleProblem> {
    let is_result = matches!(message.get("role").and_then(Value::as_str), Some("tool" | "function"));
    let blocks = message.get("content").and_then(Value::as_array).filter(|_| !is_result);
    for (index, block) in blocks.into_iter().flatten().enumerate() {
        let kind = block.get("type").and_then(Value::as_str).unwrap_or_default();
        if ["image", "audio", "video", "file", "document"].iter().any(|media| kind.contains(media)) {
            let message = format!(
                "a judge is shown texts only, and this is `{kind}`: describe it in a text, or remove it"
            );
            return Err(SampleProblem::new(format!("{path}/content/{index}"), message));
        }
    }

    Ok(())
}

/// The text of a message, with each tool call on a line after it.
fn message_text(message: &Value) -> String {
    let calls = message.get("tool_calls").and_then(Value::as_array);
    let calls = calls.into_iter().flatten().filter_map(|call| call.get("function")).map(|function| {
        let part = |key: &str| match function.get(key) {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        format!("{}({})", part("name"), part("arguments"))
    });

    let text = content_text(message.get("content"));
    let parts = Some(text).filter(|text| !text.is_empty()).into_iter().chain(calls);
    parts.collect::<Vec<_>>().join("\n")
}

/// The text of a message's content: a text, or the texts of its blocks. Other blocks are named, but not opened.
pub fn content_text(content: Option<&Value>) -> String {
    match content {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(blocks)) => {
            let text = |block: &Value| match (block, block.get("text").and_then(Value::as_str)) {
                (Value::String(text), _) => text.clone(),
                (_, Some(text)) => text.to_owned(),
                _ => {
                    let kind = block.get("type").and_then(Value::as_str).unwrap_or("unknown");
                    format!("[{kind}]")
                }
            };
            blocks.iter().map(text).collect::<Vec<_>>().join("\n")
        }
        Some(other) => to_text(other.clone()),
    }
}

/// Returns a text unchanged, and any other value as indented JSON.
fn to_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => serde_json::to_string_pretty(&other).unwrap_or_default(),
    }
}
