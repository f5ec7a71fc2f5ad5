//! `assize convert`.

use std::path::PathBuf;

use assize_convert::{ExportFormat, ImportFormat};
use assize_records::RecordFormat;
use assize_table::TextEncoding;
use assize_trace::LogFormat;

use super::values::{OptionValues, one_of};

/// Format to write.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OutputKind {
    /// A file of rubrics.
    Rubrics(ExportFormat),
    /// Cases with their answers, from session logs.
    Cases,
}

/// Kind of a file to convert.
#[derive(Debug, Clone, Copy)]
pub(crate) enum InputKind {
    /// A file of rubrics.
    Rubrics(ImportFormat),
    /// A session log of an agent.
    Log(LogFormat),
    /// Records of another evaluation tool.
    Records(RecordFormat),
}

/// Values of `--to`.
const OUTPUT_KINDS: &OptionValues<OutputKind> = &[
    ("evalcases", OutputKind::Rubrics(ExportFormat::Format1), "An eval file with `evalcases`"),
    ("tests", OutputKind::Rubrics(ExportFormat::Format2), "An eval file with `tests` and `assertions`"),
    ("cases", OutputKind::Cases, "Cases with answers, JSONL, from session logs and records"),
    ("scorecard", OutputKind::Rubrics(ExportFormat::Scorecard), "A scorecard in one file"),
    ("promptfoo", OutputKind::Rubrics(ExportFormat::Promptfoo), "A promptfoo configuration"),
    ("healthbench", OutputKind::Rubrics(ExportFormat::HealthBench), "HealthBench examples, JSONL"),
    ("paperbench", OutputKind::Rubrics(ExportFormat::PaperBench), "A PaperBench rubric tree, JSON"),
    ("csv", OutputKind::Rubrics(ExportFormat::Csv), "A table of criteria"),
];

/// Values of `--kind`.
const INPUT_KINDS: &OptionValues<InputKind> = &[
    ("suite", InputKind::Rubrics(ImportFormat::Suite), "An eval file of either format"),
    ("scorecard", InputKind::Rubrics(ImportFormat::Scorecard), "A scorecard, folder or file"),
    ("promptfoo", InputKind::Rubrics(ImportFormat::Promptfoo), "A promptfoo configuration"),
    ("healthbench", InputKind::Rubrics(ImportFormat::HealthBench), "HealthBench examples"),
    ("paperbench", InputKind::Rubrics(ImportFormat::PaperBench), "A PaperBench rubric tree"),
    ("devai", InputKind::Rubrics(ImportFormat::DevAi), "DevAI tasks"),
    ("csv", InputKind::Rubrics(ImportFormat::Csv), "A table of criteria, CSV, TSV, XLSX or Parquet"),
    ("inspect", InputKind::Records(RecordFormat::Inspect), "A log of Inspect, .eval or .json"),
    ("promptfoo-results", InputKind::Records(RecordFormat::Promptfoo), "Results of promptfoo, JSON or JSONL"),
    ("openai-evals", InputKind::Records(RecordFormat::OpenAiEvals), "A log or data set of OpenAI's evals"),
    ("deepeval", InputKind::Records(RecordFormat::DeepEval), "A data set of DeepEval"),
    ("skill-evals", InputKind::Records(RecordFormat::SkillEvals), "The evals.json of an agent skill"),
    ("claude-code", InputKind::Log(LogFormat::ClaudeCode), "A session of Claude Code"),
    ("codex", InputKind::Log(LogFormat::Codex), "A session of Codex"),
    ("copilot", InputKind::Log(LogFormat::Copilot), "A session of Copilot CLI"),
    ("gemini", InputKind::Log(LogFormat::Gemini), "A session of Gemini CLI"),
    ("opencode", InputKind::Log(LogFormat::OpenCode), "A session of OpenCode"),
    ("pi", InputKind::Log(LogFormat::Pi), "A session of Pi"),
    ("otel", InputKind::Log(LogFormat::OpenTelemetry), "OpenTelemetry traces, OTLP/JSON"),
];

