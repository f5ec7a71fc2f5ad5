//! Configurations of another tool: what becomes a case, and what is named as left behind.

use super::convert::items;
use super::dataset_run::DatasetRun;
use super::figures::FigureTable;

/// File, tests, tests of which nothing can be kept, types of assertions that have no counterpart.
const CONFIGURATIONS: [(&str, u64, u64, &[&str]); 6] = [
    ("self-grading", 10, 0, &[]),
    ("custom-grading-prompt", 1, 0, &[]),
    ("simple-test", 5, 0, &[]),
    ("gpt-4o-vs-4o-mini", 15, 0, &[]),
    ("g-eval", 5, 0, &[]),
    ("rag-eval", 2, 0, &["answer-relevance", "context-recall", "context-relevance", "context-faithfulness"]),
];

pub(super) fn promptfoo(data: &DatasetRun, table: &mut FigureTable) -> Result<(), String> {
    table.title("promptfoo: configurations of another tool");

    for (name, tests, empty, types) in CONFIGURATIONS {
        let file = data.file(&format!("promptfoo-configs/{name}.yaml"));
        let converted = format!("{name}.eval.yaml");
        let found =
            data.ends(&[0, 3], "convert", &file, &["--to", "tests", "--out", &converted, "--force"])?;
        table.count(&format!("{name}: cases"), &found["cases"], tests - empty);

        let notes = items(&found["notes"]);
        let said = |part: &str| {
            notes.iter().filter_map(|note| note["item"].as_str()).filter(|item| item.contains(part)).count()
        };
        let left_out = notes.iter().filter(|note| {
            note["what"].as_str().is_some_and(|what| what.contains("no assertion of it is converted"))
        });
        table.count(&format!("{name}: tests named as left out"), &left_out.count().into(), empty);

        for kind in types {
            table.holds(&format!("{name}: `{kind}` is named"), said(&format!("`{kind}`")) > 0);
        }
    }

    Ok(())
}
