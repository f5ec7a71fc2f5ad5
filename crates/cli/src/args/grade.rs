//! `assize grade`.

use std::path::PathBuf;

use assize_engine::GradeOptions;

use super::RunArgs;

/// Grade answers that are already there.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each line of the answers file is a JSON object with `answer` (or `output`), and optionally\n\
    `id`, `question` (or `input`), `reference` (or `expected_output`), `expected_outcome`, `tags`, `metadata`.\n\n\
    Examples:\n  \
    assize grade rubrics/support.yaml --answers answers.jsonl\n  \
    assize grade rubrics/support.yaml --answers answers.jsonl --judge openai:gpt-4o-mini --json"
)]
pub(crate) struct GradeArgs {
    /// The rubric: a YAML file with a list of criteria.
    #[arg(value_name = "RUBRIC")]
    pub(crate) rubric: PathBuf,
    /// The answers, one JSON object a line.
    #[arg(long, required = true, value_name = "FILE")]
    pub(crate) answers: PathBuf,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

impl GradeArgs {
    /// Typed options of these flags.
    pub(crate) fn options(&self) -> GradeOptions {
        GradeOptions { rubric: self.rubric.clone(), answers: self.answers.clone(), run: self.run.options() }
    }
}
