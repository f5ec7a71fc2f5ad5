//! Decoder of prompts and commands of graders.

use std::path::Path;

use assize_diagnostic::{Diagnostic, Span};
use serde_json::{Map, Value};

use super::words::{missing, older};
use crate::codes;
use crate::decode::object::wrong_type;
use crate::decode::{Context, Object};
use crate::model::{Command, Format, Prompt};
use crate::tree::{Data, Entry, Node};

/// Extensions of prompt files.
const PROMPT_ENDINGS: [&str; 9] = ["md", "txt", "prompt", "jinja", "j2", "tmpl", "markdown", "ts", "py"];

/// Decodes a command: a list of the program and its arguments, or one line for the shell. Returns `None`
/// after adding a diagnostic.
pub(crate) fn command(cx: &mut Context, entry: &Entry) -> Option<Command> {
    let (key, node) = (&entry.key, &entry.value);
    let empty = |at: Span| {
        Diagnostic::error(codes::BAD_COMMAND, format!("`{key}` is empty"), at, "nothing to run")
            .with_help(format!("write `{key}: [python3, check.py]` or `{key}: python3 check.py`"))
    };
    match &node.data {
        Data::Str(line) if line.trim().is_empty() => cx.problems.add(empty(node.place())),
        Data::Str(line) => return Some(Command::Shell(line.clone())),
        Data::Null => cx.problems.add(empty(entry.key_span)),
        Data::Seq(items) => {
            let words: Option<Vec<String>> = items.iter().map(|item| word(cx, item)).collect();
            let words = words?;
            if words.first().is_some_and(|program| !program.trim().is_empty()) {
                return Some(Command::Argv(words));
            }
            cx.problems.add(empty(items.first().map_or(node.place(), Node::place)));
        }
        _ => cx.problems.add(
            wrong_type(node, &format!("`{key}`"), "a list or a text")
                .with_help("a list is the program and its arguments; a text is run by `sh`"),
        ),
    }
    None
}

/// Decodes a word of a command. Integers are taken as written; other plain values are ambiguous.
fn word(cx: &mut Context, node: &Node) -> Option<String> {
    match &node.data {
        Data::Str(text) => Some(text.clone()),
        Data::Int(_) => Some(cx.sources.slice(node.span).to_owned()),
        _ => {
            let mut diagnostic = wrong_type(node, "an argument", "a string");
            if matches!(node.data, Data::Bool(_) | Data::Float(_)) {
                let quoted = format!("\"{}\"", cx.sources.slice(node.place()));
                diagnostic = diagnostic.with_suggestion("put it in quotes", node.place(), quoted);
            }
            cx.problems.add(diagnostic);
            None
        }
    }
}

/// Decodes `command`, or `script`, its name in format 1.
pub(super) fn command_or_script(
    cx: &mut Context,
    object: &mut Object<'_>,
    what: &str,
    format: Format,
) -> Option<Command> {
    let keys: [&'static str; 2] = match format {
        Format::One => ["script", "command"],
        Format::Two => ["command", "script"],
    };
    let Some(entry) = object.one_of(&keys, &mut cx.problems) else {
        let example = format!("{}: [python3, check.py]", keys[0]);
        cx.problems.add(missing(object.head(), what, keys[0], &example));
        return None;
    };
    if format == Format::Two && entry.key == "script" {
        cx.problems.add(older(entry.key_span, "script", "command"));
    }
    command(cx, entry)
}

