//! Vectors of repeated attempts and of combined judgements.

use assize_stats::{
    ConfidenceLevel,
    combine::{AbPreference, PanelMajority, count_both_orders, expected_score, panel_scores, tally_panel},
    repeats::{mean_pass_k, pass_k as one_task, repeat_variance},
};
use serde_json::{Value, json};

use super::vector::{count, numbers};

pub(super) fn pass_k(method: &str, inputs: &Value) -> Option<Value> {
    let k = count(&inputs["k"]);
    match method {
        "pass_at_k_and_pass_hat_k" => {
            let found = one_task(count(&inputs["n"]), count(&inputs["c"]), k).ok();
            Some(json!({
                "pass_at_k": found.map(|found| found.any), "pass_hat_k": found.map(|found| found.all),
            }))
        }
        "mean_over_tasks" => {
            let tasks: Vec<(u64, u64)> = inputs["tasks"]
                .as_array()
                .unwrap()
                .iter()
                .map(|task| (count(&task["n"]), count(&task["c"])))
                .collect();

            let found = mean_pass_k(&tasks, k, ConfidenceLevel::P95);
            // The collection lists this biased estimate as one to avoid. It is computed to show that it is a
            // different figure.
            let plug_in: f64 =
                tasks.iter().map(|&(n, c)| 1.0 - (1.0 - c as f64 / n as f64).powi(k as i32)).sum::<f64>()
                    / tasks.len() as f64;
            Some(json!({
                "pass_at_k": found.and_then(|found| found.any.mean).ok(),
                "pass_hat_k": found.and_then(|found| found.all.mean).ok(),
                "biased_plugin_1_minus_1mp_k": plug_in,
            }))
        }
        _ => None,
    }
}

fn preference(value: &Value) -> AbPreference {
    match value.as_str() {
        Some("A") => AbPreference::A,
        Some("B") => AbPreference::B,
        _ => AbPreference::Tie,
    }
}

pub(super) fn aggregation(method: &str, inputs: &Value) -> Option<Value> {
    match method {
        "probability_weighted_score" => {
            let logs = inputs["logprobs"].as_array().unwrap().iter().map(Value::as_f64);
            let scores: Vec<(f64, Option<f64>)> = numbers(&inputs["scores"]).into_iter().zip(logs).collect();
            let found = expected_score(&scores).ok();
            let (score, plain) = (found.map(|found| found.score), found.map(|found| found.unnormalised));
            let mass = found.map(|found| found.mass);

            Some(json!({
                "expected_normalised": score, "expected": score, "score": score,
                "expected_unnormalised": plain, "unnormalised": plain, "naive_unnormalised": plain,
                "mass": mass, "captured_mass": mass, "probability_mass": mass, "mass_captured": mass,
                "argmax": found.map(|found| found.likeliest), "mode": found.map(|found| found.likeliest),
            }))
        }
        "panel_majority" => {
            let vote = |vote: &Value| match vote.as_str() {
                Some("pass") => Some(true),
                Some("fail") => Some(false),
                _ => None,
            };
            let votes: Vec<Option<bool>> = inputs["votes"].as_array().unwrap().iter().map(vote).collect();
            let found = tally_panel(&votes);
            let verdict = found.verdict.ok().map(|verdict| match verdict {
                PanelMajority::Pass => "pass",
                PanelMajority::Fail => "fail",
                PanelMajority::Tie => "tie",
            });

            Some(json!({
                "pass_votes": found.passes, "fail_votes": found.fails, "verdict": verdict,
                "agreement": found.agreement.ok(), "unanimous": found.unanimous,
            }))
        }
        "panel_scores" => {
            let found = panel_scores(&numbers(&inputs["scores"])).ok();
            Some(json!({
                "mean": found.map(|found| found.mean), "median": found.map(|found| found.median),
                "min": found.map(|found| found.min), "max": found.map(|found| found.max),
                "range": found.map(|found| found.range()), "sd_sample": found.and_then(|found| found.sd.ok()),
            }))
        }
        "repeat_judging_variance" => {
            let cases: Vec<Vec<f64>> = inputs["scores_items_by_repeats"]
                .as_array()
                .unwrap()
                .iter()
                .map(|case| case.as_array().unwrap().iter().filter_map(Value::as_f64).collect())
                .collect();

            let found = repeat_variance(&cases).ok();
            Some(json!({
                "within_variance": found.map(|found| found.within),
                "between_mean_square": found.map(|found| found.between_square),
                "between_variance": found.map(|found| found.between),
                "icc1": found.and_then(|found| found.icc.ok()),
                "icc1_k": found.and_then(|found| found.icc_mean.ok()),
            }))
        }
        "pairwise_position_consistency" => {
            let pairs: Vec<(AbPreference, AbPreference)> = inputs["pairs"]
                .as_array()
                .unwrap()
                .iter()
                .map(|pair| (preference(&pair["ab"]), preference(&pair["ba"])))
                .collect();

            let found = count_both_orders(&pairs);
            Some(json!({
                "consistent": found.consistent, "n": found.n, "rate": found.rate.ok(),
                "wins_A": found.wins_a, "wins_B": found.wins_b, "no_decision": found.undecided,
            }))
        }
        _ => None,
    }
}
