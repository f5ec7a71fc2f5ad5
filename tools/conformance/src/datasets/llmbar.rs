//! LLMBar: preferences in both orders.

use serde_json::{Value, json};

use super::convert::{items, json_lines};
use super::dataset_run::{DatasetRun, QUICK, find};
use super::figures::FigureTable;

/// Set, evaluator, right in order 1, in order 2, in both, same verdict, pairs.
const LLMBAR: [(&str, &str, [u64; 5]); 9] = [
    ("natural", "GPT-4/Vanilla", [95, 96, 93, 95, 100]),
    ("adv_neighbor", "GPT-4/Vanilla_NoRules", [87, 85, 79, 120, 134]),
    ("adv_neighbor", "GPT-4/Vanilla", [104, 107, 101, 125, 134]),
    ("adv_neighbor", "GPT-4/Metrics_Reference", [115, 114, 111, 127, 134]),
    ("adv_gptinst", "GPT-4/Vanilla", [78, 81, 77, 87, 92]),
    ("adv_gptout", "GPT-4/Vanilla", [35, 38, 35, 44, 47]),
    ("adv_manual", "GPT-4/Vanilla", [35, 39, 33, 38, 46]),
    ("mtbench_human", "GPT-4/Vanilla_NoRules", [159, 165, 149, 174, 200]),
    ("mtbench_human", "GPT-4/Metrics_Reference", [161, 163, 146, 168, 200]),
];

pub(super) fn llmbar(data: &DatasetRun, table: &mut FigureTable) -> Result<(), String> {
    table.title("llmbar: preferences in both orders");
    let texts = [data.text("llmbar/verdicts.jsonl")?, data.text("llmbar/labels.json")?];
    let [verdicts, labels] = texts;
    let labels: Value = serde_json::from_str(&labels).map_err(|error| error.to_string())?;
    let wanted = |row: &Value| {
        LLMBAR.iter().any(|(set, evaluator, _)| row["set"] == *set && row["evaluator"] == *evaluator)
    };
    let mut rows = Vec::new();
    for row in json_lines(&verdicts)?.iter().filter(|row| wanted(row)) {
        let truth = items(&labels[row["set"].as_str().unwrap_or_default()]);
        let orders = items(&row["order1"]).iter().zip(items(&row["order2"]));
        for (number, (truth, (first, second))) in truth.iter().zip(orders).enumerate() {
            rows.push(json!({
                "case": number, "criterion": row["set"], "system": row["evaluator"],
                "preferred": truth, "first": first, "second": second,
            }));
        }
    }

    let file = data.write("llmbar.jsonl", &rows)?;
    let found = data.run("calibrate", &file, &["--pairs"])?;
    for (set, evaluator, expected) in LLMBAR {
        let group = find(&found["groups"], &[("set", set), ("judge", evaluator)]);
        for (name, expected) in ["right_first", "right_second", "right_both", "same"].iter().zip(expected) {
            table.count(&format!("{set}, {evaluator}: {name}"), &group[name]["count"], expected);
        }
        table.count(&format!("{set}, {evaluator}: pairs"), &group["pairs"], expected[4]);
    }

    let coded: Vec<Value> = rows
        .iter()
        .take(100)
        .map(|row| {
            let verdict = row["first"].as_u64().map(|verdict| verdict - 1);
            json!({ "case": row["case"], "label": row["preferred"], "judge": verdict })
        })
        .collect();

    let file = data.write("llmbar-codes.jsonl", &coded)?;
    let refusal = data.refusal("calibrate", &file, &QUICK)?;
    table.holds("labels coded 1/2 beside verdicts coded 0/1: refused", refusal.contains("which is which"));

    Ok(())
}
