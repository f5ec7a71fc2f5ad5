//! `assize generate`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use assize_engine::GenerateOptions;
use clap::Subcommand;

use super::spending::SpendingArgs;

/// Draft missing parts of eval files.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    assize generate rubrics evals/support.eval.yaml --dry-run\n  \
    assize generate rubrics evals/support.eval.yaml --judge openai:gpt-4o-mini")]
pub(crate) struct GenerateArgs {
    #[command(subcommand)]
    pub(crate) command: GenerateCommand,
}

/// Drafts to make.
#[derive(Debug, Subcommand)]
pub(crate) enum GenerateCommand {
    /// Draft criteria for cases that expect an outcome and have no rubric.
    Rubrics(GenerateRubricsArgs),
}

/// Draft rubrics.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The files are edited in place: only drafts are added, each as soon as it is ready. A comment marks \
    each draft for review.\n\n\
    Exit codes: 0 all drafted, 2 invalid input (nothing was spent), 3 some cases were skipped, 4 stopped \
    by the budget.\n\n\
    Examples:\n  \
    assize generate rubrics evals/support.eval.yaml --dry-run\n  \
    assize generate rubrics evals/support.eval.yaml --judge openai:gpt-4o-mini\n  \
    assize generate rubrics evals/support.eval.yaml --target drafting --ranges\n  \
    assize generate rubrics cases.jsonl --replace --filter 'refund-*'"
)]
pub(crate) struct GenerateRubricsArgs {
    /// Eval files: YAML, JSON or JSONL, of either format.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Draft with the model of this target.
    #[arg(long, short = 't', value_name = "NAME", conflicts_with = "judge")]
    pub(crate) target: Option<String>,
    /// Draft with this model, or `offline`.
    ///
    /// `offline` drafts without a model.
    #[arg(long, value_name = "MODEL")]
    pub(crate) judge: Option<String>,
    /// Read targets from this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) targets: Option<PathBuf>,
    /// Draft score ranges, 0 to 10, instead of yes or no.
    #[arg(long)]
    pub(crate) ranges: bool,
    /// Print the drafts without writing them.
    ///
    /// Replies are cached for the real run.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Replace the rubrics that cases already have.
    #[arg(long)]
    pub(crate) replace: bool,
    /// Draft only for cases whose id matches; repeatable.
    ///
    /// A pattern, such as `refund-*`.
    #[arg(long, value_name = "GLOB")]
    pub(crate) filter: Vec<String>,
    /// Draft for N cases at once.
    #[arg(long, short = 'j', value_name = "N", default_value = "4")]
    pub(crate) workers: NonZeroUsize,
    /// Also let files read from this folder; repeatable.
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub(crate) root: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) spending: SpendingArgs,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress or notices; warnings and errors remain.
    #[arg(long, short = 'q')]
    pub(crate) quiet: bool,
}

impl GenerateRubricsArgs {
    /// Typed options of these flags.
    pub(crate) fn options(&self) -> GenerateOptions {
        GenerateOptions {
            files: self.files.clone(),
            target: self.target.clone(),
            judge: self.judge.clone(),
            targets_file: self.targets.clone(),
            ranges: self.ranges,
            dry_run: self.dry_run,
            replace: self.replace,
            filter: self.filter.clone(),
            workers: self.workers,
            roots: self.root.clone(),
            spending: self.spending.options(),
            quiet: self.quiet,
        }
    }
}
