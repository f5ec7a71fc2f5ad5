//! `assize convert`.

use std::path::PathBuf;

use clap::ValueEnum;

/// Write rubrics of one tool or format as those of another; lists what is not carried over.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Whatever can't be carried over is listed with its line. Exit codes: 0 everything was carried over,\n\
    3 something was not (the file is written all the same), 2 nothing could be converted.\n\n\
    Examples:\n  \
    assize convert evals/old.yaml --to format2 -o evals/new.eval.yaml\n  \
    assize convert promptfooconfig.yaml --to format2\n  \
    assize convert criteria.csv --to format2 -o rubric.yaml\n  \
    assize convert evals/support.eval.yaml --to promptfoo -o promptfooconfig.yaml\n  \
    assize convert paper/rubric.json --to scorecard -o scorecards/paper.yaml --json"
)]
pub(crate) struct ConvertArgs {
    /// File to convert: an eval file of either format, a rubric file, a scorecard, a promptfoo configuration, HealthBench
    /// or DevAI JSONL, a PaperBench tree, or a CSV table of criteria.
    #[arg(value_name = "FROM")]
    pub(crate) from: PathBuf,
    /// Format to write.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) to: ToChoice,
    /// Kind of the file; detected from its content unless given.
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) kind: Option<FromChoice>,
    /// File to write; stdout unless given.
    #[arg(long, short = 'o', value_name = "OUT")]
    pub(crate) out: Option<PathBuf>,
    /// Overwrite the file if it is there.
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Folder that eval files may read from, beside their own repository; may be given several times.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Vec<PathBuf>,
    /// Print one JSON object on stdout: the list of what was not carried over, and the text unless `--out` is given.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Formats that can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToChoice {
    /// An eval file with `evalcases`.
    #[value(name = "format1", alias = "1")]
    Format1,
    /// An eval file with `tests` and `assertions`.
    #[value(name = "format2", alias = "2")]
    Format2,
    /// A scorecard in one file.
    Scorecard,
    /// A promptfoo configuration.
    Promptfoo,
    /// HealthBench examples, JSONL.
    #[value(name = "healthbench")]
    HealthBench,
    /// A PaperBench rubric tree, JSON.
    #[value(name = "paperbench")]
    PaperBench,
    /// A table of criteria.
    Csv,
}

/// Kinds of files that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FromChoice {
    /// An eval file of either format.
    Suite,
    /// A scorecard, folder or file.
    Scorecard,
    /// A promptfoo configuration.
    Promptfoo,
    /// HealthBench examples.
    #[value(name = "healthbench")]
    HealthBench,
    /// A PaperBench rubric tree.
    #[value(name = "paperbench")]
    PaperBench,
    /// DevAI tasks.
    #[value(name = "devai")]
    DevAi,
    /// A table of criteria.
    Csv,
}
