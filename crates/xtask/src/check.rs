//! Everything that must hold before a change is merged, step by step.

use std::io::IsTerminal as _;
use std::time::Instant;

use crate::{corpus, data, generate, house, layers, shell};

type Step = fn() -> Result<(), String>;

/// Cheap steps first; what the tests build is used again by the generated pages.
const STEPS: &[(&str, Step)] = &[
    ("format", format),
    ("layers", layers::run),
    ("house rules", house::run),
    ("lints", lints),
    ("documentation builds", documentation),
    ("tests", tests),
    ("generated pages are current", generated),
    ("reference figures come out", reference_figures),
    ("the collection of suites runs", collection),
    ("supply chain", supply_chain),
];

/// Runs every step, also after one failed, and fails if any did.
pub(crate) fn run() -> Result<(), String> {
    let begun = Instant::now();
    let mut failed = Vec::new();
    for (index, (name, step)) in STEPS.iter().enumerate() {
        println!("\n==> {}/{} {name}", index + 1, STEPS.len());
        let begun = Instant::now();
        match step() {
            Ok(()) => println!("ok: {name} ({:.1} s)", begun.elapsed().as_secs_f64()),
            Err(message) => {
                println!("{message}\nFAILED: {name}");
                failed.push(*name);
            }
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    if failed.is_empty() {
        println!("\nall {} steps passed ({seconds:.0} s)", STEPS.len());
        return Ok(());
    }
    Err(format!("\n{} of {} steps failed: {} ({seconds:.0} s)", failed.len(), STEPS.len(), failed.join(", ")))
}

fn format() -> Result<(), String> {
    let color = if std::io::stdout().is_terminal() { "always" } else { "never" };
    shell::run(&mut shell::cargo(&["fmt", "--all", "--check", "--", "--color", color]))
        .map_err(|error| format!("{error}; `cargo fmt --all` puts it in order"))
}

fn lints() -> Result<(), String> {
    shell::run(&mut shell::cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--quiet",
        "--",
        "-D",
        "warnings",
    ]))
}

fn documentation() -> Result<(), String> {
    let mut command = shell::cargo(&["doc", "--workspace", "--no-deps", "--quiet"]);
    shell::run(command.env("RUSTDOCFLAGS", "-D warnings"))
}

fn tests() -> Result<(), String> {
    shell::run(&mut shell::cargo(&["test", "--workspace", "--no-fail-fast"]))
}

fn generated() -> Result<(), String> {
    generate::run(generate::Mode::Check, generate::Build::WithTests)
}

fn reference_figures() -> Result<(), String> {
    data::run(generate::Build::WithTests)
}

fn collection() -> Result<(), String> {
    corpus::run(generate::Build::WithTests)
}

/// Licences, sources and unused crates, as far as the tools for it are installed.
fn supply_chain() -> Result<(), String> {
    let tools: [(&str, &[&str]); 2] =
        [("deny", &["deny", "check", "licenses", "bans", "sources"]), ("machete", &["machete"])];
    for (name, arguments) in tools {
        if shell::has_subcommand(name) {
            shell::run(&mut shell::cargo(arguments))?;
        } else {
            println!("skipped: cargo-{name} is not installed");
        }
    }
    Ok(())
}
