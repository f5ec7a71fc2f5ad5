//! Samples from their parts: JSON values in the form that chat APIs and data sets have them.

use assize_evalfile::{CaseMessage, GivenOutput, MessageRole};
use serde_json::Value;

use super::GradingSample;

/// Parts of a sample. Either `output` or `messages` has the answer.
#[derive(Debug, Clone, Default)]
pub struct SampleParts {
    /// The question: a text, messages with `role` and `content`, or anything else, which is shown as JSON.
    pub input: Option<Value>,
    /// The answer: a text, or anything else, which is graded as its JSON text.
    pub output: Option<Value>,
    /// The whole conversation. The text of the last message of the assistant is the answer; without `input`, the messages before
    /// the first of the assistant are the question.
    pub messages: Option<Vec<Value>>,
    /// An answer known to be good: a text, or anything else, which is shown as JSON.
    pub reference: Option<Value>,
    /// Description of a good answer.
    pub expected_outcome: Option<String>,
    /// Tags, by which benchmarks of a scorecard apply.
    pub tags: Vec<String>,
}

/// Problem of a part of a sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleProblem {
    /// JSON pointer to the part, below the sample.
    pub path: String,
    /// Description for people.
    pub message: String,
}

impl SampleProblem {
    fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

impl GradingSample {
    /// Sample of these parts.
    ///
    /// # Errors
    /// When a message has no role, or there is no answer.
    pub fn from_parts(id: impl Into<String>, parts: SampleParts) -> Result<Self, SampleProblem> {
        let SampleParts { input, output, messages, reference, expected_outcome, tags } = parts;
        let (output, path, before) = match (output, messages) {
            (Some(Value::String(text)), _) => (GivenOutput::Text(text), "/output", Vec::new()),
            // Messages belong under `messages`; a list here is an answer that is a list.
            (Some(value), _) => (GivenOutput::Text(to_text(value)), "/output", Vec::new()),
            (None, messages) => {
                let messages = messages.unwrap_or_default();
                if messages.is_empty() {
                    let message = "the list is empty; the answer is its last message of the assistant";
                    return Err(SampleProblem::new("/messages", message));
                }

                let before = messages_before_answer(&messages);
                (GivenOutput::Json(Value::Array(messages)), "/messages", before)
            }
        };

        let input = match input {
            Some(input) => read_input(input)?,
            None => read_messages(before, "/messages")?,
        };
        let mut sample = Self::new(id, &output).map_err(|error| SampleProblem::new(path, error.message))?;
        sample.input = input;
        sample.reference = reference.map(to_text);
        sample.expected_outcome = expected_outcome;
        sample.tags = tags;

        Ok(sample)
    }
}

/// Messages before the first one of the assistant.
fn messages_before_answer(messages: &[Value]) -> Vec<Value> {
    let is_assistant = |message: &&Value| message.get("role").and_then(Value::as_str) == Some("assistant");
    messages.iter().take_while(|message| !is_assistant(message)).cloned().collect()
}

fn read_input(input: Value) -> Result<Vec<CaseMessage>, SampleProblem> {
    match input {
        Value::Array(list) if list.iter().any(|entry| entry.get("role").is_some()) => {
            read_messages(list, "/input")
        }
        other => Ok(vec![CaseMessage::text(MessageRole::User, to_text(other))]),
    }
}

fn read_messages(list: Vec<Value>, path: &str) -> Result<Vec<CaseMessage>, SampleProblem> {
    let read = |(index, message): (usize, Value)| {
        let role = match message.get("role").and_then(Value::as_str).unwrap_or_default() {
            "system" | "developer" => MessageRole::System,
            "user" => MessageRole::User,
            "assistant" => MessageRole::Assistant,
            "tool" | "function" => MessageRole::Tool,
            _ => {
                let expected = "expected system, developer, user, assistant or tool";
                return Err(SampleProblem::new(format!("{path}/{index}/role"), expected));
            }
        };

        Ok(CaseMessage::text(role, content_text(message.get("content"))))
    };
    list.into_iter().enumerate().map(read).collect()
}

/// Text of the content of a message: a text, or the texts of its blocks. What is no text is named, not opened.
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

/// A text as it is, anything else as indented JSON.
fn to_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => serde_json::to_string_pretty(&other).unwrap_or_default(),
    }
}
