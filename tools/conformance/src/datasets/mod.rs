//! Published and reference figures, computed again by the commands from the data they were published with.

mod biggen;
mod convert;
mod dataset_run;
mod devai;
mod dialogues;
mod figures;
mod healthbench;
mod llmbar;
mod paperbench;
mod prometheus;
mod promptfoo;
mod rewardbench;
mod systems;
mod trees;

use tempfile::TempDir;

use crate::program;
use crate::shared::SharedFolder;
use dataset_run::DatasetRun;
use figures::FigureTable;

/// A data set: its folder below `data/`, and the function that fills its table of figures.
type Dataset = (&'static str, fn(&DatasetRun, &mut FigureTable) -> Result<(), String>);

/// Every data set.
const DATASETS: &[Dataset] = &[
    ("paperbench", paperbench::paperbench),
    ("devai-agent-judge", devai::devai),
    ("healthbench-meta-120", healthbench::healthbench),
    ("llm-rubric-dialogues", dialogues::llm_rubric),
    ("llmbar", llmbar::llmbar),
    ("rewardbench2-k8", rewardbench::rewardbench),
    ("prometheus-gpt4-triple", prometheus::prometheus),
    ("promptfoo-configs", promptfoo::promptfoo),
    ("biggen-rubrics", biggen::biggen),
];

/// The folders of all data sets.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    DATASETS.iter().map(|(name, _)| *name)
}

/// Computes the figures of a data set and fails if one differs.
pub(crate) fn check(name: &str, shared: &SharedFolder) -> Result<(), String> {
    let (_, compute) =
        DATASETS.iter().find(|(known, _)| *known == name).ok_or_else(|| format!("no data set `{name}`"))?;
    let folder = TempDir::new().map_err(|error| error.to_string())?;
    let run = DatasetRun { program: program::built()?, source: shared.path("data"), folder };

    let mut table = FigureTable::default();
    compute(&run, &mut table)?;

    table.finish()
}
