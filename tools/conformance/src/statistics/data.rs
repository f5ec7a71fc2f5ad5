//! Vectors that need a shared data file: the check reads the file and the crate computes the figures.

use std::collections::BTreeMap;
use std::path::Path;

use assize_stats::{
    ConfidenceLevel, RateInterval, clustered_mean,
    combine::best_of,
    compare::{PairedVerdicts, paired_mean},
    correction::{JudgeRates, prediction_powered, rogan_gladen},
    judge_quality::ConfusionTable,
    proportion_by,
};
use serde_json::{Value, json};

use super::agreement::{as_number, kappa_of};
use super::correction::{default_level, pair};
use super::judged;
use super::vector::{ABSENT, Outcome, flags, number, rows};

pub(super) fn compute(method: &str, inputs: &Value, shared: &Path) -> Outcome {
    match method {
        "weighted_tree" => Outcome::Skipped("how a tree is scored is the rubric crate's, and tested there"),
        "prerequisite_gated_rate" => Outcome::Skipped(
            "which criteria count with their prerequisites is the rubric crate's, and tested there",
        ),
        "judge_vs_human_confusion"
        | "cluster_robust_se"
        | "ppi_mean"
        | "rogan_gladen"
        | "paired_difference_clustered" => rows(&shared.join("data/devai-agent-judge/requirements.jsonl"))
            .map_or(ABSENT, |rows| devai(method, inputs, &rows)),
        "best_of_4_accuracy" => best_of_four(inputs, shared).map_or(ABSENT, Outcome::Figures),
        "paired_difference" => {
            repeats_compared(inputs["comparison"].as_str().unwrap(), shared).map_or(ABSENT, Outcome::Figures)
        }
        "pairwise_label_agreement" => physicians(inputs, shared).map_or(ABSENT, Outcome::Figures),
        "pairwise_two_orders" => two_orders(inputs, shared).map_or(ABSENT, Outcome::Figures),
        _ if inputs["dataset"].as_str().is_some_and(|file| !shared.join(file).exists()) => ABSENT,
        _ => Outcome::Unknown,
    }
}

/// The verdicts of one system, with the task of each.
struct System {
    tasks: Vec<String>,
    human: Vec<bool>,
    judge: Vec<bool>,
}

fn system(rows: &[Value], agent: &str) -> System {
    let mut found = System { tasks: Vec::new(), human: Vec::new(), judge: Vec::new() };
    for row in rows.iter().filter(|row| agent == "all" || row["agent"] == agent) {
        found.tasks.push(row["task"].as_str().unwrap().split('_').next().unwrap().to_owned());
        found.human.push(row["human_satisfied"].as_bool().unwrap());
        found.judge.push(row["judge_satisfied"].as_bool().unwrap());
    }

    found
}

fn as_numbers(flags: &[bool]) -> Vec<f64> {
    flags.iter().map(|&flag| as_number(flag)).collect()
}

fn rate(flags: &[bool]) -> f64 {
    as_numbers(flags).iter().sum::<f64>() / flags.len() as f64
}

fn devai(method: &str, inputs: &Value, rows: &[Value]) -> Outcome {
    let system_of = |agent: &str| system(rows, agent);
    let agent = inputs["agent"].as_str().unwrap_or_default();
    Outcome::Figures(match method {
        "judge_vs_human_confusion" => {
            let system = system_of(agent);
            judged::figures(ConfusionTable::from_verdicts(&system.judge, &system.human).unwrap())
        }
        "cluster_robust_se" => {
            let system = system_of(agent);
            let values = if inputs["value"] == "judge_satisfied" { &system.judge } else { &system.human };
            let found = clustered_mean(&as_numbers(values), &system.tasks, default_level()).unwrap();
            let passed = values.iter().filter(|&&passed| passed).count() as u64;
            let wilson = proportion_by(RateInterval::Wilson, passed, values.len() as u64, default_level())
                .interval
                .unwrap();

            json!({
                "n": found.n, "clusters": found.clusters, "mean": found.mean,
                "se_iid": found.se_independent.ok(), "se_cluster_CR0": found.se_cr0.ok(),
                "se_cluster_CR1": found.se_cr1.ok(), "wilson95": pair(wilson.low, wilson.high),
            })
        }
        "ppi_mean" => powered(&system_of(agent)),
        "rogan_gladen" => transferred(rows, inputs),
        _ => {
            let (systems, value) = inputs["comparison"].as_str().unwrap().split_once(" | ").unwrap();
            let (first, second) = systems.split_once(" minus ").unwrap();
            compared(&system_of(first), &system_of(second), value)
        }
    })
}

