//! Resolves the name of a grader type, and gives advice if there is no such type.

use assize_diagnostic::{Diagnostic, SpannedValue, did_you_mean};
use assize_document::codes;
use assize_model::EvalFileFormat;

use super::custom;
use super::foreign_types::refuse_foreign_type;
use super::grader_type::{GraderType, OLDER_NAMES, TYPES, find_built_in};
use super::shared::older_spelling;
use crate::decode::DecodeContext;

/// Resolves a type name. Returns `None` after adding a diagnostic. The older name of a judge is accepted on a
/// grader with criteria, which is a rubric then; the caller reports that.
pub(super) fn resolve_type(
    cx: &mut DecodeContext,
    written: &SpannedValue<String>,
    format: EvalFileFormat,
    has_criteria: bool,
) -> Option<GraderType> {
    let name = written.value.trim();
    if let Some((kind, is_older)) = find_built_in(name) {
        if is_older && format == EvalFileFormat::Two && !(has_criteria && kind == GraderType::Llm) {
            let present = kind.name().to_owned();
            cx.problems.add(older_spelling(written.span, name, &present));
        }
        return Some(kind);
    }

    if let Some(path) = custom::find_custom_grader(cx, name, written.span) {
        return Some(GraderType::Custom { name: name.to_owned(), path });
    }

    let diagnostic = refuse_foreign_type(name, written.span).unwrap_or_else(|| unknown_type(name, written));
    cx.problems.add(diagnostic);

    None
}

fn unknown_type(name: &str, written: &SpannedValue<String>) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        codes::UNKNOWN_GRADER,
        format!("there is no grader type `{name}`"),
        written.span,
        "unknown type",
    );

    let names = TYPES.iter().map(|(name, _)| *name).chain(OLDER_NAMES.iter().map(|(older, _)| *older));
    // Never suggest the opposite of a name that begins like a negation.
    let is_negated = name.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("not"));
    if let Some(near) = did_you_mean(name, names).filter(|_| !is_negated) {
        let near = find_built_in(near).map_or_else(|| near.to_owned(), |(kind, _)| kind.name().to_owned());
        diagnostic
            .with_help(format!("did you mean `{near}`?"))
            .with_suggestion("use this type", written.span, near)
    } else {
        let names: Vec<String> = TYPES.iter().map(|(name, _)| format!("`{name}`")).collect();
        diagnostic.with_help(format!("types: {}", names.join(", "))).with_help(format!(
            "for a grader of your own, put a program at `.assize/graders/{name}` beside the suite or above it"
        ))
    }
}
