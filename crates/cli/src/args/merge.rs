//! `assize merge`.

use std::path::PathBuf;

use assize_engine::MergeOptions;

use super::ShowChoice;
use super::headings::OUTPUT;
use super::report_file::{ReportFile, report_file};

/// Merge the runs of shards (`--shard i/n`) into one run.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The merged run has the rows of all shards, in the order of the files, and the metrics and the exit code \
    of a run of all cases. Shards must be of the same plan: the same cases, settings, judges and version.\n\n\
    Examples:\n  \
    assize eval evals/ --shard 1/2 --run-dir shards/1\n  \
    assize eval evals/ --shard 2/2 --run-dir shards/2\n  \
    assize merge shards/1 shards/2 --run-dir runs/nightly\n  \
    assize merge shards/* --allow-missing --out report.html"
)]
pub(crate) struct MergeArgs {
    /// Shards: run folders or ids; or the results of a job, PLACE/JOB of `eval --cluster --results PLACE`.
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    /// Merge even if shards are missing or were stopped.
    ///
    /// The exit code is then 3, or 1 if a case failed.
    #[arg(long)]
    pub(crate) allow_missing: bool,
    /// Write a report: .html, .md, .xml, .csv, .sarif, .json.
    ///
    /// Repeatable. FILE.xml is JUnit, FILE.json has what `--json` prints.
    /// Alias: `--report`.
    #[arg(
        long, alias = "report", short = 'o', value_parser = report_file, value_name = "FILE",
        help_heading = OUTPUT
    )]
    pub(crate) out: Vec<ReportFile>,
    /// Print JSON instead of text.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
    /// Cases to print: `auto`, `all`, `failed` or `none`.
    #[arg(
        long, value_enum, default_value_t, value_name = "WHICH", help_heading = OUTPUT,
        hide_possible_values = true, hide_default_value = true
    )]
    pub(crate) show: ShowChoice,
    /// Folder of the merged run [default: .assize/runs/ID].
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub(crate) run_dir: Option<PathBuf>,
}

impl MergeArgs {
    /// Typed options of these flags.
    pub(crate) fn options(&self) -> MergeOptions {
        MergeOptions {
            runs: self.runs.clone(),
            run_dir: self.run_dir.clone(),
            allow_missing: self.allow_missing,
            ..MergeOptions::default()
        }
    }
}
