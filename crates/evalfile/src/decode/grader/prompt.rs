//! Decoder of prompts and commands of graders.

use std::path::Path;

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{MapEntry, MapReader, NodeValue, TreeNode, codes, wrong_type};
use assize_model::{EvalFileFormat, GraderCommand, GraderPrompt};
use serde_json::{Map, Value};

use super::shared::{missing_key, older_spelling};
use crate::decode::DecodeContext;

/// Extensions of prompt files.
const PROMPT_EXTENSIONS: [&str; 9] = ["md", "txt", "prompt", "jinja", "j2", "tmpl", "markdown", "ts", "py"];

/// Decodes a command: a list of the program and its arguments, or one line for the shell. Returns `None`
/// after adding a diagnostic.
pub(crate) fn decode_command(cx: &mut DecodeContext, entry: &MapEntry) -> Option<GraderCommand> {
    let (key, node) = (&entry.key, &entry.value);
    let empty = |at: Span| {
        Diagnostic::error(codes::BAD_COMMAND, format!("`{key}` is empty"))
            .at(at, "nothing to run")
            .with_help(format!("write `{key}: [python3, check.py]` or `{key}: python3 check.py`"))
    };
    match &node.data {
        NodeValue::Str(line) if line.trim().is_empty() => cx.problems.add(empty(node.use_span())),
        NodeValue::Str(line) => return Some(GraderCommand::Shell(line.clone())),
        NodeValue::Null => cx.problems.add(empty(entry.key_span)),
        NodeValue::Seq(items) => {
            let words: Option<Vec<String>> = items.iter().map(|item| decode_argument(cx, item)).collect();
            let words = words?;
            if words.first().is_some_and(|program| !program.trim().is_empty()) {
                return Some(GraderCommand::Argv(words));
            }

            cx.problems.add(empty(items.first().map_or(node.use_span(), TreeNode::use_span)));
        }
        _ => wrong_type(node, &format!("`{key}`"), "a list or a text")
            .with_help("a list is the program and its arguments; a string is run by `sh`")
            .add_to(&mut cx.problems),
    }

    None
}

/// Decodes a word of a command. Integers are used as written; other unquoted values are ambiguous.
fn decode_argument(cx: &mut DecodeContext, node: &TreeNode) -> Option<String> {
    match &node.data {
        NodeValue::Str(text) => Some(text.clone()),
        NodeValue::Int(_) => Some(cx.sources.slice(node.span).to_owned()),
        _ => {
            let mut diagnostic = wrong_type(node, "an argument", "a string");
            if matches!(node.data, NodeValue::Bool(_) | NodeValue::Float(_)) {
                let quoted = format!("\"{}\"", cx.sources.slice(node.use_span()));
                diagnostic = diagnostic.with_suggestion("put it in quotes", node.use_span(), quoted);
            }

            cx.problems.reject(diagnostic)
        }
    }
}

