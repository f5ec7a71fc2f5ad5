//! `assize audit probes`.

use std::fmt::Write as _;

use assize_audit::injection::probes;
use assize_engine::Exit;

use crate::args::ProbesArgs;
use crate::context::Context;
use crate::output;

pub(super) fn execute(args: &ProbesArgs, _: &Context) -> Exit {
    let probes = probes();
    if args.json {
        output::print_json(&serde_json::json!(probes));
        return Exit::Passed;
    }
    let mut text = String::new();
    for probe in &probes {
        let _ = writeln!(text, "{} ({}, {})", probe.name, probe.class, probe.place.name());
        let _ = writeln!(text, "    {}", probe.reference);
    }
    output::print(&text);
    Exit::Passed
}
