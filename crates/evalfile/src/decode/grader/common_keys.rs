//! Decoder of the keys common to all graders: name, weight, gate, negation.

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{MapEntry, MapReader, NodeValue, codes, number, wrong_type};
use assize_model::EvalFileFormat;
use assize_rubric::{GraderWeighting, UnitInterval, Weight};

use super::shared::older_spelling;
use crate::decode::DecodeContext;

/// Common keys of a grader.
pub(super) struct CommonGraderKeys {
    /// Name as given.
    pub(super) name: Option<String>,
    pub(super) weighting: GraderWeighting,
}

/// Decodes the common keys. Invalid values are reported and replaced by defaults.
pub(super) fn decode_common_keys(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    type_name: &str,
) -> CommonGraderKeys {
    let name = decode_name(cx, object);
    if name.is_none() && cx.format == EvalFileFormat::One && !object.has("name") && !object.has("id") {
        Diagnostic::warning(codes::UNNAMED_GRADER, "this grader has no name")
            .at(object.head(), format!("results will list it as `{type_name}`"))
            .with_help(format!("add `name: {type_name}` or a name that says what it checks"))
            .add_to(&mut cx.problems);
    }

    let weight = decode_weight(cx, object);
    let (required, line) = decode_required(cx, object);
    let min_score = object.entry("min_score").filter(|entry| !entry.value.is_null());
    let min_score = match (min_score, line) {
        (Some(entry), Some((_, span))) => Diagnostic::error(
            codes::TWO_SPELLINGS,
            "a number under `required` is a minimum, and so is `min_score`",
        )
        .at(span, "one minimum")
        .with_secondary(entry.key_span, "another minimum")
        .with_help("write `required: true` and keep `min_score`")
        .with_suggestion("require without a number", span, "true")
        .reject_in(&mut cx.problems),
        (Some(entry), None) => decode_own_threshold(cx, entry, "min_score"),
        (None, line) => line.map(|(unit, _)| unit),
    };

    let negate = object.boolean("negate", &mut cx.problems).is_some_and(|flag| flag.value);
    CommonGraderKeys { name, weighting: GraderWeighting { weight, required, min_score, negate } }
}

