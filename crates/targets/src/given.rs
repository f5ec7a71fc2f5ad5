//! Answers that already exist: written in the case, or recorded.

use std::time::Duration;

use assize_rubric::{Cost, Tokens, Usd};
use serde_json::{Value, json};

use crate::messages::{self, plain_text};
use crate::reply;
use crate::{TargetAnswer, TargetError, TargetErrorKind};

/// Converts a given output to an answer.
///
/// A text is the answer itself. From a list of messages (or a single message), the answer gets the text of the last
/// assistant message, the tool calls, and the tokens and times recorded with the messages. Any other value is the
/// answer as indented JSON. Null is not an answer.
pub fn given_answer(output: &Value) -> Result<TargetAnswer, TargetError> {
    let refuse = |kind, message: String| TargetError { attempts: 0, ..TargetError::new(kind, message) };
    let list = match output {
        Value::String(text) => return Ok(TargetAnswer::from_text(text.as_str())),
        Value::Null => {
            return Err(refuse(
                TargetErrorKind::NoAnswer,
                "the given output is null, so there is no answer".into(),
            ));
        }
        Value::Object(message) if message.contains_key("role") && message.contains_key("content") => {
            json!([output])
        }
        other => other.clone(),
    };
    match messages::parse_messages(&list).map_err(|problem| refuse(TargetErrorKind::Malformed, problem))? {
        Some(transcript) => {
            let Some(text) = transcript.text else {
                let message = "the given output has no message with the role `assistant`";
                return Err(refuse(TargetErrorKind::NoAnswer, message.into()));
            };
            let (tokens, cost, duration) = sum_recorded_usage(&list);
            let tool_calls = transcript.tool_calls;
            let messages = Some(list);

            Ok(TargetAnswer { messages, tokens, cost, duration, tool_calls, ..TargetAnswer::from_text(text) })
        }
        None => Ok(TargetAnswer::from_text(plain_text(output))),
    }
}

/// Sums the `token_usage`, `cost_usd` and `duration_ms` recorded with messages.
fn sum_recorded_usage(list: &Value) -> (Tokens, Option<Cost>, Duration) {
    let mut tokens = Tokens::default();
    let mut cost: Option<Cost> = None;
    let mut duration = Duration::ZERO;
    for message in list.as_array().into_iter().flatten() {
        if let Some(usage) = message.get("token_usage") {
            tokens.add(reply::read_tokens(usage));
        }

        let dollars = message.get("cost_usd").and_then(Value::as_f64).and_then(Usd::from_dollars);
        if let Some(part) = dollars.map(Cost::from_known) {
            cost = Some(cost.map_or(part, |sum| sum + part));
        }

        if let Some(part) = assize_trace::millis(message.get("duration_ms")) {
            duration = duration.saturating_add(part);
        }
    }

    (tokens, cost, duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_of_output_becomes_its_text() {
        for (output, text) in [
            (json!("as is\n"), "as is\n"),
            (json!(""), ""),
            (json!({"a": 1}), "{\n  \"a\": 1\n}"),
            (json!([1]), "[\n  1\n]"),
            (json!({"role": "assistant", "content": "one"}), "one"),
            (json!([{"role": "user", "content": "?"}, {"role": "assistant", "content": "!"}]), "!"),
        ] {
            let answer = given_answer(&output).unwrap();
            assert_eq!(answer.text, text);
            assert_eq!(answer.attempts, 0);
        }
    }

    #[test]
    fn what_was_recorded_with_messages_is_kept() {
        let answer = given_answer(&json!([
            {"role": "assistant", "content": "a", "duration_ms": 200, "token_usage": {"input": 5, "output": 2},
             "tool_calls": [{"tool": "ls", "duration_ms": 12}]},
            {"role": "assistant", "content": "b", "duration_ms": 50, "token_usage": {"input": 7, "output": 1}},
        ]))
        .unwrap();
        assert_eq!(answer.duration, Duration::from_millis(250));
        assert_eq!((answer.tokens.input, answer.tokens.output), (Some(12), Some(3)));
        assert_eq!(answer.tool_calls[0].duration, Some(Duration::from_millis(12)));
    }

    #[test]
    fn no_answer_is_an_error_and_not_an_empty_text() {
        assert_eq!(given_answer(&Value::Null).unwrap_err().kind, TargetErrorKind::NoAnswer);
        let question = json!([{"role": "user", "content": "?"}]);
        assert_eq!(given_answer(&question).unwrap_err().kind, TargetErrorKind::NoAnswer);
        let broken = json!([{"role": "assistant", "content": "x"}, "y"]);
        assert_eq!(given_answer(&broken).unwrap_err().kind, TargetErrorKind::Malformed);
    }
}
