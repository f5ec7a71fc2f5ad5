//! Answers to earlier cases that a case takes over: the turns of its conversation so far, and stored outputs.
//!
//! Design: `docs/design/promptfoo.md`.

use std::collections::HashMap;

use assize_model::TURNS_VARIABLE;
use assize_store::{CaseKey, HistoryRow, ResultRow};
use serde_json::{Map, Value};

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
    /// The turn as a template sees it, but for its prompt; `None` if it has no answer.
    turn: Option<Map<String, Value>>,
    /// The prompt of the turn. A long conversation in each prompt has a length that grows with the square of the turns,
    /// and all these prompts in each turn one with the cube, so a turn has its prompt only where it may be shown.
    prompt: Value,
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
        let prompt = parsed_prompt(prompt);
        let known = KnownAnswer {
            previous: previous.map(|earlier| earlier.key_for(&key)),
            turn: row.answer.as_ref().map(|answer| turn_of(&prompt, answer)),
            prompt,
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
                    answers.insert(
                        TURNS_VARIABLE.to_owned(),
                        self.turns_up_to(&key, history.shows_prompts)?.into(),
                    );
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
    fn turns_up_to(&self, last: &CaseKey, with_prompts: bool) -> Result<Vec<Value>, AnswerGap> {
        let mut turns = Vec::new();
        let mut next = Some(last);
        while let Some(key) = next {
            let known = self.known.get(key);
            let Some((known, mut turn)) = known.and_then(|known| Some((known, known.turn.clone()?))) else {
                let id = &key.case_id;
                let reason = format!("it continues the conversation after `{id}`, which has no answer");
                return Err(AnswerGap::Lost(reason));
            };
            if with_prompts {
                turn.insert("prompt".to_owned(), known.prompt.clone());
            }
            turns.push(turn.into());
            next = known.previous.as_ref();
        }
        turns.reverse();

        Ok(turns)
    }
}

/// A prompt in promptfoo's form: one that is JSON is a value.
fn parsed_prompt(prompt: &Value) -> Value {
    let parsed = prompt.as_str().and_then(|text| serde_json::from_str(text).ok()).filter(is_truthy);
    parsed.unwrap_or_else(|| prompt.clone())
}

/// A turn in promptfoo's form, without its prompt. The input is the last message of the prompt.
fn turn_of(prompt: &Value, answer: &str) -> Map<String, Value> {
    let last = prompt.as_array().and_then(|messages| messages.last());
    let content = last.map(|last| last.get("content").filter(|content| is_truthy(content)).unwrap_or(last));
    let input = content.filter(|content| is_truthy(content)).unwrap_or(prompt);

    Map::from_iter([("input".to_owned(), input.clone()), ("output".to_owned(), answer.into())])
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
    use serde_json::json;

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
            let parsed = parsed_prompt(&prompt);
            assert_eq!(
                Value::from(turn_of(&parsed, "a")),
                json!({"input": input, "output": "a"}),
                "{prompt}"
            );
            assert_eq!(parsed, shown);
        }
    }
}
