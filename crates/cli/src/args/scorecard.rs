//! `assize scorecard`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use assize_analysis::ScorecardFailOn;
use assize_analysis::compare::ComparisonAspect;
use assize_engine::{RunOptions, ScorecardOptions};
use assize_rubric::{MissingPolicy, UnitInterval};
use clap::Subcommand;

use super::compare::ALLOWED_DIFFERENCES;
use super::headings::{ADVANCED, LIMITS, OUTPUT, SELECTION};
use super::help_end::rare_beside_eval;
use super::judge_batch::JudgeBatchArgs;
use super::replace::ReplaceArgs;
use super::report_file::{ReportFile, scorecard_file};
use super::values::{OptionValues, one_of, unit};
use super::{DenyChoice, ExchangeArgs, LabelArgs, RunArgs, ShardArgs, denied};

/// Values of `--treat-missing`.
const MISSING_POLICIES: &OptionValues<MissingPolicy> = &[
    ("incomplete", MissingPolicy::Incomplete, "As unknown: the nodes above can't pass"),
    ("zero", MissingPolicy::Zero, "As a score of 0"),
    ("skip", MissingPolicy::Skip, "As a case that does not apply"),
];

/// Values of `--fail-on`.
const FAILING_CHANGES: &OptionValues<ScorecardFailOn> = &[
    ("blocked", ScorecardFailOn::Blocked, "A hard gate blocks the candidate, over all its cases"),
    (
        "regression",
        ScorecardFailOn::Regression,
        "A node that passed fails now, the top score is significantly lower, or a hard gate was removed",
    ),
];

/// Trees of rubrics over benchmarks.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    assize scorecard list scorecards/intake\n  \
    assize scorecard list scorecards/intake --weights phase-2 --json\n  \
    assize scorecard run scorecards/intake --judge openai:gpt-6-luna\n  \
    assize scorecard compare last-week last")]
pub(crate) struct ScorecardArgs {
    #[command(subcommand)]
    pub(crate) command: ScorecardCommand,
}

/// Actions on a scorecard.
#[derive(Debug, Subcommand)]
pub(crate) enum ScorecardCommand {
    /// Print the tree with weights, thresholds, evaluators and cases.
    #[command(after_help = "Examples:\n  \
        assize scorecard list scorecards/intake\n  \
        assize scorecard list scorecards/intake --weights phase-2 --json")]
    List(ListArgs),
    /// Judge every benchmark on its cases and aggregate the tree.
    Run(Box<RunCardArgs>),
    /// Aggregate existing results, of a run or a file, into scores and gates.
    Score(ScoreCardArgs),
    /// Compare two runs part by part, over the cases both have.
    Compare(CompareCardsArgs),
    /// Show the index, its parts and its gates over several runs.
    Trend(TrendCardsArgs),
}

/// Options of `assize scorecard score`.
#[derive(Debug, clap::Args)]
#[command(after_help = "DIR can also be the folder or id of a run, or `last`.\n\n\
    Each line of a results file is a JSON object with `case`, `benchmark` and `pass`, and optionally \
    `score` (on the benchmark's scale), `uncertain`, `applies`, `confidence`, `reason`. Labels count for \
    `manual_sme` benchmarks and for decisions that the judge left open.\n\n\
    Examples:\n  \
    assize scorecard score last --weights phase-2\n  \
    assize scorecard score scorecards/intake --results results.jsonl\n  \
    assize scorecard score scorecards/intake --results results.jsonl \\\n      \
    --treat-missing skip --json")]
pub(crate) struct ScoreCardArgs {
    #[command(flatten)]
    pub(crate) list: ListArgs,
    /// Results, one JSON object per line.
    #[arg(long, value_name = "FILE")]
    pub(crate) results: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) labels: LabelArgs,
    #[command(flatten)]
    pub(crate) result: CardResultArgs,
    /// Write a report: .md or .json.
    ///
    /// Repeatable. FILE.json has what `--json` prints. Alias: `--report`.
    #[arg(
        long, alias = "report", short = 'o', value_parser = scorecard_file, value_name = "FILE",
        help_heading = OUTPUT
    )]
    pub(crate) out: Vec<ReportFile>,
    #[command(flatten)]
    pub(crate) replace: ReplaceArgs,
}

