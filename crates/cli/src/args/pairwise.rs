//! `assize compare pairwise`.

use std::path::PathBuf;

use assize_evalfile::AnswerColumns;
use assize_stats::ranking::TieRule;
use assize_table::TextEncoding;

use super::RunArgs;
use super::headings::{ADVANCED, JUDGE, LIMITS, OUTPUT, SELECTION};
use super::values::{OptionValues, one_of};

/// Values of `--rank-ties`.
const TIE_RULES: &OptionValues<TieRule> = &[
    ("half", TieRule::HalfWin, "Half a win for either side"),
    ("davidson", TieRule::Davidson, "An outcome of its own (Davidson's model)"),
];

/// Compare the answers of systems two at a time.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A system is a stored run (its folder, its id, `last`), one target of it (RUN@TARGET), or a file of \
    answers (as for `assize grade`). NAME=RUN names it. A run with several targets is \
    several systems.\n\n\
    The judge sees the answers of each case twice, in both orders: win, loss, tie, or inconsistent if \
    the orders disagree. Given a stored run of this command, its metrics are printed again.\n\n\
    Examples:\n  \
    assize compare pairwise runs/base runs/cand --judge openai:gpt-6-luna\n  \
    assize compare pairwise last~1 last --criteria 'Is friendlier' \\\n      \
    --criteria 'Is shorter' --dry-run\n  \
    assize compare pairwise base=a.jsonl new=b.jsonl third=c.jsonl \\\n      \
    --judge openai:gpt-6-luna --markdown\n  \
    assize compare pairwise runs/pairs --json"
)]
pub(crate) struct PairwiseArgs {
    /// The systems, two or more; or one stored run of this command.
    #[arg(required = true, value_name = "SYSTEM")]
    pub(crate) systems: Vec<String>,
    /// Eval file of the cases [default: the runs'].
    ///
    /// Or a folder of eval files.
    #[arg(long, value_name = "PATH", help_heading = SELECTION)]
    pub(crate) suite: Vec<PathBuf>,
    /// Column names of files of answers; repeatable.
    ///
    /// Such as `answer=response,question=user_prompt`; `metadata=*` keeps all other columns from the judge.
    #[arg(long, alias = "column", value_parser = AnswerColumns::parse, value_name = "NAME=COLUMN", help_heading = SELECTION)]
    pub(crate) columns: Vec<AnswerColumns>,
    /// Encoding of a CSV or TSV table, such as `gbk` or `windows-1252`.
    ///
    /// Without it, tables are UTF-8, or UTF-16, which is recognised.
    #[arg(long, value_parser = TextEncoding::parse, value_name = "NAME", help_heading = SELECTION, hide_short_help = true)]
    pub(crate) encoding: Option<TextEncoding>,
    /// Compare only cases whose id matches; repeatable.
    ///
    /// A pattern, such as `refund-*`.
    #[arg(long, alias = "test-id", value_name = "GLOB", help_heading = SELECTION)]
    pub(crate) filter: Vec<String>,
    /// Compare only cases with this tag; repeatable.
    ///
    /// Cases also have the tags of their suite.
    #[arg(long, value_name = "TAG", help_heading = SELECTION)]
    pub(crate) tag: Vec<String>,
    /// Read targets from this file.
    #[arg(long, value_name = "FILE", help_heading = SELECTION)]
    pub(crate) targets: Option<PathBuf>,
    /// Prefer answers by this criterion; repeatable.
    ///
    /// Without it, the question and the expectations decide.
    #[arg(long, value_name = "TEXT", help_heading = JUDGE)]
    pub(crate) criteria: Vec<String>,
    /// Value of ties in the ranking.
    ///
    /// Also of pairs whose two orders contradict each other.
    #[arg(long, value_parser = one_of(TIE_RULES), default_value = "half", value_name = "RULE", help_heading = JUDGE)]
    pub(crate) rank_ties: TieRule,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Estimate calls and cost; send nothing.
    #[arg(long, help_heading = LIMITS)]
    pub(crate) dry_run: bool,
    /// Print Markdown instead of tables.
    #[arg(long, conflicts_with = "json", help_heading = OUTPUT)]
    pub(crate) markdown: bool,
    /// Also let files read from this folder; repeatable.
    #[arg(long, value_name = "DIR", help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) root: Vec<PathBuf>,
}
