//! The command line, as typed.
//!
//! Design: `docs/design/command-line.md`.

mod attempt;
mod audit;
mod cache;
mod calibrate;
mod case_selection;
#[cfg(feature = "cluster")]
mod cluster;
#[cfg(not(feature = "cluster"))]
#[path = "cluster_missing.rs"]
mod cluster;
mod compare;
mod completions;
mod convert;
mod doctor;
mod eval;
mod exchange;
mod explain;
mod front_page;
mod gate;
mod generate;
mod grade;
mod headings;
mod help_end;
mod init;
mod input_files;
mod judge_batch;
mod judges;
mod labels;
mod lint;
mod list;
#[cfg(feature = "lsp")]
mod lsp;
#[cfg(feature = "mcp")]
mod mcp;
mod merge;
#[cfg(not(all(feature = "cluster", feature = "lsp", feature = "mcp", feature = "serve")))]
mod missing;
mod pairwise;
#[cfg(feature = "cluster")]
mod portable;
mod power;
mod replace;
mod report;
mod report_file;
mod report_files;
mod resume_command;
mod review;
mod run_output;
mod schema;
mod score;
mod scorecard;
#[cfg(feature = "serve")]
mod serve;
mod server;
mod shard;
mod spending;
mod tables;
mod trust;
mod usage_error;
mod validate;
mod values;
mod view;
#[cfg(feature = "cluster")]
mod worker;

use std::path::PathBuf;

use clap::{ArgAction, Parser, Subcommand};

use crate::context::ColorChoice;
use headings::GLOBAL;

pub(crate) use attempt::TryArgs;
pub(crate) use audit::{
    AuditArgs, AuditCommand, InjectionArgs, LengthArgs, OrderArgs, ProbesArgs, SelfArgs, ShowAuditArgs,
};
pub(crate) use cache::{CacheAction, CacheArgs};
pub(crate) use calibrate::{CalibrateArgs, CalibrateCommand, CalibrateCommandArgs};
pub(crate) use compare::{AdjustChoice, CompareArgs, CompareCommand, CompareCommandArgs, RescoreSource};
pub(crate) use completions::{CompletionsArgs, ManArgs};
pub(crate) use convert::{ConvertArgs, InputKind, OutputKind};
pub(crate) use doctor::DoctorArgs;
pub(crate) use eval::{DenyChoice, EvalArgs, EvalCommandArgs, RunArgs, denied, programs};
pub(crate) use exchange::ExchangeArgs;
pub(crate) use explain::ExplainArgs;
pub(crate) use front_page::with_front_page;
pub(crate) use generate::{GenerateArgs, GenerateCommand, GenerateRubricsArgs};
pub(crate) use grade::{GradeArgs, answer_columns};
pub(crate) use init::{InitArgs, InitFormat};
pub(crate) use labels::LabelArgs;
pub(crate) use lint::LintArgs;
pub(crate) use list::ListRunsArgs;
#[cfg(feature = "lsp")]
pub(crate) use lsp::LspArgs;
#[cfg(feature = "mcp")]
pub(crate) use mcp::McpArgs;
pub(crate) use merge::MergeArgs;
#[cfg(not(feature = "lsp"))]
pub(crate) use missing::MissingArgs as LspArgs;
#[cfg(not(feature = "mcp"))]
pub(crate) use missing::MissingArgs as McpArgs;
#[cfg(not(feature = "serve"))]
pub(crate) use missing::MissingArgs as ServeArgs;
#[cfg(not(feature = "cluster"))]
pub(crate) use missing::MissingArgs as WorkerArgs;
pub(crate) use pairwise::PairwiseArgs;
#[cfg(feature = "cluster")]
pub(crate) use portable::{decides, portable_arguments, read_portable};
pub(crate) use power::PowerArgs;
pub(crate) use replace::NamedReports;
pub(crate) use report::ReportArgs;
pub(crate) use report_file::{ReportFile, ReportFormat};
pub(crate) use resume_command::{resume_command, shell_word};
pub(crate) use review::ReviewArgs;
pub(crate) use run_output::ShowChoice;
pub(crate) use schema::SchemaArgs;
pub(crate) use score::ScoreArgs;
pub(crate) use scorecard::{
    CompareCardsArgs, ListArgs, RunCardArgs, ScoreCardArgs, ScorecardArgs, ScorecardCommand, TrendCardsArgs,
};
#[cfg(feature = "serve")]
pub(crate) use serve::{KeyAction, ServeArgs, ServeCommand};
pub(crate) use server::ServerArgs;
pub(crate) use shard::ShardArgs;
pub(crate) use tables::{CriteriaArgs, DriftArgs, NoiseArgs, PanelRatesArgs, TableArgs};
pub(crate) use trust::TrustArgs;
pub(crate) use usage_error::{
    asks_for_json, is_bare, is_help, print_usage_error, usage_message, wants_json, with_fitting_tips,
};
pub(crate) use validate::{FormatChoice, ValidateArgs};
pub(crate) use values::with_composed_names;
pub(crate) use view::ViewArgs;
#[cfg(feature = "cluster")]
pub(crate) use worker::WorkerArgs;