/// Computing and printing of scores.
#[derive(Debug, clap::Args)]
pub(crate) struct CardResultArgs {
    /// Missing cases [default: incomplete].
    ///
    /// Treatment of cases without a result. A stored run is scored again as it was run.
    #[arg(long, value_parser = one_of(MISSING_POLICIES), value_name = "HOW")]
    pub(crate) treat_missing: Option<MissingPolicy>,
    /// Incomplete below this share of the weight.
    ///
    /// The share of the weight that has results. What applies to no case is not covered.
    #[arg(long, value_parser = unit, value_name = "SHARE")]
    pub(crate) min_coverage: Option<UnitInterval>,
    /// Print N levels of the tree.
    ///
    /// As many as fit 200 lines unless given; `--json` has them all.
    #[arg(long, value_name = "N", help_heading = OUTPUT)]
    pub(crate) depth: Option<usize>,
}

/// Options of `assize scorecard run`.
#[derive(Debug, clap::Args)]
#[command(
    mut_args(rare_beside_eval),
    after_help = "`assize explain RUN CODE` shows the arithmetic of any node; `review.jsonl` in the run folder lists \
    what needs review. Labels count as soon as they exist: `assize scorecard score RUN`.\n\n\
    Examples:\n  \
    assize scorecard run scorecards/intake\n  \
    assize scorecard run scorecards/intake --judge openai:gpt-6-luna \\\n      \
    --budget-calls 500\n  \
    assize scorecard run scorecards/intake --dry-run\n  \
    assize scorecard run scorecards/intake --tag refusal --out report.md --json\n  \
    assize scorecard run scorecards/intake --judge openai:gpt-6-luna \\\n      \
    --judge-batch --batch-wait 6h"
)]
pub(crate) struct RunCardArgs {
    /// Scorecard: a folder or a single file.
    #[arg(value_name = "DIR")]
    pub(crate) path: PathBuf,
    /// Use this weight set of the index.
    #[arg(long, value_name = "SET")]
    pub(crate) weights: Option<String>,
    #[command(flatten)]
    pub(crate) labels: LabelArgs,
    /// Target for cases without a `candidate_output`.
    #[arg(long, value_name = "NAME", help_heading = SELECTION)]
    pub(crate) target: Option<String>,
    /// Read targets from this file.
    #[arg(long, value_name = "FILE", help_heading = SELECTION)]
    pub(crate) targets: Option<PathBuf>,
    /// Run only cases whose id matches; repeatable.
    ///
    /// A pattern, such as `refund-*`.
    #[arg(long, value_name = "GLOB", help_heading = SELECTION)]
    pub(crate) filter: Vec<String>,
    /// Run only cases with this tag; repeatable.
    #[arg(long, value_name = "TAG", help_heading = SELECTION)]
    pub(crate) tag: Vec<String>,
    #[command(flatten)]
    pub(crate) shard: ShardArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Estimate calls and cost; send nothing.
    #[arg(long, help_heading = LIMITS)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) batch: JudgeBatchArgs,
    #[command(flatten)]
    pub(crate) result: CardResultArgs,
    /// Also let files read from this folder; repeatable.
    #[arg(long, value_name = "DIR", help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) root: Vec<PathBuf>,
    /// Treat these warnings as errors.
    #[arg(long, value_enum, value_name = "WHAT", help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) deny: Vec<DenyChoice>,
    #[command(flatten)]
    pub(crate) exchange: ExchangeArgs,
}

