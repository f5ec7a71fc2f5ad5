//! Vectors of corrected rates, adjusted p values and sample sizes.

use assize_stats::{
    ConfidenceLevel,
    correction::{JudgeRates, PredictionPowered, prediction_powered, rogan_gladen},
    multiplicity::{PValueAdjustment, adjust_p_values, is_significant},
    power::{PairedNoise, PowerDesign, round_up_cases},
};
use serde_json::{Value, json};

use super::vector::{count, level, number, numbers};

pub(super) fn powered(found: &PredictionPowered) -> Value {
    json!({
        "classical_mean": found.human.mean,
        "classical_low": found.human.interval.low, "classical_high": found.human.interval.high,
        "judge_only_mean": found.judge,
        "ppi": found.plain.mean,
        "ppi_low": found.plain.interval.low, "ppi_high": found.plain.interval.high,
        "lambda_hat": found.weight,
        "ppi_pp": found.tuned.mean,
        "ppi_pp_low": found.tuned.interval.low, "ppi_pp_high": found.tuned.interval.high,
    })
}

pub(super) fn compute(method: &str, inputs: &Value) -> Option<Value> {
    match method {
        "rogan_gladen" => {
            let rates = JudgeRates {
                pass_rate: number(&inputs["judge_pass_rate"]),
                n: count(&inputs["n_test"]),
                specificity: number(&inputs["specificity"]),
                n_fail: count(&inputs["m_neg"]),
                sensitivity: number(&inputs["sensitivity"]),
                n_pass: count(&inputs["m_pos"]),
            };

            let found = rogan_gladen(rates, level(inputs));
            let interval = found.and_then(|found| found.interval);
            Some(json!({
                "raw": found.map(|found| found.raw).ok(),
                "clipped": found.map(|found| found.clipped).ok(),
                "delta_method_se": found.and_then(|found| found.se).ok(),
                "adjusted_theta": found.and_then(|found| found.adjusted).ok(),
                "adjusted_se": found.and_then(|found| found.adjusted_se).ok(),
                "lee_low": interval.map(|interval| interval.low).ok(),
                "lee_high": interval.map(|interval| interval.high).ok(),
            }))
        }
        "ppi_mean" => {
            let list = |name: &str| numbers(&inputs[name]);
            let found = prediction_powered(
                &list("human"),
                &list("judge_on_labelled"),
                &list("judge_on_unlabelled"),
                level(inputs),
            );

            let nothing = json!({
                "classical_mean": null, "classical_low": null, "classical_high": null, "judge_only_mean": null,
                "ppi": null, "ppi_low": null, "ppi_high": null, "lambda_hat": null, "ppi_pp": null,
                "ppi_pp_low": null, "ppi_pp_high": null,
            });
            Some(found.map_or(nothing, |found| powered(&found)))
        }
        _ => None,
    }
}

pub(super) fn multiplicity(method: &str, inputs: &Value) -> Option<Value> {
    let (p, alpha) = (numbers(&inputs["p_values"]), inputs["alpha"].as_f64().unwrap_or(0.05));
    let by = |adjustment| {
        let adjusted = adjust_p_values(&p, adjustment).unwrap();
        let reject: Vec<bool> = adjusted.iter().map(|&p| is_significant(p, alpha)).collect();
        json!({"adjusted": adjusted, "reject": reject})
    };
    (method == "adjusted_p_values").then(|| {
        json!({
            "bonferroni": by(PValueAdjustment::Bonferroni), "holm": by(PValueAdjustment::Holm),
            "holm-sidak": by(PValueAdjustment::HolmSidak), "simes-hochberg": by(PValueAdjustment::Hochberg),
            "fdr_bh": by(PValueAdjustment::BenjaminiHochberg), "fdr_by": by(PValueAdjustment::BenjaminiYekutieli),
        })
    })
}

pub(super) fn power(method: &str, inputs: &Value) -> Option<Value> {
    let promise = PowerDesign::new(number(&inputs["alpha"]), number(&inputs["power"])).unwrap();
    let noise = || PairedNoise {
        between: number(&inputs["omega2"]),
        first: number(&inputs["sigma2_a"]),
        first_repeats: count(&inputs["k_a"]),
        second: number(&inputs["sigma2_b"]),
        second_repeats: count(&inputs["k_b"]),
    };
    Some(match method {
        "miller_sample_size" => {
            let n = promise.paired_cases(noise(), number(&inputs["mde"])).ok();
            json!({"n": n, "n_ceil": n.map(round_up_cases)})
        }
        "miller_mde" => json!({"mde": promise.paired_difference(noise(), count(&inputs["n"])).ok()}),
        "two_independent_proportions_n_per_arm" => {
            let (p1, p2) = (number(&inputs["p1"]), number(&inputs["p2"]));
            json!({
                "n_unpooled_normal": promise.rates_cases(p1, p2).ok(),
                "n_cohen_h": promise.rates_cases_by_h(p1, p2).ok(),
            })
        }
        "paired_t_n" => json!({"n": promise.paired_t_cases(number(&inputs["effect_size_dz"])).ok()}),
        "mcnemar_n_pairs_connor" => {
            let (discordant, difference) =
                (number(&inputs["discordant_rate"]), number(&inputs["difference"]));
            json!({"n_pairs": promise.mcnemar_pairs(discordant, difference).ok()})
        }
        _ => return None,
    })
}

/// The ends of an interval as a pair, as the vectors write it.
pub(super) fn pair(low: f64, high: f64) -> Value {
    json!([low, high])
}

pub(super) fn default_level() -> ConfidenceLevel {
    ConfidenceLevel::P95
}
