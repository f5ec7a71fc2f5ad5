//! HealthBench: a judge and physicians.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::convert::json_lines;
use super::dataset_run::{DatasetRun, QUICK, find};
use super::figures::FigureTable;

pub(super) fn healthbench(data: &DatasetRun, table: &mut FigureTable) -> Result<(), String> {
    table.title("healthbench: a judge and physicians");
    let folder = "healthbench-meta-120";
    let texts = [
        data.text(&format!("{folder}/healthbench_meta_gold.jsonl"))?,
        data.text(&format!("{folder}/healthbench_meta_strongmodel_labels.jsonl"))?,
    ];
    let [people, judge] = texts;
    let judge: BTreeMap<String, Value> = json_lines(&judge)?
        .into_iter()
        .map(|row| (row["item_id"].to_string(), row["criteria_met"].clone()))
        .collect();
    let rows: Vec<Value> = json_lines(&people)?
        .iter()
        .map(|row| {
            json!({
                "case": row["item_id"], "criterion": row["category"], "label": row["binary_labels"],
                "who": row["anonymized_physician_ids"], "judge": judge.get(&row["item_id"].to_string()),
            })
        })
        .collect();

    let file = data.write("healthbench.jsonl", &rows)?;
    // The published figures compare the judge with each physician, also where physicians disagree.
    let found = data.run("calibrate", &file, &[&QUICK[..], &["--truth", "each"]].concat())?;
    let overall = find(&found["sections"], &[("by", "all")]);
    for (name, count) in
        [("both_met", 137), ("only_judge_met", 36), ("only_people_met", 30), ("both_unmet", 47)]
    {
        table.count(&format!("judge and physicians: {name}"), &overall["confusion"][name], count);
    }

    let (judge, people) = (&overall["metrics"], &overall["people"]);
    table.figure("judge: kappa", &judge["kappa"]["value"], ".3937835256080535");
    table.count("judge and physicians: pairs", &judge["kappa"]["n"], 250);
    table.figure("judge: F1 of met", &judge["f1_met"]["value"], ".8058823529");
    table.figure("judge: F1 of unmet", &judge["f1_unmet"]["value"], ".5875");
    table.figure("judge: balanced F1", &judge["macro_f1"]["value"], ".6966911764705883");
    table.figure("judge: raw agreement", &judge["accuracy"]["value"], ".736");
    table.count("physicians: ordered pairs", &people["kappa"]["n"], 282);
    table.figure("physicians: kappa", &people["kappa"]["value"], ".4370008873");
    table.figure("physicians: balanced F1", &people["macro_f1"]["value"], ".7185004437");
    table.figure("physicians: raw agreement", &people["accuracy"]["value"], ".7446808511");
    table.figure("physicians: alpha", &people["alpha_nominal"]["value"], ".4251497006");

    published_means(data, table)
}

/// The means of the scripts of HealthBench, ResearchRubrics and PRBench, over rubrics with weights like theirs.
fn published_means(data: &DatasetRun, table: &mut FigureTable) -> Result<(), String> {
    const WEIGHTS: [i32; 8] = [10, 7, 5, 2, -3, -6, -8, 4];
    const CASES: usize = 40;
    table.title("healthbench: means without clipping each case");

    let (mut cases, mut shares, mut normalised) = (Vec::new(), Vec::new(), Vec::new());
    for case in 0..CASES {
        let (mut criteria, mut answer) = (Vec::new(), "The answer".to_owned());
        let (mut points, mut most, mut fewest) = (0, 0, 0);
        for item in 0..6 {
            let weight = WEIGHTS[(case * 5 + item * 3) % WEIGHTS.len()];
            // Penalties are met more often, so that some cases are below zero.
            let is_met = (case * 7 + item * 11) % 5 < if weight < 0 { 4 } else { 2 };
            criteria.push(json!({ "id": format!("c{item}"), "outcome": format!("Says \"word{item}\""),
                                  "weight": weight, "required": false }));
            if is_met {
                answer.push_str(" word");
                answer.push_str(&item.to_string());
                points += weight;
            }
            most += weight.max(0);
            fewest += weight.min(0);
        }
        // `calculate_score` of HealthBench and the scorer of ResearchRubrics; the normalised score of PRBench.
        shares.push(f64::from(points) / f64::from(most));
        normalised.push(f64::from(points - fewest) / f64::from(most - fewest));
        cases.push(json!({ "id": format!("case-{case}"), "input": "q", "output": answer,
                           "assertions": [{ "type": "rubrics", "criteria": criteria }] }));
    }

    let file = json!({ "name": "means", "tests": cases });
    let path = data.write_text("means.eval.yaml", &file.to_string())?;
    let found = data.ends(&[0, 1], "eval", &path, &["--judge", "offline"])?;
    let means = &found["metrics"]["published_means"];
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let unclipped = mean(&shares);
    let clipped = mean(&shares.iter().map(|share| share.clamp(0.0, 1.0)).collect::<Vec<f64>>());
    table.count("cases", &means["cases"], CASES as u64);
    table.figure("HealthBench: mean", &means["healthbench"], &format!("{:.9}", unclipped.clamp(0.0, 1.0)));
    table.figure("ResearchRubrics: mean", &means["research_rubrics"], &format!("{unclipped:.9}"));
    table.figure("PRBench: normalised", &means["prbench_normalised"], &format!("{:.9}", mean(&normalised)));
    table.figure("mean of clipped cases", &found["mean_score"]["mean"], &format!("{clipped:.9}"));

    Ok(())
}
