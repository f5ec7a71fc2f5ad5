//! `assize generate`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use assize_engine::GenerateOptions;
use clap::Subcommand;

use super::spending::SpendingArgs;

/// Draft what an eval file lacks.
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
    /// Draft criteria for every case that has an expected outcome and no rubric.
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
    /// Target of the targets file whose model drafts.
    #[arg(long, short = 't', value_name = "NAME", conflicts_with = "judge")]
    pub(crate) target: Option<String>,
    /// Model that drafts, such as `openai:gpt-4o-mini`, or `offline` for drafts without a model.
    #[arg(long, value_name = "MODEL")]
    pub(crate) judge: Option<String>,
    /// File that defines the targets.
    #[arg(long, value_name = "FILE")]
    pub(crate) targets: Option<PathBuf>,
    /// Criteria with score ranges from 0 to 10 instead of yes or no.
    #[arg(long)]
    pub(crate) ranges: bool,
    /// Show what would be written, and write nothing. Models are asked; their replies are kept, so that the same
    /// command without this costs nothing more.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Put new drafts in the place of the rubrics that cases have.
    #[arg(long)]
    pub(crate) replace: bool,
    /// Only cases whose id matches this pattern; repeatable.
    #[arg(long, value_name = "GLOB")]
    pub(crate) filter: Vec<String>,
    /// Cases drafted at once.
    #[arg(long, short = 'j', value_name = "N", default_value = "4")]
    pub(crate) workers: NonZeroUsize,
    /// Folder that eval files may read from, in addition to their own repository; repeatable.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) spending: SpendingArgs,
    /// Print one JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress and no notices on stderr; errors and warnings remain.
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
