//! `assize compare`.

use assize_analysis::compare::{ComparisonAspect, FailOn, HeadlineMetric};
use clap::ValueEnum;

use super::values::{OptionValues, level, one_of, share};

/// Values of `--metric`.
const METRICS: &OptionValues<HeadlineMetric> = &[
    ("score", HeadlineMetric::Score, "The mean score"),
    ("pass-rate", HeadlineMetric::PassRate, "The share of cases that passed"),
];

/// Values of `--allow`; `None` stands for all of them.
const ALLOWED_DIFFERENCES: &OptionValues<Option<ComparisonAspect>> = &[
    ("question", Some(ComparisonAspect::Question), "Questions and expectations of cases"),
    ("rubric", Some(ComparisonAspect::Rubric), "Criteria: words, weights, gates"),
    ("judge", Some(ComparisonAspect::Judge), "The judge"),
    ("prompt", Some(ComparisonAspect::Prompt), "The judge's instructions"),
    ("judging", Some(ComparisonAspect::Judging), "Number of criteria in one call"),
    ("lines", Some(ComparisonAspect::Lines), "The lines of verdicts"),
    ("all", None, "All of them"),
];

/// Values of `--fail-on`.
const FAILING_METRICS: &OptionValues<FailOn> = &[
    ("worse", FailOn::Worse, "Pass rate or mean score"),
    ("any-worse", FailOn::AnyWorse, "Also a suite, tag, grader or criterion, after adjusting"),
];

/// Compare runs case by case.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Cases are paired by suite, id and repeat. Cases that only one run holds, or that could not be decided,\n\
    are listed and not averaged in. Exit code 0 unless a gate says otherwise: 1 when one fails, 3 when one\n\
    depends on cases that are undecided or gone, 5 when --strict finds the comparison inconclusive. Runs that\n\
    were measured differently are refused (2) unless --allow names the difference.\n\n\
    Examples:\n  \
    assize compare last~1 last\n  \
    assize compare runs/main runs/change --fail-on worse --max-drop 0.05\n  \
    assize compare runs/main runs/change --margin 0.02 --strict --markdown\n  \
    assize compare last@gpt-a last@gpt-b --metric pass-rate --json"
)]
pub(crate) struct CompareArgs {
    /// The run to compare with: its folder, its id, `last`, or `last~N` for the Nth before; `@TARGET` takes the
    /// answers of that target only.
    #[arg(value_name = "BASE")]
    pub(crate) base: String,
    /// The runs to compare, named in the same way.
    #[arg(value_name = "CANDIDATE", required = true)]
    pub(crate) candidates: Vec<String>,
    /// The figure that the verdict is about.
    #[arg(long, value_parser = one_of(METRICS), default_value = "score", value_name = "FIGURE")]
    pub(crate) metric: HeadlineMetric,
    /// Differences up to this size do not matter: an interval within it means equivalent.
    #[arg(long, value_parser = share, value_name = "X")]
    pub(crate) margin: Option<f64>,
    /// Confidence level of intervals and tests.
    #[arg(long, value_parser = level, default_value = "0.95", value_name = "LEVEL")]
    pub(crate) level: f64,
    /// Adjustment of p values where several comparisons are made: to decide which got worse, or to scan many.
    #[arg(long, value_enum, default_value_t, value_name = "METHOD")]
    pub(crate) adjust: AdjustChoice,
    /// Resample for intervals of score differences instead of Student's t.
    #[arg(long)]
    pub(crate) bootstrap: bool,
    /// Seed of what is drawn at random.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) seed: u64,
    /// Ways of measuring that may differ between the runs; they are marked, not refused.
    #[arg(long, value_parser = one_of(ALLOWED_DIFFERENCES), value_delimiter = ',', value_name = "WHAT")]
    pub(crate) allow: Vec<Option<ComparisonAspect>>,
    /// Fail when something is worse beyond chance.
    #[arg(long, value_parser = one_of(FAILING_METRICS), value_name = "WHAT")]
    pub(crate) fail_on: Option<FailOn>,
    /// Fail when pass rate or mean score dropped by more than this; under --strict the interval must rule it out.
    #[arg(long, value_parser = share, value_name = "X")]
    pub(crate) max_drop: Option<f64>,
    /// Fail when a case that passed no longer does.
    #[arg(long)]
    pub(crate) fail_on_regression: bool,
    /// Exit with 5 when the comparison is inconclusive.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Changed cases of either kind to show with their reasons; 10, and 1000 with --json, unless given.
    #[arg(long, value_name = "N")]
    pub(crate) flips: Option<usize>,
    /// Print one JSON object.
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,
    /// Print Markdown, for a comment on a change.
    #[arg(long)]
    pub(crate) markdown: bool,
}

/// Adjustment of p values for multiple comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum AdjustChoice {
    /// Holm: the chance of any false alarm stays below 5 %.
    #[default]
    Holm,
    /// Benjamini-Hochberg: the share of false alarms among the alarms stays below 5 %.
    Bh,
    /// Not at all.
    None,
}
