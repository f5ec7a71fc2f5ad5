//! Scripts of the author: checks of an answer, and changes to it before it is graded.

use std::path::Path;

use assize_model::{AuthorCode, CodeProgram, ScriptCheck};
use assize_rubric::{GraderNote, format_plain};
use assize_script::{Script, ScriptError, ScriptValue};
use serde_json::{Map, Value, json};

use super::metrics::is_unreported;
use super::result::{AnswerFacts, CheckResult, shorten, to_unit_interval};
use crate::program::{Called, CodePurpose, ProgramSetup, call_program};

/// Decides by the value that a script returns: true or false, a number, or an object with `pass`, `score` and
/// `reason`.
///
/// If the script throws an error about the answer, for example from a parser, the check has failed and is
/// marked as such. An error in the script itself breaks the grader: an unknown name, a limit, an unreadable
/// result.
pub(super) fn check_script(
    check: &ScriptCheck,
    script: &Script,
    facts: &AnswerFacts,
) -> Result<CheckResult, String> {
    let context = context_of(facts, &check.config);
    let output = output_of(facts);

    match script.call(&[("output", &output), ("context", &context)]) {
        Ok(value) => read_result(value, check.threshold),
        Err(ScriptError::Thrown(message)) if is_about_answer(&message) => Ok(failed_by_error(&message)),
        Err(error) => Err(error.to_string()),
    }
}

/// Like the check by a script, with a program that an interpreter runs instead of the built-in engine.
///
/// # Errors
/// When the program can't be run, or its result can't be read.
pub async fn check_by_program(
    check: &ScriptCheck,
    program: &CodeProgram,
    facts: &AnswerFacts,
    folder: Option<&Path>,
    setup: &ProgramSetup,
) -> Result<CheckResult, String> {
    let arguments = json!([output_of(facts), context_of(facts, &check.config)]);
    match call_program(program, CodePurpose::Check, arguments, folder, setup).await? {
        Called::Returned(value) => read_result(value, check.threshold),
        Called::Threw(message) => Ok(failed_by_error(&message)),
    }
}

/// A failed check whose code threw an error about the answer.
fn failed_by_error(message: &str) -> CheckResult {
    let note = GraderNote::new(false, "script", shorten(message));
    CheckResult { threw: true, ..decided(false, 0.0, note) }
}

/// Combines the named scores of a case into one, with a function that returns an object with `pass`, `score`
/// and `reason`.
///
/// # Errors
/// When the code can't be run, throws an error, or returns a value of another type.
pub async fn score_by_code(
    code: &AuthorCode,
    named: &Value,
    context: &Value,
    folder: Option<&Path>,
    setup: &ProgramSetup,
) -> Result<CheckResult, String> {
    let returned = match code {
        AuthorCode::Script(script) => {
            let (script, named, context) = (script.clone(), named.clone(), context.clone());
            let run = move || script.call(&[("namedScores", &named), ("context", &context)]);
            setup.threads.run(run).await?.map_err(|error| error.to_string())?
        }
        AuthorCode::Program(program) => {
            match call_program(program, CodePurpose::Score, json!([named, context]), folder, setup).await? {
                Called::Returned(value) => value,
                Called::Threw(message) => return Err(shorten(&message)),
            }
        }
    };

    let found = match returned {
        ScriptValue::Json(Value::Object(map)) => {
            if let (Some(_), Some(_)) =
                (map.get("pass").and_then(Value::as_bool), map.get("score").and_then(Value::as_f64))
            {
                return read_map(&map, None);
            }
            Value::Object(map).to_string()
        }
        other => other.into_json().map_or_else(|| "nothing".to_owned(), |value| value.to_string()),
    };
    Err(format!("it must return a map with `pass` and a number as `score`; it returned {}", shorten(&found)))
}

/// Returns the answer as a program changes it; see [`transform_answer`].
///
/// # Errors
/// As there, or when the program can't be run.
pub async fn transform_by_program(
    program: &CodeProgram,
    facts: &AnswerFacts,
    folder: Option<&Path>,
    setup: &ProgramSetup,
) -> Result<(String, Option<Value>), String> {
    let arguments = json!([output_of(facts), context_of(facts, &Value::Null)]);
    match call_program(program, CodePurpose::Transform, arguments, folder, setup).await? {
        Called::Returned(value) => changed_answer(value),
        Called::Threw(message) => Err(shorten(&message)),
    }
}

