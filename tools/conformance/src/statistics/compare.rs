//! Vectors of paired tests.

use assize_stats::{
    SeededRandom,
    compare::{PairedVerdicts, ZeroRule, paired_mean, sign_flip, signed_rank},
};
use serde_json::{Value, json};

use super::vector::{count, high, level, low, numbers};

pub(super) fn pairs(inputs: &Value) -> PairedVerdicts {
    PairedVerdicts {
        both: count(&inputs["both_pass"]),
        only_first: count(&inputs["only_first"]),
        only_second: count(&inputs["only_second"]),
        neither: count(&inputs["both_fail"]),
    }
}

pub(super) fn compute(method: &str, inputs: &Value) -> Option<Value> {
    match method {
        "mcnemar" => {
            let found = pairs(inputs).mcnemar(level(inputs));
            Some(json!({
                "p_exact_two_sided": found.p_exact, "p_mid": found.p_mid, "diff": found.difference.ok(),
                "chi2": found.chi2.ok(), "p_chi2": found.p_chi2.ok(),
                "chi2_cc": found.chi2_corrected.ok(), "p_chi2_cc": found.p_chi2_corrected.ok(),
            }))
        }
        "sign_flip_permutation_exact" => {
            let found = sign_flip(&numbers(&inputs["differences"]), 10_000, &mut SeededRandom::new(1)).ok();
            Some(json!({
                "mean_diff": found.map(|found| found.mean),
                "p_two_sided": found.map(|found| found.p),
                "p_greater": found.map(|found| found.p_greater),
                "n_arrangements": found.map(|found| found.arrangements),
            }))
        }
        "wilcoxon_signed_rank_normal_approx" | "wilcoxon_signed_rank_exact" => {
            let zeros = match inputs["zero_method"].as_str() {
                None | Some("wilcox") => ZeroRule::Drop,
                Some("pratt") => ZeroRule::Pratt,
                Some("zsplit") => ZeroRule::Split,
                Some(_) => return None,
            };

            let continuity = inputs["continuity"].as_bool().unwrap_or(false);
            let found = signed_rank(&numbers(&inputs["differences"]), zeros, continuity);
            let p = found.and_then(
                |found| {
                    if method.ends_with("exact") { found.p_exact } else { found.p_normal }
                },
            );
            Some(json!({"statistic": found.map(|found| found.statistic).ok(), "p_two_sided": p.ok()}))
        }
        "paired_t" => {
            let found = paired_mean(&numbers(&inputs["a"]), &numbers(&inputs["b"]), level(inputs)).unwrap();
            Some(json!({
                "mean_diff": found.difference, "se_diff": found.se.ok(), "t": found.t.ok(),
                "df": found.freedom.ok(), "p_two_sided": found.p.ok(),
                "low": low(found.interval), "high": high(found.interval),
                "pearson_r": found.correlation.ok(), "se_unpaired": found.se_unpaired.ok(),
            }))
        }
        _ => None,
    }
}
