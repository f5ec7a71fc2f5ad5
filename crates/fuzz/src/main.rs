//! Long runs: `cargo run --release -p assize-fuzz -- TARGET [--inputs N] [--seconds N] [--seed N] [--input N]`.

#![expect(clippy::print_stdout, reason = "a tool for developers: its report goes to the terminal")]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use assize_fuzz::{FuzzRun, FuzzTarget, fresh_seed};

const USAGE: &str =
    "usage: assize-fuzz yaml|json|suite|reply|run|lsp [--inputs N] [--seconds N] [--seed N] [--input N]";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some(run) = parse(&words) else {
        println!("{USAGE}");
        return ExitCode::FAILURE;
    };

    println!("{}: seed {}", run.target.name(), run.seed);
    let summary = run.execute(move |number| end_stuck(&run, number));
    let (slowest, time) = summary.slowest;
    println!(
        "{}: {} inputs, {} failures; the slowest, number {slowest}, took {} ms",
        run.target.name(),
        summary.inputs,
        summary.failures.len(),
        time.as_millis()
    );

    for failure in &summary.failures {
        println!(
            "input {}: {}; {}",
            failure.number,
            failure.cause,
            keep(&run, failure.number, &failure.input)
        );
    }

    if summary.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn parse(words: &[String]) -> Option<FuzzRun> {
    let (name, flags) = words.split_first()?;
    let target = FuzzTarget::ALL.into_iter().find(|target| target.name() == name)?;
    let mut run = FuzzRun { target, seed: fresh_seed(), first: 0, inputs: u64::MAX, time: Duration::MAX };
    for pair in flags.chunks(2) {
        let [flag, value] = pair else { return None };
        let value: u64 = value.parse().ok()?;
        match flag.as_str() {
            "--inputs" => run.inputs = value,
            "--seconds" => run.time = Duration::from_secs(value),
            "--seed" => run.seed = value,
            "--input" => (run.first, run.inputs) = (value, 1),
            _ => return None,
        }
    }

    Some(run)
}

/// Writes an input to a file; returns a line that says where.
fn keep(run: &FuzzRun, number: u64, input: &[u8]) -> String {
    let folder = PathBuf::from("target/fuzz");
    let path = folder.join(format!("{}-{}-{number}", run.target.name(), run.seed));
    match std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, input)) {
        Ok(()) => format!("kept as {}", path.display()),
        Err(error) => format!("can't be kept: {error}"),
    }
}

#[expect(clippy::exit, reason = "an input that takes too long can't be ended")]
fn end_stuck(run: &FuzzRun, number: u64) {
    println!("input {number} takes too long; {}", keep(run, number, &run.input(number)));
    std::process::exit(2);
}
