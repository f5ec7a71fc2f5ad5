//! `assize grade`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use assize_engine::{GradeOptions, RunOptions};
use assize_evalfile::AnswerColumns;
use assize_table::TextEncoding;

use super::case_selection::CaseSelectionArgs;
use super::gate::GateArgs;
use super::headings::{LIMITS, SELECTION};
use super::judge_batch::JudgeBatchArgs;
use super::{ExchangeArgs, RunArgs, ShardArgs};
use crate::failure::CommandFailure;

/// Grade answers that are already there.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The answers are JSON lines, or a table (CSV, TSV, XLSX, Parquet) whose first row names the columns; \
    `FILE.xlsx#SHEET` is another sheet than the first:\n\n  \
    answer            or output, response, completion, prediction, model_output\n  \
    question          or input, prompt, query; shown to the judge\n  \
    reference         or expected_output, reference_answer; shown to the judge\n  \
    expected_outcome  or criteria; shown to the judge\n  \
    id, tags, file_changes, cluster, metadata\n\n\
    Logs of Inspect, results of promptfoo, logs of OpenAI's evals and data sets of DeepEval are read as they \
    are, and recognised by their content.\n\n\
    Any other column is an error, so that nothing the judge needs is lost: name it with `--columns`.\n\n\
    A criterion written as a plain string is required: an answer that does not meet it fails, whatever \
    its score. Write `{outcome: ..., required: false}` for one that only counts towards the score.\n\n\
    Examples:\n  \
    assize grade rubrics/support.yaml --answers answers.csv\n  \
    assize grade rubrics/support.yaml --answers a.csv --columns answer=gpt_4o\n  \
    assize grade rubrics/support.yaml --answers answers.jsonl \\\n      \
    --judge openai:gpt-6-luna --dry-run\n  \
    assize grade rubrics/support.yaml --answers answers.jsonl \\\n      \
    --judge openai:gpt-6-luna --judge-batch"
)]
pub(crate) struct GradeArgs {
    /// Rubric: a YAML file with a list of criteria.
    #[arg(value_name = "RUBRIC")]
    pub(crate) rubric: PathBuf,
    /// Answers: JSONL, a table, or logs of another tool.
    ///
    /// `-` reads standard input. Tables are CSV, TSV, XLSX and Parquet.
    #[arg(long, required = true, value_name = "FILE", help_heading = SELECTION)]
    pub(crate) answers: PathBuf,
    /// Column names, such as `answer=response`.
    ///
    /// Several with commas between them, or with the option repeated. `metadata=*` keeps all other columns from the judge.
    #[arg(long, alias = "column", value_parser = AnswerColumns::parse, value_name = "NAME=COLUMN", help_heading = SELECTION)]
    pub(crate) columns: Vec<AnswerColumns>,
    /// Encoding of a CSV or TSV table, such as `gbk` or `windows-1252`.
    ///
    /// Without it, tables are UTF-8, or UTF-16, which is recognised.
    #[arg(long, value_parser = TextEncoding::parse, value_name = "NAME", help_heading = SELECTION, hide_short_help = true)]
    pub(crate) encoding: Option<TextEncoding>,
    #[command(flatten)]
    pub(crate) selection: CaseSelectionArgs,
    /// Grade only the first N of these answers.
    #[arg(long, value_name = "N", help_heading = SELECTION, hide_short_help = true)]
    pub(crate) limit: Option<NonZeroUsize>,
    #[command(flatten)]
    pub(crate) shard: ShardArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) gate: GateArgs,
    /// Estimate calls and cost; send nothing.
    #[arg(long, help_heading = LIMITS)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) batch: JudgeBatchArgs,
    #[command(flatten)]
    pub(crate) exchange: ExchangeArgs,
}

/// The columns of all `--columns`; `None` without one.
pub(crate) fn answer_columns(lists: &[AnswerColumns]) -> Result<Option<AnswerColumns>, CommandFailure> {
    let merged =
        AnswerColumns::merge(lists.iter().cloned()).map_err(|error| format!("`--columns`: {error}"))?;

    Ok((!lists.is_empty()).then_some(merged))
}

impl GradeArgs {
    /// Typed options of these flags.
    pub(crate) fn options(&self) -> Result<GradeOptions, CommandFailure> {
        Ok(GradeOptions {
            rubric: self.rubric.clone(),
            answers: self.answers.clone(),
            answers_name: None,
            columns: answer_columns(&self.columns)?.unwrap_or_default(),
            encoding: self.encoding,
            filter: self.selection.filter.clone(),
            tags: self.selection.tag.clone(),
            rerun_failed: self.selection.rerun_failed.clone(),
            limit: self.limit,
            dry_run: self.dry_run,
            run: RunOptions {
                shard: self.shard.shard,
                exchange: self.exchange.options(),
                judge_batch: self.batch.options(),
                min_pass_rate: self.gate.min_pass_rate,
                ..self.run.options()
            },
        })
    }
}
