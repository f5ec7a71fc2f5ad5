//! Vectors of verdicts, correlations and probabilities.

use std::path::Path;

use assize_stats::{
    ConfidenceLevel,
    judge_quality::{
        ConfusionTable, IsotonicFit, area_under_curve, average_precision, bonett_wright, brier, fisher_z,
        kendall_tau_b, kendall_tau_c, log_loss, pearson, reliability_table, spearman,
    },
};
use serde_json::{Value, json};

use super::vector::{ABSENT, Outcome, count, ends, flags, level, number, numbers, rows};

pub(super) fn figures(counts: ConfusionTable) -> Value {
    let level = ConfidenceLevel::P95;
    json!({
        "tp": counts.true_pass, "fp": counts.false_pass,
        "fn": counts.false_fail, "tn": counts.true_fail, "n": counts.n(),
        "accuracy": counts.accuracy(level).rate.ok(), "alignment": counts.accuracy(level).rate.ok(),
        "balanced_accuracy": counts.balanced_accuracy().ok(),
        "precision": counts.precision(level).rate.ok(), "recall": counts.sensitivity(level).rate.ok(),
        "specificity": counts.specificity(level).rate.ok(),
        "f1": counts.f1().ok(), "f1_negative": counts.f1_fail().ok(),
        "macro_precision": counts.macro_precision().ok(), "macro_recall": counts.macro_recall().ok(),
        "macro_f1": counts.macro_f1().ok(), "mcc": counts.matthews().ok(),
        "kappa": counts.kappa(level).and_then(|found| found.kappa).ok(),
    })
}

pub(super) fn classification(method: &str, inputs: &Value) -> Option<Value> {
    (method == "confusion_metrics").then(|| {
        figures(ConfusionTable {
            true_pass: count(&inputs["tp"]),
            false_pass: count(&inputs["fp"]),
            false_fail: count(&inputs["fn"]),
            true_fail: count(&inputs["tn"]),
        })
    })
}

pub(super) fn correlation(method: &str, inputs: &Value) -> Option<Value> {
    match method {
        "pearson_spearman_kendall" => {
            let (x, y) = (numbers(&inputs["x"]), numbers(&inputs["y"]));
            Some(json!({
                "pearson": pearson(&x, &y).ok(), "spearman": spearman(&x, &y).ok(),
                "kendall_tau_b": kendall_tau_b(&x, &y).ok(), "kendall_tau_c": kendall_tau_c(&x, &y).ok(),
            }))
        }
        "fisher_z_ci" => Some(ends(fisher_z(number(&inputs["r"]), count(&inputs["n"]), level(inputs)))),
        "bonett_wright_ci_for_spearman" => {
            Some(ends(bonett_wright(number(&inputs["rho"]), count(&inputs["n"]), level(inputs))))
        }
        _ => None,
    }
}

pub(super) fn calibration(method: &str, inputs: &Value, shared: &Path) -> Outcome {
    if method == "isotonic_regression" {
        let weights = ["weights", "w", "sample_weight"].iter().find(|name| inputs[**name].is_array());
        let weights = weights.map(|name| numbers(&inputs[*name]));
        let x = numbers(&inputs["x"]);
        let fitted = IsotonicFit::fit(&x, &numbers(&inputs["y"]), weights.as_deref()).unwrap();
        let fitted: Vec<f64> = x.iter().map(|&x| fitted.predict(x).unwrap()).collect();

        return Outcome::Figures(json!({"fitted": fitted}));
    }

    if method != "probability_metrics" && method != "auroc" {
        return Outcome::Unknown;
    }

    let (labels, probabilities) = if let Some(file) = inputs["dataset"].as_str() {
        let Some(rows) = rows(&shared.join(file)) else { return ABSENT };
        let field = |name: &str| inputs[name].as_str().unwrap().to_owned();
        let (label, probability) = (field("labels"), field("probabilities"));
        let labels: Vec<Value> = rows.iter().map(|row| row[&label].clone()).collect();
        (flags(&json!(labels)), rows.iter().map(|row| number(&row[&probability])).collect())
    } else {
        (flags(&inputs["labels"]), numbers(&inputs["probabilities"]))
    };

    let bins = inputs["bins"].as_u64().unwrap_or(10) as usize;
    let table = reliability_table(&probabilities, &labels, bins).unwrap();
    let verdicts: Vec<bool> = probabilities.iter().map(|&probability| probability >= 0.5).collect();
    let mut found = figures(ConfusionTable::from_verdicts(&verdicts, &labels).unwrap());
    found["accuracy_at_0_5"] = found["accuracy"].clone();
    found["macro_f1_at_0_5"] = found["macro_f1"].clone();
    found["brier"] = json!(brier(&probabilities, &labels).ok());
    found["log_loss"] = json!(log_loss(&probabilities, &labels).ok());
    found["auroc"] =
        json!(area_under_curve(&probabilities, &labels, ConfidenceLevel::P95).map(|found| found.area).ok());
    found["average_precision"] = json!(average_precision(&probabilities, &labels).ok());
    found["ece_10_equal_width"] = json!(table.expected_error);
    found["mce"] = json!(table.largest_error);

    Outcome::Figures(found)
}
