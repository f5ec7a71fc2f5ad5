//! `assize eval`.

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

#[cfg(feature = "cluster")]
use assize_cluster::EvalRequest;
use assize_engine::{
    DeniedFindings, EvalOptions, ExchangeOptions, ProgramUse, RunOptions, SequenceOptions, StopReference,
    UnknownPrice,
};
use assize_rubric::{JudgingMode, TrialStrategy, TruncationMode, UnitInterval};
use clap::ValueEnum;

use super::case_selection::CaseSelectionArgs;
use super::cluster::ClusterArgs;
use super::exchange::ExchangeArgs;
use super::gate::GateArgs;
use super::headings::{ADVANCED, JUDGE, LIMITS, OUTPUT, SELECTION};
use super::judge_batch::JudgeBatchArgs;
use super::panel::PanelArgs;
use super::run_output::RunOutputArgs;
use super::shard::ShardArgs;
use super::spending::SpendingArgs;
use super::values::{OptionValues, duration, judging, one_of, positive, truncate, unit};
use crate::output::ResultOutput;

/// Values of `--trial-strategy`.
const TRIAL_STRATEGIES: &OptionValues<TrialStrategy> = &[
    ("pass_at_k", TrialStrategy::PassAtK, "One passing trial is enough"),
    ("pass-at-k", TrialStrategy::PassAtK, ""),
    ("pass_any", TrialStrategy::PassAtK, ""),
    ("pass_all", TrialStrategy::PassAll, "Every trial must pass"),
    ("pass-all", TrialStrategy::PassAll, ""),
    ("mean", TrialStrategy::Mean, "The mean of the scores counts"),
    (
        "confidence_interval",
        TrialStrategy::ConfidenceInterval,
        "The lower end of the 95% CI of the mean counts",
    ),
    ("confidence-interval", TrialStrategy::ConfidenceInterval, ""),
];

/// Values of `--stop-when`.
const STOP_RULES: &OptionValues<StopRule> =
    &[("decided", StopRule::Decided, "The interval lies on one side of the reference")];

/// Values of `--budget-unknown-price`.
pub(super) const UNKNOWN_PRICES: &OptionValues<UnknownPrice> = &[
    ("refuse", UnknownPrice::Refuse, "Run nothing"),
    ("allow", UnknownPrice::Allow, "Their cost is not counted"),
];

/// Rules that stop a run before its last case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopRule {
    /// The result is clear.
    Decided,
}

/// Run eval files.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:\n  \
    assize eval evals/support.eval.yaml\n  \
    assize eval evals/ --filter 'refund-*' --tag smoke\n  \
    assize eval evals/support.eval.yaml --judge openai:gpt-4o-mini --threshold 0.9\n  \
    assize eval evals/support.eval.yaml --judge openai:gpt-4o-mini \\\n      \
    --judge ollama:qwen3 --judge-repeats 3 --ties fail\n  \
    assize eval evals/support.eval.yaml --target local --run-dir runs/today \\\n      \
    --out today.json\n  \
    assize eval evals/support.eval.yaml --trials 5 --trial-strategy pass_all \\\n      \
    --shuffle --seed 7 --bail\n  \
    assize eval evals/support.eval.yaml --stop-when decided --against 0.9 -j 8\n  \
    assize eval evals/nightly.eval.yaml --judge anthropic:claude-haiku-4-5 \\\n      \
    --judge-batch --batch-wait 2h")]
pub(crate) struct EvalCommandArgs {
    #[command(flatten)]
    pub(crate) eval: EvalArgs,
    #[command(flatten)]
    pub(crate) shard: ShardArgs,
    #[command(flatten)]
    pub(crate) gate: GateArgs,
    #[command(flatten)]
    pub(crate) sequence: SequenceArgs,
    #[command(flatten)]
    pub(crate) batch: JudgeBatchArgs,
    #[command(flatten)]
    pub(crate) exchange: ExchangeArgs,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}

