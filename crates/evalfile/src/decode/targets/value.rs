//! Values that several kinds of targets have in their settings: folders, time limits, commands.

use std::path::{Path, PathBuf};
use std::time::Duration;

use assize_diagnostic::Diagnostic;
use assize_document::{
    DiagnosticCollector, MapReader, NodeValue, TreeNode, check_not_blank, codes, string, wrong_type,
};
use assize_model::CommandText;

/// Maximum time limit in seconds. A longer one is a mistake, and would overflow a clock.
const MAX_SECONDS: f64 = 7.0 * 24.0 * 3600.0;

/// Returns a folder named in the targets file. As far as the path exists, it has no `.` or `..`.
pub(super) fn folder(home: &Path, written: &str) -> PathBuf {
    let path = home.join(written);
    path.canonicalize().unwrap_or(path)
}

/// Decodes a command: a command line, or a list of a program and its arguments.
pub(super) fn command_text(
    node: &TreeNode,
    key: &str,
    problems: &mut DiagnosticCollector,
) -> Option<CommandText> {
    match &node.data {
        NodeValue::Str(_) => {
            let text = check_not_blank(string(node, key, problems)?, key, problems)?;
            Some(CommandText::Shell(text.value))
        }
        NodeValue::Seq(items) => {
            let words: Vec<_> = items.iter().map(|item| string(item, key, problems)).collect();
            let words: Vec<String> =
                words.into_iter().map(|word| word.map(|word| word.value)).collect::<Option<_>>()?;
            if words.first().is_none_or(|program| program.trim().is_empty()) {
                return Diagnostic::error(codes::BAD_COMMAND, format!("`{key}` does not name a program"))
                    .at(node.use_span(), "no program")
                    .with_help("the first item is the program, the others are its arguments")
                    .reject_in(problems);
            }

            Some(CommandText::Argv(words))
        }
        _ => wrong_type(node, &format!("`{key}`"), "a command line or a list of a program and its arguments")
            .reject_in(problems),
    }
}

/// Decodes `timeout_seconds`, which must be more than zero.
pub(super) fn seconds(object: &mut MapReader<'_>, problems: &mut DiagnosticCollector) -> Option<Duration> {
    let value = object.number("timeout_seconds", problems)?;
    if value.value > 0.0 && value.value <= MAX_SECONDS {
        return Some(Duration::from_secs_f64(value.value));
    }

    Diagnostic::error(codes::OUT_OF_RANGE, "`timeout_seconds` is out of range")
        .at(value.span, format!("found {}", value.value))
        .with_help(
            "use a number of seconds, more than 0 and at most a week; without the key there is no limit",
        )
        .reject_in(problems)
}