/// Returns the answer as a script changes it: its text, and the value if that is not a text.
///
/// # Errors
/// When the script fails or returns no value.
pub fn transform_answer(script: &Script, facts: &AnswerFacts) -> Result<(String, Option<Value>), String> {
    let context = context_of(facts, &Value::Null);
    let output = output_of(facts);
    let value =
        script.call(&[("output", &output), ("context", &context)]).map_err(|error| error.to_string())?;

    changed_answer(value)
}

fn changed_answer(value: ScriptValue) -> Result<(String, Option<Value>), String> {
    match value.into_json() {
        None | Some(Value::Null) => Err("the script returns nothing".to_owned()),
        Some(Value::String(text)) => Ok((text, None)),
        Some(value) => Ok((value.to_string(), Some(value))),
    }
}

fn output_of(facts: &AnswerFacts) -> Value {
    facts.value.clone().unwrap_or_else(|| Value::String(facts.answer.clone()))
}

/// Returns the values that a script may read besides the answer.
fn context_of(facts: &AnswerFacts, config: &Value) -> Value {
    let tokens = facts.tokens;
    let usage = json!({
        "prompt": tokens.input,
        "completion": tokens.output,
        "total": tokens.input.zip(tokens.output).map(|(input, output)| input + output),
    });
    let calls = facts.calls.as_ref().map(|calls| {
        calls
            .iter()
            .map(|call| json!({"name": call.name, "arguments": call.input, "output": call.output}))
            .collect::<Vec<_>>()
    });

    json!({
        "prompt": facts.question,
        "vars": facts.vars,
        "test": {"vars": facts.vars, "metadata": facts.metadata},
        "config": if config.is_null() { Value::Object(Map::new()) } else { config.clone() },
        "provider": {"id": facts.target},
        "providerResponse": {
            "output": facts.answer,
            "cost": facts.cost_usd,
            "finishReason": facts.finish_reason,
            "guardrails": facts.guardrails,
            "tokenUsage": usage,
            "latencyMs": facts.duration.map(|duration| duration.as_millis() as u64),
        },
        "metadata": {},
        "toolCalls": calls,
        "trace": facts.spans.as_ref().map(|spans| json!({"spans": spans})),
        "expectedOutput": facts.reference,
    })
}

fn read_result(value: ScriptValue, threshold: Option<f64>) -> Result<CheckResult, String> {
    let passes = |number: f64| threshold.map_or(number > 0.0, |line| number >= line);
    match value {
        ScriptValue::Json(Value::Bool(passed)) => {
            let reason = if passed { "it returned true" } else { "it returned false" };
            Ok(decided(passed, f64::from(u8::from(passed)), GraderNote::new(passed, "script", reason)))
        }
        ScriptValue::Number(number) if number.is_finite() => {
            let passed = passes(number);
            let reason = match threshold {
                Some(line) => format!("it returned {number}, with a threshold of {line}"),
                None => format!("it returned {number}"),
            };
            Ok(decided(passed, number, GraderNote::new(passed, "script", reason)))
        }
        ScriptValue::Json(Value::Object(map)) => read_map(&map, threshold),
        other => {
            let found = match other {
                ScriptValue::Undefined => "nothing".to_owned(),
                ScriptValue::Number(number) if number.is_nan() => "NaN, which is not a number".to_owned(),
                ScriptValue::Number(_) => "an infinite number".to_owned(),
                ScriptValue::Json(value) => shorten(&value.to_string()),
            };
            Err(format!(
                "the script must return true, false, a number or a map with `pass`; it returned {found}"
            ))
        }
    }
}

/// Reads an object with `pass`, `score` and `reason`. Any other object is no result, because its meaning would
/// be a guess.
fn read_map(map: &Map<String, Value>, threshold: Option<f64>) -> Result<CheckResult, String> {
    let misfit = |key: &str, expected: &str, found: &Value| {
        let found = shorten(&found.to_string());
        format!("`{key}` of the map that the script returned must be {expected}; it is {found}")
    };
    let mut passed = match map.get("pass") {
        Some(Value::Bool(passed)) => *passed,
        Some(other) => return Err(misfit("pass", "true or false", other)),
        None => return Err(missing_pass(map)),
    };
    let score = match map.get("score") {
        Some(Value::Number(score)) => score.as_f64(),
        Some(other) => return Err(misfit("score", "a number", other)),
        None => None,
    };
    let text =
        |map: &Map<String, Value>| map.get("reason").and_then(Value::as_str).map(shorten).unwrap_or_default();

    let mut reason = text(map);
    if let (true, Some(score), Some(line)) = (passed, score, threshold)
        && score < line
    {
        passed = false;
        let cause = format!("the score {score} is below the threshold of {line}");
        reason = if reason.is_empty() { cause } else { format!("{cause}: {reason}") };
    }
    let mut result = decided(
        passed,
        score.unwrap_or(f64::from(u8::from(passed))),
        GraderNote::new(passed, "script", reason),
    );
    for part in map.get("componentResults").and_then(Value::as_array).into_iter().flatten() {
        let Some(part) = part.as_object() else { continue };
        let passed = part.get("pass").and_then(Value::as_bool).unwrap_or(false);
        result.findings.push(GraderNote::new(passed, "part of the script", text(part)));
    }

    Ok(result)
}

