//! `assize compare`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use assize_analysis::compare::{ComparisonAspect, FailOn, HeadlineMetric};
use clap::{Subcommand, ValueEnum};

use super::PairwiseArgs;
use super::headings::{ADVANCED, GATES, OUTPUT, TREND};
use super::replace::ReplaceArgs;
use super::report_file::{ReportFile, comparison_file};
use super::values::{OptionValues, level, one_of, share};

/// Values of `--metric`.
const METRICS: &OptionValues<HeadlineMetric> = &[
    ("score", HeadlineMetric::Score, "The mean score"),
    ("pass-rate", HeadlineMetric::PassRate, "The share of cases that passed"),
];

/// Values of `--allow`; `None` means all of them.
pub(super) const ALLOWED_DIFFERENCES: &OptionValues<Option<ComparisonAspect>> = &[
    ("question", Some(ComparisonAspect::Question), "Questions and expectations of cases"),
    ("rubric", Some(ComparisonAspect::Rubric), "Criteria and graders: text, settings, weights, gates"),
    ("judge", Some(ComparisonAspect::Judge), "The judge"),
    ("prompt", Some(ComparisonAspect::Prompt), "The judge's instructions"),
    ("judging", Some(ComparisonAspect::Judging), "Number of criteria in one call"),
    ("thresholds", Some(ComparisonAspect::Thresholds), "The thresholds of verdicts"),
    ("all", None, "All of them"),
];

/// Values of `--fail-on`.
const FAILING_METRICS: &OptionValues<FailOn> = &[
    ("worse", FailOn::Worse, "Pass rate or mean score"),
    ("any-worse", FailOn::AnyWorse, "Also a suite, tag, grader or criterion, with adjusted p values"),
];

/// `assize compare`, by itself or with one of its commands.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    override_usage = "assize compare [OPTIONS] <BASE> <CANDIDATE>...\n       \
    assize compare --trend [OPTIONS] [RUN]...\n       \
    assize compare pairwise [OPTIONS] <SYSTEM>...",
    after_help = "Cases are paired by suite, id and trial. Cases that only one run has, or that are incomplete, are \
    listed and excluded from the means. Metrics that were measured differently are not compared unless \
    `--allow` names the difference, or `--rescore` removes it.\n\n\
    Exit codes: 0 compared, 1 a gate failed, 2 the runs are not comparable, 3 a gate depends on \
    incomplete or missing cases or on a metric that is not comparable, 5 inconclusive with --strict.\n\n\
    Examples:\n  \
    assize compare last~1 last\n  \
    assize compare runs/main runs/change --fail-on worse --max-drop 0.05\n  \
    assize compare runs/main runs/change --margin 0.02 --strict --markdown\n  \
    assize compare last@gpt-a last@gpt-b --metric pass-rate --json\n  \
    assize compare runs/main runs/change --rescore\n  \
    assize compare last~1 last --labels labels/\n  \
    assize compare runs/main runs/change --watch --fail-on worse\n  \
    assize compare --trend --suite support --last 10\n  \
    assize compare --trend runs/january runs/february runs/march --json"
)]
pub(crate) struct CompareCommandArgs {
    #[command(subcommand)]
    pub(crate) command: Option<CompareCommand>,
    #[command(flatten)]
    pub(crate) compare: CompareArgs,
}

/// Comparisons that ask a judge.
#[derive(Debug, Subcommand)]
pub(crate) enum CompareCommand {
    /// Rank runs by a judge that compares their answers in pairs, in both orders.
    Pairwise(Box<PairwiseArgs>),
}

