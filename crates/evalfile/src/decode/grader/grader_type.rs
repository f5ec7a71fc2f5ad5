//! The table of built-in grader types.

use assize_document::MapReader;
use assize_model::{CodeLanguage, GraderKind};

use super::assertion_context::AssertionContext;
use super::context::ContextType;
use super::shared::normalize_word;
use super::{
    code, composite, context, json, labels, llm, metrics, pairwise, rubrics, script, selection, similar, sql,
    text, trajectory,
};
use crate::decode::DecodeContext;

/// A built-in type: its name, how messages call it, and how its settings are decoded.
pub(super) struct GraderType {
    /// The current name.
    pub(super) name: &'static str,
    /// The type with its article, for messages.
    pub(super) label: &'static str,
    /// Decodes the keys that only this type has.
    pub(super) decode: DecodeGrader,
}

/// Decodes the settings of a grader. The last argument is the position of its lists among templates.
type DecodeGrader = fn(&mut DecodeContext, &mut MapReader<'_>, &AssertionContext) -> Option<GraderKind>;

/// The judge that gives a whole answer one score.
pub(super) const LLM: &str = "llm-grader";

/// A grading program.
pub(super) const CODE: &str = "code-grader";

const fn row(name: &'static str, label: &'static str, decode: DecodeGrader) -> GraderType {
    GraderType { name, label, decode }
}

/// Criteria that a judge decides.
pub(super) const RUBRICS: GraderType =
    row("rubrics", "a rubrics grader", |cx, object, _| rubrics::decode_rubrics(cx, object));

/// Every built-in type.
pub(super) const TYPES: &[GraderType] = &[
    RUBRICS,
    row(LLM, "an LLM grader", |cx, object, _| llm::decode_llm_grader(cx, object)),
    row("pairwise", "a pairwise grader", |cx, object, _| pairwise::decode_pairwise(cx, object)),
    row(CODE, "a code grader", code::decode_code_grader),
    row("composite", "a composite", composite::decode_composite),
    row("contains", "a text check", |cx, object, _| text::decode_text_check(cx, object, "contains")),
    row("contains-any", "a text check", |cx, object, _| text::decode_text_check(cx, object, "contains-any")),
    row("contains-all", "a text check", |cx, object, _| text::decode_text_check(cx, object, "contains-all")),
    row("icontains", "a text check", |cx, object, _| text::decode_text_check(cx, object, "icontains")),
    row("icontains-any", "a text check", |cx, object, _| {
        text::decode_text_check(cx, object, "icontains-any")
    }),
    row("icontains-all", "a text check", |cx, object, _| {
        text::decode_text_check(cx, object, "icontains-all")
    }),
    row("starts-with", "a text check", |cx, object, _| text::decode_text_check(cx, object, "starts-with")),
    row("ends-with", "a text check", |cx, object, _| text::decode_text_check(cx, object, "ends-with")),
    row("equals", "a text check", |cx, object, _| text::decode_text_check(cx, object, "equals")),
    row("regex", "a text check", |cx, object, _| text::decode_text_check(cx, object, "regex")),
    row("is-json", "a JSON check", |cx, object, _| json::decode_is_json(cx, object, false)),
    row("contains-json", "a JSON check", |cx, object, _| json::decode_is_json(cx, object, true)),
    row("is-sql", "an SQL check", |cx, object, _| sql::decode_sql(cx, object, false)),
    row("contains-sql", "an SQL check", |cx, object, _| sql::decode_sql(cx, object, true)),
    row("field-accuracy", "a field-accuracy grader", |cx, object, _| json::decode_field_accuracy(cx, object)),
    row("tool-trajectory", "a tool-trajectory grader", |cx, object, _| {
        trajectory::decode_trajectory(cx, object)
    }),
    row("latency", "a latency limit", |cx, object, _| metrics::decode_latency(cx, object)),
    row("cost", "a cost limit", |cx, object, _| metrics::decode_cost(cx, object)),
    row("token-usage", "a token limit", |cx, object, _| metrics::decode_token_usage(cx, object)),
    row("execution-metrics", "an execution-metrics grader", |cx, object, _| {
        metrics::decode_execution_metrics(cx, object)
    }),
    row("skill-trigger", "a skill-trigger grader", |cx, object, _| metrics::decode_skill_trigger(cx, object)),
    row("javascript", "a script", |cx, object, _| {
        script::decode_script(cx, object, CodeLanguage::JavaScript)
    }),
    row("python", "a script", |cx, object, _| script::decode_script(cx, object, CodeLanguage::Python)),
    row("ruby", "a script", |cx, object, _| script::decode_script(cx, object, CodeLanguage::Ruby)),
    row("similar", "a comparison of meaning", |cx, object, _| similar::decode_similar(cx, object)),
    row("moderation", "a moderation grader", |cx, object, _| labels::decode_moderation(cx, object)),
    row("classifier", "a classifier", |cx, object, _| labels::decode_classifier(cx, object)),
    row("context-recall", "a context-recall grader", |cx, object, _| {
        context::decode_context(cx, object, ContextType::Recall)
    }),
    row("context-relevance", "a context grader", |cx, object, _| {
        context::decode_context(cx, object, ContextType::Relevance)
    }),
    row("context-faithfulness", "a context grader", |cx, object, _| {
        context::decode_context(cx, object, ContextType::Faithfulness)
    }),
    row("answer-relevance", "an answer-relevance grader", |cx, object, _| {
        context::decode_answer_relevance(cx, object)
    }),
    row("select-best", "a choice by a judge", |cx, object, _| selection::decode_select_best(cx, object)),
    row("max-score", "a choice by score", |cx, object, _| selection::decode_max_score(cx, object)),
];

/// Older names, with the current ones.
pub(super) const OLDER_NAMES: [(&str, &str); 3] =
    [("rubric", RUBRICS.name), ("llm-judge", LLM), ("code-judge", CODE)];

/// Returns the built-in type with a name, in any spelling, and true if the name is an older one.
pub(super) fn find_built_in(name: &str) -> Option<(&'static GraderType, bool)> {
    let folded = normalize_word(name);
    let present = OLDER_NAMES.iter().find(|(older, _)| *older == folded).map(|(_, present)| *present);
    let wanted = present.unwrap_or(&folded);
    TYPES.iter().find(|kind| kind.name == wanted).map(|kind| (kind, present.is_some()))
}

/// Returns true if a name means a text check or the JSON check, in any spelling.
pub fn is_text_check(name: &str) -> bool {
    find_built_in(name).is_some_and(|(kind, _)| matches!(kind.label, "a text check" | "a JSON check"))
}

#[cfg(test)]
mod tests {
    use assize_document::codes;
    use assize_model::EvalFileFormat;

    use super::*;
    use crate::tests::snippets::{codes, graders};

    #[test]
    fn every_type_is_known_in_both_spellings() {
        let found = |name: &str| find_built_in(name).map(|(kind, is_older)| (kind.name, is_older));
        for GraderType { name, .. } in TYPES {
            assert_eq!(found(name), Some((*name, false)));
            assert_eq!(found(&name.replace('-', "_")), Some((*name, false)));
        }
        assert_eq!(found("llm_judge"), Some((LLM, true)));
        assert_eq!(found("code_judge"), Some((CODE, true)));
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
