//! Targets that are commands, and health checks.

use std::path::{Path, PathBuf};
use std::time::Duration;

use assize_diagnostic::Diagnostic;

use super::entry::Entry;
use crate::codes;
use crate::decode::object::{not_blank, string, wrong_type};
use crate::decode::{Object, Problems};
use crate::model::{CommandTargetSpec, CommandText};
use crate::tree::{Data, Node};

/// Longest time limit in seconds; longer ones are mistakes and would overflow a clock.
const MAX_SECONDS: f64 = 7.0 * 24.0 * 3600.0;

/// Reads the settings of a command. `None` after a complaint, or when a variable is not set.
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
    if let Some(found) = entry.object.entry("healthcheck").filter(|found| !found.value.is_null()) {
        health_check(&found.value, entry.problems);
        entry.unbuilt("health checks", found.key_span);
    }
    for (key, feature) in [("verbose", "`verbose`"), ("keep_temp_files", "`keep_temp_files`")] {
        if let Some(wanted) = entry.object.boolean(key, entry.problems)
            && wanted.value
        {
            entry.without_effect(feature, wanted.span);
        }
    }
    let template = template?;
    Some(CommandTargetSpec { template, holds_variables: entry.depends(&key), files_format, cwd, timeout })
}

/// A folder named in the targets file, without `.` and `..` as far as it exists.
fn folder(home: &Path, written: &str) -> PathBuf {
    let path = home.join(written);
    path.canonicalize().unwrap_or(path)
}

fn command_text(node: &Node, key: &str, problems: &mut Problems) -> Option<CommandText> {
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

/// `timeout_seconds`, more than zero.
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

fn health_check(node: &Node, problems: &mut Problems) {
    let Some(mut object) = Object::new(node, "a health check", problems) else { return };
    let kind = object.string("type", problems);
    if let Some(kind) = kind.filter(|kind| !matches!(kind.value.as_str(), "http" | "command")) {
        problems.add(
            Diagnostic::error(codes::UNKNOWN_CHOICE, "unknown type of health check", kind.span, "not known")
                .with_help("use `http` or `command`"),
        );
    }
    let url = object.text("url", problems).is_some();
    let command = object.one_of(&["command", "command_template"], problems);
    if let Some(found) = command {
        command_text(&found.value, "command", problems);
    }
    object.text("cwd", problems);
    seconds(&mut object, problems);
    if !url && command.is_none() && !object.has("url") {
        problems.add(
            Diagnostic::error(
                codes::MISSING_SETTING,
                "a health check needs `url` or `command`",
                object.head(),
                "nothing to check with",
            )
            .with_help("write `url: http://localhost:8000/health` or `command: ./check.sh`"),
        );
    }
    object.finish(problems);
}
