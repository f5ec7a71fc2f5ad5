//! `assize audit probes`.

use std::fmt::Write as _;

use assize_audit::injection::builtin_probes;
use assize_engine::ExitStatus;

use crate::args::ProbesArgs;
use crate::context::CliContext;
use crate::output;

pub(super) fn execute(args: &ProbesArgs, context: &CliContext) -> ExitStatus {
    let probes = builtin_probes();
    if args.json {
        output::print_json(&serde_json::json!(probes));
        return ExitStatus::Passed;
    }

    let mut text = String::new();
    for probe in &probes {
        let _ = writeln!(text, "{} ({}, {})", probe.name, probe.class, probe.place.name());
        let _ = writeln!(text, "    {}", probe.reference);
    }

    output::print_text(&text, context);
    ExitStatus::Passed
}
