//! Options about people's labels, common to the commands that count them.

use std::path::PathBuf;

use assize_engine::LabelOptions;
use assize_rubric::{PeopleRule, UnboundLabels};

use super::values::{OptionValues, one_of};

/// Labels that count in the run of a scorecard.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct LabelArgs {
    /// Also read labels from this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) labels: Option<PathBuf>,
    /// Count labels that do not name the answer they are about.
    #[arg(long, hide_short_help = true)]
    pub(crate) accept_unbound_labels: bool,
    /// Who decides if people and judges disagree.
    ///
    /// Where labels of people contradict a judge, the item is disputed, and a gate is incomplete until a named person
    /// adjudicates. With `override`, people decide.
    #[arg(long, value_parser = one_of(PEOPLE_RULES), default_value = "dispute", value_name = "RULE", hide_short_help = true)]
    pub(crate) people: PeopleRule,
}

/// Values of `--people`.
const PEOPLE_RULES: &OptionValues<PeopleRule> = &[
    ("dispute", PeopleRule::Dispute, "A named person who adjudicates"),
    ("override", PeopleRule::Override, "The people, if enough of them agree"),
];

impl LabelArgs {
    /// Typed options of these flags.
    pub(crate) fn options(&self) -> LabelOptions {
        LabelOptions {
            folder: self.labels.clone(),
            unbound: if self.accept_unbound_labels { UnboundLabels::Accept } else { UnboundLabels::Report },
            people: self.people,
        }
    }
}
