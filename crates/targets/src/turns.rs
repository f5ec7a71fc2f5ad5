//! Answers of a recorded conversation, turn by turn.

use std::time::Duration;

use assize_rubric::Tokens;
use serde_json::Value;

use crate::{TargetAnswer, TargetError, TargetErrorKind, given_answer};

/// Whether a message is addressed to the target, and is not a tool result in a user message.
pub fn is_question(message: &Value) -> bool {
    let is_result = |block: &Value| block.get("type").and_then(Value::as_str) == Some("tool_result");
    message.get("role").and_then(Value::as_str) == Some("user")
        && !message
            .get("content")
            .and_then(Value::as_array)
            .is_some_and(|blocks| !blocks.is_empty() && blocks.iter().all(is_result))
}

/// Splits the recorded answer of a conversation into the answers of its `turns` turns.
///
/// A turn begins with a message to the target. If there are no such messages, all messages are one turn, or one turn
/// each if there are as many assistant messages as turns. An answer without messages is one turn. The result may have
/// more or fewer answers than turns. A turn without a text of the target has no answer.
pub fn turn_answers(answer: &TargetAnswer, turns: usize) -> Vec<Result<TargetAnswer, TargetError>> {
    let Some(messages) = answer.messages.as_ref().and_then(Value::as_array) else {
        return vec![Ok(answer.clone())];
    };
    let role = |message: &Value| message.get("role").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut parts: Vec<Vec<Value>> = Vec::new();
    if messages.iter().any(is_question) {
        let mut spoken_to = false;
        for message in messages {
            let begins = is_question(message);
            if begins && !spoken_to {
                parts.push(Vec::new());
            }

            spoken_to = begins;

            // Messages before the first question belong to no turn.
            if let Some(part) = parts.last_mut() {
                part.push(message.clone());
            }
        }
    } else if messages.len() == turns && messages.iter().all(|message| role(message) == "assistant") {
        parts.extend(messages.iter().map(|message| vec![message.clone()]));
    } else {
        return vec![Ok(answer.clone())];
    }

    if let [_] = parts.as_slice() {
        return vec![Ok(answer.clone())];
    }

    parts.into_iter().map(|part| given_answer(&Value::Array(part))).collect()
}

/// The answer of turn `number` (from 1) of `turns` from a recording, or the reason why there is none. Tokens, cost and
/// duration of a whole conversation are not assigned to a turn.
pub(crate) fn recorded_turn(
    answer: &TargetAnswer,
    number: u32,
    turns: u32,
) -> Result<TargetAnswer, TargetError> {
    let mut found = turn_answers(answer, turns as usize);
    let held = found.len();
    let index = (number as usize).saturating_sub(1);
    if index < held {
        let turn = found.swap_remove(index)?;
        return Ok(match held {
            1 => turn,
            _ => TargetAnswer { tokens: Tokens::default(), cost: None, duration: Duration::ZERO, ..turn },
        });
    }

    let turns = if held == 1 { "turn" } else { "turns" };
    let message = format!("the recorded conversation has {held} {turns}, and this is turn {number}");
    Err(TargetError::without_attempt(TargetErrorKind::NotRecorded, message))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn texts(output: Value, turns: usize) -> Vec<Option<String>> {
        let answer = given_answer(&output).unwrap();
        turn_answers(&answer, turns).into_iter().map(|turn| turn.ok().map(|turn| turn.text)).collect()
    }

    fn some(texts: &[&str]) -> Vec<Option<String>> {
        texts.iter().map(|text| Some((*text).to_owned())).collect()
    }

    #[test]
    fn a_turn_begins_where_somebody_speaks_to_the_target() {
        let talk = json!([
            {"role": "system", "content": "s"}, {"role": "assistant", "content": "Hello!"},
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "ls", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "x"}]},
            {"role": "assistant", "content": "one"},
            {"role": "user", "content": "b"}, {"role": "user", "content": "and c"},
            {"role": "assistant", "content": "two"},
        ]);
        assert_eq!(texts(talk.clone(), 2), some(&["one", "two"]));
        let answer = given_answer(&talk).unwrap();
        let turns = turn_answers(&answer, 2);
        assert_eq!(turns[0].as_ref().unwrap().tool_calls.len(), 1);
        assert!(turns[1].as_ref().unwrap().tool_calls.is_empty());
    }

    #[test]
    fn replies_alone_are_a_turn_each_when_their_number_says_so() {
        let replies =
            json!([{"role": "assistant", "content": "one"}, {"role": "assistant", "content": "two"}]);
        assert_eq!(texts(replies.clone(), 2), some(&["one", "two"]));
        assert_eq!(texts(replies, 3), some(&["two"]));
        assert_eq!(texts(json!("only"), 3), some(&["only"]));
    }

    #[test]
    fn a_turn_without_a_reply_has_no_answer() {
        let talk = json!([
            {"role": "user", "content": "a"}, {"role": "assistant", "content": "one"},
            {"role": "user", "content": "b"}, {"role": "system", "content": "lost"},
        ]);
        assert_eq!(texts(talk.clone(), 2), [Some("one".to_owned()), None]);
        let answer = given_answer(&talk).unwrap();
        let error = recorded_turn(&answer, 3, 3).unwrap_err();
        assert_eq!((error.kind, error.attempts), (TargetErrorKind::NotRecorded, 0));
        assert!(error.message.contains("2 turns"), "{}", error.message);
    }
}
