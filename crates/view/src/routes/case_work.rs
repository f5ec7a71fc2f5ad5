//! What a target did for its answer: turns of a conversation, tool calls, changes to files.

use assize_report::format_duration;
use assize_store::{ToolCallRow, TurnRow};

use crate::pages::{AnswerPiece, DiffLine, FileDiff, ToolCallText, TurnText};
use crate::text::visible;

/// Maximum number of characters of an input in the line of a call.
const MAX_BRIEF: usize = 100;

/// `asked` has the messages before the answer.
pub(super) fn turn_text(turn: &TurnRow, asked: String, answer: Vec<AnswerPiece>) -> TurnText {
    let mut notes = Vec::new();
    notes.extend(turn.duration_ms.map(format_duration));
    notes.extend(turn.cost_usd.map(|cost| assize_report::dollars(cost.as_dollars())));

    TurnText {
        number: turn.turn,
        asked,
        answer,
        error: match (&turn.answer, &turn.error) {
            (_, Some(error)) => Some(visible(&format!("no answer: {}", error.message))),
            (None, None) => Some("no answer".to_owned()),
            (Some(_), None) => None,
        },
        note: notes.join(" · "),
    }
}

pub(super) fn tool_call_texts(calls: &[ToolCallRow]) -> Vec<ToolCallText> {
    calls.iter().enumerate().map(|(at, call)| tool_call_text(at + 1, call)).collect()
}

fn tool_call_text(number: usize, call: &ToolCallRow) -> ToolCallText {
    let input = call.input.as_deref().unwrap_or_default();
    let mut brief: String = input.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = brief.char_indices().nth(MAX_BRIEF) {
        brief.truncate(end);
        brief.push('…');
    }

    let mut notes: Vec<String> = call.duration_ms.map(format_duration).into_iter().collect();
    if call.cut > 0 {
        notes.push(format!("{} characters cut", assize_report::grouped(call.cut as u64)));
    }

    ToolCallText {
        number,
        tool: visible(&call.tool),
        brief: visible(&brief),
        input: visible(input),
        output: call.output.as_deref().map(visible).unwrap_or_default(),
        has_failed: call.failed == Some(true),
        note: notes.join(" · "),
    }
}

/// Splits a unified diff into files.
pub(super) fn file_diffs(diff: &str) -> Vec<FileDiff> {
    let is_git = diff.lines().any(|line| line.starts_with("diff --git "));
    let mut files: Vec<FileDiff> = Vec::new();
    for text in diff.lines() {
        let line = diff_line(text);
        let begins = if is_git { text.starts_with("diff --git ") } else { text.starts_with("--- ") };
        if begins || files.is_empty() {
            let name = if begins { file_name(text) } else { String::new() };
            files.push(FileDiff { name, added: 0, removed: 0, lines: Vec::new() });
        }

        let Some(file) = files.last_mut() else { continue };
        match line.class {
            "add" => file.added += 1,
            "del" => file.removed += 1,
            _ => {}
        }
        file.lines.push(line);
    }

    files
}

/// Name of the file that a line introduces: of `diff --git a/x b/x` the second name, without its prefix.
fn file_name(line: &str) -> String {
    let name = line.rsplit_once(" b/").map_or_else(|| line.trim_start_matches("--- a/"), |(_, name)| name);
    visible(name.trim_start_matches("--- "))
}

/// A line of a unified diff, with its kind.
fn diff_line(line: &str) -> DiffLine {
    let class = match line.as_bytes() {
        [b'd', b'i', b'f', b'f', ..] | [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => "file",
        [b'@', b'@', ..] => "hunk",
        [b'+', ..] => "add",
        [b'-', ..] => "del",
        _ => "same",
    };
    DiffLine { class, text: visible(line) }
}

/// Text of a criterion, with the prefix `not: ` if its grader is negated.
pub(super) fn negated_text(text: &str, is_negated: bool) -> String {
    if is_negated { format!("not: {}", visible(text)) } else { visible(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_cut_at_its_files_and_its_lines_are_counted() {
        let diff = "diff --git a/x.txt b/x.txt\n--- a/x.txt\n+++ b/x.txt\n@@ -1 +1,2 @@\n-a\n+b\n+c\n\
                    diff --git a/y b/y\nnew file mode 100644\n+++ b/y\n+d\n";
        let files = file_diffs(diff);
        let found: Vec<_> = files.iter().map(|file| (&*file.name, file.added, file.removed)).collect();
        assert_eq!(found, [("x.txt", 2, 1), ("y", 1, 0)]);
        assert_eq!(files[0].lines[1].class, "file");
    }

    #[test]
    fn a_diff_without_names_is_one_file() {
        let files = file_diffs("+a\n-b");
        assert_eq!((files.len(), &*files[0].name, files[0].added, files[0].removed), (1, "", 1, 1));
        assert!(file_diffs("").is_empty());
    }
}
