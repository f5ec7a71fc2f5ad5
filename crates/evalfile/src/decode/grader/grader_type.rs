//! Grader types and their names.

use std::path::PathBuf;

use super::context::ContextType;
use super::shared::normalize_word;

/// A resolved grader type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum GraderType {
    Rubrics,
    Llm,
    Pairwise,
    Code,
    Composite,
    /// A text check, with its current name.
    Text(&'static str),
    IsJson,
    ContainsJson,
    IsSql,
    ContainsSql,
    FieldAccuracy,
    ToolTrajectory,
    Latency,
    Cost,
    TokenUsage,
    ExecutionMetrics,
    SkillTrigger,
    JavaScript,
    Python,
    Ruby,
    Similar,
    Moderation,
    Classifier,
    Context(ContextType),
    AnswerRelevance,
    SelectBest,
    MaxScore,
    Custom {
        name: String,
        path: PathBuf,
    },
}

/// Every built-in type, by its current name.
pub(super) const TYPES: [(&str, GraderType); 38] = [
    ("rubrics", GraderType::Rubrics),
    ("llm-grader", GraderType::Llm),
    ("pairwise", GraderType::Pairwise),
    ("code-grader", GraderType::Code),
    ("composite", GraderType::Composite),
    ("contains", GraderType::Text("contains")),
    ("contains-any", GraderType::Text("contains-any")),
    ("contains-all", GraderType::Text("contains-all")),
    ("icontains", GraderType::Text("icontains")),
    ("icontains-any", GraderType::Text("icontains-any")),
    ("icontains-all", GraderType::Text("icontains-all")),
    ("starts-with", GraderType::Text("starts-with")),
    ("ends-with", GraderType::Text("ends-with")),
    ("equals", GraderType::Text("equals")),
    ("regex", GraderType::Text("regex")),
    ("is-json", GraderType::IsJson),
    ("contains-json", GraderType::ContainsJson),
    ("is-sql", GraderType::IsSql),
    ("contains-sql", GraderType::ContainsSql),
    ("field-accuracy", GraderType::FieldAccuracy),
    ("tool-trajectory", GraderType::ToolTrajectory),
    ("latency", GraderType::Latency),
    ("cost", GraderType::Cost),
    ("token-usage", GraderType::TokenUsage),
    ("execution-metrics", GraderType::ExecutionMetrics),
    ("skill-trigger", GraderType::SkillTrigger),
    ("javascript", GraderType::JavaScript),
    ("python", GraderType::Python),
    ("ruby", GraderType::Ruby),
    ("similar", GraderType::Similar),
    ("moderation", GraderType::Moderation),
    ("classifier", GraderType::Classifier),
    ("context-recall", GraderType::Context(ContextType::Recall)),
    ("context-relevance", GraderType::Context(ContextType::Relevance)),
    ("context-faithfulness", GraderType::Context(ContextType::Faithfulness)),
    ("answer-relevance", GraderType::AnswerRelevance),
    ("select-best", GraderType::SelectBest),
    ("max-score", GraderType::MaxScore),
];

/// Older names, with the current ones.
pub(super) const OLDER_NAMES: [(&str, &str); 3] =
    [("rubric", "rubrics"), ("llm-judge", "llm-grader"), ("code-judge", "code-grader")];

impl GraderType {
    /// Returns the current name of the type.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Custom { name, .. } => name,
            built_in => TYPES.iter().find(|(_, kind)| kind == built_in).map_or("", |(name, _)| name),
        }
    }

    /// Returns the type with its article, for messages.
    pub(super) const fn name_with_article(&self) -> &'static str {
        match self {
            Self::Rubrics => "a rubrics grader",
            Self::Llm => "an LLM grader",
            Self::Pairwise => "a pairwise grader",
            Self::Code => "a code grader",
            Self::Composite => "a composite",
            Self::Text(_) => "a text check",
            Self::IsJson | Self::ContainsJson => "a JSON check",
            Self::IsSql | Self::ContainsSql => "an SQL check",
            Self::FieldAccuracy => "a field-accuracy grader",
            Self::ToolTrajectory => "a tool-trajectory grader",
            Self::Latency => "a latency limit",
            Self::Cost => "a cost limit",
            Self::TokenUsage => "a token limit",
            Self::ExecutionMetrics => "an execution-metrics grader",
            Self::SkillTrigger => "a skill-trigger grader",
            Self::JavaScript | Self::Python | Self::Ruby => "a script",
            Self::Similar => "a comparison of meaning",
            Self::Moderation => "a moderation grader",
            Self::Classifier => "a classifier",
            Self::Context(ContextType::Recall) => "a context-recall grader",
            Self::Context(_) => "a context grader",
            Self::AnswerRelevance => "an answer-relevance grader",
            Self::SelectBest => "a choice by a judge",
            Self::MaxScore => "a choice by score",
            Self::Custom { .. } => "a grader",
        }
    }
}

/// Returns the built-in type with a name, in any spelling, and true if the name is an older one.
pub(super) fn find_built_in(name: &str) -> Option<(GraderType, bool)> {
    let folded = normalize_word(name);
    let present = OLDER_NAMES.iter().find(|(older, _)| *older == folded).map(|(_, present)| *present);
    let wanted = present.unwrap_or(&folded);
    TYPES.iter().find(|(name, _)| *name == wanted).map(|(_, kind)| (kind.clone(), present.is_some()))
}

/// Returns true if a name is that of a text check or of the JSON check, in any spelling.
pub fn is_text_check(name: &str) -> bool {
    matches!(
        find_built_in(name),
        Some((GraderType::Text(_) | GraderType::IsJson | GraderType::ContainsJson, _))
    )
}

#[cfg(test)]
mod tests {
    use assize_document::codes;
    use assize_model::EvalFileFormat;

    use super::*;
    use crate::decode::grader::testing::{codes, graders};

    #[test]
    fn every_type_is_known_in_both_spellings() {
        for (name, kind) in &TYPES {
            assert_eq!(find_built_in(name), Some((kind.clone(), false)));
            assert_eq!(find_built_in(&name.replace('-', "_")), Some((kind.clone(), false)));
            assert_eq!(kind.name(), *name);
        }
        assert_eq!(find_built_in("llm_judge"), Some((GraderType::Llm, true)));
        assert_eq!(find_built_in("code_judge"), Some((GraderType::Code, true)));
    }

    #[test]
    fn older_names_are_noted_in_format_two_only() {
        let text = "- {name: a, type: code_judge, script: [x]}\n";
        assert!(graders(text, EvalFileFormat::One).1.is_empty());
        assert_eq!(codes(text), ["W0301", "W0301"]);
    }

    #[test]
    fn unknown_types_are_refused_with_the_nearest_one() {
        let (graders, problems) = graders("- type: tool_trajectori\n", EvalFileFormat::Two);
        assert!(graders.is_empty());
        assert_eq!(problems[0].code, codes::UNKNOWN_GRADER);
        assert_eq!(problems[0].suggestion.as_ref().map(|s| s.replacement.as_str()), Some("tool-trajectory"));
        assert_eq!(codes("- type: gestalt\n"), ["E0301"]);
    }
}