/// Decodes a prompt: a text, a file, or a program that prints it, with settings for the program. Returns
/// `None` after adding a diagnostic.
pub(super) fn prompt(
    cx: &mut Context,
    entry: &Entry,
    format: Format,
) -> Option<(Prompt, Map<String, Value>)> {
    let node = &entry.value;
    match &node.data {
        Data::Str(text) if text.trim().is_empty() => {
            cx.problems.add(
                Diagnostic::error(codes::EMPTY_TEXT, "`prompt` is empty", node.place(), "nothing here")
                    .with_help("write the prompt, or remove the key for the built-in one"),
            );
            None
        }
        Data::Str(text) => text_prompt(cx, text, node.place(), format).map(|prompt| (prompt, Map::new())),
        Data::Map(_) => {
            let mut object = Object::new(node, "a prompt", &mut cx.problems)?;
            let command = command_or_script(cx, &mut object, "a prompt written as a map", format);
            let config = config(cx, &mut object);
            object.finish(&mut cx.problems);
            Some((Prompt::Program(command?), config))
        }
        _ => {
            cx.problems.add(
                wrong_type(node, "`prompt`", "a text or a map with `command`")
                    .with_help("write the text, `file://PATH`, or `{command: [PROGRAM]}`"),
            );
            None
        }
    }
}

fn text_prompt(cx: &mut Context, text: &str, span: Span, format: Format) -> Option<Prompt> {
    let from_file = |cx: &mut Context| {
        let file = cx.read_text(text.trim(), span)?;
        if file.text.trim().is_empty() {
            cx.problems.add(
                Diagnostic::error(
                    codes::EMPTY_TEXT,
                    "the prompt file is empty",
                    span,
                    "nothing in this file",
                )
                .with_help("write the prompt into the file, or remove the key for the built-in one"),
            );
            return None;
        }
        Some(Prompt::Text { text: file.text.to_string(), path: Some(file.path) })
    };
    let inline = Prompt::Text { text: text.to_owned(), path: None };
    if text.trim_start().starts_with("file://") {
        return from_file(cx);
    }
    if format == Format::One {
        // A path first, then text. Text that can only be a path is not accepted as a prompt: the judge would
        // be asked to follow a file name.
        if looks_like_path(text) || cx.reachable(text.trim(), span) {
            return from_file(cx);
        }
        return Some(inline);
    }
    if looks_like_path(text) {
        cx.problems.add(
            Diagnostic::warning(
                codes::PROMPT_LOOKS_LIKE_PATH,
                "this prompt looks like a path but is taken as text",
                span,
                "the judge is sent these very words",
            )
            .with_help("to read the file, begin the value with `file://`")
            .with_suggestion("read the file", span, format!("file://{}", text.trim())),
        );
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
            .is_some_and(|ending| PROMPT_ENDINGS.contains(&ending))
}

/// Decodes `config`: settings for a program, as JSON.
pub(super) fn config(cx: &mut Context, object: &mut Object<'_>) -> Map<String, Value> {
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
    use super::*;
    use crate::decode::grader::testing::{codes, graders, one, read_at};
    use crate::decode::grader::{AssertionContext, assertions};
    use crate::model::GraderKind;

    fn llm(grader: &crate::model::Grader) -> &crate::model::LlmGrader {
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
            Command::Argv(vec!["head".into(), "-n".into(), "5".into()])
        );
        assert_eq!(program("- {type: code-grader, command: ./x | y}\n"), Command::Shell("./x | y".into()));
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
        assert!(matches!(&llm(&inline).prompt, Some(Prompt::Text { path: None, .. })));
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
        let graders = assertions(&mut cx, &node, Format::One, AssertionContext::default());
        assert!(
            matches!(&llm(&graders[0]).prompt, Some(Prompt::Text { text, path: Some(_) }) if text == "From the file")
        );
        assert!(
            matches!(&llm(&graders[1]).prompt, Some(Prompt::Text { text, path: None }) if text == "Judge it")
        );
        assert_eq!(cx.problems.into_vec()[0].code, codes::FILE_NOT_FOUND);
    }

    #[test]
    fn a_program_may_print_the_prompt() {
        let grader =
            one("- type: llm-grader\n  prompt:\n    command: [bun, p.ts]\n    config: {rubric: x}\n");
        assert!(matches!(&llm(&grader).prompt, Some(Prompt::Program(Command::Argv(_)))));
        assert_eq!(llm(&grader).config.get("rubric"), Some(&Value::String("x".into())));
        let (_, problems) = graders("- {name: a, type: llm_judge, prompt: {script: x}}\n", Format::One);
        assert!(problems.is_empty());
    }
}
