//! Chores of this repository, as one program: `cargo xtask NAME`.

#![expect(clippy::print_stdout, reason = "a tool for developers: its report goes to the terminal")]

mod bench;
mod check;
mod corpus;
mod data;
#[cfg(test)]
mod documented_files;
mod generate;
mod house;
mod layers;
mod metadata;
mod shell;
#[cfg(test)]
mod worked_example;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask NAME

  check               everything that must hold before a change is merged
  layers              which crate may use which
  house               file length, leftover markers, machine paths, unused dependencies
  generate [--check]  the generated pages of docs/, or whether they are current
  corpus              every suite of a collection beside the checkout, run with scripted targets and judges
  data                reference figures, computed again from the data they were published with
  bench [PART] [--quick] [--write] [--python=PROGRAM]
                      times and memory of the program as it is given away. PART is one of start, runs, judging,
                      scorecards, statistics; without it, all are measured. --write puts all figures, or those
                      of judging alone, into docs/benchmarks.md.
                      Statistics are compared with scipy, statsmodels and krippendorff where the Python has them";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match args.as_slice() {
        ["check"] => check::run(),
        ["layers"] => layers::run(),
        ["house"] => house::run(),
        ["generate"] => generate::run(generate::Mode::Write, generate::Build::Alone),
        ["generate", "--check"] => generate::run(generate::Mode::Check, generate::Build::Alone),
        ["corpus"] => corpus::run(generate::Build::Alone),
        // What suites of the collection call.
        ["corpus-program", arguments @ ..] => corpus::program::run(arguments),
        ["data"] => data::run(generate::Build::Alone),
        ["bench", flags @ ..] => bench::Wish::of(flags).ok_or_else(|| USAGE.to_owned()).and_then(bench::run),
        // The other processes of `bench`.
        ["bench-mock", latency] => bench::mock::run(latency, None),
        ["bench-mock", latency, record] => bench::mock::run(latency, Some(record)),
        ["bench-load", way, port, file, in_flight] => bench::load::run(way, port, file, in_flight),
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            println!("{message}");
            ExitCode::FAILURE
        }
    }
}
