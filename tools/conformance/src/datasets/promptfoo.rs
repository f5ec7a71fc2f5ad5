//! Configurations of promptfoo: how many cases each becomes.

use super::dataset_run::DatasetRun;
use super::figures::FigureTable;
use crate::conversions::copy_configurations;

/// File and number of cases.
const CONFIGURATIONS: [(&str, u64); 6] = [
    ("self-grading", 10),
    ("custom-grading-prompt", 1),
    ("simple-test", 5),
    ("gpt-4o-vs-4o-mini", 15),
    ("g-eval", 5),
    ("rag-eval", 2),
];

pub(super) fn promptfoo(data: &DatasetRun, table: &mut FigureTable) -> Result<(), String> {
    table.title("promptfoo: configurations of another tool");

    let folder = data.folder.path().join("configurations");
    std::fs::create_dir(&folder)
        .and_then(|()| copy_configurations(&data.file("promptfoo-configs"), &folder))
        .map_err(|error| format!("{}: {error}", folder.display()))?;

    for (name, cases) in CONFIGURATIONS {
        let file = folder.join(format!("{name}.yaml"));
        let converted = format!("{name}.eval.yaml");
        let found =
            data.ends(&[0, 3], "convert", &file, &["--to", "tests", "--out", &converted, "--force"])?;
        table.count(&format!("{name}: cases"), &found["cases"], cases);
    }

    Ok(())
}
