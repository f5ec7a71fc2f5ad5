//! `assize validate`.

use std::path::PathBuf;

use clap::ValueEnum;

/// Check eval files, rubrics and scorecards.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    assize validate evals/\n  \
    assize validate scorecards/intake\n  \
    assize validate evals/support.eval.yaml --format github\n  \
    assize validate evals/ --format sarif > problems.sarif")]
pub(crate) struct ValidateArgs {
    /// Eval files, rubrics and scorecards, or folders to look for them in.
    #[arg(default_value = ".", value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Read targets from this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) targets: Option<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: FormatChoice,
    /// Same as `--format json`.
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Also let files read from this folder; repeatable.
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub(crate) root: Vec<PathBuf>,
    /// Exit with 2 if there are more than N warnings.
    #[arg(long, value_name = "N")]
    pub(crate) max_warnings: Option<usize>,
}

/// Output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum FormatChoice {
    /// For people, with the source line.
    #[default]
    Text,
    /// One JSON object.
    Json,
    /// GitHub workflow commands.
    Github,
    /// SARIF 2.1.0.
    Sarif,
}
