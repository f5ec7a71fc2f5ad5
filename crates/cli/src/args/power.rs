//! `assize calibrate power`.

use assize_rubric::UnitInterval;

use super::values::{amount, level, share, unit};

/// Compute the number of cases, repeats or labels that is enough.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Name a goal (--width, --difference, or --cases for what that many can detect) and what is known. \
    Nothing is guessed: a question with missing input is not answered.\n\n\
    --from takes known values from a run; two runs of the same cases also give the noise of pairs. \
    Options override the values of runs.\n\n\
    Examples:\n  \
    assize calibrate power --pass-rate 0.8 --width 0.1\n  \
    assize calibrate power --pass-rate 0.8 --difference 0.05 --power 0.9\n  \
    assize calibrate power --difference 0.05 --discordance 0.2\n  \
    assize calibrate power --pass-rate 0.7 --sensitivity 0.9 --specificity 0.85 \\\n      \
    --width 0.1\n  \
    assize calibrate power --from last~1 --from last --difference 0.03"
)]
pub(crate) struct PowerArgs {
    /// Estimate unknowns from a run, or from two.
    ///
    /// Two runs over the same cases.
    #[arg(long, value_name = "RUN")]
    pub(crate) from: Vec<String>,
    /// Wanted: full width of the interval.
    ///
    /// Such as 0.1 for 0.05 to either side.
    #[arg(long, value_parser = share, value_name = "X")]
    pub(crate) width: Option<f64>,
    /// Wanted: a difference to detect.
    #[arg(long, value_parser = share, value_name = "X")]
    pub(crate) difference: Option<f64>,
    /// Wanted: what N cases can detect.
    #[arg(long, value_name = "N")]
    pub(crate) cases: Option<u64>,
    /// Probability to detect a difference.
    #[arg(long, value_parser = level, default_value = "0.8", value_name = "SHARE")]
    pub(crate) power: f64,
    /// Confidence level.
    #[arg(long, value_parser = level, default_value = "0.95", value_name = "LEVEL")]
    pub(crate) level: f64,
    /// Plan for McNemar's mid-p test.
    ///
    /// Of pass rates, as with `compare --mid-p`.
    #[arg(long)]
    pub(crate) mid_p: bool,
    /// Known: the pass rate.
    #[arg(long, value_parser = unit, value_name = "RATE")]
    pub(crate) pass_rate: Option<UnitInterval>,
    /// Known: share of pairs in which only one side passes.
    #[arg(long, value_parser = unit, value_name = "SHARE")]
    pub(crate) discordance: Option<UnitInterval>,
    /// Known: SD of scores over cases.
    #[arg(long, value_parser = amount, value_name = "SD")]
    pub(crate) score_sd: Option<f64>,
    /// Known: SD of score differences over pairs.
    #[arg(long, value_parser = amount, value_name = "SD")]
    pub(crate) difference_sd: Option<f64>,
    /// Known: variance of scores between cases.
    ///
    /// With --within, for numbers of repeats.
    #[arg(long, value_parser = amount, requires = "within", value_name = "VARIANCE")]
    pub(crate) between: Option<f64>,
    /// Known: variance of scores within a case.
    #[arg(long, value_parser = amount, value_name = "VARIANCE")]
    pub(crate) within: Option<f64>,
    /// Known: cases in a cluster.
    #[arg(long, value_parser = amount, requires = "icc", value_name = "N")]
    pub(crate) cluster_size: Option<f64>,
    /// Known: correlation of cases within a cluster.
    #[arg(long, value_parser = unit, requires = "cluster_size", value_name = "R")]
    pub(crate) icc: Option<UnitInterval>,
    /// Known: the judge's sensitivity.
    #[arg(long, value_parser = unit, value_name = "RATE")]
    pub(crate) sensitivity: Option<UnitInterval>,
    /// Known: the judge's specificity.
    #[arg(long, value_parser = unit, value_name = "RATE")]
    pub(crate) specificity: Option<UnitInterval>,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}
