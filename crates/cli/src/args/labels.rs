//! Options about people's labels, common to the commands that count them.

use std::path::PathBuf;

use assize_engine::LabelOptions;
use assize_rubric::UnboundLabels;

/// Labels that count in the run of a scorecard.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct LabelArgs {
    /// Also read labels from this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) labels: Option<PathBuf>,
    /// Count labels that do not name the answer they are about.
    #[arg(long, hide_short_help = true)]
    pub(crate) accept_unbound_labels: bool,
}

impl LabelArgs {
    /// Typed options of these flags.
    pub(crate) fn options(&self) -> LabelOptions {
        LabelOptions {
            folder: self.labels.clone(),
            unbound: if self.accept_unbound_labels { UnboundLabels::Accept } else { UnboundLabels::Report },
        }
    }
}