fn decode_name(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<String> {
    if object.has("id")
        && !object.has("name")
        && let Some(entry) = object.entry("id")
    {
        cx.problems.add(older_spelling(entry.key_span, "id", "name"));
        object.entry("name");
        return object.name("id", &mut cx.problems).map(|name| name.value);
    }
    object.name("name", &mut cx.problems).map(|name| name.value)
}

fn decode_weight(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Weight {
    let Some(written) = object.number("weight", &mut cx.problems) else { return Weight::ONE };
    if written.value < 0.0 {
        Diagnostic::error(codes::GRADER_WEIGHT, "the weight of a grader can't be negative")
            .at(written.span, format!("found {}", written.value))
            .with_help("use 0 or more; `negate: true` inverts a grader")
            .with_help("a penalty is a criterion of negative weight in a rubrics grader")
            .add_to(&mut cx.problems);
        return Weight::ONE;
    }

    Weight::new(written.value).unwrap_or(Weight::ONE)
}

/// Decodes `required`: a boolean, or in older files the minimum itself.
fn decode_required(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
) -> (bool, Option<(UnitInterval, Span)>) {
    let Some(entry) = object.entry("required").filter(|entry| !entry.value.is_null()) else {
        return (false, None);
    };
    match entry.value.data {
        NodeValue::Bool(value) => (value, None),
        NodeValue::Int(_) | NodeValue::Float(_) => {
            let Some(line) = decode_own_threshold(cx, entry, "required") else { return (true, None) };
            let place = entry.value.use_span();
            Diagnostic::warning(codes::OLDER_SPELLING, "a number under `required` is an older spelling")
                .at(place, "read as the minimum score")
                .with_help(format!("write `required: true` and `min_score: {}`", line.get()))
                .add_to(&mut cx.problems);

            (true, Some((line, place)))
        }
        _ => {
            cx.problems.add(wrong_type(&entry.value, "`required`", "true or false"));
            (false, None)
        }
    }
}

/// Decodes a grader's own threshold: above 0, at most 1.
fn decode_own_threshold(cx: &mut DecodeContext, entry: &MapEntry, key: &str) -> Option<UnitInterval> {
    let value = number(&entry.value, key, &mut cx.problems)?;
    match UnitInterval::new(value.value) {
        Ok(unit) if unit > UnitInterval::ZERO => return Some(unit),
        _ => {}
    }

    let mut diagnostic =
        Diagnostic::error(codes::MIN_SCORE_SCALE, format!("`{key}` of a grader is above 0 and at most 1"))
            .at(value.span, format!("found {}", value.value));
    if value.value == 0.0 {
        diagnostic = diagnostic.with_help("every answer reaches 0; remove the key");
    } else if (2.0..=100.0).contains(&value.value) {
        let scale = if value.value <= 10.0 { 10.0 } else { 100.0 };
        diagnostic = diagnostic.with_help("scores of graders run from 0 to 1").with_suggestion(
            format!("if {} of {scale} was meant", value.value),
            value.span,
            format!("{}", value.value / scale),
        );
    } else {
        diagnostic = diagnostic.with_help("use a number such as 0.7");
    }

    cx.problems.reject(diagnostic)
}

#[cfg(test)]
mod tests {
    use assize_model::EvalFileFormat;

    use crate::tests::snippets::{codes, graders, one};

    #[test]
    fn weighting_is_read() {
        let grader = one(
            "- {type: contains, value: x, name: n, weight: 0, required: true, min_score: 0.5, negate: true}\n",
        );
        assert_eq!(grader.name, "n");
        assert_eq!(grader.weighting.weight.get(), 0.0);
        assert!(grader.weighting.required && grader.weighting.negate);
        assert_eq!(grader.weighting.min_score.map(assize_rubric::UnitInterval::get), Some(0.5));
        let plain = one("- {type: contains, value: x}\n");
        assert_eq!(
            (plain.name.as_str(), plain.weighting),
            ("contains", assize_rubric::GraderWeighting::default())
        );
    }

    #[test]
    fn a_number_under_required_is_the_minimum() {
        let (graders, problems) = graders("- {type: is-json, required: 0.7}\n", EvalFileFormat::Two);
        assert_eq!(problems[0].code.as_str(), "W0301");
        assert!(graders[0].weighting.required);
        assert_eq!(graders[0].weighting.min_score.map(assize_rubric::UnitInterval::get), Some(0.7));
        assert_eq!(codes("- {type: is-json, required: 0.7, min_score: 0.6}\n"), ["E0104", "W0301"]);
        assert_eq!(codes("- {type: is-json, required: yes}\n"), ["E0105"]);
    }

    #[test]
    fn values_out_of_range_are_refused() {
        for (setting, code) in [
            ("weight: -1", "E0305"),
            ("weight: .inf", "E0106"),
            ("weight: heavy", "E0105"),
            ("min_score: 0", "E0205"),
            ("min_score: 7", "E0205"),
            ("min_score: -0.1", "E0205"),
            ("negate: 1", "E0105"),
            ("name: ''", "E0107"),
            ("wieght: 1", "E0103"),
        ] {
            assert_eq!(codes(&format!("- {{type: is-json, {setting}}}\n")), [code], "{setting}");
        }
        assert_eq!(codes("- {type: is-json, id: A}\n"), ["W0301"]);
    }

    #[test]
    fn format_one_asks_for_names() {
        let (graders, problems) = graders("- {type: code_judge, script: x}\n", EvalFileFormat::One);
        assert_eq!(problems[0].code.as_str(), "W0302");
        assert_eq!(graders[0].name, "code-grader");
    }
}