/// Cases to run, and the targets and settings to run them with.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct EvalArgs {
    /// Eval files, or folders to look for them in.
    #[arg(default_value = ".", value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Run this target, not the file's own; repeatable.
    #[arg(long, value_name = "NAME", help_heading = SELECTION)]
    pub(crate) target: Vec<String>,
    /// Read targets from this file.
    #[arg(long, value_name = "FILE", help_heading = SELECTION, hide_short_help = true)]
    pub(crate) targets: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) selection: CaseSelectionArgs,
    /// Skip cases with this tag; repeatable.
    ///
    /// Cases also have the tags of their suite.
    #[arg(long, value_name = "TAG", help_heading = SELECTION, hide_short_help = true)]
    pub(crate) exclude_tag: Vec<String>,
    /// Skip invalid cases instead of stopping.
    ///
    /// The exit code is then 3 or more. A file with an error outside its cases, such as in its settings, is not run at all.
    #[arg(long, help_heading = SELECTION, hide_short_help = true)]
    pub(crate) keep_going: bool,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Estimate calls and cost; send nothing.
    #[arg(long, help_heading = LIMITS)]
    pub(crate) dry_run: bool,
    /// Also let files read from this folder; repeatable.
    #[arg(long, value_name = "DIR", help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) root: Vec<PathBuf>,
    /// Treat these warnings as errors.
    #[arg(long, value_enum, value_name = "WHAT", help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) deny: Vec<DenyChoice>,
    /// Keep the workspaces of cases after the run and print their paths.
    #[arg(long, help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) keep_workspaces: bool,
}

/// Trials and order of cases.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct SequenceArgs {
    /// Run each case N times; overrides suites and cases.
    #[arg(
        long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = SELECTION
    )]
    pub(crate) trials: Option<u32>,
    /// Rule that combines the trials of a case [default: the suite's rule, else mean].
    #[arg(
        long, value_parser = one_of(TRIAL_STRATEGIES), value_name = "HOW", help_heading = SELECTION,
        hide_short_help = true
    )]
    pub(crate) trial_strategy: Option<TrialStrategy>,
    /// Run the cases in a random order.
    ///
    /// All cases are then held in memory.
    #[arg(long, help_heading = SELECTION, hide_short_help = true)]
    pub(crate) shuffle: bool,
    /// Seed for `--shuffle`; printed if omitted.
    #[arg(long, value_name = "N", requires = "shuffle", help_heading = SELECTION, hide_short_help = true)]
    pub(crate) seed: Option<u64>,
    /// Stop once N cases did not pass [default: 1].
    ///
    /// `--resume` runs the rest.
    #[arg(
        long, value_name = "N", num_args = 0..=1, default_missing_value = "1", require_equals = true,
        value_parser = positive::<NonZeroUsize>, help_heading = LIMITS
    )]
    pub(crate) bail: Option<NonZeroUsize>,
    /// Stop once the result is clear.
    ///
    /// Cases run in a random order. The interval stays valid however often it is checked. Exit codes: 0 at or above
    /// the reference, 1 below, 5 if inconclusive after all cases; single failures do not count.
    #[arg(
        long, value_parser = one_of(STOP_RULES), value_name = "WHEN", requires = "against", help_heading = LIMITS,
        conflicts_with_all = ["bail", "min_pass_rate"],
        hide_short_help = true
    )]
    pub(crate) stop_when: Option<StopRule>,
    /// Reference of `--stop-when`: a pass rate or run.
    ///
    /// Compares the mean score with the run's.
    #[arg(
        long, value_parser = StopReference::parse, value_name = "RATE|RUN", requires = "stop_when",
        help_heading = LIMITS,
        hide_short_help = true
    )]
    pub(crate) against: Option<StopReference>,
}

impl SequenceArgs {
    /// Typed options of these flags.
    pub(crate) fn options(&self) -> SequenceOptions {
        SequenceOptions {
            trials: self.trials,
            trial_strategy: self.trial_strategy,
            shuffle: self.shuffle,
            seed: self.seed,
            bail: self.bail,
            stop_against: self.stop_when.and_then(|StopRule::Decided| self.against.clone()),
        }
    }
}

impl EvalCommandArgs {
    /// The request, as other machines take it.
    #[cfg(feature = "cluster")]
    pub(crate) fn request(&self) -> EvalRequest {
        EvalRequest {
            mode: assize_engine::EvalMode { sequence: self.sequence.options() },
            options: self.options(),
        }
    }

    /// Typed options of these flags, without the order of cases.
    pub(crate) fn options(&self) -> EvalOptions {
        let mut options = self.eval.options();
        options.run.shard = self.shard.shard;
        options.run.exchange = self.exchange.options();
        options.run.judge_batch = self.batch.options();
        options.run.min_pass_rate = self.gate.min_pass_rate;
        options
    }
}

