//! Vectors of agreement.

use assize_stats::{
    ConfidenceLevel,
    agreement::{
        AgreementTable, AgreementWeights, AlphaMetric, ChanceAgreement, RatingScale, UnitRatings, alpha,
        coefficient, icc, kappa,
    },
};
use serde_json::{Value, json};

use super::vector::{count, high, level, low, number, numbers};

fn weights(name: &str) -> Option<AgreementWeights> {
    Some(match name {
        "identity" => AgreementWeights::Identity,
        "linear" => AgreementWeights::Linear,
        "quadratic" => AgreementWeights::Quadratic,
        "ordinal" => AgreementWeights::Ordinal,
        "radical" => AgreementWeights::Radical,
        "ratio" => AgreementWeights::Ratio,
        _ => return None,
    })
}

fn rows(value: &Value) -> Vec<Vec<Option<f64>>> {
    let row = |row: &Value| row.as_array().unwrap().iter().map(Value::as_f64).collect();
    value.as_array().unwrap().iter().map(row).collect()
}

fn units(rows: &[Vec<Option<f64>>]) -> UnitRatings {
    UnitRatings::from_rows(rows.iter().map(Vec::as_slice))
}

fn many_raters(chance: ChanceAgreement, weights: AgreementWeights, inputs: &Value) -> Value {
    let ratings = if inputs["ratings_units_by_raters"].is_array() {
        units(&rows(&inputs["ratings_units_by_raters"]))
    } else {
        let mut ratings = UnitRatings::new();
        for (pair, times) in inputs["pair_counts"].as_object().unwrap() {
            let pair: Vec<f64> = pair.split(',').map(|answer| answer.parse().unwrap()).collect();
            for _ in 0..count(times) {
                ratings.push(pair.iter().copied());
            }
        }

        ratings
    };

    let scale = RatingScale::new(numbers(&inputs["categories"])).unwrap();
    let found = coefficient(&ratings, &scale, weights, chance, level(inputs));
    json!({
        "coefficient": found.value.ok(), "se": found.se.ok(),
        "percent_agreement": found.observed.ok(), "chance_agreement": found.chance.ok(),
        "low": low(found.interval), "high": high(found.interval),
    })
}

/// Numbers, or flags as 0 and 1.
fn answers(value: &Value) -> Vec<f64> {
    let answer = |value: &Value| value.as_bool().map_or_else(|| number(value), as_number);
    value.as_array().unwrap().iter().map(answer).collect()
}

fn two_raters(inputs: &Value) -> Value {
    let (a, b) = (answers(&inputs["rater_a"]), answers(&inputs["rater_b"]));
    let scale = if inputs["labels"].is_array() {
        RatingScale::new(answers(&inputs["labels"]))
    } else {
        RatingScale::new(a.iter().chain(&b).copied())
    };
    let table = AgreementTable::from_answers(&a, &b, &scale.unwrap()).unwrap();
    let by = |weights: AgreementWeights| kappa(&table, weights, ConfidenceLevel::P95);

    json!({
        "kappa": by(AgreementWeights::Identity).kappa.ok(),
        "kappa_linear": by(AgreementWeights::Linear).kappa.ok(),
        "kappa_quadratic": by(AgreementWeights::Quadratic).kappa.ok(),
        "observed_agreement": by(AgreementWeights::Identity).observed.ok(),
    })
}

pub(super) fn compute(method: &str, inputs: &Value) -> Option<Value> {
    if let Some(name) = method.strip_prefix("gwet_AC2_") {
        return Some(many_raters(ChanceAgreement::Gwet, weights(name)?, inputs));
    }
    if let Some(name) = method.strip_prefix("fleiss_kappa_") {
        return Some(many_raters(ChanceAgreement::Fleiss, weights(name)?, inputs));
    }
    if let Some(name) = method.strip_prefix("krippendorff_alpha_") {
        let name = name.strip_suffix("_weights")?;
        return Some(many_raters(ChanceAgreement::Krippendorff, weights(name)?, inputs));
    }

    match method {
        "gwet_AC1" => Some(many_raters(ChanceAgreement::Gwet, AgreementWeights::Identity, inputs)),
        "cohen_kappa" | "cohen_kappa_weighted_declared_scale" => Some(two_raters(inputs)),
        "cohen_kappa_asymptotic_ci" => {
            let row = |row: &Value| row.as_array().unwrap().iter().map(count).collect();
            let table =
                AgreementTable::new(inputs["table"].as_array().unwrap().iter().map(row).collect()).unwrap();
            let found = kappa(&table, AgreementWeights::Identity, level(inputs));
            Some(json!({
                "kappa": found.kappa.ok(), "se": found.se.ok(), "se_null": found.se_null.ok(),
                "low": low(found.interval), "high": high(found.interval),
                "z_null": found.z.ok(), "p_null": found.p.ok(),
            }))
        }
        "fleiss_kappa" => {
            let mut ratings = UnitRatings::new();
            let mut answers = 0;
            for unit in inputs["counts_units_by_category"].as_array().unwrap() {
                let counts = numbers(unit);
                answers = counts.len();
                let given = counts.iter().enumerate();
                ratings.push(given.flat_map(|(k, &n)| std::iter::repeat_n(k as f64, n as usize)));
            }

            let scale = RatingScale::new((0..answers).map(|answer| answer as f64)).unwrap();
            let by = |chance| {
                coefficient(&ratings, &scale, AgreementWeights::Identity, chance, ConfidenceLevel::P95)
                    .value
                    .ok()
            };
            Some(
                json!({"kappa": by(ChanceAgreement::Fleiss), "kappa_randolph": by(ChanceAgreement::Uniform)}),
            )
        }
        "krippendorff_alpha" => {
            let raters = rows(&inputs["ratings_raters_by_units"]);
            let across: Vec<Vec<Option<f64>>> =
                (0..raters[0].len()).map(|unit| raters.iter().map(|rater| rater[unit]).collect()).collect();
            let ratings = units(&across);
            let by = |metric| alpha(&ratings, metric).value.ok();

            Some(json!({
                "nominal": by(AlphaMetric::Nominal), "ordinal": by(AlphaMetric::Ordinal),
                "interval": by(AlphaMetric::Interval), "ratio": by(AlphaMetric::Ratio),
            }))
        }
        "icc" => {
            let rows: Vec<Vec<f64>> =
                inputs["ratings_targets_by_raters"].as_array().unwrap().iter().map(numbers).collect();
            let found = icc(&rows).ok();
            Some(json!({
                "ICC(1,1)": found.and_then(|icc| icc.one_way.ok()),
                "ICC(A,1)": found.and_then(|icc| icc.agreement.ok()),
                "ICC(C,1)": found.and_then(|icc| icc.consistency.ok()),
                "ICC(1,k)": found.and_then(|icc| icc.one_way_mean.ok()),
                "ICC(A,k)": found.and_then(|icc| icc.agreement_mean.ok()),
                "ICC(C,k)": found.and_then(|icc| icc.consistency_mean.ok()),
            }))
        }
        _ => None,
    }
}

/// Kappa of two lists of numbers, on the scale of the values that occur.
pub(super) fn kappa_of(a: &[f64], b: &[f64]) -> Option<f64> {
    let scale = RatingScale::new(a.iter().chain(b).copied()).ok()?;
    kappa(&AgreementTable::from_answers(a, b, &scale).ok()?, AgreementWeights::Identity, ConfidenceLevel::P95)
        .kappa
        .ok()
}

pub(super) fn as_number(flag: bool) -> f64 {
    f64::from(u8::from(flag))
}
