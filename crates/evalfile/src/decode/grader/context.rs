//! Decoder of graders for answers that are based on a context: `context-recall`, `context-relevance`,
//! `context-faithfulness` and `answer-relevance`.

use assize_diagnostic::Diagnostic;
use assize_document::{MapReader, NodeValue, TreeNode, check_not_blank, codes, string, wrong_type};
use assize_model::{
    AnswerRelevanceCheck, CodeLanguage, ContextGrader, ContextMeasure, ContextSource, GraderKind,
};

use super::panel::{PanelUse, decode_panel};
use super::rubrics::{decode_evidence, decode_judge, decode_judging, decode_truncate};
use super::script::read_code;
use super::shared::missing_key;
use crate::decode::DecodeContext;

/// Which statements a type of grader decides on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContextType {
    Recall,
    Relevance,
    Faithfulness,
}

/// Decodes the keys of the `context-...` types.
pub(super) fn decode_context(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    kind: ContextType,
) -> Option<GraderKind> {
    let errors = cx.problems.error_count();
    let measure = match kind {
        ContextType::Recall => {
            let expected = object.value("value").and_then(|node| {
                let text = string(node, "value", &mut cx.problems)?;
                check_not_blank(text, "value", &mut cx.problems)
            });
            if expected.is_none() && cx.problems.error_count() == errors {
                let example = "value: the answer that the context should support";
                cx.problems.add(missing_key(object.head(), "`context-recall`", "value", example));
            }
            ContextMeasure::Recall { expected: expected.map(|text| text.value).unwrap_or_default() }
        }
        ContextType::Relevance => ContextMeasure::Relevance,
        ContextType::Faithfulness => ContextMeasure::Faithfulness,
    };
    let context = decode_source(cx, object, kind);
    let query = object.text("query", &mut cx.problems).map(|query| query.value);
    let judging = decode_judging(cx, object);
    let evidence = decode_evidence(cx, object);
    let truncate = decode_truncate(cx, object);
    let judge = decode_judge(cx, object);
    let panel = decode_panel(cx, object, PanelUse::Rubrics { judge: judge.as_deref(), judging });

    let context = context?;
    (cx.problems.error_count() == errors).then_some(GraderKind::Context(ContextGrader {
        measure,
        context,
        query,
        judging,
        evidence,
        truncate,
        judge,
        panel,
    }))
}

/// Decodes `context_transform`, else `context`.
fn decode_source(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    kind: ContextType,
) -> Option<ContextSource> {
    let context = object.value("context");
    if let Some(node) = object.value("context_transform") {
        return read_code(cx, node, "context_transform", CodeLanguage::JavaScript).map(ContextSource::Code);
    }

    match context {
        Some(node) => decode_texts(cx, node),
        None if kind == ContextType::Recall => Some(ContextSource::Question),
        None => {
            Diagnostic::error(codes::MISSING_SETTING, "there is no context to compare with")
                .at(object.head(), "no `context` here")
                .with_help(
                    "write `context: TEXT`, a list of passages, or `context_transform`; in promptfoo's files, a variable \
                     `context` or `contextTransform`",
                )
                .reject_in(&mut cx.problems)
        }
    }
}

fn decode_texts(cx: &mut DecodeContext, node: &TreeNode) -> Option<ContextSource> {
    let mut text = |node: &TreeNode| {
        let text = string(node, "context", &mut cx.problems)?;
        check_not_blank(text, "context", &mut cx.problems).map(|text| text.value)
    };
    match &node.data {
        NodeValue::Str(_) => text(node).map(ContextSource::Text),
        NodeValue::Seq(items) if !items.is_empty() => {
            let passages: Option<Vec<String>> = items.iter().map(text).collect();
            passages.map(ContextSource::Passages)
        }
        _ => cx.problems.reject(wrong_type(node, "`context`", "a text or a list of texts")),
    }
}

/// Decodes the keys of `type: answer-relevance`.
pub(super) fn decode_answer_relevance(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
) -> Option<GraderKind> {
    let errors = cx.problems.error_count();
    let query = object.text("query", &mut cx.problems).map(|query| query.value);
    let threshold = object.number("threshold", &mut cx.problems).map(|threshold| threshold.value);
    let judge = object.text("judge", &mut cx.problems).map(|judge| judge.value);
    let model = object.text("embedding", &mut cx.problems).map(|model| model.value);

    (cx.problems.error_count() == errors).then_some(GraderKind::AnswerRelevance(AnswerRelevanceCheck {
        query,
        threshold: threshold.unwrap_or(AnswerRelevanceCheck::THRESHOLD),
        judge,
        model,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::snippets::{codes, one};

    fn context(text: &str) -> ContextGrader {
        let GraderKind::Context(grader) = &one(text).kind else { panic!("about a context") };
        grader.clone()
    }

    #[test]
    fn a_context_is_a_text_passages_or_code() {
        let recall = context("- {type: context-recall, value: Paris., context: [a, b], judging: batched}\n");
        assert_eq!(recall.measure, ContextMeasure::Recall { expected: "Paris.".to_owned() });
        assert_eq!(recall.context, ContextSource::Passages(vec!["a".to_owned(), "b".to_owned()]));
        assert!(recall.judging.is_some());
        assert_eq!(context("- {type: context-recall, value: a}\n").context, ContextSource::Question);

        let relevance = context("- {type: context_relevance, context: a b., query: q, judge: j}\n");
        assert_eq!(relevance.context, ContextSource::Text("a b.".to_owned()));
        assert_eq!((relevance.query.as_deref(), relevance.judge.as_deref()), (Some("q"), Some("j")));
        let code =
            context("- {type: context-faithfulness, context: a, context_transform: output.passages}\n");
        assert!(matches!(code.context, ContextSource::Code(_)));
    }

    #[test]
    fn slips_are_noticed() {
        for (text, code) in [
            ("context-recall, context: a", "E0304"),
            ("context-recall, value: ' '", "E0107"),
            ("context-relevance", "E0304"),
            ("context-faithfulness, context: []", "E0105"),
            ("context-faithfulness, context: [a, 1]", "E0105"),
            ("context-faithfulness, context_transform: 'output['", "E0319"),
            ("context-faithfulness, context: a, value: b", "E0103"),
            ("answer-relevance, threshold: high", "E0105"),
        ] {
            assert_eq!(codes(&format!("- {{type: {text}}}\n")), [code], "{text}");
        }
        let GraderKind::AnswerRelevance(check) = &one("- {type: answer-relevance}\n").kind else {
            panic!("one")
        };
        assert_eq!(check.threshold, 0.5);
    }
}