impl EvalArgs {
    /// Typed options of these flags.
    pub(crate) fn options(&self) -> EvalOptions {
        EvalOptions {
            paths: self.paths.clone(),
            targets: self.target.clone(),
            targets_file: self.targets.clone(),
            filter: self.selection.filter.clone(),
            tags: self.selection.tag.clone(),
            exclude_tags: self.exclude_tag.clone(),
            rerun_failed: self.selection.rerun_failed.clone(),
            keep_going: self.keep_going,
            roots: self.root.clone(),
            deny: denied(&self.deny),
            keep_workspaces: self.keep_workspaces,
            dry_run: self.dry_run,
            run: self.run.options(),
        }
    }
}

impl RunArgs {
    /// Where the result goes as data.
    pub(crate) fn output(&self) -> ResultOutput<'_> {
        self.output.delivery(self.quiet)
    }

    /// Typed options of these flags.
    pub(crate) fn options(&self) -> RunOptions {
        RunOptions {
            judges: self.judge.clone(),
            panel: self.panel.options(),
            judging: self.judging,
            workers: self.workers,
            max_concurrency: self.max_concurrency,
            requests_per_minute: self.requests_per_minute,
            tokens_per_minute: self.tokens_per_minute,
            request_timeout: self.request_timeout,
            max_retries: self.max_retries,
            deadline: self.deadline,
            spending: self.spending.options(),
            judge_batch: None,
            unknown_price: self.budget_unknown_price,
            context_tokens: self.context_tokens,
            truncate: self.truncate,
            threshold: self.threshold,
            borderline: self.borderline,
            programs: programs(self.allow_code),
            exchange: ExchangeOptions::default(),
            shard: None,
            unit: None,
            min_pass_rate: None,
            reports: self.output.out.iter().map(|file| file.path.clone()).collect(),
            label: self.output.label.clone(),
            run_dir: self.output.run_dir.clone(),
            resume: self.resume.clone(),
            retry_incomplete: self.retry_incomplete,
        }
    }
}

/// What `--allow-code` decides about programs.
pub(crate) const fn programs(allow_code: bool) -> ProgramUse {
    if allow_code { ProgramUse::Allow } else { ProgramUse::AsTrusted }
}

/// Findings that `--deny` turns into errors.
pub(crate) fn denied(deny: &[DenyChoice]) -> DeniedFindings {
    DeniedFindings {
        self_judging: deny.contains(&DenyChoice::SelfJudging),
        warnings: deny.contains(&DenyChoice::Warnings),
        exposed_keys: deny.contains(&DenyChoice::ExposedKeys),
    }
}

/// Conditions that `--deny` refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DenyChoice {
    /// A model that judges its own answers.
    SelfJudging,
    /// Any warning about an eval file.
    Warnings,
    /// A key that is sent unencrypted over a network, or a value of the environment that a file sends to an address that it names.
    ExposedKeys,
}

