//! `assize score`.

use std::path::PathBuf;

use assize_rubric::UnitInterval;

use super::ShowChoice;
use super::values::unit;

/// Score a stored run again without asking a judge.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A decision is carried over only if its criterion still reads the same; a criterion whose words\n\
    or bands changed is ungraded until it is judged again.\n\n\
    Examples:\n  \
    assize score last --rubric rubrics/support.yaml\n  \
    assize score .assize/runs/20260102-120000-support --threshold 0.9 --out rescored"
)]
pub(crate) struct ScoreArgs {
    /// The run: its folder, its id, or `last`.
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Rubric whose weights, gates and criteria replace those of the run.
    #[arg(long, value_name = "FILE")]
    pub(crate) rubric: Option<PathBuf>,
    /// Pass line, 0 to 1.
    #[arg(long, value_parser = unit, value_name = "SCORE")]
    pub(crate) threshold: Option<UnitInterval>,
    /// Borderline line, 0 to 1.
    #[arg(long, value_parser = unit, value_name = "SCORE")]
    pub(crate) borderline: Option<UnitInterval>,
    /// Folder to store the scored run in; nothing is stored unless given.
    #[arg(long, short = 'o', value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON object on stdout instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
    /// Cases to print in full.
    #[arg(long, value_enum, default_value_t, value_name = "WHICH")]
    pub(crate) show: ShowChoice,
}
