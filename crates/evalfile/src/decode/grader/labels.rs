//! Decoder of `moderation` and `classifier`, which check the labels that a model assigns to an answer.

use assize_document::{MapReader, NodeValue, TreeNode, check_not_blank, string};
use assize_model::{GraderKind, LabelCheck, LabelRule};

use super::shared::missing_key;
use crate::decode::DecodeContext;

/// Decodes the keys of `type: moderation`.
pub(super) fn decode_moderation(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<GraderKind> {
    let errors = cx.problems.error_count();
    let items = match object.value("value").filter(|node| !node.is_null()) {
        None => &[][..],
        Some(TreeNode { data: NodeValue::Seq(items), .. }) => items.as_slice(),
        Some(node) => std::slice::from_ref(node),
    };
    let mut categories = Vec::new();
    for item in items {
        let text = string(item, "value", &mut cx.problems)
            .and_then(|text| check_not_blank(text, "value", &mut cx.problems));
        categories.extend(text.map(|text| text.value.trim().to_owned()));
    }
    let model = object.text("target", &mut cx.problems).map(|model| model.value);

    (cx.problems.error_count() == errors)
        .then_some(GraderKind::Labels(LabelCheck { rule: LabelRule::Moderation { categories }, model }))
}

/// Decodes the keys of `type: classifier`.
pub(super) fn decode_classifier(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<GraderKind> {
    let errors = cx.problems.error_count();
    let class = object.text("value", &mut cx.problems).map(|class| class.value.trim().to_owned());
    let threshold = object.number("threshold", &mut cx.problems).map(|threshold| threshold.value);
    let head = object.head();
    let model = object.text("target", &mut cx.problems).map(|model| model.value);
    if model.is_none() && cx.problems.error_count() == errors {
        missing_key(head, "`classifier`", "target", "target: huggingface-classifier:OWNER/MODEL")
            .add_to(&mut cx.problems);
    }

    let threshold = threshold.unwrap_or(LabelRule::THRESHOLD);
    (cx.problems.error_count() == errors)
        .then_some(GraderKind::Labels(LabelCheck { rule: LabelRule::Classifier { class, threshold }, model }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::snippets::{codes, one};

    fn check(text: &str) -> LabelCheck {
        match &one(&format!("- {{type: {text}}}\n")).kind {
            GraderKind::Labels(check) => check.clone(),
            other => panic!("a check of labels, not {other:?}"),
        }
    }

    #[test]
    fn categories_classes_and_models_are_read() {
        let LabelCheck { rule, model } = check("moderation, value: [hate, violence], target: m");
        let categories = ["hate", "violence"].map(str::to_owned).to_vec();
        assert_eq!((rule, model.as_deref()), (LabelRule::Moderation { categories }, Some("m")));
        assert_eq!(check("moderation").model(), LabelCheck::MODERATION_MODEL);

        let rule = |class: Option<&str>, threshold| LabelRule::Classifier {
            class: class.map(str::to_owned),
            threshold,
        };
        assert_eq!(check("classifier, value: nice, threshold: 0.5, target: m").rule, rule(Some("nice"), 0.5));
        assert_eq!(check("classifier, target: m").rule, rule(None, 1.0));
    }

    #[test]
    fn slips_are_noticed() {
        for (text, code) in [
            ("classifier", "E0304"),
            ("classifier, target: m, threshold: high", "E0105"),
            ("classifier, target: m, value: [a]", "E0105"),
            ("moderation, value: ' '", "E0107"),
            ("moderation, value: {a: b}", "E0105"),
            ("moderation, threshold: 1", "E0103"),
        ] {
            assert_eq!(codes(&format!("- {{type: {text}}}\n")), [code], "{text}");
        }
    }
}