fn powered(system: &System) -> Value {
    let labelled = |index: &usize| system.tasks[*index].as_str() <= "11";
    let (known, unknown): (Vec<usize>, Vec<usize>) = (0..system.tasks.len()).partition(labelled);
    let pick = |flags: &[bool], chosen: &[usize]| -> Vec<f64> {
        chosen.iter().map(|&index| as_number(flags[index])).collect()
    };
    let found = prediction_powered(
        &pick(&system.human, &known),
        &pick(&system.judge, &known),
        &pick(&system.judge, &unknown),
        default_level(),
    )
    .unwrap();

    let range =
        |found: assize_stats::correction::CorrectedMean| pair(found.interval.low, found.interval.high);
    json!({
        "n": found.labelled, "N": found.unlabelled,
        "truth_all": rate(&system.human), "judge_all": rate(&system.judge),
        "human_labelled_mean": found.human.mean, "classical95": range(found.human),
        "ppi": found.plain.mean, "ppi95": range(found.plain),
        "ppi_pp": found.tuned.mean, "ppi_pp95": range(found.tuned),
    })
}

fn transferred(rows: &[Value], inputs: &Value) -> Value {
    let name = inputs["calibration"].as_str().unwrap();
    let known = system(rows, name);
    let counts = ConfusionTable::from_verdicts(&known.judge, &known.human).unwrap();
    let (sensitivity, specificity) =
        (counts.sensitivity(default_level()), counts.specificity(default_level()));
    let mut found = json!({
        "calibration_agent": name, "m_pos": sensitivity.n, "m_neg": specificity.n,
        "sensitivity": sensitivity.rate.ok(), "specificity": specificity.rate.ok(),
    });
    for target in inputs["target"].as_array().unwrap() {
        let target = target.as_str().unwrap();
        let other = system(rows, target);
        let rates = JudgeRates {
            pass_rate: rate(&other.judge),
            n: other.judge.len() as u64,
            specificity: specificity.rate.unwrap(),
            n_fail: specificity.n,
            sensitivity: sensitivity.rate.unwrap(),
            n_pass: sensitivity.n,
        };
        found[target] = json!({
            "judge_rate": rates.pass_rate, "human_truth": rate(&other.human),
            "rogan_gladen": rogan_gladen(rates, default_level()).unwrap().raw,
        });
    }

    found
}

fn compared(first: &System, second: &System, value: &str) -> Value {
    let result_of = |system: &System| {
        if value == "judge_satisfied" { system.judge.clone() } else { system.human.clone() }
    };
    let (a, b) = (result_of(first), result_of(second));
    let pairs = PairedVerdicts::from_verdicts(&a, &b).unwrap();
    let differences: Vec<f64> =
        as_numbers(&a).iter().zip(as_numbers(&b)).map(|(first, second)| first - second).collect();
    let found = clustered_mean(&differences, &first.tasks, default_level()).unwrap();

    json!({
        "both_pass": pairs.both, "only_first": pairs.only_first,
        "only_second": pairs.only_second, "both_fail": pairs.neither,
        "mcnemar_exact_p": pairs.mcnemar(default_level()).p_exact,
        "diff": found.mean, "se_iid": found.se_independent.ok(),
        "se_cluster_CR0": found.se_cr0.ok(), "se_cluster_CR1": found.se_cr1.ok(),
    })
}

/// Mean of each answer's scores among its first `k` repeats. `None` if an answer has no score there.
fn means(row: &Value, scores: &str, k: usize) -> Option<Vec<f64>> {
    let answer = |repeats: &Value| {
        let given: Vec<f64> = repeats.as_array().unwrap().iter().take(k).filter_map(Value::as_f64).collect();
        if given.is_empty() { None } else { Some(given.iter().sum::<f64>() / given.len() as f64) }
    };
    row[scores].as_array()?.iter().map(answer).collect()
}

fn best_of_four(inputs: &Value, shared: &Path) -> Option<Value> {
    let rows = rows(&shared.join(inputs["dataset"].as_str().unwrap()))?;
    let k = number(&inputs["k"]) as usize;
    let scores = inputs["scores"].as_str().unwrap();
    let (mut n, mut strict, mut tied, mut credit) = (0u32, 0u32, 0u32, 0.0);
    for scores in rows.iter().filter_map(|row| means(row, scores, k)) {
        let found = best_of(&scores, 0).unwrap();
        n += 1;
        strict += u32::from(found.strict);
        tied += u32::from(found.tied);
        credit += found.credit;
    }

    Some(json!({
        "n": n, "strict": strict, "tied_for_best": tied,
        "accuracy_strict": f64::from(strict) / f64::from(n), "accuracy_fractional": credit / f64::from(n),
    }))
}

/// For each item, whether the right answer alone had the best score.
fn strict(shared: &Path, file: &str, scores: &str, k: usize) -> Option<BTreeMap<String, bool>> {
    let rows = rows(&shared.join("data/rewardbench2-k8").join(file))?;
    let strict_row =
        |row: &Value| Some((row["id"].to_string(), best_of(&means(row, scores, k)?, 0).unwrap().strict));
    Some(rows.iter().filter_map(strict_row).collect())
}

