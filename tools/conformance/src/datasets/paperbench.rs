//! PaperBench: judges of leaves against experts.

use serde_json::{Map, Value, json};

use super::dataset_run::{DatasetRun, QUICK, find};
use super::figures::FigureTable;
use super::trees::trees;

pub(super) fn paperbench(data: &DatasetRun, table: &mut FigureTable) -> Result<(), String> {
    table.title("paperbench: judges of leaves against experts");
    let text = data.text("paperbench/judge_confusions_recovered.json")?;
    let judges: Map<String, Value> = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    for (judge, kinds) in &judges {
        let kinds: Vec<(&String, &Value)> =
            kinds.as_object().into_iter().flatten().filter(|(kind, _)| *kind != "Overall").collect();

        // The counts of one judge could not be recovered from its published table for every kind.
        if kinds.len() < 3 {
            continue;
        }

        let mut rows = Vec::new();
        for (kind, counts) in &kinds {
            for (cell, judged, human) in
                [("tp", true, true), ("fn", false, true), ("fp", true, false), ("tn", false, false)]
            {
                for number in 0..counts[cell].as_u64().unwrap_or_default() {
                    let case = format!("{kind} {cell} {number}");
                    rows.push(json!({ "case": case, "criterion": kind, "label": human, "judge": judged }));
                }
            }
        }

        let file = data.write("paperbench.jsonl", &rows)?;
        let found = data.run("calibrate", &file, &QUICK)?;
        let overall = find(&found["sections"], &[("by", "all")]);
        let expected = match judge.split_once("-20").map_or("", |(name, _)| name) {
            "gpt-4o" => Some(([718, 471, 230, 1274], ".728106")),
            "gpt-4o-mini" => Some(([418, 771, 220, 1284], ".589566")),
            "o1" => Some(([971, 218, 202, 1302], ".841648")),
            "o3-mini" => Some(([1026, 163, 302, 1202], ".826589")),
            _ => None,
        };
        if let Some((counts, macro_f1)) = expected {
            for (name, count) in
                ["both_met", "only_people_met", "only_judge_met", "both_unmet"].iter().zip(counts)
            {
                table.count(&format!("{judge}: {name}"), &overall["confusion"][name], count);
            }
            table.figure(&format!("{judge}: macro-F1"), &overall["metrics"]["macro_f1"]["value"], macro_f1);
        }

        for (kind, counts) in kinds {
            let section = find(&found["sections"], &[("by", "criterion"), ("title", kind)]);
            let published = counts["macro_f1"].as_f64().unwrap_or(f64::NAN);
            table.figure(
                &format!("{judge}, {kind}: macro-F1"),
                &section["metrics"]["macro_f1"]["value"],
                &format!("{published:.6}"),
            );
        }
    }

    trees(data, table)
}
