//! DevAI: systems compared requirement by requirement, by the verdicts of people.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use super::dataset_run::DatasetRun;
use super::figures::FigureTable;

/// The expected answer of every case.
const MET: &str = "met";
const SYSTEMS: [&str; 3] = ["OpenHands", "MetaGPT", "GPT-Pilot"];

/// GPT-Pilot against another system: requirements met by both, only by GPT-Pilot, only by the other, by
/// neither; difference and exact p.
const PAIRS: [(&str, [u64; 4], [&str; 2]); 2] = [
    ("OpenHands", [104, 59, 53, 150], [".016393", ".6368"]),
    ("MetaGPT", [46, 117, 35, 168], [".224044", "1.58e-11"]),
];

/// Number of a verdict's task. A task is spelled in three ways that have only the number in common.
pub(super) fn task(row: &Value) -> String {
    row["task"].as_str().and_then(|task| task.split('_').next()).unwrap_or_default().to_owned()
}

/// Records the verdicts of people as the answers of three targets, grades them, and compares the targets.
pub(super) fn systems(data: &DatasetRun, table: &mut FigureTable, lines: &[Value]) -> Result<(), String> {
    let case = |row: &Value| format!("{}-{}", task(row), row["requirement_id"]);
    let answers: Vec<Value> = lines
        .iter()
        .map(|row| {
            let answer = if row["human_satisfied"] == true { MET } else { "unmet" };
            json!({ "case_id": case(row), "target": row["agent"], "output": answer })
        })
        .collect();

    data.write("devai-answers.jsonl", &answers)?;
    let targets: Vec<Value> = SYSTEMS
        .iter()
        .map(|name| {
            json!({ "name": name, "provider": "replay", "path": "devai-answers.jsonl", "source": name })
        })
        .collect();

    data.write_text("devai-targets.yaml", &json!({ "targets": targets }).to_string())?;
    let tasks: BTreeMap<String, String> = lines.iter().map(|row| (case(row), task(row))).collect();
    compared(data, table, &tasks, false)?;

    compared(data, table, &tasks, true)
}

/// Compares the targets with independent cases, or with cases clustered by task.
fn compared(
    data: &DatasetRun,
    table: &mut FigureTable,
    tasks: &BTreeMap<String, String>,
    clustered: bool,
) -> Result<(), String> {
    let name = if clustered { "devai-tasks" } else { "devai-requirements" };
    let cases: Vec<Value> = tasks
        .iter()
        .map(|(id, task)| {
            let check = json!({ "type": "equals", "value": MET });
            let mut case =
                json!({ "id": id, "input": id, "criteria": "The requirement is met", "assertions": [check] });
            if clustered {
                case["metadata"] = json!({ "cluster": task });
            }

            case
        })
        .collect();

    let suite = data.write_text(&format!("{name}.eval.yaml"), &json!({ "tests": cases }).to_string())?;
    let run = format!("{name}-run");
    let targets = SYSTEMS.iter().flat_map(|system| ["--target", system]);
    let mut arguments = vec!["--targets", "devai-targets.yaml", "--run-dir", &run];
    arguments.extend(targets);

    // Some answers are `unmet`, so the run fails.
    data.ends(&[1], "eval", &suite, &arguments)?;
    let candidate = format!("{run}@GPT-Pilot");
    for (base, [both, only_candidate, only_base, neither], [difference, p]) in PAIRS {
        let what = format!("GPT-Pilot against {base}");
        let found = data.run("compare", Path::new(&format!("{run}@{base}")), &[&candidate])?;
        let contrast = &found["comparisons"][0]["pass_rate"];
        if clustered {
            table.count(
                &format!("{what}: tasks"),
                &contrast["clusters"],
                tasks.values().collect::<BTreeSet<_>>().len() as u64,
            );

            if base == "OpenHands" {
                table.figure(&format!("{what}: error by task, CR0"), &contrast["se_cr0"], ".046203");
            }

            continue;
        }

        let pairs = both + only_candidate + only_base + neither;
        table.count(&format!("{what}: pairs"), &contrast["n"], pairs);
        table.count(&format!("{what}: only GPT-Pilot"), &contrast["higher"], only_candidate);
        table.count(&format!("{what}: only {base}"), &contrast["lower"], only_base);

        for (side, met) in [("candidate", both + only_candidate), ("base", both + only_base)] {
            let rate = format!("{:.6}", met as f64 / pairs as f64);
            table.figure(&format!("{what}: rate of the {side}"), &contrast[side], &rate);
        }

        table.figure(&format!("{what}: difference"), &contrast["difference"], difference);
        table.figure(&format!("{what}: exact p"), &contrast["p"], p);
        table.holds(&format!("{what}: the test is McNemar's"), contrast["test"] == "McNemar, exact");

        if base == "OpenHands" {
            table.figure(&format!("{what}: error if independent"), &contrast["se"], ".028942");
        }
    }

    Ok(())
}