/// Assize grades the answers of language models against rubrics, criterion by criterion, with results that you can audit.
///
/// Write what a good answer must do; judges decide criterion by criterion; assize turns that into
/// scores, verdicts and gates, and explains every number.
#[derive(Debug, Parser)]
#[command(
    name = "assize",
    version,
    propagate_version = true,
    disable_help_subcommand = true,
    disable_help_flag = true,
    disable_version_flag = true,
    after_help = "`assize COMMAND -h` lists options; `assize --help` has examples and exit codes.",
    after_long_help = "Examples:\n  \
                  assize init\n  \
                  assize eval evals/\n  \
                  assize grade rubric.yaml --answers answers.csv --judge openai:gpt-6-luna\n  \
                  assize explain last refund-policy\n\n\
                  Exit codes: 0 all passed, 1 something failed, 2 invalid input (nothing was run), \
                  3 incomplete (something could not be judged or run), 4 stopped by a budget, \
                  5 inconclusive comparison under --strict, 130 interrupted.\n\n\
                  Options of every command: --color, --env-file, -h (--help), -V (--version)."
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

/// Options of every command.
#[derive(Debug, clap::Args)]
pub(crate) struct GlobalArgs {
    /// When to colour output.
    #[arg(
        long, global = true, value_enum, default_value_t, value_name = "WHEN", help_heading = GLOBAL,
        hide_short_help = true
    )]
    pub(crate) color: ColorChoice,
    /// File of environment variables to read [default: .env].
    ///
    /// Variables that are set already win. Keys of the environment are sent to addresses in a file only if it is named
    /// here.
    #[arg(long, global = true, value_name = "FILE", help_heading = GLOBAL, hide_short_help = true)]
    pub(crate) env_file: Option<PathBuf>,
    /// Print help; `--help` prints all options, in detail.
    #[arg(long, short = 'h', global = true, action = ArgAction::Help, help_heading = GLOBAL)]
    help: Option<bool>,
    /// Print the version.
    #[arg(long, short = 'V', global = true, action = ArgAction::Version, help_heading = GLOBAL)]
    version: Option<bool>,
}