/// Convert rubrics between formats and tools, and session logs and records to cases.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Formats for `--to`: evalcases, tests, cases, scorecard, promptfoo, healthbench, paperbench, csv.\n\n\
    Examples:\n  \
    assize convert evals/old.yaml -o evals/new.eval.yaml\n  \
    assize convert promptfooconfig.yaml\n  \
    assize convert evals/support.eval.yaml --to promptfoo -o promptfooconfig.yaml",
    after_long_help = "Everything that can't be converted is listed with its line. Exit codes: 0 everything was converted, \
    3 something was not (the file is still written), 2 nothing could be converted.\n\n\
    Session logs of agents become cases (`--to cases`): one line of JSON for each session, with `id`, \
    `input`, and `output` with all messages and tool calls. The lines can be used as cases (`tests: \
    cases.jsonl`) and as answers (`assize grade --answers cases.jsonl`). Records of unknown kinds are \
    skipped and counted.\n\n\
    Records of other tools (logs of Inspect, results of promptfoo, OpenAI's evals, DeepEval, evals of agent \
    skills) become eval files with their questions, or cases with answers (`--to cases`). \
    `assize grade --answers` reads them as they are.\n\n\
    Examples:\n  \
    assize convert evals/old.yaml -o evals/new.eval.yaml\n  \
    assize convert promptfooconfig.yaml\n  \
    assize convert criteria.csv -o rubric.yaml\n  \
    assize convert evals/support.eval.yaml --to promptfoo -o promptfooconfig.yaml\n  \
    assize convert paper/rubric.json --to scorecard -o scorecards/paper.yaml \\\n      \
    --json\n  \
    assize convert logs/*.jsonl --to cases -o cases.jsonl\n  \
    assize convert logs/capitals.eval -o capitals.eval.yaml"
)]
pub(crate) struct ConvertArgs {
    /// File to convert: an eval file of either format, a rubric file, a scorecard, a promptfoo configuration, HealthBench
    /// or DevAI JSONL, a PaperBench tree, a table of criteria (CSV, TSV, XLSX, Parquet), records of another tool; or session logs of agents, `-` for
    /// standard input.
    #[arg(value_name = "FROM", required = true)]
    pub(crate) from: Vec<PathBuf>,
    /// Format to write [default: tests; cases for session logs].
    #[arg(long, value_parser = one_of(OUTPUT_KINDS), value_name = "FORMAT")]
    to: Option<OutputKind>,
    /// Input format [default: detected].
    #[arg(long, value_parser = one_of(INPUT_KINDS), value_name = "KIND")]
    pub(crate) kind: Option<InputKind>,
    /// File to write [default: stdout].
    #[arg(long, short = 'o', value_name = "OUT")]
    pub(crate) out: Option<PathBuf>,
    /// Overwrite an existing file.
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Skip unreadable lines and records.
    ///
    /// Lines of a session log, records of other tools. The exit code is then 3.
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Encoding of a CSV or TSV table, such as `gbk` or `windows-1252`.
    ///
    /// Without it, tables are UTF-8, or UTF-16, which is recognised.
    #[arg(long, value_parser = TextEncoding::parse, value_name = "NAME", hide_short_help = true)]
    pub(crate) encoding: Option<TextEncoding>,
    /// Also let files read from this folder; repeatable.
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub(crate) root: Vec<PathBuf>,
    /// Allow eval files to run Python, and JavaScript that imports modules.
    #[arg(long, hide_short_help = true)]
    pub(crate) allow_code: bool,
    /// Print one JSON object on stdout.
    ///
    /// It lists the input format, the losses and the warnings, and has the text unless `--out` is given.
    #[arg(long)]
    pub(crate) json: bool,
}

impl ConvertArgs {
    /// Returns the format to write: the one that was given, or else the usual one for the kind of the input.
    pub(crate) fn output_kind(&self) -> OutputKind {
        self.to.unwrap_or(match self.kind {
            Some(InputKind::Log(_)) => OutputKind::Cases,
            _ => OutputKind::Rubrics(ExportFormat::Format2),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_help_names_each_format_that_is_written() {
        let command = <ConvertArgs as clap::Args>::augment_args(clap::Command::new("convert"));
        let end = command.get_after_help().expect("a text").to_string();
        for (name, ..) in OUTPUT_KINDS {
            assert!(end.contains(&format!(" {name}")), "{name}");
        }
    }

    #[test]
    fn each_format_can_be_asked_for_by_its_name() {
        for format in ImportFormat::ALL {
            let rows: Vec<&str> = INPUT_KINDS
                .iter()
                .filter(|(_, kind, _)| matches!(kind, InputKind::Rubrics(found) if *found == format))
                .map(|(name, ..)| *name)
                .collect();
            assert_eq!(rows, [format.name()]);
        }
    }

    #[test]
    fn each_format_of_records_can_be_asked_for_by_its_name() {
        for format in RecordFormat::ALL {
            let is_row = |(name, kind, _): &(&str, InputKind, &str)| {
                *name == format.name() && matches!(kind, InputKind::Records(found) if *found == format)
            };
            assert!(INPUT_KINDS.iter().any(is_row), "{}", format.name());
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
