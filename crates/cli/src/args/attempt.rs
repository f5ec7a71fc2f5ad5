//! `assize try`.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

use assize_engine::{AttemptRequest, RunOptions};
use assize_evalfile::GivenAnswer;
use assize_rubric::{JudgingMode, TruncationMode, UnitInterval};

use super::panel::PanelArgs;
use super::spending::SpendingArgs;
use super::values::{duration, judging, truncate, unit};

/// Judge one answer by one criterion, or by a few.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Nothing is kept but the replies in the cache: a criterion that was tried before costs nothing.\n\
    Exit codes: 0 passed (every criterion given here is met), 1 not, 2 invalid, 3 ungraded.\n\n\
    Examples:\n  \
    assize try 'Names the refund deadline of `30 days`' --answer 'You have 30 days to return it.'\n  \
    assize try 'Apologizes' --answer-file reply.txt --question 'Where is my parcel?' --judge openai:gpt-4o-mini\n  \
    assize try 'Is polite' --range '0-4: rude or curt' --range '5-10: friendly' --answer-file reply.txt\n  \
    assize try --rubric rubric.yaml --answer-file reply.txt --json\n  \
    assize try --watch evals/support.eval.yaml --case refund"
)]
pub(crate) struct TryArgs {
    /// Criterion the answer must meet, in a sentence; several are judged one by one.
    #[arg(required_unless_present_any = ["rubric", "watch"], conflicts_with_all = ["rubric", "watch"], value_name = "CRITERION")]
    pub(crate) criteria: Vec<String>,
    /// The answer. Without it or `--answer-file` the answer comes from standard input, or from the case.
    #[arg(long, value_name = "TEXT", conflicts_with = "answer_file")]
    pub(crate) answer: Option<String>,
    /// File with the answer; `-` for standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) answer_file: Option<PathBuf>,
    /// Question the answer replies to.
    #[arg(long, value_name = "TEXT")]
    pub(crate) question: Option<String>,
    /// An example of a good answer, shown to the judge.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reference: Option<String>,
    /// Description of a good answer, in a sentence, shown to the judge.
    #[arg(long, value_name = "TEXT")]
    pub(crate) expected_outcome: Option<String>,
    /// A score range of the criterion, such as `5-10: friendly`; together they cover 0 to 10.
    #[arg(long, value_name = "LOW-HIGH: TEXT", requires = "criteria")]
    pub(crate) range: Vec<String>,
    /// Rubric file to judge by; with `--case` an eval file.
    #[arg(long, value_name = "FILE", conflicts_with = "watch")]
    pub(crate) rubric: Option<PathBuf>,
    /// Case of the eval file whose rubric, question and answer are taken.
    #[arg(long, value_name = "ID", conflicts_with = "criteria")]
    pub(crate) case: Option<String>,
    /// Rubric file to judge by, as with `--rubric`, again whenever it or the answer's file is saved, until interrupted:
    /// only criteria that changed are judged and printed.
    #[arg(long, value_name = "FILE")]
    pub(crate) watch: Option<PathBuf>,
    /// Judge: a model such as `openai:gpt-4o-mini`, the name of a target, or `offline`; given several times, all of them
    /// form a panel.
    #[arg(long, value_name = "JUDGE")]
    pub(crate) judge: Vec<String>,
    #[command(flatten)]
    pub(crate) panel: PanelArgs,
    /// Criteria in one judge call: `per-criterion`, `batched` or `batched:N`.
    #[arg(long, value_parser = judging, value_name = "MODE")]
    pub(crate) judging: Option<JudgingMode>,
    /// File that defines the targets.
    #[arg(long, value_name = "FILE")]
    pub(crate) targets: Option<PathBuf>,
    /// Folder that eval files may read from, beside their own repository; may be given several times.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Vec<PathBuf>,
    /// Time that one request to a model may take, such as `90s`; 3 minutes unless given.
    #[arg(long, value_parser = duration, value_name = "TIME")]
    pub(crate) request_timeout: Option<Duration>,
    #[command(flatten)]
    pub(crate) spending: SpendingArgs,
    /// Tokens that models can read and write in one call, whatever the table of models says.
    #[arg(long, value_name = "N")]
    pub(crate) context_tokens: Option<NonZeroU64>,
    /// Handling of material too long for a judge: `head`, `tail`, `middle`, `chunk` or `never`.
    #[arg(long, value_parser = truncate, value_name = "MODE")]
    pub(crate) truncate: Option<TruncationMode>,
    /// Pass line, 0 to 1.
    #[arg(long, value_parser = unit, value_name = "SCORE")]
    pub(crate) threshold: Option<UnitInterval>,
    /// Print JSON on stdout: one object, and with `--watch` one line for each criterion that was judged.
    #[arg(long)]
    pub(crate) json: bool,
    /// No notices on stderr; problems are still told.
    #[arg(long, short = 'q')]
    pub(crate) quiet: bool,
}

impl TryArgs {
    /// Typed options of judging.
    pub(crate) fn options(&self) -> RunOptions {
        RunOptions {
            judges: self.judge.clone(),
            panel: self.panel.options(),
            judging: self.judging,
            request_timeout: self.request_timeout,
            spending: self.spending.options(),
            context_tokens: self.context_tokens,
            truncate: self.truncate,
            threshold: self.threshold,
            ..RunOptions::default()
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
