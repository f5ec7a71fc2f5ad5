//! `field-accuracy`: compares fields of a JSON answer with the fields of the reference.

use assize_model::{FieldAccuracy, FieldCheck, FieldMatch};
use serde_json::Value;

use super::arguments::value_at_path;
use super::date;
use super::result::{CheckResult, shorten, to_unit_interval};
use assize_rubric::{GraderNote, json_equal};

/// The weighted share of fields that are right, or all or nothing.
///
/// A field that the reference lacks can't be compared and is skipped; if the reference lacks all of them, there
/// is nothing to compare, which is an error. A field that the answer lacks is wrong if it is required, and
/// skipped otherwise.
pub(super) fn check_fields(
    check: &FieldAccuracy,
    answer: &str,
    reference: Option<&str>,
) -> Result<CheckResult, String> {
    let reference = reference.ok_or("there is no `expected_output` to compare the fields with")?;
    let expected: Value = serde_json::from_str(reference).map_err(|error| {
        format!("the `expected_output` is not JSON, so there are no fields in it: {error}")
    })?;
    let answer: Option<Value> = serde_json::from_str(answer).ok();
    let mut findings = Vec::new();
    let (mut right, mut all) = (0.0, 0.0);
    let mut compared = false;
    for one in &check.fields {
        let Some(wanted) = value_at_path(&expected, &one.path) else {
            let reason = "not in the reference, so it is skipped";
            findings.push(GraderNote::remark(format!("field `{}`", one.path), reason));
            continue;
        };

        compared = true;
        let found = answer.as_ref().and_then(|answer| value_at_path(answer, &one.path));
        let (passed, reason) = match found {
            Some(found) => compare_field(one, wanted, found)?,
            None if !one.required => {
                findings
                    .push(GraderNote::remark(format!("field `{}`", one.path), "not there, and not required"));
                continue;
            }
            None if answer.is_none() => (false, "the answer is not JSON".to_owned()),
            None => (false, "the answer does not have it".to_owned()),
        };

        let weight = one.weight.get();
        all += weight;
        right += if passed { weight } else { 0.0 };

        let finding = GraderNote::new(passed, format!("field `{}`", one.path), reason);
        findings.push(GraderNote { weight: Some(weight), ..finding });
    }

    if !compared {
        return Err("the reference has none of the fields".to_owned());
    }
    if check.all_or_nothing {
        return Ok(CheckResult::all_or_nothing(findings));
    }

    Ok(CheckResult {
        score: (all > 0.0).then(|| to_unit_interval(right / all)),
        findings,
        ..CheckResult::default()
    })
}

fn compare_field(check: &FieldCheck, wanted: &Value, found: &Value) -> Result<(bool, String), String> {
    let shown = |value: &Value| shorten(&value.to_string());
    let result = |passed: bool, how: &str| {
        let reason = if passed {
            format!("{}{how}", shown(found))
        } else {
            format!("{}, expected {}{how}", shown(found), shown(wanted))
        };
        Ok((passed, reason))
    };
    match &check.rule {
        FieldMatch::Exact => result(json_equal(wanted, found), ""),
        FieldMatch::NumericTolerance { tolerance, relative } => {
            let Some(target) = as_number(wanted) else {
                return Err(format!(
                    "field `{}` of the reference is not a number: {}",
                    check.path,
                    shown(wanted)
                ));
            };

            let Some(value) = as_number(found) else { return result(false, " (not a number)") };
            let share = if *relative && target != 0.0 { target.abs() } else { 1.0 };

            // Rounding must not decide at the edge: 0.3 is within 0.1 of 0.2.
            let slack = 1e-9 * target.abs().max(1.0);
            result((value - target).abs() <= tolerance * share + slack, &format!(" (within {tolerance})"))
        }
        FieldMatch::Date { formats } => {
            let read = |value: &Value| {
                let text = value.as_str()?;
                if formats.is_empty() {
                    date::parse_date(text, date::UNAMBIGUOUS_FORMATS)
                } else {
                    date::parse_date(text, formats)
                }
            };

            let Some(target) =
                read(wanted).or_else(|| date::parse_date(wanted.as_str()?, date::UNAMBIGUOUS_FORMATS))
            else {
                return Err(format!(
                    "field `{}` of the reference is not a date in the given formats: {}",
                    check.path,
                    shown(wanted)
                ));
            };
            match read(found) {
                Some(value) => result(value == target, ""),
                None => result(false, " (not a date in the given formats)"),
            }
        }
    }
}

/// A number, or a text that contains one.
fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assize_rubric::Weight;

    fn one(path: &str, rule: FieldMatch, required: bool, weight: f64) -> FieldCheck {
        FieldCheck { path: path.into(), rule, required, weight: Weight::new(weight).unwrap() }
    }

    fn grade(fields: Vec<FieldCheck>, answer: &str, reference: &str) -> Result<Option<f64>, String> {
        let accuracy = FieldAccuracy { fields, all_or_nothing: false };
        check_fields(&accuracy, answer, Some(reference))
            .map(|checked| checked.score.map(assize_rubric::UnitInterval::get))
    }

    #[test]
    fn fields_are_compared_by_their_rule() {
        let near = |relative| FieldMatch::NumericTolerance { tolerance: 0.1, relative };
        let dates = FieldMatch::Date { formats: vec!["DD/MM/YYYY".into()] };
        let reference = r#"{"a": {"b": [1, "x"]}, "n": 0.2, "big": 200, "d": "04/03/2024"}"#;
        let score = |check, answer| grade(vec![check], answer, reference).unwrap();
        assert_eq!(
            score(one("a.b[1]", FieldMatch::Exact, true, 1.0), r#"{"a": {"b": [1, "x"]}}"#),
            Some(1.0)
        );
        assert_eq!(score(one("a.b[0]", FieldMatch::Exact, true, 1.0), r#"{"a": {"b": [2]}}"#), Some(0.0));
        assert_eq!(score(one("n", near(false), true, 1.0), r#"{"n": 0.3}"#), Some(1.0));
        assert_eq!(score(one("n", near(false), true, 1.0), r#"{"n": 0.31}"#), Some(0.0));
        assert_eq!(score(one("big", near(true), true, 1.0), r#"{"big": 220}"#), Some(1.0));
        assert_eq!(score(one("d", dates.clone(), true, 1.0), r#"{"d": "04/03/2024"}"#), Some(1.0));
        assert_eq!(score(one("d", dates, true, 1.0), r#"{"d": "03/04/2024"}"#), Some(0.0));
        assert_eq!(score(one("n", FieldMatch::Exact, true, 1.0), "no JSON"), Some(0.0));
        assert_eq!(score(one("n", FieldMatch::Exact, false, 1.0), "{}"), None);
    }

    #[test]
    fn a_field_missing_from_the_reference_is_not_a_hit() {
        let fields =
            || vec![one("a", FieldMatch::Exact, true, 1.0), one("gone", FieldMatch::Exact, true, 3.0)];
        assert_eq!(grade(fields(), r#"{"a": 2, "gone": 1}"#, r#"{"a": 1}"#), Ok(Some(0.0)));
        assert!(grade(fields(), r#"{"a": 2}"#, r#"{"b": 1}"#).is_err());
        let accuracy = FieldAccuracy { fields: fields(), all_or_nothing: true };
        assert!(check_fields(&accuracy, "{}", None).is_err());
    }
}
