//! RewardBench 2: repeated scores of four answers.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::convert::{items, json_lines};
use super::dataset_run::DatasetRun;
use super::figures::FigureTable;

/// How often a judge gave the right answer the best score: k, times it was alone at the top and items, share,
/// share with partial credit.
type BestOf = (usize, Option<[u64; 2]>, &'static str, &'static str);

const REWARDBENCH: [(&str, &str, [BestOf; 3]); 3] = [
    (
        "gpt54_base.jsonl",
        "full_scores",
        [
            (1, Some([1240, 1729]), ".7172", ".7968"),
            (3, None, ".7844", ".8217"),
            (8, Some([1410, 1730]), ".8150", ".8325"),
        ],
    ),
    (
        "gpt54_base.jsonl",
        "mini_scores",
        [
            (1, Some([1119, 1728]), ".6476", ".7439"),
            (3, None, ".7478", ".7893"),
            (8, Some([1370, 1730]), ".7919", ".8079"),
        ],
    ),
    (
        "gpt54_base_t0.0.jsonl",
        "full_scores",
        [
            (1, Some([1251, 1726]), ".7248", ".7992"),
            (3, None, ".7699", ".8146"),
            (8, Some([1334, 1730]), ".7711", ".8145"),
        ],
    ),
];

pub(super) fn rewardbench(data: &DatasetRun, table: &mut FigureTable) -> Result<(), String> {
    table.title("rewardbench2: eight scores of each of four answers");

    for (name, scores, expected) in REWARDBENCH {
        let file = data.file(&format!("rewardbench2-k8/{name}"));
        // The same id occurs in several subsets.
        let columns = format!("case=id,criterion=subset,scores={scores}");
        let found =
            data.run("calibrate noise", &file, &["--columns", &columns, "--right", "0", "-k", "1,3,8"])?;
        for (k, counts, strict, credit) in expected {
            let best = items(&found["best"]).iter().find(|best| best["k"] == k).unwrap_or(&Value::Null);
            let what = format!("{name} {scores}, k = {k}");
            if let Some([right, total]) = counts {
                table.count(&format!("{what}: right"), &best["strict"]["count"], right);
                table.count(&format!("{what}: items"), &best["strict"]["n"], total);
            }

            table.figure(&format!("{what}: alone at the top"), &best["strict"]["value"], strict);
            table.figure(&format!("{what}: with part credit"), &best["credit"], credit);
        }

        let noise = match (name, scores) {
            ("gpt54_base.jsonl", "full_scores") => Some((".639", ".2195")),
            ("gpt54_base_t0.0.jsonl", "full_scores") => Some((".233", ".0458")),
            _ => None,
        };

        if (name, scores) == ("gpt54_base.jsonl", "full_scores") {
            let once = items(&found["best"]).iter().find(|best| best["k"] == 1).unwrap_or(&Value::Null);
            table.count(&format!("{name} {scores}, k = 1: the right one ties"), &once["tied"], 317);
        }
        if let Some((differing, variance)) = noise {
            table.figure(&format!("{name}: answers that differ"), &found["differing"]["value"], differing);
            table.figure(&format!("{name}: variance of repeats"), &found["mean_variance"], variance);
        }

        if (name, scores) == ("gpt54_base.jsonl", "full_scores") {
            let text = data.text(&format!("rewardbench2-k8/{name}"))?;
            let plain = ["--columns", "case=id,scores=full_scores"];
            let refusal = data.refusal("calibrate noise", &file, &plain)?;
            table.holds("ids that recur between subsets: refused", refusal.contains("already"));

            // The published comparison is by id alone and uses the last of the items with the same id.
            let by_id: BTreeMap<String, Value> =
                json_lines(&text)?.into_iter().map(|row| (row["id"].to_string(), row)).collect();
            let rows: Vec<Value> = by_id
                .into_values()
                .map(|row| json!({ "case": row["id"], "scores": row["full_scores"] }))
                .collect();
            let file = data.write("rewardbench.jsonl", &rows)?;
            let found = data.run("calibrate noise", &file, &["--right", "0", "-k", "1,8"])?;

            gain(table, &found["gain"]);
        }
    }

    Ok(())
}

fn gain(table: &mut FigureTable, gain: &Value) {
    for (name, expected) in [("both", 1204), ("only_more", 177), ("only_fewer", 15), ("neither", 295)] {
        table.count(&format!("8 against 1: {name}"), &gain[name], expected);
    }

    table.figure("8 against 1: difference", &gain["difference"]["value"], ".095801");
    table.figure("8 against 1: paired error", &gain["difference"]["se"], ".007858");
    table.figure("8 against 1: unpaired error", &gain["difference"]["se_unpaired"], ".014410");

    table.figure("8 against 1: exact p", &gain["p_exact"], "2.7e-36");
}
