//! `assize init`.

use std::path::PathBuf;

use clap::ValueEnum;

/// Set up a folder: a small suite that runs at once, settings, schemas for editors, a workflow.
///
/// On a terminal it asks which judge to use and before it overwrites anything. What is already there is otherwise kept;
/// lines that `.gitignore` lacks are added to it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    assize init\n  \
    assize init my-evals --format evalcases\n  \
    assize init --format scorecard --yes\n  \
    assize init --judge openai:gpt-6-luna --force")]
pub(crate) struct InitArgs {
    /// Folder to set up, created if missing [default: .].
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Format of the first suite.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: InitFormat,
    /// Judge to configure, such as `openai:gpt-6-luna`.
    #[arg(long, value_name = "MODEL")]
    pub(crate) judge: Option<String>,
    /// Ask no questions; keep existing files.
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Overwrite existing files.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Format of the first suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum InitFormat {
    /// A list `tests` with `assertions`.
    #[default]
    Tests,
    /// A list `evalcases` with `rubrics`.
    Evalcases,
    /// A tree of rubrics over benchmarks.
    Scorecard,
}