/// Options of every command that judges.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RunArgs {
    /// Judge: PROVIDER:MODEL, a target or `offline`.
    ///
    /// Repeat the option for a panel of judges.
    #[arg(long, value_name = "JUDGE", help_heading = JUDGE)]
    pub(crate) judge: Vec<String>,
    #[command(flatten)]
    pub(crate) panel: PanelArgs,
    /// Criteria per call: `per-criterion`, `batched[:N]`.
    ///
    /// `batched` judges all criteria of a grader in one call, `batched:N` at most N.
    #[arg(long, value_parser = judging, value_name = "MODE", help_heading = JUDGE)]
    pub(crate) judging: Option<JudgingMode>,
    /// Pass threshold of each case, 0 to 1.
    ///
    /// Overrides cases and suites.
    #[arg(long, value_parser = unit, value_name = "SCORE", help_heading = JUDGE)]
    pub(crate) threshold: Option<UnitInterval>,
    /// Borderline threshold of each case, 0 to 1.
    ///
    /// Overrides cases and suites.
    #[arg(long, value_parser = unit, value_name = "SCORE", help_heading = JUDGE, hide_short_help = true)]
    pub(crate) borderline: Option<UnitInterval>,
    #[command(flatten)]
    pub(crate) spending: SpendingArgs,
    /// Treatment of models without a known price under `--budget-usd`.
    #[arg(
        long, value_parser = one_of(UNKNOWN_PRICES), default_value = "refuse", value_name = "WHAT",
        help_heading = LIMITS, hide_short_help = true
    )]
    pub(crate) budget_unknown_price: UnknownPrice,
    /// Run N cases at once.
    ///
    /// Requests also start with this concurrency. Default: enough cases to keep every permitted request in flight, and
    /// 8 commands.
    #[arg(
        long, short = 'j', value_parser = positive::<NonZeroUsize>, value_name = "N", help_heading = LIMITS,
        allow_negative_numbers = true
    )]
    pub(crate) workers: Option<NonZeroUsize>,
    /// Maximum concurrent requests per account [default: 256].
    ///
    /// The number in use adapts below it. The default is `--workers` if that is more. Alias: `--judge-calls`.
    #[arg(
        long, alias = "judge-calls", value_parser = positive::<NonZeroUsize>, value_name = "N", help_heading = LIMITS,
        hide_short_help = true
    )]
    pub(crate) max_concurrency: Option<NonZeroUsize>,
    /// Maximum requests per minute and account.
    #[arg(long, value_parser = positive::<NonZeroU32>, value_name = "N", help_heading = LIMITS, hide_short_help = true)]
    pub(crate) requests_per_minute: Option<NonZeroU32>,
    /// Maximum input and output tokens per minute and account.
    ///
    /// Estimated before a request, corrected by what its reply reports.
    #[arg(long, value_name = "N", help_heading = LIMITS, hide_short_help = true)]
    pub(crate) tokens_per_minute: Option<NonZeroU32>,
    /// Timeout of a model request [default: 3m].
    #[arg(long, value_parser = duration, value_name = "TIME", help_heading = LIMITS, hide_short_help = true)]
    pub(crate) request_timeout: Option<Duration>,
    /// Retry a failed call N times [default: 4 for models, 0 for commands].
    ///
    /// Applies to targets and judges, whatever `max_retries` of a target says.
    #[arg(
        long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100), help_heading = LIMITS,
        hide_short_help = true
    )]
    pub(crate) max_retries: Option<u32>,
    /// Time limit of the run, such as `30m`.
    ///
    /// `--resume` continues the run.
    #[arg(long, value_parser = duration, value_name = "TIME", help_heading = LIMITS, hide_short_help = true)]
    pub(crate) deadline: Option<Duration>,
    #[command(flatten)]
    pub(crate) output: RunOutputArgs,
    /// Continue a stopped run [default: the newest].
    ///
    /// RUN is a folder or an id. Finished cases whose inputs are unchanged are kept. Without a value: the newest run of these suites, or the folder
    /// that `--run-dir` names.
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "last", help_heading = OUTPUT)]
    pub(crate) resume: Option<String>,
    /// With `--resume`, run incomplete cases again.
    ///
    /// Decisions in the reply cache are free; only missing ones cost judge calls.
    #[arg(long, requires = "resume", conflicts_with = "no_cache", help_heading = OUTPUT, hide_short_help = true)]
    pub(crate) retry_incomplete: bool,
    /// No progress or notices; warnings and errors remain.
    #[arg(long, short = 'q', help_heading = OUTPUT)]
    pub(crate) quiet: bool,
    /// Allow files to run programs, and to send values of the environment.
    ///
    /// Values go to the models, judges and addresses that files name. Programs run with your permissions: targets, graders, hooks and health checks during the run, and programs that write
    /// prompts, tests and variables when the file is read. Without the option, a run that needs them is refused, unless all
    /// of its files are in folders that you trust (`assize trust`) or ASSIZE_ALLOW_CODE=1 is set in the environment.
    #[arg(long, help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) allow_code: bool,
    /// Assume that models have a context of N tokens.
    #[arg(long, value_name = "N", help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) context_tokens: Option<NonZeroU64>,
    /// Cut material too long for a judge: `head`, `tail`, `middle`, `chunk` or `never`.
    ///
    /// Cut its head, tail or middle; judge the answer in parts (`chunk`); or leave the criterion ungraded (`never`).
    #[arg(long, value_parser = truncate, value_name = "MODE", help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) truncate: Option<TruncationMode>,
}
