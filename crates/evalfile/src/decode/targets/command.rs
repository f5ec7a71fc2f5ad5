//! Decoder of command targets.

use std::path::PathBuf;

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{DiagnosticCollector, codes, string};
use assize_model::{CommandTargetSpec, CommandText};

use super::entry::TargetEntryReader;
use super::recording::resolve_session_format;
use super::value::{command_text, seconds};
use crate::decode::second_shell;

/// Decodes the settings of a command. `usual` is run if the entry has no command. Returns `None` after adding a
/// diagnostic, or when a variable is not set.
pub(super) fn decode_command_target(
    entry: &mut TargetEntryReader<'_, '_, '_>,
    usual: Option<CommandText>,
) -> Option<CommandTargetSpec> {
    let given = entry.object.first_of(&["command", "command_template"], entry.problems);
    let key = given.map_or("command", |found| found.key.as_str()).to_owned();
    let template = match given {
        Some(found) if !found.value.is_null() => command_text(&found.value, &key, entry.problems),
        _ if usual.is_some() => usual,
        _ => {
            entry.demand(
                &["command", "command_template"],
                "a command needs `command`",
                "command: ./answer.sh {PROMPT}",
            );
            None
        }
    };

    let template = template.filter(|template| {
        let span = given.map_or_else(|| entry.object.head(), |found| found.value.use_span());
        !refuse_script_placeholders(template, span, entry.problems)
    });

    let format = entry.object.first_of(&["files_format", "attachments_format"], entry.problems);
    let files_format = format
        .filter(|found| !found.value.is_null())
        .and_then(|found| string(&found.value, "files_format", entry.problems))
        .map(|text| text.value);
    let cwd = entry.object.text("cwd", entry.problems).map(|cwd| PathBuf::from(cwd.value));
    let timeout = seconds(&mut entry.object, entry.problems);
    let stdin = entry.object.string("stdin", entry.problems).map(|text| text.value);
    let stream = entry
        .object
        .entry("stream")
        .and_then(|found| resolve_session_format(found.value.as_str().unwrap_or_default(), found, entry));

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
        Diagnostic::error(
            codes::BAD_COMMAND,
            "a command that is run once for all cases can't refer to one of them",
        )
        .at(span, "run once for all")
        .with_help(format!("only the placeholders {{OUTPUT_FILE}} and {{ATTEMPT}} are allowed in `{key}`"))
        .add_to(entry.problems);
    }

    Some(CommandTargetSpec {
        template,
        holds_variables: entry.depends(&key),
        files_format,
        stdin,
        stream: stream.map(str::to_owned),
        batch,
        cwd,
        beside_suite: true,
        timeout,
    })
}

/// Reports placeholders for texts of a case that a second shell would read as script. Placeholders for files
/// that Assize creates, with paths of its own, are allowed there. Returns true if one was reported.
pub(super) fn refuse_script_placeholders(
    template: &CommandText,
    span: Span,
    problems: &mut DiagnosticCollector,
) -> bool {
    const OF_DATA: [&str; 5] = ["PROMPT", "VARS", "FILES", "EVAL_ID", "GUIDELINES"];

    let found = match template {
        CommandText::Shell(script) => second_shell::check_script(script, &OF_DATA, span),
        CommandText::Argv(words) => second_shell::check_words(words, &OF_DATA, span),
    };
    let Some(problem) = found else { return false };
    problems.add(problem);
    true
}

/// Returns true if a command has a placeholder whose value depends on the case.
fn differs_by_case(template: &CommandText, stdin: Option<&str>) -> bool {
    const OF_CASES: [&str; 10] = [
        "{PROMPT}", "{PROMPT_FILE}", "{CHAT}", "{MESSAGES_FILE}", "{VARS}", "{VARS_FILE}", "{FILES}",
        "{EVAL_ID}", "{TURN}", "{GUIDELINES}",
    ];

    let names = |text: &str| OF_CASES.iter().any(|placeholder| text.contains(placeholder));
    let command = match template {
        CommandText::Shell(script) => names(script),
        CommandText::Argv(words) => words.iter().any(|word| names(word)),
    };
    command || stdin.is_some_and(names)
}
