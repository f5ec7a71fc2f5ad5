//! Decoder of a scoring scale other than 0 to 1.

use assize_diagnostic::Diagnostic;
use assize_document::{MapReader, TreeNode, codes, string};
use assize_evalfile::reading::DecodeContext;
use assize_model::ScoringScale;
use assize_rubric::{NormalisationFormula, format_plain};

/// Number of steps in which a formula is tried between the ends of its scale. The whole scores of usual scales are
/// among them, and their halves.
const SCALE_SAMPLES: u32 = 1200;

/// Decodes `scoring_scale` and checks that its formula maps the whole scale to 0..1.
pub(super) fn decode_scale(cx: &mut DecodeContext, node: &TreeNode) -> Option<ScoringScale> {
    let mut object = MapReader::new(node, "a scoring scale", &mut cx.problems)?;
    let errors = cx.problems.error_count();
    let low = object.number("min_value", &mut cx.problems);
    let high = object.number("max_value", &mut cx.problems);
    let (min, max) =
        (low.as_ref().map_or(0.0, |low| low.value), high.as_ref().map_or(1.0, |high| high.value));
    if min >= max {
        let at = high.as_ref().or(low.as_ref()).map_or(object.head(), |value| value.span);
        Diagnostic::error(codes::BAD_SCALE, "`min_value` is not below `max_value`")
            .at(at, format!("from {min} to {max}"))
            .with_help("`min_value` is the lowest score, `max_value` the highest")
            .add_to(&mut cx.problems);
    }

    let mut descriptions = Vec::new();
    if let Some(node) = object.value("descriptions") {
        if let Some(entries) = node.as_map() {
            for entry in entries {
                let score =
                    entry.key.trim().parse::<f64>().ok().filter(|score| *score >= min && *score <= max);
                let text = string(&entry.value, "descriptions", &mut cx.problems);
                match (score, text) {
                    (Some(score), Some(text)) => descriptions.push((score, text.value)),
                    (None, _) => Diagnostic::error(
                        codes::BAD_SCALE,
                        "a description does not belong to a score of the scale",
                    )
                    .at(entry.key_span, format!("not a number from {min} to {max}"))
                    .with_help("write the score as the key: `0.5: partly documented`")
                    .add_to(&mut cx.problems),
                    (Some(_), None) => {}
                }
            }
        } else {
            let wrong = assize_document::wrong_type(node, "`descriptions`", "a map of scores to texts");
            cx.problems.add(wrong);
        }
    }

    descriptions.sort_by(|a: &(f64, String), b| a.0.total_cmp(&b.0));
    let formula = decode_formula(cx, &mut object, min, max);

    object.finish(&mut cx.problems);

    if cx.problems.error_count() > errors {
        return None;
    }

    Some(ScoringScale { min, max, descriptions, formula: formula? })
}

fn decode_formula(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    min: f64,
    max: f64,
) -> Option<NormalisationFormula> {
    let Some(text) = object.text("normalization_formula", &mut cx.problems) else {
        // By default, a scale within 0 to 1 is used unchanged; any other is mapped linearly.
        let plain = if min >= 0.0 && max <= 1.0 { "x" } else { "(x-min)/(max-min)" };
        return NormalisationFormula::parse(plain).ok();
    };
    let complaint = match NormalisationFormula::parse(&text.value) {
        Err(error) => {
            let before = text.value.get(..error.at).unwrap_or_default().trim();
            let place = if before.is_empty() { String::new() } else { format!(", after `{before}`") };
            format!("{}{place}", error.message)
        }
        Ok(formula) => {
            // Try the ends first, because they are the easiest for the author to check.
            let between =
                (1..SCALE_SAMPLES).map(|step| min + (max - min) * f64::from(step) / f64::from(SCALE_SAMPLES));
            let mut scores = [min, max].into_iter().chain(between);
            let wrong = scores.find(|score| min < max && formula.apply(*score, min, max).is_none());
            match wrong {
                None => return Some(formula),
                Some(end) => match formula.value(end, min, max).filter(|value| value.is_finite()) {
                    Some(value) => {
                        format!(
                            "a score of {} maps to {}, outside 0 to 1",
                            format_plain(end),
                            format_plain(value)
                        )
                    }
                    None => format!("a score of {end} maps to no number (division by zero?)"),
                },
            }
        }
    };

    Diagnostic::error(codes::BAD_FORMULA, "this normalisation formula can't be used")
        .at(text.span, complaint)
        .with_help("write arithmetic over `x`, `min` and `max`, such as `(x-min)/(max-min)`")
        .add_to(&mut cx.problems);
    None
}
