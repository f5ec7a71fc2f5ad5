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
    let found = data.run("calibrate", &file, &QUICK)?;
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

    Ok(())
}