/// Decodes `command`, or `script`, as the `evalcases` format calls it.
pub(super) fn decode_command_or_script(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    what: &str,
) -> Option<GraderCommand> {
    let keys: [&'static str; 2] = cx.format.choose(["script", "command"], ["command", "script"]);
    let Some(entry) = object.first_of(&keys, &mut cx.problems) else {
        let example = format!("{}: [python3, check.py]", keys[0]);
        return cx.problems.reject(missing_key(object.head(), what, keys[0], &example));
    };
    if cx.format == EvalFileFormat::Two && entry.key == "script" {
        cx.problems.add(older_spelling(entry.key_span, "script", "command"));
    }

    decode_command(cx, entry)
}

/// Decodes a prompt: a text, a file, or a program that prints it, with settings for the program. Returns
/// `None` after adding a diagnostic.
pub(super) fn decode_prompt(
    cx: &mut DecodeContext,
    entry: &MapEntry,
) -> Option<(GraderPrompt, Map<String, Value>)> {
    let node = &entry.value;
    match &node.data {
        NodeValue::Str(text) if text.trim().is_empty() => {
            Diagnostic::error(codes::EMPTY_TEXT, "`prompt` is empty")
                .at(node.use_span(), "nothing here")
                .with_help("write the prompt, or remove the key for the built-in one")
                .reject_in(&mut cx.problems)
        }
        NodeValue::Str(text) => {
            decode_text_prompt(cx, text, node.use_span()).map(|prompt| (prompt, Map::new()))
        }
        NodeValue::Map(_) => {
            let mut object = MapReader::new(node, "a prompt", &mut cx.problems)?;
            let command = decode_command_or_script(cx, &mut object, "a prompt written as a map");
            let config = decode_program_config(cx, &mut object);
            object.finish(&mut cx.problems);
            Some((GraderPrompt::Program(command?), config))
        }
        _ => wrong_type(node, "`prompt`", "a text or a map with `command`")
            .with_help("write the text, `file://PATH`, or `{command: [PROGRAM]}`")
            .reject_in(&mut cx.problems),
    }
}

fn decode_text_prompt(cx: &mut DecodeContext, text: &str, span: Span) -> Option<GraderPrompt> {
    let from_file = |cx: &mut DecodeContext| {
        let file = cx.read_text(text.trim(), span)?;
        if file.text.trim().is_empty() {
            return Diagnostic::error(codes::EMPTY_TEXT, "the prompt file is empty")
                .at(span, "nothing in this file")
                .with_help("write the prompt into the file, or remove the key for the built-in one")
                .reject_in(&mut cx.problems);
        }

        Some(GraderPrompt::Text { text: file.text.to_string(), path: Some(file.path) })
    };

    let inline = GraderPrompt::Text { text: text.to_owned(), path: None };

    if text.trim_start().starts_with("file://") {
        return from_file(cx);
    }

    if cx.format == EvalFileFormat::One {
        // A path takes precedence over text. A text that can only be a path is never used as a prompt, because
        // the judge would get a file name as its instructions.
        if looks_like_path(text) || cx.is_reachable(text.trim(), span) {
            return from_file(cx);
        }
        return Some(inline);
    }

    // The author must have meant the file, because its name is useless to a judge.
    if looks_like_path(text) && cx.is_reachable(text.trim(), span) {
        Diagnostic::warning(
            codes::PROMPT_LOOKS_LIKE_PATH,
            "this prompt is the path of a file, and is read from it",
        )
        .at(span, "a path without `file://`")
        .with_help("begin the value with `file://`, so that other tools read the file too")
        .with_suggestion("say so", span, format!("file://{}", text.trim()))
        .add_to(&mut cx.problems);
        return from_file(cx);
    }

    if looks_like_path(text) {
        Diagnostic::warning(
            codes::PROMPT_LOOKS_LIKE_PATH,
            "this prompt looks like a path but is taken as text",
        )
        .at(span, "the judge is sent this text itself")
        .with_help("there is no such file; check the path")
        .with_suggestion("read the file", span, format!("file://{}", text.trim()))
        .add_to(&mut cx.problems);
    }

    Some(inline)
}

/// Returns true for a single word with a known extension, such as `../prompts/judge.md`.
fn looks_like_path(text: &str) -> bool {
    let text = text.trim();
    !text.contains(char::is_whitespace)
        && Path::new(text)
            .extension()
            .and_then(|ending| ending.to_str())
            .is_some_and(|ending| PROMPT_EXTENSIONS.contains(&ending))
}

/// Decodes `config`: settings for a program, as JSON.
pub(super) fn decode_program_config(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
) -> Map<String, Value> {
    let Some(node) = object.value("config") else { return Map::new() };
    if let Value::Object(map) = node.to_json() {
        map
    } else {
        cx.problems.add(wrong_type(node, "`config`", "a map"));
        Map::new()
    }
}

#[cfg(test)]
mod tests {
    use assize_model::GraderKind;

    use super::*;
    use crate::decode::grader::{AssertionContext, decode_assertions};
    use crate::tests::snippets::{codes, graders, one, read_at};

    fn llm(grader: &assize_model::Grader) -> &assize_model::LlmGrader {
        let GraderKind::Llm(llm) = &grader.kind else { panic!("a judge") };
        llm
    }

    #[test]
    fn commands_are_lists_or_lines() {
        let program = |text: &str| {
            let grader = one(text);
            let GraderKind::Code(code) = &grader.kind else { panic!("a program") };
            code.command.clone()
        };
        assert_eq!(
            program("- {type: code-grader, command: [head, -n, 5]}\n"),
            GraderCommand::Argv(vec!["head".into(), "-n".into(), "5".into()])
        );
        assert_eq!(
            program("- {type: code-grader, command: ./x | y}\n"),
            GraderCommand::Shell("./x | y".into())
        );
        for (command, code) in [
            ("[]", "E0308"),
            ("''", "E0308"),
            ("['']", "E0308"),
            ("", "E0308"),
            ("7", "E0105"),
            ("[a, true]", "E0105"),
        ] {
            assert_eq!(codes(&format!("- type: code-grader\n  command: {command}\n")), [code], "{command}");
        }
        assert_eq!(codes("- type: code-grader\n"), ["E0304"]);
    }

    #[test]
    fn format_two_reads_files_only_when_told_to() {
        let inline = one("- {type: llm-grader, prompt: 'Judge {{ output }}'}\n");
        assert!(matches!(&llm(&inline).prompt, Some(GraderPrompt::Text { path: None, .. })));
        assert_eq!(codes("- {type: llm-grader, prompt: ../a.md}\n"), ["W0304"]);
        assert_eq!(codes("- {type: llm-grader, prompt: 'file://missing.md'}\n"), ["E0501"]);
        assert_eq!(codes("- {type: llm-grader, prompt: ''}\n"), ["E0107"]);
        assert_eq!(codes("- {type: llm-grader, prompt: [a]}\n"), ["E0105"]);
        assert_eq!(codes("- {type: llm-grader, prompt: {file: a}}\n"), ["E0103", "E0304"]);
    }

    #[test]
    fn format_one_tries_the_path_first() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("judge"), "From the file").expect("written");
        let text = "- {name: a, type: llm_judge, prompt: judge}\n- {name: b, type: llm_judge, prompt: Judge it}\n- {name: c, type: llm_judge, prompt: lost.md}\n";
        let (mut cx, node) = read_at(&folder.path().join("suite.yaml"), text);
        cx.format = EvalFileFormat::One;
        let graders = decode_assertions(&mut cx, &node, AssertionContext::default());
        assert!(
            matches!(&llm(&graders[0]).prompt, Some(GraderPrompt::Text { text, path: Some(_) }) if text == "From the file")
        );
        assert!(
            matches!(&llm(&graders[1]).prompt, Some(GraderPrompt::Text { text, path: None }) if text == "Judge it")
        );
        assert_eq!(cx.problems.into_vec()[0].code, codes::FILE_NOT_FOUND);
    }

    #[test]
    fn a_program_may_print_the_prompt() {
        let grader =
            one("- type: llm-grader\n  prompt:\n    command: [bun, p.ts]\n    config: {rubric: x}\n");
        assert!(matches!(&llm(&grader).prompt, Some(GraderPrompt::Program(GraderCommand::Argv(_)))));
        assert_eq!(llm(&grader).config.get("rubric"), Some(&Value::String("x".into())));
        let (_, problems) =
            graders("- {name: a, type: llm_judge, prompt: {script: x}}\n", EvalFileFormat::One);
        assert!(problems.is_empty());
    }
}
