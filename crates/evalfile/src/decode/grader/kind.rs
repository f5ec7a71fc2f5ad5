//! Grader types and their names.

use std::path::PathBuf;

use assize_diagnostic::{Diagnostic, Spanned, did_you_mean};

use super::custom;
use super::refused::refused;
use super::words::{fold, older};
use crate::codes;
use crate::decode::Context;
use crate::model::Format;

/// Type of a grader, resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Rubrics,
    Llm,
    Pairwise,
    Code,
    Composite,
    /// A text check, by its current name.
    Text(&'static str),
    IsJson,
    FieldAccuracy,
    ToolTrajectory,
    Latency,
    Cost,
    TokenUsage,
    ExecutionMetrics,
    SkillTrigger,
    Custom {
        name: String,
        path: PathBuf,
    },
}

/// Every built-in type by its current name.
const TYPES: [(&str, Kind); 23] = [
    ("rubrics", Kind::Rubrics),
    ("llm-grader", Kind::Llm),
    ("pairwise", Kind::Pairwise),
    ("code-grader", Kind::Code),
    ("composite", Kind::Composite),
    ("contains", Kind::Text("contains")),
    ("contains-any", Kind::Text("contains-any")),
    ("contains-all", Kind::Text("contains-all")),
    ("icontains", Kind::Text("icontains")),
    ("icontains-any", Kind::Text("icontains-any")),
    ("icontains-all", Kind::Text("icontains-all")),
    ("starts-with", Kind::Text("starts-with")),
    ("ends-with", Kind::Text("ends-with")),
    ("equals", Kind::Text("equals")),
    ("regex", Kind::Text("regex")),
    ("is-json", Kind::IsJson),
    ("field-accuracy", Kind::FieldAccuracy),
    ("tool-trajectory", Kind::ToolTrajectory),
    ("latency", Kind::Latency),
    ("cost", Kind::Cost),
    ("token-usage", Kind::TokenUsage),
    ("execution-metrics", Kind::ExecutionMetrics),
    ("skill-trigger", Kind::SkillTrigger),
];

/// Older names and the current ones.
const OLDER: [(&str, &str); 3] =
    [("rubric", "rubrics"), ("llm-judge", "llm-grader"), ("code-judge", "code-grader")];

impl Kind {
    /// Returns the current name of the type.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Custom { name, .. } => name,
            built_in => TYPES.iter().find(|(_, kind)| kind == built_in).map_or("", |(name, _)| name),
        }
    }

    /// Returns the type with its article, for messages.
    pub(super) const fn what(&self) -> &'static str {
        match self {
            Self::Rubrics => "a rubrics grader",
            Self::Llm => "an LLM grader",
            Self::Pairwise => "a pairwise grader",
            Self::Code => "a code grader",
            Self::Composite => "a composite",
            Self::Text(_) => "a text check",
            Self::IsJson => "a JSON check",
            Self::FieldAccuracy => "a field-accuracy grader",
            Self::ToolTrajectory => "a tool-trajectory grader",
            Self::Latency => "a latency limit",
            Self::Cost => "a cost limit",
            Self::TokenUsage => "a token limit",
            Self::ExecutionMetrics => "an execution-metrics grader",
            Self::SkillTrigger => "a skill-trigger grader",
            Self::Custom { .. } => "a grader",
        }
    }
}

/// Returns the built-in type of a name in any spelling, and true if the name is an older one.
pub(super) fn built_in(name: &str) -> Option<(Kind, bool)> {
    let folded = fold(name);
    let present = OLDER.iter().find(|(older, _)| *older == folded).map(|(_, present)| *present);
    let wanted = present.unwrap_or(&folded);
    TYPES.iter().find(|(name, _)| *name == wanted).map(|(_, kind)| (kind.clone(), present.is_some()))
}

/// Resolves a type name. Returns `None` after adding a diagnostic. The older name of a judge is accepted for
/// a grader with criteria, which is a rubric; the caller reports that.
pub(super) fn resolve(
    cx: &mut Context,
    written: &Spanned<String>,
    format: Format,
    has_criteria: bool,
) -> Option<Kind> {
    let name = written.value.trim();
    if let Some((kind, is_older)) = built_in(name) {
        if is_older && format == Format::Two && !(has_criteria && kind == Kind::Llm) {
            let present = kind.name().to_owned();
            cx.problems.add(older(written.span, name, &present));
        }
        return Some(kind);
    }
    if let Some(path) = custom::find(cx, name, written.span) {
        return Some(Kind::Custom { name: name.to_owned(), path });
    }
    let diagnostic = refused(name, written.span).unwrap_or_else(|| unknown(name, written));
    cx.problems.add(diagnostic);
    None
}

fn unknown(name: &str, written: &Spanned<String>) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        codes::UNKNOWN_GRADER,
        format!("there is no grader type `{name}`"),
        written.span,
        "unknown type",
    );
    let names = TYPES.iter().map(|(name, _)| *name).chain(OLDER.iter().map(|(older, _)| *older));
    if let Some(near) = did_you_mean(name, names) {
        let near = built_in(near).map_or_else(|| near.to_owned(), |(kind, _)| kind.name().to_owned());
        diagnostic.with_help(format!("did you mean `{near}`?")).with_suggestion(
            "use this type",
            written.span,
            near,
        )
    } else {
        let names: Vec<String> = TYPES.iter().map(|(name, _)| format!("`{name}`")).collect();
        diagnostic.with_help(format!("types: {}", names.join(", "))).with_help(format!(
            "for a grader of your own, put a program at `.assize/graders/{name}` beside the suite or above it"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::grader::testing::{codes, graders};

    #[test]
    fn every_type_is_known_in_both_spellings() {
        for (name, kind) in &TYPES {
            assert_eq!(built_in(name), Some((kind.clone(), false)));
            assert_eq!(built_in(&name.replace('-', "_")), Some((kind.clone(), false)));
            assert_eq!(kind.name(), *name);
        }
        assert_eq!(built_in("llm_judge"), Some((Kind::Llm, true)));
        assert_eq!(built_in("code_judge"), Some((Kind::Code, true)));
    }

    #[test]
    fn older_names_are_noted_in_format_two_only() {
        let text = "- {name: a, type: code_judge, script: [x]}\n";
        assert!(graders(text, Format::One).1.is_empty());
        assert_eq!(codes(text), ["W0301", "W0301"]);
    }

    #[test]
    fn unknown_types_are_refused_with_the_nearest_one() {
        let (graders, problems) = graders("- type: tool_trajectori\n", Format::Two);
        assert!(graders.is_empty());
        assert_eq!(problems[0].code, codes::UNKNOWN_GRADER);
        assert_eq!(problems[0].suggestion.as_ref().map(|s| s.replacement.as_str()), Some("tool-trajectory"));
        assert_eq!(codes("- type: gestalt\n"), ["E0301"]);
    }
}
