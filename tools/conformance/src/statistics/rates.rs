//! Vectors of rates, their differences, means and resampled means.

use assize_stats::{
    MeanAccumulator, RateInterval, acceleration, bootstrap_mean_exhaustive, clustered_mean,
    compare::{DifferenceInterval, rate_difference},
    leave_one_out, posterior_mean, proportion_by, zero_failures,
};
use serde_json::{Value, json};

use super::vector::{count, ends, high, level, low, numbers};

pub(super) fn rates(method: &str, inputs: &Value) -> Option<Value> {
    let kind = match method {
        "wilson" => RateInterval::Wilson,
        "wilson_continuity_corrected" => RateInterval::WilsonContinuity,
        "clopper_pearson" => RateInterval::ClopperPearson,
        "agresti_coull" => RateInterval::AgrestiCoull,
        "jeffreys" => RateInterval::Jeffreys,
        "wald" => RateInterval::Wald,
        "beta_posterior_uniform_prior" => RateInterval::BetaPosterior,
        "upper_bound_all_pass_one_sided95" => {
            let bound = zero_failures(count(&inputs["n"]), level(inputs)).ok();
            return Some(json!({
                "exact_upper": bound.map(|bound| bound.exact),
                "rule_of_three": bound.map(|bound| bound.rule_of_three),
            }));
        }
        _ => return None,
    };

    let (successes, n) = (count(&inputs["successes"]), count(&inputs["n"]));
    let interval = proportion_by(kind, successes, n, level(inputs)).interval;
    Some(json!({"low": low(interval), "high": high(interval), "mean": posterior_mean(successes, n).ok()}))
}

pub(super) fn differences(method: &str, inputs: &Value) -> Option<Value> {
    let kind = match method.strip_prefix("independent_difference_")? {
        "newcomb" => DifferenceInterval::Newcombe,
        "wald" => DifferenceInterval::Wald,
        "agresti-caffo" => DifferenceInterval::AgrestiCaffo,
        _ => return None,
    };

    let side = |successes: &str, n: &str| (count(&inputs[successes]), count(&inputs[n]));
    let found = rate_difference(kind, side("k1", "n1"), side("k2", "n2"), level(inputs));
    let mut figures = ends(found.map(|found| found.interval));
    figures["diff"] = json!(found.ok().map(|found| found.difference));

    Some(figures)
}

pub(super) fn means(method: &str, inputs: &Value) -> Option<Value> {
    let values = numbers(&inputs["values"]);
    match method {
        "mean_sem_tci" => {
            let mean = values.into_iter().collect::<MeanAccumulator>().mean(level(inputs));
            let normal = mean.normal_interval(level(inputs));
            Some(json!({
                "mean": mean.mean.ok(), "sd_sample": mean.sd.ok(), "sem": mean.se.ok(),
                "t_low": low(mean.interval), "t_high": high(mean.interval),
                "z_low": low(normal), "z_high": high(normal),
            }))
        }
        "cluster_robust_se" => {
            let clusters: Vec<String> =
                inputs["clusters"].as_array().unwrap().iter().map(ToString::to_string).collect();
            let found = clustered_mean(&values, &clusters, level(inputs));
            Some(found.map_or_else(
                |_| {
                    json!({
                        "mean": null, "se_iid": null, "se_cluster_CR0": null, "se_cluster_CR1": null,
                        "design_effect_CR0": null,
                    })
                },
                |found| {
                    json!({
                        "mean": found.mean, "n": found.n, "n_clusters": found.clusters,
                        "se_iid": found.se_independent.ok(),
                        "se_cluster_CR0": found.se_cr0.ok(), "se_cluster_CR1": found.se_cr1.ok(),
                        "design_effect_CR0": found.design_effect.ok(),
                    })
                },
            ))
        }
        _ => None,
    }
}

pub(super) fn bootstrap(method: &str, inputs: &Value) -> Option<Value> {
    let values = numbers(&inputs["values"]);
    match method {
        "percentile_bootstrap_full_enumeration" => {
            let found = bootstrap_mean_exhaustive(&values, level(inputs));
            let n = values.len() as f64;

            // The closed form of the standard deviation of the resampled means.
            let spread = values.iter().copied().collect::<MeanAccumulator>().mean(level(inputs)).sd;
            Some(json!({
                "n_resamples": found.map(|found| found.resamples).ok(),
                "mean": found.map(|found| found.estimate).ok(),
                "boot_se": found.map(|found| found.se).ok(),
                "low_linear": found.map(|found| found.percentile.low).ok(),
                "high_linear": found.map(|found| found.percentile.high).ok(),
                "closed_form_se": spread.map(|sd| sd * (n - 1.0).sqrt() / n).ok(),
            }))
        }
        "bca_acceleration_jackknife" => Some(json!({
            "acceleration": acceleration(&values).ok(), "jackknife_means": leave_one_out(&values).ok(),
        })),
        _ => None,
    }
}
