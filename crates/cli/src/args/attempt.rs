//! `assize try`.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

use assize_engine::{AttemptRequest, RunOptions};
use assize_evalfile::GivenAnswer;
use assize_rubric::{TruncationMode, UnitInterval};

use super::eval::programs;
use super::headings::{ADVANCED, JUDGE, LIMITS, OUTPUT, SELECTION};
use super::judges::JudgeArgs;
use super::spending::SpendingArgs;
use super::values::{duration, truncate, unit};

/// Judge one answer by one criterion, or by a few.
#[derive(Debug, clap::Args)]
#[command(after_help = "The replies are cached, so a criterion that was tried before costs nothing.\n\n\
    Exit codes: 0 all criteria met, 1 at least one unmet, 2 invalid input, 3 ungraded.\n\n\
    Examples:\n  \
    assize try 'Names the refund deadline of `30 days`' \\\n      \
    --answer 'You have 30 days to return it.'\n  \
    assize try 'Apologizes' --answer-file reply.txt \\\n      \
    --question 'Where is my parcel?' --judge openai:gpt-6-luna\n  \
    assize try 'Is polite' --range '0-4: rude or curt' --range '5-10: friendly' \\\n      \
    --answer-file reply.txt\n  \
    assize try --rubric rubric.yaml --answer-file reply.txt --json\n  \
    assize try --watch evals/support.eval.yaml --case refund")]
pub(crate) struct TryArgs {
    /// Criterion the answer must meet, in a sentence; several are judged one by one.
    #[arg(required_unless_present_any = ["rubric", "watch"], conflicts_with_all = ["rubric", "watch"], value_name = "CRITERION")]
    pub(crate) criteria: Vec<String>,
    /// The answer [default: the case's, else stdin].
    #[arg(long, value_name = "TEXT", conflicts_with = "answer_file", help_heading = SELECTION)]
    pub(crate) answer: Option<String>,
    /// File with the answer; `-` for standard input.
    #[arg(long, value_name = "FILE", help_heading = SELECTION)]
    pub(crate) answer_file: Option<PathBuf>,
    /// Question that the answer replies to.
    #[arg(long, value_name = "TEXT", help_heading = SELECTION)]
    pub(crate) question: Option<String>,
    /// Example of a good answer, for the judge.
    #[arg(long, value_name = "TEXT", help_heading = SELECTION)]
    pub(crate) reference: Option<String>,
    /// Description of a good answer, for the judge.
    #[arg(long, value_name = "TEXT", help_heading = SELECTION)]
    pub(crate) expected_outcome: Option<String>,
    /// Score range, such as `5-10: friendly`.
    ///
    /// Repeat it to cover 0 to 10.
    #[arg(long, value_name = "RANGE", requires = "criteria", help_heading = SELECTION)]
    pub(crate) range: Vec<String>,
    /// Judge by this rubric file.
    ///
    /// With `--case`, by an eval file.
    #[arg(long, value_name = "FILE", conflicts_with = "watch", help_heading = SELECTION)]
    pub(crate) rubric: Option<PathBuf>,
    /// Rubric, question and answer of this case.
    ///
    /// A case of the eval file that `--rubric` or `--watch` names.
    #[arg(long, value_name = "ID", conflicts_with = "criteria", help_heading = SELECTION)]
    pub(crate) case: Option<String>,
    /// Judge by this rubric file, again on every save.
    ///
    /// Runs until interrupted. Only criteria that changed are judged and printed.
    #[arg(long, value_name = "FILE", help_heading = SELECTION)]
    pub(crate) watch: Option<PathBuf>,
    /// Read targets from this file.
    #[arg(long, value_name = "FILE", help_heading = SELECTION, hide_short_help = true)]
    pub(crate) targets: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) judges: JudgeArgs,
    /// Pass threshold, 0 to 1.
    #[arg(long, value_parser = unit, value_name = "SCORE", help_heading = JUDGE)]
    pub(crate) threshold: Option<UnitInterval>,
    /// Time limit per model request, such as `90s` [default: 3m].
    #[arg(long, value_parser = duration, value_name = "TIME", help_heading = LIMITS, hide_short_help = true)]
    pub(crate) request_timeout: Option<Duration>,
    #[command(flatten)]
    pub(crate) spending: SpendingArgs,
    /// Print one JSON object; with `--watch` a line per criterion.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
    /// No notices; warnings and errors remain.
    #[arg(long, short = 'q', help_heading = OUTPUT)]
    pub(crate) quiet: bool,
    /// Also let files read from this folder; repeatable.
    #[arg(long, value_name = "DIR", help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) root: Vec<PathBuf>,
    /// Allow the graders of files to run programs, with your permissions.
    #[arg(long, help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) allow_code: bool,
    /// Assume that models have a context of N tokens.
    #[arg(long, value_name = "N", help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) context_tokens: Option<NonZeroU64>,
    /// Cut material too long for a judge: `head`, `tail`, `middle`, `chunk` or `never`.
    #[arg(long, value_parser = truncate, value_name = "MODE", help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) truncate: Option<TruncationMode>,
}

impl TryArgs {
    /// Typed options of judging.
    pub(crate) fn options(&self) -> RunOptions {
        RunOptions {
            request_timeout: self.request_timeout,
            spending: self.spending.options(),
            context_tokens: self.context_tokens,
            truncate: self.truncate,
            threshold: self.threshold,
            programs: programs(self.allow_code),
            ..self.judges.options()
        }
    }

    /// Request for an attempt.
    pub(crate) fn request(&self) -> AttemptRequest {
        AttemptRequest {
            criteria: self.criteria.clone(),
            ranges: self.range.clone(),
            file: self.watch.clone().or_else(|| self.rubric.clone()),
            case: self.case.clone(),
            answer: self.answer.clone(),
            answer_file: self.answer_file.clone(),
            about: GivenAnswer {
                text: String::new(),
                question: self.question.clone(),
                reference: self.reference.clone(),
                expected_outcome: self.expected_outcome.clone(),
            },
        }
    }
}
