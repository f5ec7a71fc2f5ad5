//! Vectors of agreement.

use assize_stats::{
    Level,
    agreement::{Chance, Metric, Ratings, Scale, Table, Weights, alpha, coefficient, icc, kappa},
};
use serde_json::{Value, json};

use super::{count, high, level, low, number, numbers};

fn weights(name: &str) -> Option<Weights> {
    Some(match name {
        "identity" => Weights::Identity,
        "linear" => Weights::Linear,
        "quadratic" => Weights::Quadratic,
        "ordinal" => Weights::Ordinal,
        "radical" => Weights::Radical,
        "ratio" => Weights::Ratio,
        _ => return None,
    })
}

fn rows(value: &Value) -> Vec<Vec<Option<f64>>> {
    let row = |row: &Value| row.as_array().unwrap().iter().map(Value::as_f64).collect();
    value.as_array().unwrap().iter().map(row).collect()
}

fn units(rows: &[Vec<Option<f64>>]) -> Ratings {
    Ratings::of(rows.iter().map(Vec::as_slice))
}

fn many_raters(chance: Chance, weights: Weights, inputs: &Value) -> Value {
    let ratings = if inputs["ratings_units_by_raters"].is_array() {
        units(&rows(&inputs["ratings_units_by_raters"]))
    } else {
        let mut ratings = Ratings::new();
        for (pair, times) in inputs["pair_counts"].as_object().unwrap() {
            let pair: Vec<f64> = pair.split(',').map(|answer| answer.parse().unwrap()).collect();
            for _ in 0..count(times) {
                ratings.push(pair.iter().copied());
            }
        }
        ratings
    };
    let scale = Scale::new(numbers(&inputs["categories"])).unwrap();
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
        Scale::new(answers(&inputs["labels"]))
    } else {
        Scale::new(a.iter().chain(&b).copied())
    };
    let table = Table::of(&a, &b, &scale.unwrap()).unwrap();
    let by = |weights: Weights| kappa(&table, weights, Level::P95);
    json!({
        "kappa": by(Weights::Identity).kappa.ok(),
        "kappa_linear": by(Weights::Linear).kappa.ok(),
        "kappa_quadratic": by(Weights::Quadratic).kappa.ok(),
        "observed_agreement": by(Weights::Identity).observed.ok(),
    })
}

pub(super) fn compute(method: &str, inputs: &Value) -> Option<Value> {
    if let Some(name) = method.strip_prefix("gwet_AC2_") {
        return Some(many_raters(Chance::Gwet, weights(name)?, inputs));
    }
    if let Some(name) = method.strip_prefix("fleiss_kappa_") {
        return Some(many_raters(Chance::Fleiss, weights(name)?, inputs));
    }
    if let Some(name) = method.strip_prefix("krippendorff_alpha_") {
        let name = name.strip_suffix("_weights")?;
        return Some(many_raters(Chance::Krippendorff, weights(name)?, inputs));
    }
    match method {
        "gwet_AC1" => Some(many_raters(Chance::Gwet, Weights::Identity, inputs)),
        "cohen_kappa" | "cohen_kappa_weighted_declared_scale" => Some(two_raters(inputs)),
        "cohen_kappa_asymptotic_ci" => {
            let row = |row: &Value| row.as_array().unwrap().iter().map(count).collect();
            let table = Table::new(inputs["table"].as_array().unwrap().iter().map(row).collect()).unwrap();
            let found = kappa(&table, Weights::Identity, level(inputs));
            Some(json!({
                "kappa": found.kappa.ok(), "se": found.se.ok(), "se_null": found.se_null.ok(),
                "low": low(found.interval), "high": high(found.interval),
                "z_null": found.z.ok(), "p_null": found.p.ok(),
            }))
        }
        "fleiss_kappa" => {
            let mut ratings = Ratings::new();
            let mut answers = 0;
            for unit in inputs["counts_units_by_category"].as_array().unwrap() {
                let counts = numbers(unit);
                answers = counts.len();
                let given = counts.iter().enumerate();
                ratings.push(given.flat_map(|(k, &n)| std::iter::repeat_n(k as f64, n as usize)));
            }
            let scale = Scale::new((0..answers).map(|answer| answer as f64)).unwrap();
            let by = |chance| coefficient(&ratings, &scale, Weights::Identity, chance, Level::P95).value.ok();
            Some(json!({"kappa": by(Chance::Fleiss), "kappa_randolph": by(Chance::Uniform)}))
        }
        "krippendorff_alpha" => {
            let raters = rows(&inputs["ratings_raters_by_units"]);
            let across: Vec<Vec<Option<f64>>> =
                (0..raters[0].len()).map(|unit| raters.iter().map(|rater| rater[unit]).collect()).collect();
            let ratings = units(&across);
            let by = |metric| alpha(&ratings, metric).value.ok();
            Some(json!({
                "nominal": by(Metric::Nominal), "ordinal": by(Metric::Ordinal),
                "interval": by(Metric::Interval), "ratio": by(Metric::Ratio),
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

/// Two lists of numbers as a table on the scale of what occurs.
pub(super) fn kappa_of(a: &[f64], b: &[f64]) -> Option<f64> {
    let scale = Scale::new(a.iter().chain(b).copied()).ok()?;
    kappa(&Table::of(a, b, &scale).ok()?, Weights::Identity, Level::P95).kappa.ok()
}

pub(super) fn as_number(flag: bool) -> f64 {
    f64::from(u8::from(flag))
}
