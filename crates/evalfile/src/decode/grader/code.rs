//! Decoder of `code-grader`: a grading program.

use assize_diagnostic::{Diagnostic, did_you_mean};
use assize_document::{MapReader, NodeValue, codes, wrong_type};
use assize_model::{CodeGrader, GraderKind, ProgramFolder, ProgramResult};
use serde_json::{Map, Value};

use super::assertion_context::AssertionContext;
use super::prompt::{decode_command_or_script, decode_program_config};
use super::shared::decode_duration;
use crate::decode::DecodeContext;

/// Default limit of model calls of a program with `target: true`.
const DEFAULT_MAX_CALLS: u32 = 50;

/// Known keys, for detecting misspelt ones.
const KNOWN_KEYS: [&str; 15] = [
    "name", "type", "command", "script", "cwd", "weight", "target", "required", "min_score", "negate",
    "config", "timeout_seconds", "timeout_ms", "pass_env", "result",
];

/// Decodes the keys of `type: code-grader`. Unknown keys are settings of the program.
pub(super) fn decode_code_grader(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    at: &AssertionContext,
) -> Option<GraderKind> {
    let errors = cx.problems.error_count();
    let command = decode_command_or_script(cx, object, "a code grader");
    let cwd = object.text("cwd", &mut cx.problems);
    let cwd = match cwd {
        Some(written) if is_workspace(&written.value) => Some(ProgramFolder::Workspace),
        Some(written) => cx.find_file(&written.value, written.span).map(ProgramFolder::Named),
        // A program of a template runs in the template's folder.
        None if !at.stack.is_empty() => Some(ProgramFolder::Named(cx.folder_of(object.span().source))),
        None => None,
    };

    let seconds = decode_duration(object, "timeout_seconds", 1.0, &mut cx.problems);
    let millis = decode_duration(object, "timeout_ms", 0.001, &mut cx.problems);
    let max_calls = decode_max_calls(cx, object);
    let pass_env = decode_pass_env(cx, object);
    let result = decode_result(cx, object);
    let mut settings = decode_program_config(cx, object);
    settings.extend(decode_program_settings(cx, object, &KNOWN_KEYS));

    let command = command?;
    (cx.problems.error_count() == errors).then(|| {
        GraderKind::Code(CodeGrader {
            command,
            cwd,
            timeout: seconds.or(millis),
            max_calls,
            pass_env,
            result,
            config: settings,
        })
    })
}

/// Decodes `result`: how the output and the exit code become a grade.
fn decode_result(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> ProgramResult {
    let Some(node) = object.value("result") else { return ProgramResult::default() };
    let named = node.as_str().and_then(ProgramResult::from_name);
    if named.is_none() {
        let expected = ProgramResult::NAMES.map(|name| format!("`{name}`")).join(", ");
        cx.problems.add(wrong_type(node, "`result` of a code grader", &expected));
    }

    named.unwrap_or_default()
}

/// Decodes `target: true` or `target: {max_calls: N}`.
fn decode_max_calls(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<u32> {
    let node = object.value("target")?;
    match &node.data {
        NodeValue::Bool(true) => Some(DEFAULT_MAX_CALLS),
        NodeValue::Bool(false) => None,
        NodeValue::Map(_) => {
            let mut target = MapReader::new(node, "`target`", &mut cx.problems)?;
            let calls = target.integer("max_calls", 1, i64::from(u32::MAX), &mut cx.problems);
            target.finish(&mut cx.problems);
            Some(calls.and_then(|calls| u32::try_from(calls.value).ok()).unwrap_or(DEFAULT_MAX_CALLS))
        }
        _ => wrong_type(node, "`target` of a code grader", "true, false or a map with `max_calls`")
            .with_help("it says whether the program may call models, and how often")
            .reject_in(&mut cx.problems),
    }
}

/// Decodes `pass_env: [NAME, ...]`: variables that the program receives although they are withheld by default.
pub(super) fn decode_pass_env(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Vec<String> {
    object.strings("pass_env", &mut cx.problems).into_iter().map(|name| name.value).collect()
}

/// Returns the keys that were not read, as settings for a program. There is a warning for one that resembles a
/// known key.
pub(super) fn decode_program_settings(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    known: &[&'static str],
) -> Map<String, Value> {
    let mut settings = Map::new();
    for entry in object.take_remaining() {
        if entry.key.starts_with("x-") {
            continue;
        }

        if let Some(near) = did_you_mean(&entry.key, known.iter().copied()) {
            Diagnostic::warning(
                codes::CONFIG_LOOKS_MISSPELT,
                format!("`{}` is passed to the program as a setting", entry.key),
            )
            .at(entry.key_span, "not a key of the grader itself")
            .with_help(format!("did you mean `{near}`?"))
            .with_help("to keep it as a setting without this warning, put it under `config`")
            .with_suggestion("rename the key", entry.key_span, near)
            .add_to(&mut cx.problems);
        }

        settings.insert(entry.key.clone(), entry.value.to_json());
    }

    settings
}

/// Whether a folder is written as the workspace of the target.
fn is_workspace(written: &str) -> bool {
    let inner = written.trim().strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
    inner.is_some_and(|name| name.trim() == "workspace_path")
}

#[cfg(test)]
mod tests {
    use assize_model::GraderCommand;

    use std::time::Duration;

    use super::*;
    use crate::tests::snippets::{codes, one};

    fn program(text: &str) -> CodeGrader {
        let grader = one(text);
        let GraderKind::Code(code) = &grader.kind else { panic!("a program") };
        code.clone()
    }

    #[test]
    fn all_settings_are_read_and_the_rest_is_handed_on() {
        let code = program(
            "- type: code_grader\n  command: [a, b]\n  pass_env: [MY_KEY]\n  cwd: .\n  timeout_seconds: 1.5\n  target: {max_calls: 10}\n  config: {a: 1}\n  expected_tools: [x]\n  x-note: free\n",
        );
        assert_eq!(code.command, GraderCommand::Argv(vec!["a".into(), "b".into()]));
        assert_eq!(code.timeout, Some(Duration::from_millis(1500)));
        assert_eq!((code.max_calls, code.pass_env), (Some(10), vec!["MY_KEY".to_owned()]));
        assert_eq!(Value::Object(code.config), serde_json::json!({"a": 1, "expected_tools": ["x"]}));
        assert!(matches!(&code.cwd, Some(ProgramFolder::Named(_))));
        for written in ["{{workspace_path}}", "'{{ workspace_path }}'"] {
            let written = written.trim_matches('\'');
            let code = program(&format!("- {{type: code-grader, command: [a], cwd: '{written}'}}\n"));
            assert_eq!(code.cwd, Some(ProgramFolder::Workspace));
        }
    }

    #[test]
    fn model_calls_are_off_unless_asked_for() {
        for (setting, calls) in
            [("x-a: 1", None), ("target: true", Some(50)), ("target: false", None), ("target: {}", Some(50))]
        {
            let code = program(&format!("- {{type: code-grader, command: a, {setting}}}\n"));
            assert_eq!((code.max_calls, code.cwd), (calls, None), "{setting}");
        }
    }

    #[test]
    fn slips_and_wrong_values_are_noticed() {
        for (setting, code) in [
            ("wieght: 2", "W0303"),
            ("cwd: lost", "E0501"),
            ("target: big", "E0105"),
            ("timeout_seconds: -1", "E0106"),
            ("timeout_ms: 1e300", "E0106"),
        ] {
            assert_eq!(
                codes(&format!("- {{type: code-grader, command: a, {setting}}}\n")),
                [code],
                "{setting}"
            );
        }
    }
}
