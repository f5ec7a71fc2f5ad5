//! Code that writes parts of a matrix file: prompts, tests and variables.

use std::path::Path;

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{codes, file_extension};
use assize_evalfile::reading::{DecodeContext, read_code};
use assize_model::{AuthorCode, CodeLanguage, LoadProgram, NamedProgram};
use assize_script::{Script, ScriptTime, ScriptValue};
use serde_json::Value;

use super::nodes::text_node;

/// Extensions of files that are run as commands.
const COMMAND_ENDINGS: [&str; 4] = ["sh", "bash", "rb", "pl"];
/// Beginning of a prompt that is a command line.
pub(super) const COMMAND_PREFIX: &str = "exec:";

/// A part of a file that code can write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WrittenPart {
    Prompt,
    Tests,
    Variable,
}

impl WrittenPart {
    /// Returns the part as a noun.
    const fn noun(self) -> &'static str {
        match self {
            Self::Prompt => "the prompt",
            Self::Tests => "the tests",
            Self::Variable => "the variable",
        }
    }

    /// Returns the key in the file that names the code.
    const fn key(self) -> &'static str {
        match self {
            Self::Prompt => "prompts",
            Self::Tests => "tests",
            Self::Variable => "vars",
        }
    }

    /// Returns the default name of the function in a Python file.
    const fn usual_function(self) -> &'static str {
        match self {
            Self::Prompt => "",
            Self::Tests => "generate_tests",
            Self::Variable => "get_var",
        }
    }

    /// Returns what the code receives, as a sentence for messages.
    const fn given(self) -> &'static str {
        match self {
            Self::Prompt => "the code gets a map with `vars`, `provider` and `config`",
            Self::Tests => "the function gets the `config` next to its `path`, if there is one",
            Self::Variable => {
                "the function gets the name of the variable, the prompt, the other variables and, but for Python, the provider"
            }
        }
    }

    const fn advice(self) -> &'static str {
        match self {
            Self::Prompt => "return a text, or a list of messages with `role` and `content`",
            Self::Tests => "return a list of tests with `vars` and `assert`",
            Self::Variable => "return `{output: TEXT}`, or `{error: REASON}`",
        }
    }
}

/// Code, with the position that names it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CodePart {
    part: WrittenPart,
    code: PartCode,
    /// File as written, which may be followed by the name of a function.
    name: String,
    pub(super) span: Span,
}

#[derive(Debug, Clone, PartialEq)]
enum PartCode {
    /// JavaScript for the built-in engine.
    Script(Script),
    /// A program, which needs permission to run.
    Program(LoadProgram),
}

/// A call of code.
pub(super) struct CodeCall<'a> {
    pub(super) part: &'a CodePart,
    pub(super) arguments: Vec<Value>,
}

/// Result of a call of code.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CodeResult {
    Value(Value),
    /// It failed, for this reason.
    Failed(String),
    /// It was not run, because the load had no permission to.
    NotRun,
}

impl CodePart {
    /// Reads the code that a path names. Returns `None` after adding a diagnostic.
    pub(super) fn read(cx: &mut DecodeContext, part: WrittenPart, path: &str, span: Span) -> Option<Self> {
        let code = if let Some(line) = path.strip_prefix(COMMAND_PREFIX) {
            command(cx, split_words(line), span)?
        } else if is_command_file(path) {
            command(cx, vec![path.to_owned()], span)?
        } else if part == WrittenPart::Prompt
            && Path::new(path).extension().is_some_and(|ending| ending == "py")
        {
            // A complete program receives the same input as a function would, as its argument.
            let file = cx.find_file(path, span)?;
            let file = std::path::absolute(&file).unwrap_or(file);
            command(cx, vec!["python3".to_owned(), file.display().to_string()], span)?
        } else {
            let node = text_node(span, format!("file://{path}"));
            match read_code(cx, &node, part.key(), CodeLanguage::JavaScript)? {
                AuthorCode::Script(script) => PartCode::Script(script),
                AuthorCode::Program(code) => PartCode::Program(LoadProgram::Function {
                    code,
                    usual: part.usual_function(),
                    takes_value: part == WrittenPart::Tests,
                }),
            }
        };

        Some(Self { part, code, name: path.to_owned(), span })
    }

    /// Returns the program, with the position that names it.
    pub(super) fn named(&self, cx: &DecodeContext) -> NamedProgram {
        NamedProgram { place: cx.position(self.span), what: self.describe() }
    }

    /// Returns a description for messages: which part it writes, and which file and kind of code it is.
    fn describe(&self) -> String {
        let part = self.part.noun().trim_start_matches("the ");
        match &self.code {
            PartCode::Program(LoadProgram::Function { code, .. }) => {
                format!("{part} `{}` ({} code)", self.name, code.language.name())
            }
            PartCode::Program(LoadProgram::Command { .. }) => format!("{part} `{}` (a command)", self.name),
            PartCode::Script(_) => format!("{part} `{}`", self.name),
        }
    }

    /// Returns the reference to the code, as a variable would contain it.
    pub(super) fn reference(&self) -> String {
        format!("file://{}", self.name)
    }

    /// Returns true if the result may depend on the provider, so that the code must be called for each.
    pub(super) fn may_depend_on_provider(&self) -> bool {
        match &self.code {
            PartCode::Script(script) => script.text().contains("provider"),
            PartCode::Program(LoadProgram::Function { code, .. }) => {
                // A Python function for a variable does not receive the provider.
                self.part != WrittenPart::Variable || code.language != CodeLanguage::Python
            }
            PartCode::Program(LoadProgram::Command { .. }) => true,
        }
    }

