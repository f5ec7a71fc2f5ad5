//! Decoder of `javascript`, `python`, `ruby` and `transform`: code in an eval file, or in a file that it names.

use std::path::Path;

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{MapReader, PROGRAM_ENDINGS, TreeNode, codes, file_extension, wrong_type};
use assize_model::{
    AnswerCheck, AnswerTransform, AuthorCode, CodeLanguage, CodeProgram, GraderKind, ScriptCheck,
};
use assize_script::{Script, is_es_module};

use super::shared::missing_key;
use crate::decode::DecodeContext;

/// Names of the values that a script receives.
const PARAMETERS: [&str; 2] = ["output", "context"];
/// File extension of Ruby.
const RUBY_ENDING: &str = "rb";

/// Decodes the keys of `type: javascript`, `type: python` and `type: ruby`.
pub(super) fn decode_script(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    language: CodeLanguage,
) -> Option<GraderKind> {
    let errors = cx.problems.error_count();
    let Some(node) = object.value("value") else {
        let example = match language {
            CodeLanguage::Python => "value: len(output) < 200",
            CodeLanguage::JavaScript | CodeLanguage::TypeScript | CodeLanguage::Ruby => {
                "value: output.length < 200"
            }
        };
        return cx.problems.reject(missing_key(object.head(), "a script", "value", example));
    };
    let code = read_code(cx, node, "value", language);
    let threshold = object.number("threshold", &mut cx.problems).map(|threshold| threshold.value);
    let config = object.value("config").map(TreeNode::to_json).unwrap_or_default();

    let code = code?;
    (cx.problems.error_count() == errors).then_some(GraderKind::Check(AnswerCheck::Script(ScriptCheck {
        code,
        threshold,
        config,
    })))
}

/// Decodes `transform` of a grader.
pub(super) fn decode_transform(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
) -> Option<AnswerTransform> {
    let node = object.value("transform")?;
    let code = read_code(cx, node, "transform", CodeLanguage::JavaScript)?;
    Some(AnswerTransform { code, target: None })
}

/// Decodes `transform` of a case: code for all answers, or a list of code for all and for single targets, in its order.
pub fn decode_transforms(cx: &mut DecodeContext, node: &TreeNode) -> Vec<AnswerTransform> {
    let items = node.as_seq().unwrap_or(std::slice::from_ref(node));
    let mut transforms = Vec::new();
    for item in items {
        if item.as_map().is_none() {
            let code = read_code(cx, item, "transform", CodeLanguage::JavaScript);
            transforms.extend(code.map(|code| AnswerTransform { code, target: None }));
            continue;
        }

        let Some(mut object) = MapReader::new(item, "a `transform` of a case", &mut cx.problems) else {
            continue;
        };
        let target = object.text("target", &mut cx.problems).map(|target| target.value);
        let value = object.value("value");
        if value.is_none() {
            cx.problems.add(missing_key(object.head(), "`transform`", "value", "value: output.trim()"));
        }
        object.finish(&mut cx.problems);
        let code = value.and_then(|node| read_code(cx, node, "value", CodeLanguage::JavaScript));
        transforms.extend(code.map(|code| AnswerTransform { code, target }));
    }

    transforms
}

/// Reads code in a language, or `file://PATH` with the name of a function behind it. Returns `None` after adding a
/// diagnostic.
pub fn read_code(
    cx: &mut DecodeContext,
    node: &TreeNode,
    key: &str,
    language: CodeLanguage,
) -> Option<AuthorCode> {
    let span = node.use_span();
    let Some(text) = node.as_str() else {
        let what = format!("`{key}`");
        return cx.problems.reject(wrong_type(node, &what, "JavaScript, or the path of a file"));
    };
    if text.trim().is_empty() {
        return Diagnostic::error(codes::EMPTY_TEXT, format!("`{key}` is empty"))
            .at(span, "nothing here")
            .with_help("write an expression, such as `output.length < 200`")
            .reject_in(&mut cx.problems);
    }

    let code = match text.trim().strip_prefix("file://") {
        Some(path) if !path.contains('\n') => read_code_file(cx, path, span)?,
        _ if matches!(language, CodeLanguage::Python | CodeLanguage::Ruby) => {
            AuthorCode::Program(CodeProgram {
                language,
                path: None,
                text: text.trim_end().into(),
                function: None,
            })
        }
        _ => AuthorCode::Script(Script::from_code(text)),
    };
    if let AuthorCode::Script(script) = &code
        && let Err(error) = script.check(&PARAMETERS)
    {
        return Diagnostic::error(codes::BAD_SCRIPT, error.title())
            .at(span, error.to_string())
            .with_help("one line is an expression; several lines are the body of a function, with `return`")
            .reject_in(&mut cx.problems);
    }

    // If the file never mentions the name, it can't export such a function.
    if let AuthorCode::Script(script) = &code
        && let Some(name) = script.export()
        && !script.text().contains(name)
    {
        return Diagnostic::error(codes::BAD_SCRIPT, format!("this file has no function `{name}`"))
            .at(span, "not exported")
            .with_help(
                "after its path, name a function that the file exports, or none for the default export",
            )
            .reject_in(&mut cx.problems);
    }

    Some(code)
}

/// Returns true for a path of a code file. Ruby counts only in graders.
fn is_code(path: &str) -> bool {
    let extension = file_extension(Path::new(path));
    extension == RUBY_ENDING || PROGRAM_ENDINGS.contains(&extension.as_str())
}

