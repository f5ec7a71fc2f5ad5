//! `assize import`.

use std::path::PathBuf;

use clap::Subcommand;

/// Turn what other programs recorded into cases.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    #[command(subcommand)]
    pub(crate) what: ImportCommand,
}

/// Sources to import.
#[derive(Debug, Subcommand)]
pub(crate) enum ImportCommand {
    /// Turn the session logs of agents into cases with their answers.
    Transcript(TranscriptArgs),
}

/// Turn the session logs of agents into cases with their answers.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "One line of JSON for each session: `id`, `input`, and `output` with all messages and tool calls.\n\
    The lines are cases (`tests: cases.jsonl`) and answers (`assize grade --answers cases.jsonl`) alike.\n\
    Kinds of records that are not known are left out and counted.\n\n\
    Examples:\n  \
    assize import transcript session.jsonl -o cases.jsonl\n  \
    assize import transcript logs/*.jsonl --format codex > cases.jsonl\n  \
    assize import transcript spans.json --format otel --json -o cases.jsonl"
)]
pub(crate) struct TranscriptArgs {
    /// Logs; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Format of the logs: claude-code, codex, copilot, gemini, opencode, pi, otel, or auto.
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    pub(crate) format: String,
    /// File to write; standard output unless given.
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the file if there is one.
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Import what can be read although some lines can't; exits with 3 then.
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Print what was read as JSON.
    #[arg(long, requires = "out")]
    pub(crate) json: bool,
}
