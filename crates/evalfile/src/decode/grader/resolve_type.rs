//! Resolves the name of a grader type, and gives advice if there is no such type.

use std::path::PathBuf;

use assize_diagnostic::{Diagnostic, SpannedValue, did_you_mean};
use assize_document::codes;
use assize_model::EvalFileFormat;

use super::custom;
use super::foreign_types::refuse_foreign_type;
use super::grader_type::{GraderType, LLM, OLDER_NAMES, RUBRICS, TYPES, find_built_in};
use super::shared::older_spelling;
use crate::decode::DecodeContext;

/// The type of a grader.
pub(super) enum ResolvedType {
    /// One of the table.
    BuiltIn(&'static GraderType),
    /// A program of the project.
    Custom {
        /// The type as written.
        name: String,
        /// The file of the program.
        path: PathBuf,
    },
}

/// Resolves a type name. Returns `None` after adding a diagnostic. A judge with criteria is a rubric, whatever type is
/// written.
pub(super) fn resolve_type(
    cx: &mut DecodeContext,
    written: &SpannedValue<String>,
    has_criteria: bool,
) -> Option<ResolvedType> {
    let name = written.value.trim();
    if let Some((kind, is_older)) = find_built_in(name) {
        let is_rubric = kind.name == LLM && has_criteria;
        if is_rubric && cx.format == EvalFileFormat::Two {
            let title = format!("`{}` with criteria is an older spelling", written.value);
            Diagnostic::warning(codes::OLDER_SPELLING, title)
                .at(written.span, "now `rubrics`")
                .with_help("write `type: rubrics` with `criteria`")
                .with_suggestion("use the current spelling", written.span, "rubrics")
                .add_to(&mut cx.problems);
        } else if is_older && cx.format == EvalFileFormat::Two {
            cx.problems.add(older_spelling(written.span, name, kind.name));
        }
        return Some(ResolvedType::BuiltIn(if is_rubric { &RUBRICS } else { kind }));
    }

    if let Some(path) = custom::find_custom_grader(cx, name, written.span) {
        return Some(ResolvedType::Custom { name: name.to_owned(), path });
    }

    let diagnostic = refuse_foreign_type(name, written.span).unwrap_or_else(|| unknown_type(name, written));
    cx.problems.reject(diagnostic)
}

fn unknown_type(name: &str, written: &SpannedValue<String>) -> Diagnostic {
    let diagnostic = Diagnostic::error(codes::UNKNOWN_GRADER, format!("there is no grader type `{name}`"))
        .at(written.span, "unknown type");

    let names = TYPES.iter().map(|kind| kind.name).chain(OLDER_NAMES.iter().map(|(older, _)| *older));
    // Never suggest the opposite of a name that begins like a negation.
    let is_negated = name.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("not"));
    if let Some(near) = did_you_mean(name, names).filter(|_| !is_negated) {
        let near = find_built_in(near).map_or(near, |(kind, _)| kind.name);
        diagnostic
            .with_help(format!("did you mean `{near}`?"))
            .with_suggestion("use this type", written.span, near)
    } else {
        let names: Vec<String> = TYPES.iter().map(|kind| format!("`{}`", kind.name)).collect();
        diagnostic.with_help(format!("types: {}", names.join(", "))).with_help(format!(
            "for a grader of your own, put a program at `.assize/graders/{name}` beside the suite or above it"
        ))
    }
}