/// Options of `assize scorecard compare`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 compared, 1 a gate failed, 3 a gate depends on missing results, or on nodes that were \
    measured differently: by other checks, prompts, judges, inputs, weights or thresholds. --allow accepts such differences.\n\n\
    Examples:\n  \
    assize scorecard compare runs/before runs/after\n  \
    assize scorecard compare runs/released last --fail-on blocked,regression\n  \
    assize scorecard compare runs/released last --out comparison.md"
)]
pub(crate) struct CompareCardsArgs {
    /// Baseline: folder, id or `last`.
    #[arg(value_name = "BASE")]
    pub(crate) base: String,
    /// Run to compare with the baseline.
    #[arg(value_name = "CANDIDATE")]
    pub(crate) candidate: String,
    /// Fail on `blocked`, `regression`; repeatable.
    ///
    /// If a hard gate blocks the candidate, or if a part regressed.
    #[arg(long, value_parser = one_of(FAILING_CHANGES), value_delimiter = ',', value_name = "WHAT")]
    pub(crate) fail_on: Vec<ScorecardFailOn>,
    /// Accept these changes of the measurement.
    ///
    /// Their runs are then comparable.
    #[arg(long, value_parser = one_of(ALLOWED_DIFFERENCES), value_delimiter = ',', value_name = "WHAT")]
    pub(crate) allow: Vec<Option<ComparisonAspect>>,
    /// Treatment of missing cases.
    ///
    /// Cases without a result.
    #[arg(long, value_parser = one_of(MISSING_POLICIES), default_value = "incomplete", value_name = "HOW")]
    pub(crate) treat_missing: MissingPolicy,
    /// Write a report: .md or .json.
    ///
    /// Repeatable. FILE.json has what `--json` prints. Alias: `--report`.
    #[arg(
        long, alias = "report", short = 'o', value_parser = scorecard_file, value_name = "FILE",
        help_heading = OUTPUT
    )]
    pub(crate) out: Vec<ReportFile>,
    #[command(flatten)]
    pub(crate) replace: ReplaceArgs,
    /// Print JSON instead of text.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

/// Options of `assize scorecard trend`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without RUNS: the runs in `.assize/runs` of the same scorecard as the newest one.\n\n\
    Examples:\n  \
    assize scorecard trend\n  \
    assize scorecard trend runs/january runs/february runs/march --json"
)]
pub(crate) struct TrendCardsArgs {
    /// Runs, oldest first: folders, ids, `last`, `last~N`.
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    /// Show only the newest N runs.
    #[arg(long, value_name = "N")]
    pub(crate) last: Option<NonZeroUsize>,
    /// Treatment of missing cases.
    ///
    /// Cases without a result.
    #[arg(long, value_parser = one_of(MISSING_POLICIES), default_value = "incomplete", value_name = "HOW")]
    pub(crate) treat_missing: MissingPolicy,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `assize scorecard list`.
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Scorecard: a folder or a single file.
    #[arg(value_name = "DIR")]
    pub(crate) path: PathBuf,
    /// Use this weight set of the index.
    #[arg(long, value_name = "SET")]
    pub(crate) weights: Option<String>,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
    /// Also let files read from this folder; repeatable.
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub(crate) root: Vec<PathBuf>,
}

impl RunCardArgs {
    /// Typed options of these flags; `weight_set` is the position of the set that they name.
    pub(crate) fn options(&self, weight_set: Option<usize>) -> ScorecardOptions {
        ScorecardOptions {
            path: self.path.clone(),
            weight_set,
            target: self.target.clone(),
            targets_file: self.targets.clone(),
            filter: self.filter.clone(),
            tags: self.tag.clone(),
            roots: self.root.clone(),
            deny: denied(&self.deny),
            missing: self.result.treat_missing.unwrap_or_default(),
            labels: self.labels.options(),
            min_coverage: self.result.min_coverage,
            dry_run: self.dry_run,
            run: RunOptions {
                shard: self.shard.shard,
                exchange: self.exchange.options(),
                judge_batch: self.batch.options(),
                ..self.run.options()
            },
        }
    }
}
