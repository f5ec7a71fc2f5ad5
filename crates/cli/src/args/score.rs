//! `assize score`.

use std::path::PathBuf;

use assize_rubric::UnitInterval;

use super::gate::GateArgs;
use super::run_output::RunOutputArgs;
use super::values::unit;

/// Recompute the scores of a stored run without asking a judge.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("run_dir", |argument| argument.help("Store the rescored run here [default: not stored]")),
    after_help = "A decision is reused only if the text and the ranges of its criterion are unchanged; otherwise the \
    criterion is ungraded. Reports other than FILE.json need `--run-dir`.\n\n\
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
    #[command(flatten)]
    pub(crate) output: RunOutputArgs,
}
