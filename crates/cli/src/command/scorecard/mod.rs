//! `assize scorecard`.

mod compare;
mod list;
mod load;
mod node;
mod run;
mod score;
mod show;
mod trend;

use assize_engine::ExitStatus;

use crate::args::{ScorecardArgs, ScorecardCommand};
use crate::context::CliContext;
use crate::failure::CommandFailure;

pub(super) use load::load_valid;
pub(super) use node::explain_node;
pub(super) use run::{CardOutput, print_run};

pub(crate) fn execute(args: &ScorecardArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    match &args.command {
        ScorecardCommand::List(args) => list::list(args, context),
        ScorecardCommand::Run(args) => run::run(args, context),
        ScorecardCommand::Score(args) => score::score(args, context),
        ScorecardCommand::Compare(args) => compare::compare(args, context),
        ScorecardCommand::Trend(args) => trend::trend(args, context),
    }
}
