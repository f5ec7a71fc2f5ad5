//! `assize lint`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use super::FormatChoice;
use super::spending::SpendingArgs;

/// Find weak criteria in valid eval files, rubric files and scorecards.
#[derive(Debug, clap::Args)]
#[command(
    mut_group("SpendingArgs", |spending| spending.requires("judge")),
    after_help = "Findings are warnings: the exit code is 0, or 1 with --strict. Files that don't load end with 2. \
    With --judge, a model applies the rules L06xx; the exit code is 3 if it could not apply all of them, \
    or 4 if a budget stopped it.\n\n\
    To allow a finding, add a comment on its line or on the line above: `# allow: L0101 because REASON`.\n\n\
    Examples:\n  \
    assize lint evals/\n  \
    assize lint evals/support.eval.yaml --fix\n  \
    assize lint evals/ --strict --format github\n  \
    assize lint evals/ --skip L0404 --skip style-outweighs-content\n  \
    assize lint evals/ --judge openai:gpt-6-luna --dry-run\n  \
    assize lint evals/ --judge openai:gpt-6-luna --budget-usd 0.50\n  \
    assize lint --list"
)]
pub(crate) struct LintArgs {
    /// Eval files, rubrics and scorecards, or folders to look for them in.
    #[arg(default_value = ".", value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Format: text, json, github or sarif.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: FormatChoice,
    /// Same as `--format json`.
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Also let files read from this folder; repeatable.
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub(crate) root: Vec<PathBuf>,
    /// Exit with 1 on any finding.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Apply the fixes that can't change what a rubric means.
    #[arg(long)]
    pub(crate) fix: bool,
    /// Apply only this rule, by code or name; repeatable.
    #[arg(long, value_name = "RULE", conflicts_with = "skip")]
    pub(crate) only: Vec<String>,
    /// Skip this rule, by code or name; repeatable.
    #[arg(long, value_name = "RULE")]
    pub(crate) skip: Vec<String>,
    /// Also apply the rules that need a model, with this one.
    ///
    /// A model or a target.
    #[arg(long, value_name = "MODEL")]
    pub(crate) judge: Option<String>,
    /// Read targets from this file.
    #[arg(long, value_name = "FILE", requires = "judge")]
    pub(crate) targets: Option<PathBuf>,
    /// Estimate calls and cost; send nothing.
    #[arg(long, requires = "judge", conflicts_with = "fix")]
    pub(crate) dry_run: bool,
    /// Check N rubrics at once with the model.
    #[arg(long, short = 'j', value_name = "N", default_value = "4", requires = "judge")]
    pub(crate) workers: NonZeroUsize,
    #[command(flatten)]
    pub(crate) spending: SpendingArgs,
    /// List the rules.
    #[arg(long, conflicts_with_all = ["paths", "fix", "strict", "judge"])]
    pub(crate) list: bool,
}