/// Options of `assize compare`.
#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// Base, then candidates: folders, ids, `last`, `last~N`; `RUN@NAME` for one target or prompt.
    #[arg(value_name = "RUN", required_unless_present = "trend")]
    pub(crate) runs: Vec<String>,
    /// Metric that decides: `score` or `pass-rate`.
    #[arg(
        long, value_parser = one_of(METRICS), default_value = "score", value_name = "METRIC", hide_default_value = true
    )]
    pub(crate) metric: HeadlineMetric,
    /// Call runs equivalent if they differ by less than X.
    #[arg(long, value_parser = share, value_name = "X")]
    pub(crate) margin: Option<f64>,
    /// Correct differences by people's labels; repeatable.
    ///
    /// Without them, `compare` compares judges' decisions: a judge that lets more mistakes of one run pass makes it look
    /// better. A label of `assize review` names its answer; for other labels, `RUN=FILE` names the run.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["trend", "watch", "rescore"])]
    pub(crate) labels: Vec<String>,
    /// Update while runs are in progress, until conclusive.
    ///
    /// Stops once the `--anytime` interval excludes 0 or lies within `--margin`, or both runs have ended. `--fail-on worse`
    /// and `--strict` apply to this interval.
    #[arg(long, conflicts_with_all = [
        "anytime", "adjust", "bootstrap", "mid_p", "seed", "rescore", "max_drop", "fail_on_regression", "flips", "out",
        "markdown",
    ])]
    pub(crate) watch: bool,
    /// Rescore all runs with the second's weights, or FILE's.
    ///
    /// Takes weights, gates and thresholds from the second run, or from an eval file, and keeps the stored decisions.
    /// Graders and criteria that it lacks no longer count. Decisions on a criterion whose text changed are not
    /// comparable.
    #[arg(
        long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = ""
    )]
    pub(crate) rescore: Option<RescoreSource>,
    /// Show metrics over runs, oldest first.
    ///
    /// Also shows where the judge or the rubric changed. Without runs: the stored ones with the same suites as the newest.
    #[arg(long, help_heading = TREND, conflicts_with_all = [
        "metric", "margin", "level", "adjust", "bootstrap", "mid_p", "seed", "allow", "rescore", "fail_on", "max_drop",
        "fail_on_regression", "strict", "flips", "markdown", "watch",
    ])]
    pub(crate) trend: bool,
    /// Only the cases of this suite, and only runs that hold it.
    #[arg(long, value_name = "NAME", help_heading = TREND)]
    pub(crate) suite: Option<String>,
    /// Only the answers of this target.
    #[arg(long, value_name = "NAME", help_heading = TREND)]
    pub(crate) target: Option<String>,
    /// Show only the newest N runs.
    #[arg(long, value_name = "N", help_heading = TREND)]
    pub(crate) last: Option<NonZeroUsize>,
    /// Fail if significantly `worse`, or `any-worse`.
    #[arg(long, value_parser = one_of(FAILING_METRICS), value_name = "WHAT", help_heading = GATES)]
    pub(crate) fail_on: Option<FailOn>,
    /// Fail if the pass rate or mean score drops by more.
    ///
    /// With `--strict`, the interval must exclude such a drop.
    #[arg(long, value_parser = share, value_name = "X", help_heading = GATES)]
    pub(crate) max_drop: Option<f64>,
    /// Fail if a case that passed no longer does.
    #[arg(long, help_heading = GATES)]
    pub(crate) fail_on_regression: bool,
    /// Exit with 5 if the comparison is inconclusive.
    #[arg(long, help_heading = GATES)]
    pub(crate) strict: bool,
    /// Changed cases to show with their reasons [default: 10].
    ///
    /// The default with `--json` is 1000. It counts improved and regressed cases each. Implies `--verbose`.
    #[arg(long, value_name = "N", help_heading = OUTPUT)]
    pub(crate) flips: Option<usize>,
    /// Write a report: .html, .md or .json; repeatable.
    ///
    /// Alias: `--report`.
    #[arg(
        long, alias = "report", short = 'o', value_parser = comparison_file, value_name = "FILE",
        conflicts_with = "trend", help_heading = OUTPUT
    )]
    pub(crate) out: Vec<ReportFile>,
    #[command(flatten)]
    pub(crate) replace: ReplaceArgs,
    /// Print JSON instead of text.
    #[arg(long, conflicts_with = "markdown", help_heading = OUTPUT)]
    pub(crate) json: bool,
    /// Print everything, not only what fits on a screen of 40 lines.
    #[arg(long, short = 'v', help_heading = OUTPUT)]
    pub(crate) verbose: bool,
    /// Print Markdown, for a pull request comment.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) markdown: bool,
    /// Add an interval that stays valid however often you look.
    ///
    /// It stays valid after every case, in the order in which cases finished, and shows after how many cases the difference
    /// was significant.
    #[arg(long, help_heading = ADVANCED, hide_short_help = true, conflicts_with = "trend")]
    pub(crate) anytime: bool,
    /// Confidence level of intervals and tests.
    #[arg(long, value_parser = level, default_value = "0.95", value_name = "LEVEL", help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) level: f64,
    /// Correction of p values for multiple comparisons.
    #[arg(long, value_enum, default_value_t, value_name = "METHOD", help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) adjust: AdjustChoice,
    /// Bootstrap the intervals of score differences.
    #[arg(long, help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) bootstrap: bool,
    /// Use McNemar's mid-p test for pass rates, less conservative than the exact test.
    #[arg(long, help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) mid_p: bool,
    /// Random seed.
    #[arg(long, default_value_t = 1, value_name = "N", help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) seed: u64,
    /// Treat the labelled cases as a random sample, whatever their labels say.
    #[arg(long, requires = "labels", help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) assume_random: bool,
    /// Compare in spite of these differences, and mark them.
    #[arg(long, value_parser = one_of(ALLOWED_DIFFERENCES), value_delimiter = ',', value_name = "WHAT", help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) allow: Vec<Option<ComparisonAspect>>,
}

impl CompareArgs {
    /// The first given option that only `--trend` has. (Subcommands lift requirements, so clap does not refuse
    /// it.)
    pub(crate) fn idle_trend_option(&self) -> Option<&'static str> {
        let given = [
            ("--suite", self.suite.is_some()),
            ("--target", self.target.is_some()),
            ("--last", self.last.is_some()),
        ];
        given.into_iter().find(|(_, is_given)| *is_given && !self.trend).map(|(name, _)| name)
    }
}

/// Source of the weights, gates and thresholds of `--rescore`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RescoreSource {
    /// The second run.
    SecondRun,
    /// An eval file.
    EvalFile(PathBuf),
}

impl From<OsString> for RescoreSource {
    /// The value of `--rescore`; without one it is empty.
    fn from(value: OsString) -> Self {
        if value.is_empty() { Self::SecondRun } else { Self::EvalFile(value.into()) }
    }
}

/// Adjustment of p values for multiple comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum AdjustChoice {
    /// Holm: the chance of any false alarm stays below 5%.
    #[default]
    Holm,
    /// Benjamini-Hochberg: the share of false alarms among the alarms stays below 5%.
    Bh,
    /// No adjustment.
    None,
}