/// The error about an object without `pass`, which may have it under another name.
fn missing_pass(map: &Map<String, Value>) -> String {
    let resembles = |key: &&String| {
        let key = key.to_lowercase();
        key.contains("pass") || key.starts_with("succe") || key == "ok"
    };
    let keys = map.keys().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
    let hint = match map.keys().find(resembles) {
        Some(near) => format!("; rename `{near}` to `pass`"),
        None => String::new(),
    };
    let found = if keys.is_empty() { "no keys".to_owned() } else { shorten(&keys) };
    format!("the map that the script returned needs `pass`, true or false; it has {found}{hint}")
}

/// A decision with its score clamped to 0..1.
pub(crate) fn decided(passed: bool, score: f64, mut note: GraderNote) -> CheckResult {
    if !(0.0..=1.0).contains(&score) {
        note.reason =
            format!("{}; the score {} counts as {}", note.reason, format_plain(score), score.clamp(0.0, 1.0));
    }
    CheckResult {
        score: Some(to_unit_interval(score)),
        findings: vec![note],
        passed: Some(passed),
        threw: false,
    }
}

/// True for errors that depend on the answer. An unknown name is a mistake in the script, and a missing
/// measurement of the target is no fault of the answer.
fn is_about_answer(message: &str) -> bool {
    let is_of_script = message.ends_with("is not defined")
        || [
            "out of memory", "call stack", "stack overflow", "string length", "loading module", "load module",
        ]
        .iter()
        .any(|words| message.contains(words));
    !is_of_script && !is_unreported(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_a_size_are_no_score() {
        for number in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            let refused = read_result(ScriptValue::Number(number), None).expect_err("no score");
            assert!(refused.contains("it returned "), "{refused}");
        }
        assert!(read_result(ScriptValue::Number(1.5), None).is_ok());
    }

    #[test]
    fn results_of_another_shape_are_no_results() {
        for (result, words) in [
            (
                json!({"pass": "false", "score": 1}),
                "`pass` of the map that the script returned must be true or false",
            ),
            (json!({"pass": 0, "score": 1}), "it is 0"),
            (json!({"pass": null, "score": 1}), "it is null"),
            (json!({"pass": [], "score": 1}), "it is []"),
            (
                json!({"pass": true, "score": "x"}),
                "`score` of the map that the script returned must be a number; it is \"x\"",
            ),
            (json!({"pass": true, "score": null}), "it is null"),
            (json!({"passed": false, "score": 0.1}), "it has `passed`, `score`; rename `passed` to `pass`"),
            (json!({"Success": true}), "rename `Success` to `pass`"),
            (json!({"score": 0.9}), "it has `score`"),
            (json!({}), "it has no keys"),
            (json!("true"), "it returned \"true\""),
            (json!([true]), "it returned [true]"),
            (Value::Null, "it returned null"),
        ] {
            let refused = read_result(ScriptValue::Json(result.clone()), None).expect_err("no result");
            assert!(refused.contains(words), "{result}: {refused}");
        }
    }

    #[test]
    fn a_threshold_holds_for_the_score_of_a_map() {
        let passed = |score: f64, threshold| {
            let map = json!({"pass": true, "score": score, "reason": "why"});
            let result = read_result(ScriptValue::Json(map), threshold).expect("a result");
            (result.passed == Some(true), result.findings[0].reason.clone())
        };
        assert_eq!(passed(0.5, Some(0.5)), (true, "why".to_owned()));
        assert_eq!(passed(0.0, None), (true, "why".to_owned()));
        let (passes, reason) = passed(0.2, Some(0.5));
        assert!(!passes && reason.contains("below the threshold of 0.5: why"), "{reason}");
    }
}
