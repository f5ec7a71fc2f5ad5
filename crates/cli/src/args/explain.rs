//! `assize explain`.

use super::LabelArgs;

/// Print the arithmetic behind the score of a case, or of a part of a scorecard.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    assize explain\n  \
    assize explain last refund-policy\n  \
    assize explain last A-REF\n  \
    assize explain last --criterion next-step\n  \
    assize explain .assize/runs/20260102-120000-support refund-policy --json")]
pub(crate) struct ExplainArgs {
    /// Run: folder, id, `last` or `last~N`.
    #[arg(default_value = "last", value_name = "RUN")]
    pub(crate) run: String,
    /// Id of the case, or code of a part of a scorecard; without it, lists the cases.
    #[arg(value_name = "CASE")]
    pub(crate) case: Option<String>,
    /// Cases that this criterion counts against.
    ///
    /// Prints each with the reason and the quotes. The criterion is named by its id, or by its grader and id, as in
    /// `support/next-step`.
    #[arg(long, value_name = "ID", conflicts_with = "case")]
    pub(crate) criterion: Option<String>,
    /// Only cases of this suite.
    #[arg(long, value_name = "NAME")]
    pub(crate) suite: Option<String>,
    /// Only answers of this target.
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) labels: LabelArgs,
}
