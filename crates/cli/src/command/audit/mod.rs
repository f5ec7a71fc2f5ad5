//! `assize audit`: one file per audit, and shared parts.

mod print;
mod probes;
mod run;

use assize_engine::ExitStatus;

use crate::args::{AuditArgs, AuditCommand};
use crate::context::CliContext;
use crate::failure::CommandFailure;

pub(crate) fn execute(args: &AuditArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    match &args.command {
        AuditCommand::Injection(args) => run::injection(args, context),
        AuditCommand::Order(args) => run::order(args, context),
        AuditCommand::Length(args) => run::length(args, context),
        AuditCommand::OwnFamily(args) => run::own_family(args, context),
        AuditCommand::Probes(args) => Ok(probes::execute(args, context)),
        AuditCommand::Show(args) => print::show(args, context),
    }
}
