//! Long runs: `cargo run --release -p assize-fuzz -- TARGET [--inputs N] [--seconds N] [--seed N] [--input N]
//! [--learn 1]`. To read one kept input again: `-- TARGET --seed N --input N --file PATH`.

#![expect(clippy::print_stdout, reason = "a tool for developers: its report goes to the terminal")]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use assize_fuzz::{FuzzRun, FuzzSummary, FuzzTarget, fresh_seed};

const USAGE: &str = "usage: assize-fuzz yaml|json|suite|reply|run|lsp|request|adapter|records [--inputs N] [--seconds N] \
     [--seed N] [--input N] [--learn 0|1] [--file PATH]";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some((run, file)) = parse(&words) else {
        println!("{USAGE}");
        return ExitCode::FAILURE;
    };

    if let Some(path) = file {
        return match std::fs::read(&path) {
            Ok(input) => {
                run.read_again(run.first, &input);
                println!("{}: {} was read", run.target.name(), path.display());
                ExitCode::SUCCESS
            }
            Err(error) => {
                println!("{}: {error}", path.display());
                ExitCode::FAILURE
            }
        };
    }

    println!("{}: seed {}", run.target.name(), run.seed);
    let mut reported = 0;
    let report = |so_far: &FuzzSummary| {
        for failure in so_far.failures.iter().skip(reported) {
            let kept = keep(&run, failure.number, &failure.input);
            println!("input {}: {}; {kept}", failure.number, failure.cause);
        }
        reported = so_far.failures.len();
        print(&run, so_far);
    };

    let summary = run.execute(report, move |number, input| end_stuck(&run, number, input));
    if summary.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn print(run: &FuzzRun, summary: &FuzzSummary) {
    let (slowest, time) = summary.slowest;
    println!(
        "{}: {} inputs, {} failures; {} became seeds; the slowest, number {slowest}, took {} ms",
        run.target.name(),
        summary.inputs,
        summary.failures.len(),
        summary.learnt,
        time.as_millis()
    );
}

/// Parses the command line: a run, and a file to read instead of made inputs.
fn parse(words: &[String]) -> Option<(FuzzRun, Option<PathBuf>)> {
    let (name, flags) = words.split_first()?;
    let target = FuzzTarget::ALL.into_iter().find(|target| target.name() == name)?;
    let mut run = FuzzRun::new(target, fresh_seed());
    let mut file = None;
    for pair in flags.chunks(2) {
        let [flag, value] = pair else { return None };
        if flag == "--file" {
            file = Some(PathBuf::from(value));
            continue;
        }

        let value: u64 = value.parse().ok()?;
        match flag.as_str() {
            "--inputs" => run.inputs = value,
            "--seconds" => run.time = Duration::from_secs(value),
            "--seed" => run.seed = value,
            "--input" => (run.first, run.inputs) = (value, 1),
            "--learn" => run.learns = value != 0,
            _ => return None,
        }
    }

    Some((run, file))
}

/// Writes an input to a file and returns a line that says where.
fn keep(run: &FuzzRun, number: u64, input: &[u8]) -> String {
    let folder = PathBuf::from("target/fuzz");
    let path = folder.join(format!("{}-{}-{number}", run.target.name(), run.seed));
    match std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, input)) {
        Ok(()) => format!("kept as {}", path.display()),
        Err(error) => format!("can't be kept: {error}"),
    }
}

#[expect(clippy::exit, reason = "an input that takes too long can't be ended")]
fn end_stuck(run: &FuzzRun, number: u64, input: &[u8]) {
    println!("input {number} takes too long; {}", keep(run, number, input));
    std::process::exit(2);
}