    /// Returns true if a function for a variable receives the provider.
    pub(super) fn takes_provider(&self) -> bool {
        !matches!(&self.code, PartCode::Program(LoadProgram::Function { code, .. }) if code.language == CodeLanguage::Python)
    }

    /// Returns the text of the code, or the name of a command.
    pub(super) fn text(&self) -> &str {
        match &self.code {
            PartCode::Script(script) => script.text(),
            PartCode::Program(LoadProgram::Function { code, .. }) => &code.text,
            PartCode::Program(LoadProgram::Command { .. }) => &self.name,
        }
    }

    /// Returns the error that the code failed.
    pub(super) fn failure(&self, reason: impl Into<String>) -> Diagnostic {
        self.problem(reason).with_help(self.part.given())
    }

    /// Returns the error that the code returned something of the wrong kind.
    pub(super) fn misfit(&self, reason: impl Into<String>) -> Diagnostic {
        self.problem(reason).with_help(self.part.advice())
    }

    fn problem(&self, reason: impl Into<String>) -> Diagnostic {
        let code = match &self.code {
            PartCode::Script(_) => codes::BAD_SCRIPT,
            PartCode::Program(_) => codes::PROGRAM_FAILED,
        };
        let title = format!("`{}` can't write {}", self.name, self.part.noun());
        Diagnostic::error(code, title).at(self.span, reason)
    }
}

/// Makes the calls and returns a result for each. All calls of the same program are made together, in one
/// process.
pub(super) fn run_calls(cx: &DecodeContext, calls: &[CodeCall<'_>]) -> Vec<CodeResult> {
    let mut results: Vec<CodeResult> = vec![CodeResult::NotRun; calls.len()];
    let mut groups: Vec<(&LoadProgram, Vec<usize>)> = Vec::new();
    for (at, call) in calls.iter().enumerate() {
        match &call.part.code {
            PartCode::Script(script) => results[at] = run_script(script, &call.arguments, &cx.script_time),
            PartCode::Program(program) => match groups.iter_mut().find(|(known, _)| *known == program) {
                Some((_, members)) => members.push(at),
                None => groups.push((program, vec![at])),
            },
        }
    }

    let Some(runner) = &cx.reach.programs else { return results };
    for (program, members) in groups {
        let arguments: Vec<Value> =
            members.iter().map(|at| Value::Array(calls[*at].arguments.clone())).collect();
        let returned = runner.run(program, &arguments);
        for (at, result) in members.into_iter().zip(returned) {
            results[at] = match result {
                Ok(value) => CodeResult::Value(value),
                Err(reason) => CodeResult::Failed(reason),
            };
        }
    }

    results
}

fn run_script(script: &Script, arguments: &[Value], time: &ScriptTime) -> CodeResult {
    // The function takes its arguments by position, so these names have no meaning.
    const NAMES: [&str; 4] = ["a", "b", "c", "d"];
    let named: Vec<(&str, &Value)> = NAMES.into_iter().zip(arguments).collect();

    match script.call_or_value(&named, time).map(ScriptValue::into_json) {
        Ok(value) => CodeResult::Value(value.unwrap_or_default()),
        Err(error) => CodeResult::Failed(error.to_string()),
    }
}

/// Returns true if a path names code that writes a prompt. It may be followed by the name of a function.
pub(super) fn is_prompt_code(path: &str) -> bool {
    path.starts_with(COMMAND_PREFIX) || is_command_file(path) || names_code(path)
}

/// Returns true if a path names a file of JavaScript, TypeScript or Python. It may be followed by the name of a
/// function.
pub(super) fn names_code(path: &str) -> bool {
    let file = match path.rsplit_once(':') {
        Some((file, _)) if Path::new(file).extension().is_some() => file,
        _ => path,
    };
    assize_document::PROGRAM_ENDINGS.contains(&file_extension(Path::new(file)).as_str())
}

fn is_command_file(path: &str) -> bool {
    COMMAND_ENDINGS.contains(&file_extension(Path::new(path)).as_str())
}

/// Returns a command whose program is a file, or is found in `PATH`.
fn command(cx: &mut DecodeContext, mut words: Vec<String>, span: Span) -> Option<PartCode> {
    let Some(program) = words.first_mut().filter(|program| !program.is_empty()) else {
        return Diagnostic::error(codes::EMPTY_TEXT, "the command is empty")
            .at(span, "nothing to run")
            .with_help("write the program and its arguments: `exec:./prompt.sh`")
            .reject_in(&mut cx.problems);
    };
    if program.contains('/') || is_command_file(program) || cx.is_reachable(program, span) {
        let file = cx.find_file(program, span)?;
        *program = std::path::absolute(&file).unwrap_or(file).display().to_string();
    }

    let folder = cx.folder_of(span.source);
    let folder = std::path::absolute(&folder).unwrap_or(folder);
    Some(PartCode::Program(LoadProgram::Command { words, folder }))
}

/// Splits a command line at blanks. Quoted parts stay together.
pub(super) fn split_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            (_, letter) => word.get_or_insert_default().push(letter),
        }
    }

    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_are_split_at_blanks_outside_of_quotes() {
        assert_eq!(split_words(" ./a.sh --x 'b c' d\"e f\"g '' "), ["./a.sh", "--x", "b c", "de fg", ""]);
        assert_eq!(split_words("  "), Vec::<String>::new());
    }

    #[test]
    fn code_is_recognized_by_its_ending() {
        for path in ["a.py", "b/a.py:make", "a.py:Class.make", "a.ts", "exec:echo", "a.sh"] {
            assert!(is_prompt_code(path), "{path}");
        }
        for path in ["a.txt", "a.json:1", "py", "a.yaml"] {
            assert!(!is_prompt_code(path), "{path}");
        }
    }
}
