//! `assize eval`.

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use assize_engine::{DeniedFindings, EvalOptions, RunOptions, SequenceOptions, UnknownPrice};
use assize_rubric::{JudgingMode, TrialStrategy, TruncationMode, UnitInterval};
use clap::ValueEnum;

use super::panel::PanelArgs;
use super::spending::SpendingArgs;
use super::values::{OptionValues, duration, judging, one_of, truncate, unit};

/// Values of `--repeat-strategy`.
const TRIAL_STRATEGIES: &OptionValues<TrialStrategy> = &[
    ("pass_at_k", TrialStrategy::PassAtK, "One repeat that passes is enough"),
    ("pass-at-k", TrialStrategy::PassAtK, ""),
    ("pass_any", TrialStrategy::PassAtK, ""),
    ("pass_all", TrialStrategy::PassAll, "Each repeat must pass"),
    ("pass-all", TrialStrategy::PassAll, ""),
    ("mean", TrialStrategy::Mean, "The mean of the scores counts"),
    (
        "confidence_interval",
        TrialStrategy::ConfidenceInterval,
        "The lower end of the 95 % interval around the mean counts",
    ),
    ("confidence-interval", TrialStrategy::ConfidenceInterval, ""),
];

/// Values of `--budget-unknown-price`.
const UNKNOWN_PRICES: &OptionValues<UnknownPrice> = &[
    ("refuse", UnknownPrice::Refuse, "Nothing is run"),
    ("allow", UnknownPrice::Allow, "Its calls are not counted in money"),
];

/// Run eval files.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:\n  \
    assize eval evals/support.eval.yaml\n  \
    assize eval evals/ --filter 'refund-*' --tag smoke\n  \
    assize eval evals/support.eval.yaml --judge openai:gpt-4o-mini --threshold 0.9\n  \
    assize eval evals/support.eval.yaml --judge openai:gpt-4o-mini --judge ollama:qwen3 --judge-repeats 3 --ties fail\n  \
    assize eval evals/support.eval.yaml --target local --out runs/today --json\n  \
    assize eval evals/support.eval.yaml --repeat 5 --repeat-strategy pass_all --shuffle --seed 7 --bail")]
pub(crate) struct EvalCommandArgs {
    #[command(flatten)]
    pub(crate) eval: EvalArgs,
    #[command(flatten)]
    pub(crate) sequence: SequenceArgs,
}

/// Cases to run, and the targets and settings to run them with.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct EvalArgs {
    /// Eval files, or folders to look for them in.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Target to run against, instead of the one the file names; may be given several times.
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Vec<String>,
    /// File that defines the targets.
    #[arg(long, value_name = "FILE")]
    pub(crate) targets: Option<PathBuf>,
    /// Run only cases whose id matches this pattern; may be given several times.
    #[arg(long, visible_alias = "test-id", value_name = "GLOB")]
    pub(crate) filter: Vec<String>,
    /// Run only cases that carry this tag (or whose suite does); may be given several times.
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// Run the valid cases of a file that has problems; the exit code is then at least 3.
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Folder that eval files may read from, beside their own repository; may be given several times.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Vec<PathBuf>,
    /// Refuse to run what is usually only warned about.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) deny: Vec<DenyChoice>,
    /// Leave the workspaces of the cases where they are after the run, to look into them; says where.
    #[arg(long)]
    pub(crate) keep_workspaces: bool,
    /// Say what the run would take, and send nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// Repeats and order of cases.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct SequenceArgs {
    /// Run each case N times; beats what suites and cases say.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeat: Option<u32>,
    /// Rule that makes one result of the repeats of a case: one that passes is enough, each must pass, the mean of their
    /// scores, or the lower end of its interval. The suite's own rule unless given, or the mean.
    #[arg(long, value_parser = one_of(TRIAL_STRATEGIES), value_name = "HOW")]
    pub(crate) repeat_strategy: Option<TrialStrategy>,
    /// Run the cases in a random order. They are all held in memory then.
    #[arg(long)]
    pub(crate) shuffle: bool,
    /// Number that decides the order of `--shuffle`: the same one gives the same order. It is told when it is not given.
    #[arg(long, value_name = "N", requires = "shuffle")]
    pub(crate) seed: Option<u64>,
    /// Begin nothing more once N cases did not pass; 1 unless given. `--resume` goes on with the rest.
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1", require_equals = true)]
    pub(crate) bail: Option<NonZeroUsize>,
}

impl SequenceArgs {
    /// Typed options of these flags.
    pub(crate) fn options(&self) -> SequenceOptions {
        SequenceOptions {
            repeat: self.repeat,
            repeat_strategy: self.repeat_strategy,
            shuffle: self.shuffle,
            seed: self.seed,
            bail: self.bail,
        }
    }
}

