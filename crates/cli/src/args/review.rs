//! `assize review`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use assize_review::{ReviewOptions, ReviewOrder};
use assize_rubric::LabelSplit;

use super::ServerArgs;
use super::values::{LABEL_SPLITS, one_of};

/// Options of `assize review`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Keys: p pass, f fail, n not applicable, u unsure, v a score, s severity, e note, x skip, z undo, q \
    leave, ? help. The judge's decision is shown after yours.\n\n\
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
    /// A run (its folder, its id, or `last`), or the folder of a scorecard.
    #[arg(value_name = "RUN|DIR")]
    pub(crate) what: String,
    /// Name of the reviewer, recorded in every label. The login name unless given. With --browser it may be repeated: each
    /// reviewer gets an address.
    #[arg(long, value_name = "NAME")]
    pub(crate) who: Vec<String>,
    /// Folder of the labels, one file a reviewer. `labels` beside the scorecard or eval file unless given.
    #[arg(long, value_name = "DIR")]
    pub(crate) labels: Option<PathBuf>,
    /// `queue` (what waits for a person), `random`, `random:SEED` or `uncertain-first` (both everything); `stratified`
    /// or `active`, with `:SEED` (`--limit` items, drawn with probabilities that labels record).
    #[arg(long, default_value = "queue", value_name = "ORDER")]
    pub(crate) order: ReviewOrder,
    /// Maximum number of items.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Only items of cases whose id matches this pattern; repeatable.
    #[arg(long, value_name = "GLOB")]
    pub(crate) filter: Vec<String>,
    /// Only items of this criterion or benchmark; repeatable.
    #[arg(long, value_name = "ID")]
    pub(crate) criterion: Vec<String>,
    /// Ask about an item until N reviewers have decided it, each of them once. The `raters` of the benchmark
    /// unless given, else 1.
    #[arg(long, value_name = "N")]
    pub(crate) raters: Option<NonZeroUsize>,
    /// Decide what reviewers of a scorecard differ on, in their place: only such items, with what they said.
    #[arg(long, conflicts_with_all = ["traces", "raters", "agreement"])]
    pub(crate) adjudicate: bool,
    /// Name the first failure of each case of a scorecard instead of deciding benchmark by benchmark.
    #[arg(long)]
    pub(crate) traces: bool,
    /// Show again what you have decided before.
    #[arg(long)]
    pub(crate) again: bool,
    /// Split to record in the labels: the use they may be put to.
    #[arg(long, value_parser = one_of(LABEL_SPLITS), value_name = "PART")]
    pub(crate) split: Option<LabelSplit>,
    /// Read the decisions from this file: one a line, a file of labels, or a table (CSV, TSV) with `case`,
    /// `criterion` and `label`.
    #[arg(long, value_name = "FILE", conflicts_with = "plain")]
    pub(crate) decisions: Option<PathBuf>,
    /// Write the items as a table (CSV) for a spreadsheet, to be filled in and read with --decisions.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["decisions", "plain", "browser", "agreement"])]
    pub(crate) export: Option<PathBuf>,
    /// Lines of text instead of a screen, for screen readers.
    #[arg(long)]
    pub(crate) plain: bool,
    /// Review in a browser: print an address for each reviewer, and serve it until Ctrl-C.
    #[arg(long, conflicts_with_all = ["decisions", "plain", "again"])]
    pub(crate) browser: bool,
    /// Decide nothing; print how far the reviewers agree.
    #[arg(long, conflicts_with_all = ["decisions", "plain", "browser"])]
    pub(crate) agreement: bool,
    /// Print the agreement as one JSON object.
    #[arg(long, requires = "agreement")]
    pub(crate) json: bool,
    /// Folder that the files may read from, in addition to their own repository; repeatable.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

impl ReviewArgs {
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
