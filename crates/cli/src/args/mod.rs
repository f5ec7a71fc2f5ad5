//! The command line, as typed.

mod attempt;
mod audit;
mod cache;
mod calibrate;
mod compare;
mod completions;
mod convert;
mod doctor;
mod eval;
mod explain;
mod generate;
mod grade;
mod import;
mod init;
mod labels;
mod lint;
mod lsp;
mod pairwise;
mod panel;
mod power;
mod review;
mod schema;
mod score;
mod scorecard;
mod spending;
mod tables;
mod trend;
mod validate;
mod values;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::context::ColorChoice;

pub(crate) use attempt::TryArgs;
pub(crate) use audit::{
    AuditArgs, AuditCommand, InjectionArgs, LengthArgs, OrderArgs, ProbesArgs, SelfArgs, ShowAuditArgs,
};
pub(crate) use cache::{CacheAction, CacheArgs};
pub(crate) use calibrate::CalibrateArgs;
pub(crate) use compare::{AdjustChoice, CompareArgs};
pub(crate) use completions::{CompletionsArgs, ManArgs};
pub(crate) use convert::ConvertArgs;
pub(crate) use doctor::DoctorArgs;
pub(crate) use eval::{DenyChoice, EvalArgs, EvalCommandArgs, RunArgs, ShowChoice, denied};
pub(crate) use explain::ExplainArgs;
pub(crate) use generate::{GenerateArgs, GenerateCommand, GenerateRubricsArgs};
pub(crate) use grade::GradeArgs;
pub(crate) use import::{ImportArgs, ImportCommand, TranscriptArgs};
pub(crate) use init::{InitArgs, InitFormat};
pub(crate) use labels::LabelArgs;
pub(crate) use lint::LintArgs;
pub(crate) use lsp::LspArgs;
pub(crate) use pairwise::PairwiseArgs;
pub(crate) use power::PowerArgs;
pub(crate) use review::ReviewArgs;
pub(crate) use schema::SchemaArgs;
pub(crate) use score::ScoreArgs;
pub(crate) use scorecard::{
    CompareCardsArgs, ListArgs, RunCardArgs, ScoreCardArgs, ScorecardArgs, ScorecardCommand, TrendCardsArgs,
};
pub(crate) use tables::{AgreementArgs, RepeatsArgs, TableArgs};
pub(crate) use trend::TrendArgs;
pub(crate) use validate::{FormatChoice, ValidateArgs};

/// Rubric evaluation that people trust with decisions.
///
/// Write what a good answer must do; judges decide criterion by criterion; assize turns that into
/// scores, verdicts and gates that hold, and explains every number.
#[derive(Debug, Parser)]
#[command(
    name = "assize",
    version,
    propagate_version = true,
    disable_help_subcommand = true,
    after_help = "Exit codes: 0 all passed, 1 something failed, 2 invalid input (nothing was run),\n\
                  3 incomplete (something could not be judged or run), 4 stopped by a budget,\n\
                  5 inconclusive comparison under --strict, 130 interrupted.\n\n\
                  Examples:\n  \
                  assize validate evals/\n  \
                  assize eval evals/support.eval.yaml\n  \
                  assize eval evals/ --judge openai:gpt-4o-mini --workers 16 --json\n  \
                  assize explain last refund-policy"
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
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: ColorChoice,
    /// File of variables to read; `.env` in the working folder unless given. What is set already wins. Keys of the
    /// environment are sent to addresses in a file only if it is named here.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) env_file: Option<PathBuf>,
}

/// Commands of the program.
#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Set up a folder: a small suite that runs at once, settings, schemas for editors, a workflow.
    Init(InitArgs),
    /// Run eval files: get answers, judge them, score them.
    #[command(visible_alias = "run")]
    Eval(EvalCommandArgs),
    /// Say what `eval` with the same arguments would take: cases, calls, estimated tokens. Nothing is sent.
    Plan(EvalCommandArgs),
    /// Grade answers that are already there against a rubric.
    Grade(GradeArgs),
    /// Judge one answer by one criterion, to get its wording right; again on every save with `--watch`.
    Try(TryArgs),
    /// Check eval files and scorecards; every problem with its place and its fix.
    Validate(ValidateArgs),
    /// Find what is sound and still a bad rubric; each finding with its reason.
    Lint(LintArgs),
    /// Write rubrics of one tool or format as those of another; lists what is not carried over.
    Convert(ConvertArgs),
    /// Draft what an eval file lacks: rubrics from expected outcomes.
    Generate(GenerateArgs),
    /// Score a stored run again, after a rubric's weights or the lines changed, without asking a judge.
    Score(ScoreArgs),
    /// Trees of rubrics over benchmarks: show what is in them, add up their results.
    Scorecard(ScorecardArgs),
    /// Put a judge to the test: do texts, orders, lengths or names sway it?
    Audit(AuditArgs),
    /// Decide case by case as a person: labels for scorecards and for measuring judges.
    Review(ReviewArgs),
    /// Measure a judge against people: agreement, biases, corrected pass rates, limits for CI.
    Calibrate(CalibrateArgs),
    /// Measure how well raters agree with each other.
    Agreement(AgreementArgs),
    /// Measure how noisy repeated scores are, and what repeating brings.
    Repeats(RepeatsArgs),
    /// Compare runs case by case: better, worse, equivalent, or too few cases to tell.
    Compare(CompareArgs),
    /// Let a judge compare the answers of two or more runs two at a time, in both orders, and rank the systems.
    Pairwise(Box<PairwiseArgs>),
    /// Show runs in a row, with error bars, and where the way of measuring changed.
    Trend(TrendArgs),
    /// Say how many cases, repeats or labels are enough.
    Power(PowerArgs),
    /// Turn what other programs recorded into cases.
    Import(ImportArgs),
    /// Look at the reply cache, or make it smaller.
    Cache(CacheArgs),
    /// Print the arithmetic behind a case's score.
    Explain(ExplainArgs),
    /// Serve an editor on stdin and stdout: problems while typing, hints, completion (language server protocol).
    Lsp(LspArgs),
    /// Say which judges are usable here, and what the others lack.
    Doctor(DoctorArgs),
    /// Print the JSON Schema of a kind of file, for editors and other programs.
    Schema(SchemaArgs),
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
    /// Print a man page, or write all of them.
    Man(ManArgs),
}
