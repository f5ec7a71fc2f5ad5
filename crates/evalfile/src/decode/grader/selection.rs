//! Decoders of `select-best` and `max-score`, which compare all answers to a case.

use std::collections::BTreeMap;

use assize_diagnostic::Diagnostic;
use assize_document::{MapReader, TreeNode, check_not_blank, codes, number, wrong_type};
use assize_model::{AnswerSelection, AnswerTransform, BestAnswerRule, Grader, GraderKind, MaxScoreRule};

use super::panel::{PanelUse, decode_panel};
use super::rubrics::decode_judge;
use super::shared::{decode_choice, missing_key, unused_key};
use crate::decode::DecodeContext;

/// Decodes the keys of `type: select-best`.
pub(super) fn decode_select_best(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<GraderKind> {
    let errors = cx.problems.error_count();
    if !object.has("criteria") {
        cx.problems.add(missing_key(object.head(), "`select-best`", "criteria", "criteria: Is the clearest"));
    }
    let criteria: Vec<String> = object
        .strings("criteria", &mut cx.problems)
        .into_iter()
        .filter_map(|text| check_not_blank(text, "criteria", &mut cx.problems))
        .map(|text| text.value)
        .collect();
    if criteria.is_empty() && cx.problems.error_count() == errors {
        Diagnostic::error(codes::EMPTY_TEXT, "`select-best` has no criteria")
            .at(object.head(), "nothing to compare answers by")
            .with_help("say under `criteria` what makes an answer the best one")
            .add_to(&mut cx.problems);
    }

    let judge = decode_judge(cx, object);
    let panel = decode_panel(cx, object, PanelUse::Llm { judge: judge.as_deref() });
    let rule = BestAnswerRule { criteria, judge, panel };

    (cx.problems.error_count() == errors).then_some(GraderKind::Selection(AnswerSelection::Best(rule)))
}

/// Decodes the keys of `type: max-score`.
pub(super) fn decode_max_score(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<GraderKind> {
    let errors = cx.problems.error_count();
    let method = object
        .value("method")
        .and_then(|node| decode_choice(node, "method", &["average", "sum"], &mut cx.problems));
    let weights = object.value("weights").map(|node| decode_weights(cx, node)).unwrap_or_default();
    let threshold = object.number("threshold", &mut cx.problems).map(|threshold| threshold.value);
    let rule = MaxScoreRule { sums: method == Some("sum"), weights, threshold };

    (cx.problems.error_count() == errors).then_some(GraderKind::Selection(AnswerSelection::MaxScore(rule)))
}

/// Reports a `transform`, because the answers are compared as the case's own transforms left them.
pub(super) fn refuse_transform(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
) -> Option<AnswerTransform> {
    let entry = object.entry("transform").filter(|entry| !entry.value.is_null())?;
    unused_key(
        entry.key_span,
        "a choice among answers does not use `transform`",
        "change the answers for all graders, by the `transform` of the case or its target",
    )
    .reject_in(&mut cx.problems)
}

fn decode_weights(cx: &mut DecodeContext, node: &TreeNode) -> BTreeMap<String, f64> {
    let Some(entries) = node.as_map() else {
        cx.problems.add(wrong_type(node, "`weights`", "a map of graders and numbers"));
        return BTreeMap::new();
    };

    let mut weights = BTreeMap::new();
    for entry in entries {
        let Some(weight) = number(&entry.value, "weights", &mut cx.problems) else { continue };
        if weight.value < 0.0 {
            Diagnostic::error(codes::OUT_OF_RANGE, format!("the weight of `{}` is negative", entry.key))
                .at(weight.span, "below 0")
                .with_help("write 0 or more")
                .add_to(&mut cx.problems);
        }
        weights.insert(entry.key.clone(), weight.value);
    }

    weights
}

/// Reports graders that compare all answers to a case where only one answer, or a part of one, is graded.
pub(crate) fn refuse_selection<'g>(
    cx: &mut DecodeContext,
    list: &TreeNode,
    graders: impl IntoIterator<Item = &'g Grader>,
    place: &str,
) {
    for grader in graders {
        if matches!(grader.kind, GraderKind::Selection(_)) {
            Diagnostic::error(
                codes::NOT_SUPPORTED,
                format!("`{}` can't be used in {place}", grader.type_name),
            )
            .at(list.use_span(), "compares whole answers to the case")
            .with_help("move it to the assertions of the case")
            .add_to(&mut cx.problems);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::snippets::{codes, one};

    fn read(text: &str) -> AnswerSelection {
        let grader = one(text);
        let GraderKind::Selection(selection) = &grader.kind else { panic!("a selection") };
        selection.clone()
    }

    #[test]
    fn settings_of_both_types_are_read() {
        let AnswerSelection::Best(best) =
            read("- {type: select-best, criteria: [Is brief, Is right], judge: big, panel: {repeats: 2}}\n")
        else {
            panic!("by a judge")
        };
        assert_eq!((best.criteria.len(), best.judge.as_deref()), (2, Some("big")));
        assert_eq!(best.panel.repeats, Some(2));

        assert_eq!(
            read("- {type: max-score}\n"),
            AnswerSelection::MaxScore(MaxScoreRule {
                sums: false,
                weights: BTreeMap::new(),
                threshold: None
            })
        );
        let weights = BTreeMap::from([("is-json".to_owned(), 2.0)]);
        assert_eq!(
            read("- {type: max_score, method: sum, weights: {is-json: 2}, threshold: 0.7}\n"),
            AnswerSelection::MaxScore(MaxScoreRule { sums: true, weights, threshold: Some(0.7) })
        );
    }

    #[test]
    fn slips_are_noticed() {
        for (text, code) in [
            ("select-best", "E0304"),
            ("select-best, criteria: []", "E0107"),
            ("select-best, criteria: ' '", "E0107"),
            ("select-best, criteria: a, criterion: b", "E0103"),
            ("max-score, method: median", "E0307"),
            ("max-score, weights: [1]", "E0105"),
            ("max-score, weights: {a: -1}", "E0106"),
            ("max-score, threshold: high", "E0105"),
            ("max-score, transform: output.trim()", "E0306"),
            ("composite, assertions: [{name: a, type: max-score}]", "E0414"),
        ] {
            assert_eq!(codes(&format!("- {{type: {text}}}\n")), [code], "{text}");
        }
    }
}
