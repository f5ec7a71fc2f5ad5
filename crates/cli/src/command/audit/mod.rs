//! `assize audit`: one file per audit, and shared parts.

mod injection;
mod probes;
mod probing;
mod shared;
mod show;

use assize_engine::ExitStatus;

use crate::args::{AuditArgs, AuditCommand};
use crate::context::CliContext;
use crate::failure::CommandFailure;

pub(crate) fn execute(args: &AuditArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    match &args.command {
        AuditCommand::Injection(args) => injection::execute(args, context),
        AuditCommand::Order(args) => probing::order(args, context),
        AuditCommand::Length(args) => probing::length(args, context),
        AuditCommand::OwnFamily(args) => probing::own_family(args, context),
        AuditCommand::Probes(args) => Ok(probes::execute(args, context)),
        AuditCommand::Show(args) => show::execute(args, context),
    }
}
