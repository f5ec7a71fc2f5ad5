//! `assize review`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use assize_review::{ReviewOptions, ReviewOrder};
use assize_rubric::LabelSplit;
use assize_table::TextEncoding;

use super::ServerArgs;
use super::replace::{NamedReports, ReplaceArgs};
use super::values::{LABEL_SPLITS, one_of};

/// Options of `assize review`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Keys: p pass, f fail, n not applicable, u unsure, v a score, s severity, e note, x skip, z undo, q \
    quit, ? help. The judge's decision is shown after yours.\n\n\
    A label counts only for the answer, case and question it was given for. If one of them changes, the \
    item is shown again.\n\n\
    Without a terminal, or with --plain, each line is a decision: the decision, an optional severity, \
    and an optional note after `--` (`fail high -- the dose is wrong`); or `skip`, `undo`, `quit`; or a \
    JSON object with `case`, `criterion`, `label` and optionally `severity` and `note`. With --traces, a \
    decision is the code of a benchmark, `NONE_OF_THE_ABOVE` (or `none`: a failure without a code) or \
    `NO_FAILURE` (or `clean`).\n\n\
    Examples:\n  \
    assize review runs/rdi --who ann\n  \
    assize review last --who ann --order random:7 --limit 50\n  \
    assize review last --who ann --order stratified:7 --limit 50\n  \
    assize review runs/rdi --who ben --raters 2\n  \
    assize review runs/rdi --who carol --adjudicate\n  \
    assize review runs/rdi --browser --who ann --who ben\n  \
    assize review scorecards/intake --who ann --traces\n  \
    assize review runs/rdi --who ann --decisions decided.txt\n  \
    assize review runs/rdi --who ann --export items.csv\n  \
    assize review runs/rdi --who ann --decisions items.csv\n  \
    assize review runs/rdi --agreement"
)]
pub(crate) struct ReviewArgs {
    /// Run (folder, id or `last`), or folder of a scorecard.
    #[arg(value_name = "RUN|DIR")]
    pub(crate) what: String,
    /// Reviewer's name [default: login name].
    ///
    /// Stored in each label. Repeat it with --browser.
    #[arg(long, value_name = "NAME")]
    pub(crate) who: Vec<String>,
    /// Folder of labels [default: `labels` beside the file].
    ///
    /// Beside the eval file or scorecard.
    #[arg(long, value_name = "DIR")]
    pub(crate) labels: Option<PathBuf>,
    /// Order of items, such as `random`.
    ///
    /// `queue`, `random`, `uncertain-first`, `stratified` or `active`. `queue` shows only what waits for a person, the others everything. `stratified` and `active` draw as many items as
    /// `--limit` says, with probabilities that the labels record. `random`, `stratified` and `active` take a seed, such as `random:7`.
    #[arg(long, default_value = "queue", value_name = "ORDER")]
    pub(crate) order: ReviewOrder,
    /// Review at most N items.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Only cases whose id matches; repeatable.
    ///
    /// A pattern, such as `refund-*`.
    #[arg(long, value_name = "GLOB")]
    pub(crate) filter: Vec<String>,
    /// Only items of this criterion or benchmark; repeatable.
    #[arg(long, value_name = "ID")]
    pub(crate) criterion: Vec<String>,
    /// Collect N labels per item, from different reviewers.
    ///
    /// Default: the benchmark's `raters`, else 1.
    #[arg(long, value_name = "N")]
    pub(crate) raters: Option<NonZeroUsize>,
    /// Settle the items that reviewers disagree on.
    ///
    /// Items of a scorecard, with the labels of the others in view.
    #[arg(long, conflicts_with_all = ["traces", "raters", "agreement"])]
    pub(crate) adjudicate: bool,
    /// Name the first failure of each scorecard case.
    ///
    /// Instead of labelling every benchmark.
    #[arg(long)]
    pub(crate) traces: bool,
    /// Include items that you have already labelled.
    #[arg(long)]
    pub(crate) again: bool,
    /// Mark the labels as part of this split.
    #[arg(long, value_parser = one_of(LABEL_SPLITS), value_name = "PART")]
    pub(crate) split: Option<LabelSplit>,
    /// Read labels from a file instead of asking.
    ///
    /// A label per line, JSONL, CSV, TSV, XLSX or Parquet.
    #[arg(long, value_name = "FILE", conflicts_with = "plain")]
    pub(crate) decisions: Option<PathBuf>,
    /// Encoding of the table of --decisions, such as `gbk` or `windows-1252`.
    ///
    /// Without it, tables are UTF-8, or UTF-16, which is recognised.
    #[arg(long, value_parser = TextEncoding::parse, value_name = "NAME", requires = "decisions", hide_short_help = true)]
    pub(crate) encoding: Option<TextEncoding>,
    /// Write the items as CSV, to fill in.
    ///
    /// --decisions reads it back.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["decisions", "plain", "browser", "agreement"])]
    pub(crate) export: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) replace: ReplaceArgs,
    /// Print plain lines, for screen readers.
    ///
    /// Instead of a full screen.
    #[arg(long)]
    pub(crate) plain: bool,
    /// Review in a browser.
    ///
    /// Prints an address for each reviewer and serves until Ctrl-C.
    #[arg(long, conflicts_with_all = ["decisions", "plain", "again"])]
    pub(crate) browser: bool,
    /// Print how far the reviewers agree, and exit.
    #[arg(long, conflicts_with_all = ["decisions", "plain", "browser"])]
    pub(crate) agreement: bool,
    /// With --agreement: print JSON instead of text.
    #[arg(long, requires = "agreement")]
    pub(crate) json: bool,
    /// Also let files read from this folder; repeatable.
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub(crate) root: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

impl ReviewArgs {
    /// The table to write.
    pub(super) fn reports(&self) -> NamedReports<'_> {
        NamedReports { files: self.export.iter().map(PathBuf::as_path).collect(), force: self.replace.force }
    }

    /// Settings of the review.
    pub(crate) fn options(&self) -> ReviewOptions {
        ReviewOptions {
            order: self.order,
            limit: self.limit,
            filter: self.filter.clone(),
            criteria: self.criterion.clone(),
            raters: self.raters,
            adjudicate: self.adjudicate,
            traces: self.traces,
            split: self.split,
            labels: self.labels.clone(),
            roots: self.root.clone(),
        }
    }
}
