//! A stand-in for all the programs that suites call and that are not installed (`bun run grade.ts`). As a target it
//! writes an answer to `--output FILE`; as a grader it prints a verdict on its standard input.

use std::io::Read as _;
use std::path::Path;

use assize_load::load_suite;
use serde_json::{Value, json};

use super::sandbox::load_options;

/// Acts as a program that was called with these arguments.
pub(super) fn run(arguments: &[&str]) -> Result<(), String> {
    if arguments.contains(&"--healthcheck") {
        return Ok(());
    }

    let after = |flag: &str| {
        let at = arguments.iter().position(|argument| *argument == flag)?;
        arguments.get(at + 1).copied()
    };
    let Some(output) = after("--output") else {
        let mut given = String::new();
        std::io::stdin().read_to_string(&mut given).map_err(|error| error.to_string())?;
        println!("{}", verdict(&given));
        return Ok(());
    };

    let text = match (after("--eval-input"), after("--trace")) {
        (Some(suite), _) => batch(Path::new(suite))?,
        (None, Some(trace)) => recorded(Path::new(trace))?,
        (None, None) => answer(None).to_string(),
    };
    std::fs::write(output, text).map_err(|error| format!("{output}: {error}"))
}

/// An answer, with the tool calls and the usage that an agent would report.
fn answer(id: Option<&str>) -> Value {
    let call = |tool: &str, input: Value| json!({ "tool": tool, "input": input, "output": "done", "duration_ms": 5 });
    let mut answer = json!({
        "output": [{
            "role": "assistant",
            "content": "{\"decision\": \"CLEAR\", \"riskLevel\": \"High\", \"reasoning\": \"15 + 27 is 42\"}",
            "tool_calls": [
                call("Skill", json!({ "skill": "acme-deploy" })),
                call("Read", json!({ "file_path": "skills/acme-deploy/SKILL.md" })),
                call("search", json!({ "query": "scripted" })),
            ],
        }],
        "token_usage": { "input": 100, "output": 20 },
        "cost_usd": 0.001,
        "duration_ms": 12,
    });
    if let Some(id) = id {
        answer["id"] = json!(id);
    }

    answer
}

/// The answer of a recording: its `text`, with the tool calls and results of its `trace`.
fn recorded(trace: &Path) -> Result<String, String> {
    let text = std::fs::read_to_string(trace).map_err(|error| format!("{}: {error}", trace.display()))?;
    let recording: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let of_type = |kind: &'static str| {
        recording["trace"].as_array().into_iter().flatten().filter(move |event| event["type"] == kind)
    };
    let calls: Vec<Value> = of_type("tool_call")
        .map(|call| {
            let result = of_type("tool_result").find(|result| result["id"] == call["id"]);
            let output = result.map(|result| result["output"].clone());
            json!({ "tool": call["name"], "input": call["input"], "output": output })
        })
        .collect();

    let message = json!({ "role": "assistant", "content": recording["text"], "tool_calls": calls });
    Ok(json!({ "output": [message] }).to_string())
}

/// One answer for each case of a suite, as JSON lines.
fn batch(suite: &Path) -> Result<String, String> {
    let folder = suite.parent().unwrap_or(suite);
    let mut lines = String::new();
    for case in &load_suite(suite, &load_options(folder)).cases {
        let case = case.map_err(|error| error.to_string())?;
        lines.push_str(&answer(Some(case.id.as_str())).to_string());
        lines.push('\n');
    }

    Ok(lines)
}

/// A verdict that is valid in both versions of the contract for graders. Programs that write a prompt may print
/// anything.
fn verdict(given: &str) -> Value {
    let is_json = serde_json::from_str::<Value>(given).is_ok();
    json!({
        "score": if is_json { 1.0 } else { 0.0 },
        "hits": ["scripted"],
        "misses": [],
        "reasoning": "scripted",
        "assertions": [{ "text": "was given JSON", "passed": is_json }],
    })
}
