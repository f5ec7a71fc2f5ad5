//! Decoder of `javascript`, and of `transform`: scripts in an eval file, or files that it names.

use assize_diagnostic::{Diagnostic, Span};
use assize_script::Script;

use super::shared::missing_key;
use crate::codes;
use crate::decode::map_reader::wrong_type;
use crate::decode::{DecodeContext, MapReader};
use crate::model::{AnswerTransform, GraderKind, ScriptCheck};
use crate::tree::TreeNode;

/// Names of the values that a script gets.
const PARAMETERS: [&str; 3] = ["output", "context", "process"];

/// Decodes the keys of `type: javascript`.
pub(super) fn decode_script(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<GraderKind> {
    let errors = cx.problems.error_count();
    let Some(node) = object.value("value") else {
        cx.problems.add(missing_key(object.head(), "a script", "value", "value: output.length < 200"));
        return None;
    };
    let script = read_script(cx, node, "value");
    let threshold = object.number("threshold", &mut cx.problems).map(|threshold| threshold.value);
    let config = object.value("config").map(TreeNode::to_json).unwrap_or_default();

    let script = script?;
    (cx.problems.error_count() == errors).then_some(GraderKind::Script(ScriptCheck {
        script,
        threshold,
        config,
    }))
}

/// Decodes `transform` of a grader.
pub(super) fn decode_transform(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
) -> Option<AnswerTransform> {
    let node = object.value("transform")?;
    read_script(cx, node, "transform").map(|script| AnswerTransform { script, target: None })
}

/// Reads a script: code, or `file://PATH` with the name of a function behind it. Returns `None` after adding a diagnostic.
pub(crate) fn read_script(cx: &mut DecodeContext, node: &TreeNode, key: &str) -> Option<Script> {
    let span = node.use_span();
    let Some(text) = node.as_str() else {
        cx.problems.add(wrong_type(node, &format!("`{key}`"), "JavaScript, or the path of a file"));
        return None;
    };
    if text.trim().is_empty() {
        cx.problems.add(
            Diagnostic::error(codes::EMPTY_TEXT, format!("`{key}` is empty"), span, "nothing here")
                .with_help("write an expression, such as `output.length < 200`"),
        );
        return None;
    }

    let script = match text.trim().strip_prefix("file://") {
        Some(path) if !path.contains('\n') => read_script_file(cx, path, span)?,
        _ => Script::from_code(text),
    };
    if let Err(error) = script.check(&PARAMETERS) {
        cx.problems.add(
            Diagnostic::error(codes::BAD_SCRIPT, "this script is no JavaScript", span, error.to_string())
                .with_help(
                    "one line is an expression; several lines are the body of a function, with `return`",
                ),
        );
        return None;
    }

    Some(script)
}

fn read_script_file(cx: &mut DecodeContext, written: &str, span: Span) -> Option<Script> {
    let (path, export) = match written.rsplit_once(':') {
        Some((path, export)) if !export.contains(['/', '.', '\\']) => (path, Some(export)),
        _ => (written, None),
    };
    if !["js", "cjs", "mjs"].iter().any(|ending| path.ends_with(&format!(".{ending}"))) {
        cx.problems.add(
            Diagnostic::error(
                codes::UNKNOWN_FILE_KIND,
                "scripts are not read from this kind of file",
                span,
                format!("`{path}`"),
            )
            .with_help("scripts are .js, .cjs and .mjs files; compile TypeScript first"),
        );
        return None;
    }

    let file = cx.read_text(path, span)?;
    Some(Script::from_file(&file.text, export))
}

#[cfg(test)]
mod tests {
    use crate::decode::grader::testing::{codes, one};
    use crate::model::GraderKind;

    #[test]
    fn scripts_are_read_and_their_syntax_is_checked() {
        let grader = one("- {type: javascript, value: output.length > 3, threshold: 0.5, config: {a: 1}}\n");
        let GraderKind::Script(check) = &grader.kind else { panic!("a script") };
        assert_eq!((check.script.text(), check.threshold), ("return output.length > 3", Some(0.5)));
        assert_eq!(check.config, serde_json::json!({"a": 1}));

        for (text, code) in [
            ("javascript", "E0304"),
            ("javascript, value: ''", "E0107"),
            ("javascript, value: 'output.includes('", "E0319"),
            ("javascript, value: 4", "E0105"),
            ("javascript, value: file://check.ts", "E0507"),
            ("javascript, value: file://none.js", "E0501"),
            ("contains, value: a, transform: 'output['", "E0319"),
        ] {
            assert_eq!(codes(&format!("- {{type: {text}}}\n")), [code], "{text}");
        }
    }

    #[test]
    fn a_grader_may_look_at_a_changed_answer() {
        let grader = one("- {type: contains, value: a, transform: output.trim(), required: true}\n");
        let GraderKind::Transformed(changed) = &grader.kind else { panic!("a change") };
        assert!(grader.standing.required && grader.type_name == "contains");
        assert!(matches!(changed.inner.kind, GraderKind::Text(_)));
    }
}