fn repeats_compared(comparison: &str, shared: &Path) -> Option<Value> {
    let strict_of = |file: &str, scores: &str, k: usize| strict(shared, file, scores, k);
    let (first, second) = match comparison {
        "gpt54 base full k8 vs k1" => (
            strict_of("gpt54_base.jsonl", "full_scores", 8)?,
            strict_of("gpt54_base.jsonl", "full_scores", 1)?,
        ),
        "gpt54 criteria k8 vs base k8" => (
            strict_of("gpt54_criteria.jsonl", "full_scores", 8)?,
            strict_of("gpt54_base.jsonl", "full_scores", 8)?,
        ),
        "claude criteria full k8 vs base full k8" => (
            strict_of("claude_criteria.jsonl", "full_scores", 8)?,
            strict_of("claude_base.jsonl", "full_scores", 8)?,
        ),
        "claude mini(Haiku) base k8 vs full(Sonnet) base k8" => (
            strict_of("claude_base.jsonl", "mini_scores", 8)?,
            strict_of("claude_base.jsonl", "full_scores", 8)?,
        ),
        _ => return None,
    };

    let (a, b): (Vec<bool>, Vec<bool>) =
        first.iter().filter_map(|(id, &one)| Some((one, *second.get(id)?))).unzip();
    let pairs = PairedVerdicts::from_verdicts(&a, &b).unwrap();
    let found = paired_mean(&as_numbers(&a), &as_numbers(&b), ConfidenceLevel::P95).unwrap();
    Some(json!({
        "n": found.n, "both_pass": pairs.both, "only_first": pairs.only_first,
        "only_second": pairs.only_second, "both_fail": pairs.neither,
        "acc_first": rate(&a), "acc_second": rate(&b), "diff": found.difference,
        "se_paired": found.se.ok(), "se_if_unpaired": found.se_unpaired.ok(),
        "mcnemar_exact_p": pairs.mcnemar(ConfidenceLevel::P95).p_exact,
    }))
}

fn physicians(inputs: &Value, shared: &Path) -> Option<Value> {
    let folder = shared.join("data/healthbench-meta-120");
    let people = rows(&folder.join("healthbench_meta_gold.jsonl"))?;
    let (mut left, mut right) = (Vec::new(), Vec::new());
    if inputs["pairs"].as_str().unwrap().starts_with("model") {
        let judge: BTreeMap<String, bool> = rows(&folder.join("healthbench_meta_strongmodel_labels.jsonl"))?
            .iter()
            .map(|row| (row["item_id"].to_string(), row["criteria_met"].as_bool().unwrap()))
            .collect();
        for item in &people {
            for label in flags(&item["binary_labels"]) {
                left.push(judge[&item["item_id"].to_string()]);
                right.push(label);
            }
        }
    } else {
        for item in &people {
            let labels = flags(&item["binary_labels"]);
            for (at, &one) in labels.iter().enumerate() {
                for (_, &other) in labels.iter().enumerate().filter(|(index, _)| *index != at) {
                    left.push(one);
                    right.push(other);
                }
            }
        }
    }

    let counts = ConfusionTable::from_verdicts(&left, &right).unwrap();
    Some(json!({
        "pairs": counts.n(), "kappa": counts.kappa(ConfidenceLevel::P95).unwrap().kappa.ok(),
        "f1_pos": counts.f1().ok(), "f1_neg": counts.f1_fail().ok(), "balanced_f1": counts.macro_f1().ok(),
        "raw_agreement": counts.accuracy(ConfidenceLevel::P95).rate.ok(),
        "table": {
            "model_true_human_true": counts.true_pass, "model_true_human_false": counts.false_pass,
            "model_false_human_true": counts.false_fail, "model_false_human_false": counts.true_fail,
        },
    }))
}

fn two_orders(inputs: &Value, shared: &Path) -> Option<Value> {
    let folder = shared.join("data/llmbar");
    let (set, evaluator) = inputs["key"].as_str().unwrap().split_once('|').unwrap();
    let verdicts = rows(&folder.join("verdicts.jsonl"))?;
    let labels: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("labels.json")).ok()?).ok()?;
    let row = verdicts.iter().find(|row| row["set"] == set && row["evaluator"] == evaluator)?;
    let list =
        |value: &Value| -> Vec<Option<f64>> { value.as_array().unwrap().iter().map(Value::as_f64).collect() };
    let (truth, one, two) = (list(&labels[set]), list(&row["order1"]), list(&row["order2"]));
    let same =
        |a: &[Option<f64>], b: &[Option<f64>]| a.iter().zip(b).filter(|(a, b)| a.is_some() && a == b).count();
    let right = |index: &usize| one[*index] == truth[*index] && two[*index] == truth[*index];
    let between = |a: &[Option<f64>], b: &[Option<f64>]| {
        let (a, b): (Vec<f64>, Vec<f64>) = a.iter().zip(b).filter_map(|(a, b)| Some(((*a)?, (*b)?))).unzip();
        kappa_of(&a, &b)
    };

    Some(json!({
        "n": truth.len(), "correct_order1": same(&one, &truth), "correct_order2": same(&two, &truth),
        "correct_both": (0..truth.len()).filter(right).count(), "same_verdict": same(&one, &two),
        "unparsed": one.iter().chain(&two).filter(|verdict| verdict.is_none()).count(),
        "kappa_orders": between(&one, &two), "kappa_order1_vs_label": between(&one, &truth),
    }))
}
