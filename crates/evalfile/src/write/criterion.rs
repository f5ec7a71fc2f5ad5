//! Serialisation of criteria.

use assize_model::EvalFileFormat;
use assize_rubric::{Criterion, CriterionOperator, CriterionScale, Gate};
use serde_json::{Map, Value, json};

/// Returns a criterion in the spelling of a format, with every key written out whose default differs:
/// `required` never depends on a default.
pub fn criterion_value(criterion: &Criterion, format: EvalFileFormat) -> Value {
    let text_key = format.choose("expected_outcome", "outcome");
    let mut map = Map::new();
    map.insert("id".to_owned(), json!(criterion.id.as_str()));

    if !criterion.text.trim().is_empty() {
        map.insert(text_key.to_owned(), json!(criterion.text));
    }

    map.insert("weight".to_owned(), json!(criterion.weight.get()));

    match &criterion.scale {
        CriterionScale::Checklist => {
            // A minimum above 0 on a checklist criterion means that it must be met. A minimum of 0 has no
            // effect.
            let required = match criterion.gate {
                None => false,
                Some(Gate::Met | Gate::PassLine) => true,
                Some(Gate::MinRaw(raw)) => raw.get() > 0,
                Some(Gate::MinValue(unit)) => unit.get() > 0.0,
            };
            map.insert("required".to_owned(), json!(required));
        }
        CriterionScale::Bands(bands) => {
            match criterion.gate {
                None => {}
                Some(Gate::Met | Gate::PassLine) => {
                    map.insert("required".to_owned(), json!(true));
                }
                Some(Gate::MinRaw(raw)) if format == EvalFileFormat::One => {
                    map.insert("required_min_score".to_owned(), json!(raw.get()));
                }
                Some(Gate::MinRaw(raw)) => {
                    map.insert("min_score".to_owned(), json!(raw.value()));
                }
                Some(Gate::MinValue(unit)) => {
                    map.insert("min_score".to_owned(), json!(unit.get()));
                }
            }

            let ranges: Vec<Value> = bands
                .as_slice()
                .iter()
                .map(|band| json!({"score_range": [band.low.get(), band.high.get()], text_key: band.text}))
                .collect();
            map.insert("score_ranges".to_owned(), Value::Array(ranges));
        }
    }

    if criterion.operator == CriterionOperator::Contradiction {
        map.insert("operator".to_owned(), json!("contradiction"));
    }
    if criterion.may_not_apply {
        map.insert("allow_not_applicable".to_owned(), json!(true));
    }

    Value::Object(map)
}
