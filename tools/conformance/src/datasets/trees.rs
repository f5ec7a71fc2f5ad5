//! PaperBench: graded trees whose scores are computed again, and ids that occur twice.

use std::collections::BTreeMap;

use serde_json::Value;

use super::convert::items;
use super::dataset_run::{DatasetRun, find};
use super::figures::FigureTable;

/// Paper, overall score (to the decimals that do not depend on the order of summation), leaves, leaves that
/// pass.
const GRADED: [(&str, &str, [u64; 2]); 5] = [
    ("all-in-one", ".713935185185", [174, 84]),
    ("pinn", ".834214594929", [1963, 882]),
    ("rice", ".185681216931", [361, 97]),
    ("semantic-self-consistency", ".910000000000", [79, 74]),
    ("stay-on-topic", ".481529581530", [116, 52]),
];

/// Rubrics and the number of ids that occur a second time in each.
const TWICE: [(&str, u64); 3] = [("bbox", 3), ("bridging-data-gaps", 3), ("all-in-one", 0)];

/// Maximum difference between two orders of summation over the same weights.
const SAME: f64 = 1e-12;

pub(super) fn trees(data: &DatasetRun, table: &mut FigureTable) -> Result<(), String> {
    table.title("paperbench: graded trees added up anew");

    for (paper, root, [leaves, passed]) in GRADED {
        let file = format!("paperbench/judge_eval/{paper}.expected_result.json");
        let Ok(text) = data.text(&file) else {
            table.skip(&file);
            continue;
        };
        let tree: Value = serde_json::from_str(&text).map_err(|error| format!("{paper}: {error}"))?;
        let card = format!("{paper}.yaml");
        data.run("convert", &data.file(&file), &["--to", "scorecard", "--out", &card, "--force"])?;
        data.run("validate", card.as_ref(), &[])?;

        // Most papers do not reach the pass mark.
        let found = data.ends(&[0, 1], "scorecard score", card.as_ref(), &["--accept-unbound-labels"])?;
        let whole = find(&found["nodes"], &[("code", tree["id"].as_str().unwrap_or_default())]);
        table.figure(&format!("{paper}: score of the whole"), &whole["score"], root);

        let mut stored = Stored::default();
        stored.add(&tree);

        let scores: BTreeMap<&str, f64> = items(&found["nodes"])
            .iter()
            .filter_map(|node| Some((node["code"].as_str()?, node["score"].as_f64()?)))
            .collect();
        let agree = |nodes: &[(String, f64)]| {
            let same = nodes.iter().filter(|(id, score)| {
                scores.get(id.as_str()).is_some_and(|found| (found - score).abs() <= SAME)
            });
            same.count().into()
        };

        table.count(&format!("{paper}: leaves as graded"), &agree(&stored.leaves), leaves);
        let passing = stored.leaves.iter().filter(|(id, _)| scores.get(id.as_str()) == Some(&1.0));
        table.count(&format!("{paper}: leaves that pass"), &passing.count().into(), passed);

        let inner = stored.inner.len() as u64;
        table.count(&format!("{paper}: inner scores as stored"), &agree(&stored.inner), inner);
    }

    for (paper, twice) in TWICE {
        let file = data.file(&format!("paperbench/rubrics/{paper}.json"));
        if !file.is_file() {
            table.skip(&format!("the rubric of {paper}"));
            continue;
        }

        let code = if twice > 0 { [3] } else { [0] };
        let card = format!("{paper}-rubric.yaml");
        let found = data.ends(&code, "convert", &file, &["--to", "scorecard", "--out", &card])?;

        data.run("validate", card.as_ref(), &[])?;
        table.count(&format!("{paper}: ids that stand twice"), &found["lost"], twice);
    }

    Ok(())
}

/// Ids and scores of a graded tree.
#[derive(Default)]
struct Stored {
    leaves: Vec<(String, f64)>,
    inner: Vec<(String, f64)>,
}

impl Stored {
    fn add(&mut self, node: &Value) {
        let parts = items(&node["sub_tasks"]);
        let scored =
            node["id"].as_str().zip(node["score"].as_f64()).map(|(id, score)| (id.to_owned(), score));
        if parts.is_empty() {
            self.leaves.extend(scored);
        } else {
            self.inner.extend(scored);
        }

        for part in parts {
            self.add(part);
        }
    }
}
