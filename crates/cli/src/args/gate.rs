//! Gates on a run as a whole.

use assize_rubric::UnitInterval;

use super::headings::JUDGE;
use super::values::rate;

/// Gates on the metrics of a run.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct GateArgs {
    /// Fail unless this share passes, such as `90%`.
    ///
    /// The share of cases, as `0.9` or `90%`. Single failures then do not fail the run. Cases without a verdict leave it incomplete (exit code 3) if they
    /// could change the result.
    #[arg(long, value_parser = rate, value_name = "RATE", help_heading = JUDGE)]
    pub(crate) min_pass_rate: Option<UnitInterval>,
}
