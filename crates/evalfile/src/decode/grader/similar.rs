//! Decoder of `similar`, which compares the meaning of the answer with texts.

use assize_diagnostic::Diagnostic;
use assize_document::{MapReader, NodeValue, check_not_blank, codes, string};
use assize_model::{GraderKind, SimilarityCheck, SimilarityMeasure};

use super::shared::{decode_choice, missing_key};
use crate::decode::DecodeContext;

/// Decodes the keys of `type: similar`.
pub(super) fn decode_similar(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<GraderKind> {
    let errors = cx.problems.error_count();
    let mut texts = Vec::new();
    match object.value("value") {
        None => {
            missing_key(object.head(), "`similar`", "value", "value: a text that says the same")
                .add_to(&mut cx.problems);
        }
        Some(node) => {
            let items = match &node.data {
                NodeValue::Seq(items) => items.as_slice(),
                _ => std::slice::from_ref(node),
            };
            for item in items {
                let text = string(item, "value", &mut cx.problems)
                    .and_then(|text| check_not_blank(text, "value", &mut cx.problems));
                texts.extend(text.map(|text| text.value));
            }
            if items.is_empty() {
                Diagnostic::error(codes::EMPTY_TEXT, "`similar` has no texts")
                    .at(node.use_span(), "an empty list")
                    .with_help("list the texts to compare the answer with")
                    .add_to(&mut cx.problems);
            }
        }
    }

    let measure = object
        .value("measure")
        .and_then(|node| decode_choice(node, "measure", &SimilarityMeasure::NAMES, &mut cx.problems))
        .and_then(SimilarityMeasure::from_name);
    let threshold = object.number("threshold", &mut cx.problems).map(|threshold| threshold.value);
    let model = object.text("target", &mut cx.problems).map(|model| model.value);

    (cx.problems.error_count() == errors).then_some(GraderKind::Similar(SimilarityCheck {
        texts,
        measure: measure.unwrap_or_default(),
        threshold: threshold.unwrap_or(SimilarityCheck::THRESHOLD),
        model,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::snippets::{codes, one};

    #[test]
    fn texts_measure_and_model_are_read() {
        let grader = one("- {type: similar, value: [a, b], measure: dot, threshold: 0.5, target: e}\n");
        let GraderKind::Similar(check) = &grader.kind else { panic!("a comparison of meaning") };
        assert_eq!((check.texts.len(), check.measure), (2, SimilarityMeasure::Dot));
        assert_eq!((check.threshold, check.model.as_deref()), (0.5, Some("e")));

        let usual = one("- {type: similar, value: a}\n");
        let GraderKind::Similar(check) = &usual.kind else { panic!("a comparison of meaning") };
        assert_eq!((check.threshold, check.measure), (0.75, SimilarityMeasure::Cosine));
    }

    #[test]
    fn slips_are_noticed() {
        for (text, code) in [
            ("similar", "E0304"),
            ("similar, value: []", "E0107"),
            ("similar, value: ' '", "E0107"),
            ("similar, value: a, measure: manhattan", "E0307"),
            ("similar, value: a, threshold: high", "E0105"),
        ] {
            assert_eq!(codes(&format!("- {{type: {text}}}\n")), [code], "{text}");
        }
    }
}
