//! Decoder of command targets.

use std::path::{Path, PathBuf};
use std::time::Duration;

use assize_diagnostic::Diagnostic;

use super::entry::Entry;
use super::recording::known_format;
use crate::codes;
use crate::decode::object::{not_blank, string, wrong_type};
use crate::decode::{Object, Problems};
use crate::model::{CommandTargetSpec, CommandText};
use crate::tree::{Data, Node};

/// Maximum time limit in seconds; longer ones are mistakes and would overflow a clock.
const MAX_SECONDS: f64 = 7.0 * 24.0 * 3600.0;

/// Decodes the settings of a command. Returns `None` after adding a diagnostic, or when a variable is not
/// set.
pub(super) fn command(entry: &mut Entry<'_, '_, '_>) -> Option<CommandTargetSpec> {
    let given = entry.object.one_of(&["command", "command_template"], entry.problems);
    let key = given.map_or("command", |found| found.key.as_str()).to_owned();
    let template = match given {
        Some(found) if !found.value.is_null() => command_text(&found.value, &key, entry.problems),
        _ => {
            entry.demand(
                &["command", "command_template"],
                "a command needs `command`",
                "command: ./answer.sh {PROMPT}",
            );
            None
        }
    };
    let format = entry.object.one_of(&["files_format", "attachments_format"], entry.problems);
    let files_format = format
        .filter(|found| !found.value.is_null())
        .and_then(|found| string(&found.value, "files_format", entry.problems))
        .map(|text| text.value);
    let cwd = entry.object.text("cwd", entry.problems).map(|cwd| folder(entry.folder, &cwd.value));
    let timeout = seconds(&mut entry.object, entry.problems);
    let stdin = entry.object.string("stdin", entry.problems).map(|text| text.value);
    let stream = entry
        .object
        .entry("stream")
        .and_then(|found| known_format(found.value.as_str().unwrap_or_default(), found, entry));
    for (key, feature) in [("verbose", "`verbose`"), ("keep_temp_files", "`keep_temp_files`")] {
        if let Some(wanted) = entry.object.boolean(key, entry.problems)
            && wanted.value
        {
            entry.without_effect(feature, wanted.span);
        }
    }
    let template = template?;
    let batch = entry.batching.is_some();
    if let Some(span) = entry.batching.filter(|_| differs_by_case(&template, stdin.as_deref())) {
        entry.problems.add(
            Diagnostic::error(
                codes::BAD_COMMAND,
                "a command that is run once for all cases can't be told about one of them",
                span,
                "run once for all",
            )
            .with_help(format!(
                "of the placeholders only {{OUTPUT_FILE}} and {{ATTEMPT}} may stand in `{key}` then"
            )),
        );
    }
    Some(CommandTargetSpec {
        template,
        holds_variables: entry.depends(&key),
        files_format,
        stdin,
        stream: stream.map(str::to_owned),
        batch,
        cwd,
        timeout,
    })
}

/// Returns true if a command has a placeholder whose value differs from case to case.
fn differs_by_case(template: &CommandText, stdin: Option<&str>) -> bool {
    const OF_CASES: [&str; 7] =
        ["{PROMPT}", "{PROMPT_FILE}", "{MESSAGES_FILE}", "{FILES}", "{EVAL_ID}", "{TURN}", "{GUIDELINES}"];
    let names = |text: &str| OF_CASES.iter().any(|placeholder| text.contains(placeholder));
    let command = match template {
        CommandText::Shell(script) => names(script),
        CommandText::Argv(words) => words.iter().any(|word| names(word)),
    };
    command || stdin.is_some_and(names)
}

/// Returns a folder named in the targets file, without `.` and `..` as far as it exists.
pub(super) fn folder(home: &Path, written: &str) -> PathBuf {
    let path = home.join(written);
    path.canonicalize().unwrap_or(path)
}

pub(super) fn command_text(node: &Node, key: &str, problems: &mut Problems) -> Option<CommandText> {
    match &node.data {
        Data::Str(_) => {
            let text = not_blank(string(node, key, problems)?, key, problems)?;
            Some(CommandText::Shell(text.value))
        }
        Data::Seq(items) => {
            let words: Vec<_> = items.iter().map(|item| string(item, key, problems)).collect();
            let words: Vec<String> =
                words.into_iter().map(|word| word.map(|word| word.value)).collect::<Option<_>>()?;
            if words.first().is_none_or(|program| program.trim().is_empty()) {
                problems.add(
                    Diagnostic::error(
                        codes::BAD_COMMAND,
                        format!("`{key}` names no program"),
                        node.place(),
                        "no program",
                    )
                    .with_help("the first item of the list is the program, the others are its arguments"),
                );
                return None;
            }
            Some(CommandText::Argv(words))
        }
        _ => {
            problems.add(wrong_type(
                node,
                &format!("`{key}`"),
                "a command line or a list of a program and its arguments",
            ));
            None
        }
    }
}

/// Decodes `timeout_seconds`, more than zero.
pub(super) fn seconds(object: &mut Object<'_>, problems: &mut Problems) -> Option<Duration> {
    let value = object.number("timeout_seconds", problems)?;
    if value.value > 0.0 && value.value <= MAX_SECONDS {
        return Some(Duration::from_secs_f64(value.value));
    }
    problems.add(
        Diagnostic::error(
            codes::OUT_OF_RANGE,
            "`timeout_seconds` is out of range",
            value.span,
            format!("found {}", value.value),
        )
        .with_help(
            "use a number of seconds, more than 0 and at most a week; without the key there is no limit",
        ),
    );
    None
}
