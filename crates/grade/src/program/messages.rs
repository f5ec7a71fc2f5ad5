//! Messages in the form that grading programs read.
//!
//! Targets write messages in many chat formats. Programs that check types know one: `content` is a text, an
//! object or a list of blocks with `type` and `text`, each of `tool_calls` names its `tool`, and no value is
//! null.

use serde_json::{Map, Value, json};

use super::contract::ContractForm;

/// The messages in the form that programs know, with all their other members; objects become text if the form
/// says so.
pub(super) fn program_messages(messages: &[Value], form: ContractForm) -> Value {
    messages.iter().map(|message| program_message(message, form)).collect()
}

fn program_message(message: &Value, form: ContractForm) -> Value {
    let Value::Object(members) = message else { return message.clone() };
    let mut members = without_nulls(members);

    if let Some(calls) = members.remove("toolCalls") {
        members.entry("tool_calls").or_insert(calls);
    }

    if let Some(Value::Array(calls)) = members.get_mut("tool_calls") {
        calls.iter_mut().for_each(name_tool);
    }

    if let Some(content) = members.get_mut("content") {
        let has_no_blocks = |blocks: &Vec<Value>| blocks.iter().any(|block| block.get("type").is_none());
        if let Value::Array(blocks) = content {
            blocks.iter_mut().for_each(spell_block);
        }
        if form.objects_as_text && (content.is_object() || content.as_array().is_some_and(has_no_blocks)) {
            *content = serde_json::to_string_pretty(content).unwrap_or_default().into();
        }
    }

    Value::Object(members)
}

/// Adds `tool` and `input` to a call in another form, such as `{"function": {"name", "arguments"}}`.
fn name_tool(call: &mut Value) {
    let Value::Object(members) = call else { return };
    let mut named = without_nulls(members);
    let function = named.get("function").and_then(Value::as_object);
    let inner = function.unwrap_or(&named);
    let name = ["tool", "name"].iter().find_map(|key| inner.get(*key)?.as_str()).map(str::to_owned);
    let input = ["input", "arguments", "args"].iter().find_map(|key| inner.get(*key)).cloned();

    if let Some(name) = name {
        named.entry("tool").or_insert(name.into());
    }
    if let Some(input) = input {
        // Some formats store the arguments as JSON text.
        let parsed = input.as_str().and_then(|text| serde_json::from_str(text).ok());
        named.entry("input").or_insert(parsed.unwrap_or(input));
    }

    *call = Value::Object(named);
}

/// Gives a text block its `text`, which eval files call `value`.
fn spell_block(block: &mut Value) {
    if let Value::String(text) = block {
        *block = json!({ "type": "text", "text": text });
        return;
    }

    let Value::Object(members) = block else { return };
    *members = without_nulls(members);
    let is_text = members.get("type").is_some_and(|kind| kind == "text");
    if let Some(text) = members.get("value").filter(|_| is_text).cloned() {
        members.entry("text").or_insert(text);
    }
}

fn without_nulls(members: &Map<String, Value>) -> Map<String, Value> {
    members
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_name_their_tool_in_every_spelling() {
        let message = json!({"role": "assistant", "content": null, "tool_calls": [
            {"tool": "Read", "input": {"a": 1}, "output": null},
            {"id": "1", "function": {"name": "add", "arguments": "{\"b\": 2}"}},
            {"name": "ls", "args": ["-l"]},
        ]});
        let read = program_messages(&[message], ContractForm::default());
        assert_eq!(read[0].get("content"), None);
        let calls = &read[0]["tool_calls"];
        assert_eq!(calls[0], json!({"tool": "Read", "input": {"a": 1}}));
        assert_eq!((&calls[1]["tool"], &calls[1]["input"]), (&json!("add"), &json!({"b": 2})));
        assert_eq!((&calls[2]["tool"], &calls[2]["input"]), (&json!("ls"), &json!(["-l"])));
    }

    #[test]
    fn content_keeps_its_form() {
        for content in [json!("text"), json!({"decision": null}), json!([{"type": "text", "text": "a"}])] {
            let message = json!({"role": "user", "content": content});
            assert_eq!(program_messages(&[message], ContractForm::default())[0]["content"], content);
        }

        let form = ContractForm { objects_as_text: true, ..ContractForm::default() };
        let object = json!({"role": "user", "content": {"a": 1}});
        assert_eq!(program_messages(&[object], form)[0]["content"], "{\n  \"a\": 1\n}");

        let blocks = json!({"role": "user", "content": ["a", {"type": "text", "value": "b"}]});
        let read = program_messages(&[blocks], ContractForm::default());
        assert_eq!(read[0]["content"][0], json!({"type": "text", "text": "a"}));
        assert_eq!(read[0]["content"][1]["text"], "b");
    }
}