impl EvalArgs {
    /// Typed options of these flags.
    pub(crate) fn options(&self) -> EvalOptions {
        EvalOptions {
            paths: self.paths.clone(),
            targets: self.target.clone(),
            targets_file: self.targets.clone(),
            filter: self.filter.clone(),
            tags: self.tag.clone(),
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
            deadline: self.deadline,
            spending: self.spending.options(),
            unknown_price: self.budget_unknown_price,
            context_tokens: self.context_tokens,
            truncate: self.truncate,
            threshold: self.threshold,
            borderline: self.borderline,
            out: self.out.clone(),
            resume: self.resume.clone(),
        }
    }
}

/// Findings that `--deny` refuses.
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
    /// A key that is sent unencrypted over a network, or to a server of somebody else than its provider.
    ExposedKeys,
}

/// Options of every command that judges.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RunArgs {
    /// Judge: a model such as `openai:gpt-4o-mini`, the name of a target, or `offline`; given several times, all of them
    /// form a panel.
    #[arg(long, value_name = "JUDGE")]
    pub(crate) judge: Vec<String>,
    #[command(flatten)]
    pub(crate) panel: PanelArgs,
    /// Criteria in one judge call: `per-criterion`, `batched` or `batched:N`.
    #[arg(long, value_parser = judging, value_name = "MODE")]
    pub(crate) judging: Option<JudgingMode>,
    /// Cases worked on at once, and requests in flight to one account from the start; without it as many cases as keep
    /// every permitted request to models in flight, and 8 commands.
    #[arg(long, short = 'j', value_name = "N")]
    pub(crate) workers: Option<NonZeroUsize>,
    /// Requests in flight to one account at most: the number found by itself never passes this one. Without it 256, or
    /// `--workers` if that is more.
    #[arg(long, visible_alias = "judge-calls", value_name = "N")]
    pub(crate) max_concurrency: Option<NonZeroUsize>,
    /// Requests sent to one account in a minute at most.
    #[arg(long, value_name = "N")]
    pub(crate) requests_per_minute: Option<NonZeroU32>,
    /// Tokens read and written on one account in a minute at most; estimated before, corrected by what replies report.
    #[arg(long, value_name = "N")]
    pub(crate) tokens_per_minute: Option<NonZeroU32>,
    /// Time that one request to a model may take, such as `90s`; 3 minutes unless given.
    #[arg(long, value_parser = duration, value_name = "TIME")]
    pub(crate) request_timeout: Option<Duration>,
    /// Time that the run may take, such as `30m`: what is not done by then stays undone, and `--resume` goes on with it.
    #[arg(long, value_parser = duration, value_name = "TIME")]
    pub(crate) deadline: Option<Duration>,
    #[command(flatten)]
    pub(crate) spending: SpendingArgs,
    /// Effect of `--budget-usd` on a model whose price is not known: refuse to run, or do not count its calls.
    #[arg(long, value_parser = one_of(UNKNOWN_PRICES), default_value = "refuse", value_name = "WHAT")]
    pub(crate) budget_unknown_price: UnknownPrice,
    /// Tokens that models can read and write in one call, whatever the table of models says.
    #[arg(long, value_name = "N")]
    pub(crate) context_tokens: Option<NonZeroU64>,
    /// Handling of material too long for a judge: leave out its `head`, `tail` or `middle`, judge the answer in parts
    /// (`chunk`), or leave the criterion ungraded (`never`).
    #[arg(long, value_parser = truncate, value_name = "MODE")]
    pub(crate) truncate: Option<TruncationMode>,
    /// Pass line, 0 to 1; beats what cases and suites say.
    #[arg(long, value_parser = unit, value_name = "SCORE")]
    pub(crate) threshold: Option<UnitInterval>,
    /// Borderline line, 0 to 1; beats what cases and suites say.
    #[arg(long, value_parser = unit, value_name = "SCORE")]
    pub(crate) borderline: Option<UnitInterval>,
    /// Folder for the run; `.assize/runs/<id>` unless given.
    #[arg(long, short = 'o', value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Go on with a stopped run: its folder, its id, or nothing for the newest one of this suite. Finished cases whose
    /// inputs are unchanged are kept.
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "last")]
    pub(crate) resume: Option<String>,
    /// Print one JSON object on stdout instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
    /// Cases to print in full: `auto` prints all of a small run and the failing ones of a large one.
    #[arg(long, value_enum, default_value_t, value_name = "WHICH")]
    pub(crate) show: ShowChoice,
    /// No progress and no notices on stderr; problems are still told.
    #[arg(long, short = 'q')]
    pub(crate) quiet: bool,
}

/// Cases to print in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ShowChoice {
    /// All of a small run, the failing ones of a large one.
    #[default]
    Auto,
    /// All.
    All,
    /// Those that did not pass.
    Failed,
    /// None: only the summary.
    None,
}
