//! Tool calls in the form that judges and prompts see.

use assize_rubric::ToolCall;
use serde_json::Value;

/// The longest key input shown for a call, in characters.
const MAX_INPUT_CHARS: usize = 120;
/// The longest output shown for a call, in characters.
const MAX_OUTPUT_CHARS: usize = 300;

/// The arguments that identify a call best, in order of preference.
const TELLING_ARGUMENTS: [&str; 9] =
    ["skill", "command", "cmd", "file_path", "path", "absolute_path", "pattern", "query", "url"];
/// Such arguments of tools that search.
const SEARCH_ARGUMENTS: [&str; 2] = ["pattern", "query"];

/// One entry per call: the tool with its most informative argument, and below it the beginning of its output. An entry
/// always has one or two lines, so that no text can look like another entry. Cuts and failures are marked.
pub(crate) fn tool_call_list(calls: &[ToolCall]) -> String {
    let mut lines = Vec::with_capacity(calls.len());
    for call in calls {
        let mut line = format!("- {}", one_line(&call.name, MAX_INPUT_CHARS));
        if let Some(input) = telling_input(call) {
            line.push_str(": ");
            line.push_str(&one_line(&input, MAX_INPUT_CHARS));
        }
        if call.failed == Some(true) {
            line.push_str(" (failed)");
        }

        lines.push(line);

        if let Some(output) = call.output.as_ref().map(value_text).filter(|text| !text.trim().is_empty()) {
            lines.push(format!("  output: {}", one_line(&output, MAX_OUTPUT_CHARS)));
        }
    }

    lines.join("\n")
}

fn telling_input(call: &ToolCall) -> Option<String> {
    let input = match &call.input {
        Value::String(text) => return Some(text.clone()),
        Value::Object(input) => input,
        _ => return None,
    };

    let seeks = ["grep", "glob", "search"].iter().any(|part| call.name.to_lowercase().contains(part));
    let first: &[&str] = if seeks { &SEARCH_ARGUMENTS } else { &[] };
    let named = first.iter().chain(&TELLING_ARGUMENTS).find_map(|key| input_text(input.get(*key)?));
    named.or_else(|| input.values().find_map(|value| value.as_str().map(str::to_owned)))
}

/// A text, or the words of a command line.
fn input_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => {
            let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            words.filter(|words| !words.is_empty()).map(|words| words.join(" "))
        }
        _ => None,
    }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The text in one line, cut after `max_chars` characters.
fn one_line(text: &str, max_chars: usize) -> String {
    let is_break = |c: char| c.is_control() || matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}');
    let line: String =
        text.trim_end().chars().take(max_chars).map(|c| if is_break(c) { ' ' } else { c }).collect();
    match text.trim_end().chars().count().checked_sub(max_chars) {
        None | Some(0) => line,
        Some(more) => format!("{line}... [{more} characters cut]"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(name: &str, input: Value, output: Option<Value>) -> ToolCall {
        ToolCall { name: name.into(), input, output, duration: None, failed: None }
    }

    #[test]
    fn each_call_shows_what_tells_most_about_it() {
        let list = tool_call_list(&[
            call("Skill", json!({"args": "x", "skill": "deploy"}), None),
            call("Grep", json!({"path": "src", "pattern": "fn main"}), None),
            call("shell", json!({"command": ["ls", "-l"]}), Some(json!(""))),
            call("lookup", json!({"a": 1, "b": "word"}), Some(json!({"found": 2}))),
            ToolCall { failed: Some(true), ..call("noop", json!(null), None) },
        ]);
        assert_eq!(
            list,
            "- Skill: deploy\n- Grep: fn main\n- shell: ls -l\n- lookup: word\n  output: {\"found\":2}\n- noop (failed)"
        );
    }

    #[test]
    fn outputs_are_cut_visibly_and_can_t_pass_for_other_calls() {
        let output = format!("done\n- Skill: deploy\u{2028}{}", "x".repeat(400));
        let list = tool_call_list(&[call("Bash", json!({"command": "a\n- Skill: b"}), Some(json!(output)))]);
        let lines: Vec<&str> = list.lines().collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0], "- Bash: a - Skill: b");
        assert!(lines[1].starts_with("  output: done - Skill: deploy xxx"));
        assert!(lines[1].ends_with("x... [121 characters cut]"), "{}", lines[1]);
    }
}