fn read_code_file(cx: &mut DecodeContext, written: &str, span: Span) -> Option<AuthorCode> {
    let (path, function) = match written.rsplit_once(':') {
        // The function may be a method of a class: `Class.method`.
        Some((path, function)) if !function.contains(['/', '\\']) && is_code(path) => (path, Some(function)),
        Some((path, function)) if !function.contains(['/', '.', '\\']) => (path, Some(function)),
        _ => (written, None),
    };
    let language = if file_extension(Path::new(path)) == RUBY_ENDING {
        CodeLanguage::Ruby
    } else {
        read_language(cx, "scripts", path, span)?
    };
    let file = cx.read_text(path, span)?;
    if language == CodeLanguage::JavaScript && !needs_modules(&file.text) {
        return Some(AuthorCode::Script(Script::from_file(&file.text, function)));
    }

    let path = std::path::absolute(&file.path).unwrap_or(file.path);
    let function = function.map(str::to_owned);
    Some(AuthorCode::Program(CodeProgram { language, path: Some(path), text: file.text, function }))
}

/// Returns the language of a file of code by its ending. Returns `None` after adding a diagnostic about `what` that
/// lists the supported languages.
pub fn read_language(cx: &mut DecodeContext, what: &str, path: &str, span: Span) -> Option<CodeLanguage> {
    match file_extension(Path::new(path)).as_str() {
        "js" | "cjs" | "mjs" => Some(CodeLanguage::JavaScript),
        "ts" | "mts" | "cts" => Some(CodeLanguage::TypeScript),
        "py" => Some(CodeLanguage::Python),
        _ => {
            Diagnostic::error(codes::UNKNOWN_FILE_KIND, format!("{what} are not read from this kind of file"))
                .at(span, format!("`{path}`"))
                .with_help(format!("{what} are files of JavaScript, TypeScript or Python"))
                .reject_in(&mut cx.problems)
        }
    }
}

/// Returns true for JavaScript that the built-in engine can't run, because it loads modules, or uses the
/// network, timers or its process.
fn needs_modules(text: &str) -> bool {
    const CALLS: [&str; 7] =
        ["require(", "import(", "fetch(", "setTimeout(", "process.", "Buffer.", "new URL("];

    let is_module = is_es_module(text);
    text.lines().map(str::trim_start).filter(|line| !line.starts_with("//") && !line.starts_with('*')).any(
        |line| {
            (is_module && (line.starts_with("import ") || line.starts_with("import{")))
                || CALLS.iter().any(|call| line.contains(call))
        },
    )
}

#[cfg(test)]
mod tests {
    use assize_model::{AnswerCheck, AuthorCode, CodeLanguage, GraderKind};

    use super::needs_modules;
    use crate::tests::snippets::{codes, one};

    #[test]
    fn scripts_are_read_and_their_syntax_is_checked() {
        let grader = one("- {type: javascript, value: output.length > 3, threshold: 0.5, config: {a: 1}}\n");
        let GraderKind::Check(AnswerCheck::Script(check)) = &grader.kind else { panic!("a script") };
        let AuthorCode::Script(script) = &check.code else { panic!("for the engine") };
        assert_eq!((script.text(), check.threshold), ("return output.length > 3", Some(0.5)));
        assert_eq!(check.config, serde_json::json!({"a": 1}));

        for (text, code) in [
            ("javascript", "E0304"),
            ("javascript, value: ''", "E0107"),
            ("javascript, value: 'output.includes('", "E0319"),
            ("javascript, value: 4", "E0105"),
            ("javascript, value: file://check.pl", "E0507"),
            ("ruby, value: file://none.rb", "E0501"),
            ("javascript, value: file://none.ts", "E0501"),
            ("python", "E0304"),
            ("javascript, value: file://none.js", "E0501"),
            ("contains, value: a, transform: 'output['", "E0319"),
        ] {
            assert_eq!(codes(&format!("- {{type: {text}}}\n")), [code], "{text}");
        }
    }

    #[test]
    fn python_and_ruby_are_programs() {
        for (name, language) in [("python", CodeLanguage::Python), ("ruby", CodeLanguage::Ruby)] {
            let grader = one(&format!("- {{type: {name}, value: len(output) > 3}}\n"));
            let GraderKind::Check(AnswerCheck::Script(check)) = &grader.kind else { panic!("a script") };
            let program = check.code.program().expect("a program");
            assert_eq!((program.language, &*program.text), (language, "len(output) > 3"));
        }
    }

    #[test]
    fn javascript_that_loads_modules_needs_an_interpreter() {
        for text in ["const fs = require('fs');", "import { a } from './a.js';", "  await import('x')"] {
            assert!(needs_modules(text), "{text}");
        }
        for text in ["module.exports = (output) => output", "// require('fs')", "export default () => true"] {
            assert!(!needs_modules(text), "{text}");
        }
    }

    #[test]
    fn a_grader_may_look_at_a_changed_answer() {
        let grader = one("- {type: contains, value: a, transform: output.trim(), required: true}\n");
        let GraderKind::Transformed(changed) = &grader.kind else { panic!("a change") };
        assert!(grader.weighting.required && grader.type_name == "contains");
        assert!(matches!(changed.inner.kind, GraderKind::Check(AnswerCheck::Text(_))));
    }
}
