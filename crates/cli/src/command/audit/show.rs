//! `assize audit show`.

use super::injection::{COMMAND, conclusion, print, report};
use super::probing::{self, Kind};
use crate::args::ShowAuditArgs;
use crate::command::runs;
use crate::context::Context;
use crate::exit::{Ending, Exit};

pub(super) fn execute(args: &ShowAuditArgs, context: &Context) -> Result<Exit, String> {
    let folder = runs::find(&args.run, context)?;
    let mut info = folder.info().map_err(|error| error.to_string())?;
    if let Some(kind) = Kind::of(&info) {
        let report = probing::report(kind, &folder, &info)?;
        let limit = args.max_flip_rate.map(assize_rubric::Unit::get);
        let (exit, reason) = probing::conclusion(&report, limit, Ending::default());
        if let Some(summary) = &mut info.summary {
            summary.exit_code = exit.code();
            summary.exit_reason = reason;
        }
        probing::print(&report, &info, &folder, args.json, context);
        return Ok(exit);
    }
    if info.command != COMMAND {
        return Err(format!("`{}` is a run of `{}` and no audit", folder.path().display(), info.command));
    }
    let report = report(&folder)?;
    let (exit, reason) = conclusion(&report, args.max_flip_rate, Ending::default());
    if let Some(summary) = &mut info.summary {
        summary.exit_code = exit.code();
        summary.exit_reason = reason;
    }
    print(&report, &info, &folder, args.json, context);
    Ok(exit)
}