/// Commands of the program. The front page puts them in their order.
#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Create a project: a small suite, settings, a CI workflow.
    Init(InitArgs),
    /// Run eval files: get answers, judge them, score them.
    #[command(visible_alias = "run")]
    Eval(Box<EvalCommandArgs>),
    /// Grade existing answers (JSON lines or a table) against a rubric.
    Grade(Box<GradeArgs>),
    /// Try a criterion on one answer; `--watch` reruns it on every save.
    Try(TryArgs),
    /// Check eval files, rubrics and scorecards without running them.
    Validate(ValidateArgs),
    /// Find weak criteria in valid rubrics.
    Lint(LintArgs),
    /// Draft rubrics from the expected outcomes of cases.
    Generate(GenerateArgs),
    /// Browse results in a web browser.
    View(ViewArgs),
    /// Merge the runs of shards into one run.
    Merge(MergeArgs),
    /// List the stored runs, newest first.
    List(ListRunsArgs),
    /// Explain the score of a case: arithmetic, reasons, quotes.
    Explain(ExplainArgs),
    /// Write a run as HTML, Markdown, JUnit, CSV, SARIF and more.
    Report(ReportArgs),
    /// Compare runs case by case, or show a trend over many.
    Compare(Box<CompareCommandArgs>),
    /// Label cases yourself, for scorecards and to measure judges.
    Review(ReviewArgs),
    /// Measure a judge against people; agreement, noise, sample sizes.
    Calibrate(Box<CalibrateCommandArgs>),
    /// Score trees of rubrics over benchmarks.
    Scorecard(ScorecardArgs),
    /// Test a judge for prompt injection, order, length and self bias.
    Audit(AuditArgs),
    /// Convert rubrics of other tools, and agents' session logs to cases.
    Convert(ConvertArgs),
    /// Recompute scores of a run with new weights or thresholds.
    Score(ScoreArgs),
    /// Inspect and prune the reply cache.
    Cache(CacheArgs),
    /// Check which providers are configured.
    Doctor(DoctorArgs),
    /// Serve an agent over MCP: validate, plan, grade, run, read results.
    Mcp(McpArgs),
    /// Grade over HTTP: rewards for training, scores for programs.
    Serve(Box<ServeArgs>),
    /// Run units of `assize eval --cluster` on this machine.
    #[command(hide = true)]
    Worker(WorkerArgs),
    /// Serve an editor as a language server (LSP): diagnostics, hover, completion.
    #[command(hide = true)]
    Lsp(LspArgs),
    /// Trust a folder, so that its files may run programs.
    #[command(hide = true)]
    Trust(TrustArgs),
    /// Print the JSON Schema of a kind of file.
    #[command(hide = true)]
    Schema(SchemaArgs),
    /// Print a completion script for a shell.
    #[command(hide = true)]
    Completions(CompletionsArgs),
    /// Print a man page, or write all of them.
    #[command(hide = true)]
    Man(ManArgs),
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};

    use super::*;

    fn every_command(command: &Command, found: &mut Vec<Command>) {
        found.push(command.clone());
        command.get_subcommands().for_each(|inner| every_command(inner, found));
    }

    /// Most lines of `-h` on a terminal of 80 columns.
    const MAX_HELP_LINES: usize = 60;
    /// Most lines of `-h` of the commands that everyone runs.
    const MAX_USUAL_HELP_LINES: usize = 48;

    fn built() -> Command {
        built_for(100)
    }

    fn built_for(columns: usize) -> Command {
        let mut root = front_page::with_front_page_of(Args::command(), columns).term_width(columns);
        root.build();
        root
    }

    /// Text below the options of the long help.
    fn end_of(command: &Command) -> String {
        let end = command.get_after_long_help().or_else(|| command.get_after_help());
        end.map(ToString::to_string).unwrap_or_default()
    }

    #[test]
    fn every_command_has_examples() {
        let mut commands = Vec::new();
        every_command(&built(), &mut commands);
        assert!(commands.len() > 30, "{}", commands.len());
        for command in commands {
            let end = end_of(&command);
            assert!(end.contains("Examples:\n"), "{} has none", command.get_name());
        }
    }

    /// Paragraphs of a text, and the example commands after its heading, each with its continuation lines.
    fn paragraphs_and_examples(text: &str) -> (Vec<&str>, Vec<Vec<&str>>) {
        let (mut paragraphs, mut examples): (Vec<&str>, Vec<Vec<&str>>) = (Vec::new(), Vec::new());
        for paragraph in text.split("\n\n") {
            let Some(lines) = paragraph.strip_prefix("Examples:\n") else {
                paragraphs.push(paragraph);
                continue;
            };
            for line in lines.lines() {
                match examples
                    .last_mut()
                    .filter(|command| command.last().is_some_and(|last| last.ends_with(" \\")))
                {
                    Some(command) => command.push(line),
                    None => examples.push(vec![line]),
                }
            }
        }

        (paragraphs, examples)
    }

    #[test]
    fn examples_can_be_pasted_from_eighty_columns() {
        let mut commands = Vec::new();
        every_command(&built(), &mut commands);
        for command in commands {
            let name = command.get_bin_name().unwrap_or("assize").to_owned();
            let end = end_of(&command);
            let (paragraphs, examples) = paragraphs_and_examples(&end);
            for paragraph in paragraphs {
                // Paragraphs are wrapped by the layout only, except in lists, which are indented.
                let broken = paragraph.lines().skip(1).find(|line| !line.starts_with("  "));
                assert_eq!(broken, None, "{name} breaks a paragraph");
            }

            let shown = command.clone().term_width(80).render_long_help().to_string();
            for example in examples {
                let words = example[0].trim_start();
                assert!(words.contains("assize "), "{name}: {words:?}");
                assert!(example.iter().skip(1).all(|line| line.starts_with("      ")), "{name}: {example:?}");
                assert!(!example[example.len() - 1].ends_with('\\'), "{name}: {example:?}");
                assert!(shown.contains(&example.join("\n")), "{name}: {example:?} is wrapped");
            }
        }
    }

    #[test]
    fn short_help_has_a_line_for_each_option_and_fits_two_screens() {
        let mut commands = Vec::new();
        let mut root = front_page::without_values(front_page::with_front_page_of(Args::command(), 80));
        root.build();
        every_command(&root, &mut commands);
        let mut wrong = Vec::new();
        for command in commands {
            let name = command.get_bin_name().unwrap_or("assize").to_owned();
            let text = command.clone().term_width(80).render_help().to_string();
            let lines = text.lines().count();
            let is_usual = ["assize eval", "assize grade"].contains(&name.as_str());
            if lines > if is_usual { MAX_USUAL_HELP_LINES } else { MAX_HELP_LINES } {
                wrong.push(format!("{name} has {lines} lines"));
            }
            wrong.extend(
                text.lines().filter(|line| line.chars().count() > 80).map(|line| format!("{name}: {line:?}")),
            );

            let options = text.split("\nGlobal options:").next().unwrap_or_default();
            let option = |line: &&str| line.starts_with("  -") || line.starts_with("      --");
            for line in options.lines().skip_while(|line| !option(line)) {
                let is_heading = line.is_empty() || line.ends_with(':') || !line.starts_with(' ');
                if !option(&line) && !is_heading {
                    wrong.push(format!("{name}: {line:?}"));
                }
            }
        }

        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn help_fits_a_narrow_window() {
        let mut commands = Vec::new();
        every_command(&built_for(40), &mut commands);
        for command in commands {
            let name = command.get_bin_name().unwrap_or("assize").to_owned();
            let end = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let (_, examples) = paragraphs_and_examples(&end);
            for line in examples.iter().flatten() {
                // An option with its value, or a quoted text, is not broken.
                let words = line.trim_start().trim_end_matches(" \\");
                let is_whole = !words.starts_with("assize ") && line.trim_start().split(" --").count() == 1;
                assert!(line.chars().count() <= 40 || is_whole, "{name}: {line:?}");
            }
        }
    }

    #[test]
    fn all_commands_list_headings_in_one_order() {
        let mut commands = Vec::new();
        every_command(&built(), &mut commands);
        for command in commands {
            let mut last = 0;
            for argument in command.get_arguments().filter(|one| !one.is_positional()) {
                let rank = argument.get_help_heading().map_or(0, |heading| {
                    1 + headings::IN_ORDER.iter().position(|one| *one == heading).expect(heading)
                });
                let first =
                    command.get_arguments().find(|one| one.get_help_heading() == argument.get_help_heading());
                if first.is_some_and(|one| one.get_id() == argument.get_id()) {
                    let name = command.get_bin_name().unwrap_or_default();
                    assert!(rank >= last, "{name}: `{:?}` comes too late", argument.get_help_heading());
                    last = rank;
                }
            }
        }
    }
}
