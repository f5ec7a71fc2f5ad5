//! `assize convert`.

use std::path::PathBuf;

use assize_convert::{ExportFormat, ImportFormat};

use super::values::{OptionValues, one_of};

/// Values of `--to`.
const EXPORT_FORMATS: &OptionValues<ExportFormat> = &[
    ("format1", ExportFormat::Format1, "An eval file with `evalcases`"),
    ("1", ExportFormat::Format1, ""),
    ("format2", ExportFormat::Format2, "An eval file with `tests` and `assertions`"),
    ("2", ExportFormat::Format2, ""),
    ("scorecard", ExportFormat::Scorecard, "A scorecard in one file"),
    ("promptfoo", ExportFormat::Promptfoo, "A promptfoo configuration"),
    ("healthbench", ExportFormat::HealthBench, "HealthBench examples, JSONL"),
    ("paperbench", ExportFormat::PaperBench, "A PaperBench rubric tree, JSON"),
    ("csv", ExportFormat::Csv, "A table of criteria"),
];

/// Values of `--kind`.
const IMPORT_FORMATS: &OptionValues<ImportFormat> = &[
    ("suite", ImportFormat::Suite, "An eval file of either format"),
    ("scorecard", ImportFormat::Scorecard, "A scorecard, folder or file"),
    ("promptfoo", ImportFormat::Promptfoo, "A promptfoo configuration"),
    ("healthbench", ImportFormat::HealthBench, "HealthBench examples"),
    ("paperbench", ImportFormat::PaperBench, "A PaperBench rubric tree"),
    ("devai", ImportFormat::DevAi, "DevAI tasks"),
    ("csv", ImportFormat::Csv, "A table of criteria"),
];

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
    #[arg(long, value_parser = one_of(EXPORT_FORMATS), value_name = "FORMAT")]
    pub(crate) to: ExportFormat,
    /// Kind of the file; detected from its content unless given.
    #[arg(long, value_parser = one_of(IMPORT_FORMATS), value_name = "KIND")]
    pub(crate) kind: Option<ImportFormat>,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_can_be_asked_for_by_its_name() {
        for format in ImportFormat::ALL {
            let rows: Vec<&str> = IMPORT_FORMATS
                .iter()
                .filter(|(.., found, _)| *found == format)
                .map(|(name, ..)| *name)
                .collect();
            assert_eq!(rows, [format.name()]);
        }
    }

    #[test]
    fn the_help_names_each_format_that_is_read() {
        let command = <ConvertArgs as clap::Args>::augment_args(clap::Command::new("convert"));
        let from = command.get_arguments().find(|arg| arg.get_id() == "from").expect("the argument");
        let help = from.get_help().expect("a help").to_string().to_lowercase();

        for format in ImportFormat::ALL {
            let word = if format == ImportFormat::Suite { "eval file" } else { format.name() };
            assert!(help.contains(word), "{word}");
        }
    }
}
