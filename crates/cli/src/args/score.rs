//! `assize score`.

use std::path::PathBuf;

use assize_rubric::UnitInterval;

use super::ShowChoice;
use super::gate::GateArgs;
use super::headings::OUTPUT;
use super::report_file::{ReportFile, report_file};
use super::values::unit;

/// Recompute the scores of a stored run without asking a judge.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A decision is reused only if the text and the ranges of its criterion are unchanged; otherwise the \
    criterion is ungraded.\n\n\
    Examples:\n  \
    assize score last --rubric rubrics/support.yaml\n  \
    assize score .assize/runs/20260102-120000-support --threshold 0.9 \\\n      \
    --run-dir rescored"
)]
pub(crate) struct ScoreArgs {
    /// Run: folder, id or `last`.
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Score with the weights and gates of this rubric.
    ///
    /// And with its criteria.
    #[arg(long, value_name = "FILE")]
    pub(crate) rubric: Option<PathBuf>,
    /// Pass threshold of each case, 0 to 1.
    #[arg(long, value_parser = unit, value_name = "SCORE")]
    pub(crate) threshold: Option<UnitInterval>,
    /// Borderline threshold, 0 to 1.
    #[arg(long, value_parser = unit, value_name = "SCORE")]
    pub(crate) borderline: Option<UnitInterval>,
    #[command(flatten)]
    pub(crate) gate: GateArgs,
    /// Write a report: .html, .md, .xml, .csv, .sarif, .json.
    ///
    /// Repeatable. FILE.xml is JUnit, FILE.json has what `--json` prints; all but that need `--run-dir`.
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
    /// Store the rescored run here [default: not stored].
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub(crate) run_dir: Option<PathBuf>,
}
