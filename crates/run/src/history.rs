//! Answers to earlier cases that a case takes over: the turns of its conversation so far, and stored outputs.
//!
//! Design: `docs/design/promptfoo.md`.

use std::collections::HashMap;

use assize_model::TURNS_VARIABLE;
use assize_store::{CaseKey, HistoryRow, ResultRow};
use serde_json::{Map, Value, json};

use crate::{EarlierRole, ItemRelations, WorkItem};

/// The recorded answers that other items take over.
#[derive(Debug, Default)]
pub struct AnswerHistory {
    known: HashMap<CaseKey, KnownAnswer>,
    /// True once no further answer will come.
    is_closed: bool,
}

#[derive(Debug)]
struct KnownAnswer {
    /// The turn before it.
    previous: Option<CaseKey>,
    /// The turn as a template sees it; `None` if it has no answer.
    turn: Option<Value>,
    output: Option<Value>,
}

/// Why an item can't have an earlier answer.
pub(crate) enum AnswerGap {
    /// It is not there yet.
    Awaited(CaseKey),
    /// There is none, in words.
    Lost(String),
}

impl AnswerHistory {
    /// Notes a recorded result of an item with these relations.
    pub fn note(&mut self, relations: &ItemRelations, row: &ResultRow) {
        let Some(HistoryRow { prompt, output, .. }) = &row.history else { return };
        let key = row.key();
        let previous = relations.earlier.iter().find(|earlier| earlier.role == EarlierRole::Turn);
        let known = KnownAnswer {
            previous: previous.map(|earlier| earlier.key_for(&key)),
            turn: row.answer.as_ref().map(|answer| turn_value(prompt, answer)),
            output: output.clone(),
        };
        self.known.insert(key, known);
    }

    /// From now on, an answer that is not there counts as lost.
    pub(crate) fn close(&mut self) {
        self.is_closed = true;
    }

    /// The answers that an item takes over, by the names of their variables.
    pub(crate) fn answers_for(&self, item: &WorkItem) -> Result<Map<String, Value>, AnswerGap> {
        let own = item.key();
        let mut answers = Map::new();
        let Some(history) = &item.case.history else { return Ok(answers) };
        for earlier in &item.relations.earlier {
            let key = earlier.key_for(&own);
            if !self.is_closed && !self.known.contains_key(&key) {
                return Err(AnswerGap::Awaited(key));
            }
            match &earlier.role {
                EarlierRole::Turn if history.shows_turns => {
                    answers.insert(TURNS_VARIABLE.to_owned(), self.turns_up_to(&key)?.into());
                }
                EarlierRole::Turn => {}
                EarlierRole::Output(name) => {
                    let output = self.known.get(&key).and_then(|known| known.output.clone());
                    let lost = || format!("it uses the output `{name}` of `{}`, which has none", key.case_id);
                    answers.insert(name.to_string(), output.ok_or_else(|| AnswerGap::Lost(lost()))?);
                }
            }
        }

        Ok(answers)
    }

    /// The turns of a conversation up to this one, in order.
    fn turns_up_to(&self, last: &CaseKey) -> Result<Vec<Value>, AnswerGap> {
        let mut turns = Vec::new();
        let mut next = Some(last);
        while let Some(key) = next {
            let known = self.known.get(key);
            let Some((known, turn)) = known.and_then(|known| Some((known, known.turn.clone()?))) else {
                let id = &key.case_id;
                let reason = format!("it continues the conversation after `{id}`, which has no answer");
                return Err(AnswerGap::Lost(reason));
            };
            turns.push(turn);
            next = known.previous.as_ref();
        }
        turns.reverse();

        Ok(turns)
    }
}

/// A turn in promptfoo's form. A prompt that is JSON is a value, and the input is its last message.
fn turn_value(prompt: &Value, answer: &str) -> Value {
    let parsed = prompt.as_str().and_then(|text| serde_json::from_str(text).ok()).filter(is_truthy);
    let prompt = parsed.unwrap_or_else(|| prompt.clone());
    let last = prompt.as_array().and_then(|messages| messages.last());
    let content = last.map(|last| last.get("content").filter(|content| is_truthy(content)).unwrap_or(last));
    let input = content.filter(|content| is_truthy(content)).unwrap_or(&prompt);

    json!({"prompt": prompt, "input": input, "output": answer})
}

/// Whether JavaScript takes a value for true.
fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Bool(true) | Value::Array(_) | Value::Object(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_input_of_a_turn_is_its_last_message_or_its_whole_prompt() {
        let messages = json!([{"role": "system", "content": "s"}, {"role": "user", "content": "q"}]);
        for (prompt, shown, input) in [
            (json!("Say: a"), json!("Say: a"), json!("Say: a")),
            (messages.clone(), messages.clone(), json!("q")),
            (json!(messages.to_string()), messages.clone(), json!("q")),
            (json!("{\"a\": 1}"), json!({"a": 1}), json!({"a": 1})),
            (json!("[]"), json!([]), json!([])),
            (json!("0"), json!("0"), json!("0")),
            (
                json!([{"role": "user", "content": ""}]),
                json!([{"role": "user", "content": ""}]),
                json!({"role": "user", "content": ""}),
            ),
        ] {
            let turn = turn_value(&prompt, "a");
            assert_eq!(turn, json!({"prompt": shown, "input": input, "output": "a"}), "{prompt}");
        }
    }
}
