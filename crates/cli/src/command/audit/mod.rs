//! `assize audit`: one file per audit, and what they share.

mod injection;
mod probes;
mod show;

use crate::args::{AuditArgs, AuditCommand};
use crate::context::Context;
use crate::exit::Exit;

pub(crate) fn execute(args: &AuditArgs, context: &Context) -> Result<Exit, String> {
    match &args.command {
        AuditCommand::Injection(args) => injection::execute(args, context),
        AuditCommand::Probes(args) => Ok(probes::execute(args, context)),
        AuditCommand::Show(args) => show::execute(args, context),
    }
}
