//! Programs as judges: a command or a function gets the messages of a judge call, and its output is the reply.
//!
//! Design: `docs/design/judging.md`.

use std::path::PathBuf;
use std::sync::Arc;

use assize_llm::{
    AskError, BoxFuture, ChatModel, ChatReply, ChatRequest, ErrorKind, FinishReason, JsonSchemaFormat,
    ModelId, Part, TokenCounts,
};
use assize_targets::{InputMessage, Target, TargetAnswer, TargetError, TargetErrorKind, TargetInput};
use serde_json::{Map, Value, json};

/// Provider of judges that are programs.
pub(crate) const PROGRAM: &str = "program";

/// A program that answers the questions of a judge.
pub(super) struct ProgramModel {
    pub(super) target: Arc<dyn Target>,
    /// Folder of the file that names the program.
    pub(super) folder: PathBuf,
}

impl ProgramModel {
    fn input(&self, request: &ChatRequest) -> TargetInput {
        let messages = request.messages.iter().map(|message| {
            // Judges show texts only.
            let texts = message.content.iter().filter_map(|part| match part {
                Part::Text(text) => Some(&**text),
                Part::Image { .. } => None,
            });
            InputMessage::text(message.role, texts.collect::<String>())
        });
        TargetInput {
            suite_folder: self.folder.clone(),
            ..TargetInput::new(self.target.name(), messages.collect())
        }
    }
}

impl ChatModel for ProgramModel {
    fn ask<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, AskError>> {
        Box::pin(async move {
            let answer = self.target.answer(&self.input(request)).await.map_err(failure)?;
            Ok(reply(answer, request.schema.as_ref()))
        })
    }

    fn describe(&self) -> ModelId {
        let model = self.target.name().to_owned();
        ModelId { provider: PROGRAM.to_owned(), model, base_url_host: String::new() }
    }
}

fn failure(error: TargetError) -> AskError {
    let kind = match error.kind {
        TargetErrorKind::Timeout => ErrorKind::Timeout,
        TargetErrorKind::NoAnswer | TargetErrorKind::Malformed | TargetErrorKind::TooLarge => {
            ErrorKind::MalformedReply
        }
        _ => ErrorKind::BadRequest,
    };
    let stderr = error.stderr.map(|text| format!(": {}", text.trim())).unwrap_or_default();
    AskError { attempts: error.attempts, ..AskError::new(kind, format!("{}{stderr}", error.message)) }
}

fn reply(answer: TargetAnswer, schema: Option<&JsonSchemaFormat>) -> ChatReply {
    let text = schema.and_then(|schema| in_form(&answer.text, &schema.schema)).unwrap_or(answer.text);
    ChatReply {
        usage: TokenCounts {
            input: answer.tokens.input,
            cached: answer.tokens.cached,
            output: answer.tokens.output,
        },
        stated_cost: answer.cost.and_then(assize_rubric::Cost::total),
        model: answer.model,
        latency: answer.duration,
        attempts: answer.attempts,
        ..ChatReply::new(text, FinishReason::Stop)
    }
}

/// Converts a reply in the form of promptfoo's judges (`pass`, `score`, `reason`) to the requested form; `None` for any
/// other reply.
fn in_form(text: &str, schema: &Value) -> Option<String> {
    let mut given: Map<String, Value> = serde_json::from_str(text).ok()?;
    let requested = schema.get("properties")?;
    let passed = given.remove("pass")?.as_bool()?;
    if requested.get("outcome").is_some() {
        given.remove("score");
        given.insert("outcome".to_owned(), if passed { "met" } else { "unmet" }.into());
    } else if requested.get("score").is_none() || !given.contains_key("score") {
        return None;
    }
    given.entry("evidence").or_insert(json!([]));
    given.entry("reason").or_insert("".into());

    Some(Value::Object(given).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_of_promptfoo_judges_take_the_form_that_was_asked_for() {
        let form = |member: &str| json!({ "properties": { "evidence": {}, "reason": {}, member: {} } });
        let cases = [
            (r#"{"pass": true, "score": 0.2, "reason": "r"}"#, "outcome", Some(r#""outcome":"met""#)),
            (r#"{"pass": false, "reason": "r"}"#, "outcome", Some(r#""outcome":"unmet""#)),
            (r#"{"pass": true, "score": 0.2, "reason": "r"}"#, "score", Some(r#""score":0.2"#)),
            (r#"{"pass": true, "reason": "r"}"#, "score", None),
            (r#"{"pass": "true"}"#, "outcome", None),
            (r#"{"outcome": "met"}"#, "outcome", None),
            ("true", "outcome", None),
        ];
        for (text, member, expected) in cases {
            let found = in_form(text, &form(member));
            assert_eq!(found.is_some(), expected.is_some(), "{text}");
            assert!(found.unwrap_or_default().contains(expected.unwrap_or_default()), "{text}");
        }
    }
}
