//! Development tasks of this repository, as one program: `cargo xtask NAME`.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool for developers: its report goes to the terminal"
)]

mod cargo_stand_in;
mod check;
#[cfg(test)]
mod documented_files_tests;
mod packages;
mod python;
mod repo_lints;
mod report_readers;
mod rustc_wrapper;
mod site;
mod static_program;
mod step;
mod test_run;
mod tools;
mod wheel;
#[cfg(test)]
mod worked_example_tests;
#[cfg(test)]
mod workflows_tests;

use std::process::ExitCode;

use xtask::{layers, shell};

use crate::step::{StepOutcome, StepResult};

const USAGE: &str = "\
usage: cargo xtask NAME

  test [PROGRAM] [FILTER]
                      all tests, or those of one test program (`cli`'s are `it`, `cluster`, `browser`), or those whose names
                      contain FILTER
  check               everything that must hold before a change is merged
  step NAME           one step of the check, such as `Python library`; an unknown name lists them
  layers              which crate may use which
  lints               leftover markers, machine paths, links and paths in pages, unused dependencies
  generate [--check]  generated pages, the README's picture and schemas, or whether they are current
  package-files       completion scripts and man pages for a release, into target/package-files
  python              the Python library, built and tested
  wheel [PROFILE]     the wheel for Python, built and tried out; profile `release` unless given";

fn main() -> ExitCode {
    if let Some(code) = cargo_stand_in::run().or_else(rustc_wrapper::run) {
        return code;
    }

    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match args.as_slice() {
        ["test"] => test(None, None),
        ["test", program] => test(Some(program), None),
        ["test", program, filter] => test(Some(program), Some(filter)),
        ["check"] => check::run(),
        ["check-steps"] => check::run_steps(),
        ["step", name] => return ExitCode::from(check::run_step(name)),
        ["layers"] => layers::run(),
        ["lints"] => repo_lints::run(),
        ["generate", arguments @ ..] => generate(arguments),
        ["package-files"] => generate(&["package-files"]),
        ["python"] => report(python::run()),
        ["wheel"] => report(wheel::run("release")),
        ["wheel", profile] => report(wheel::run(profile)),
        _ => Err(USAGE.to_owned()),
    };

    shell::exit_code(result)
}

fn test(program: Option<&str>, filter: Option<&str>) -> Result<(), String> {
    test_run::print(&test_run::run(program, filter)?)
}

/// Runs the program that makes pages, which is built for that: it contains the tables of the product.
fn generate(arguments: &[&str]) -> Result<(), String> {
    let mut cargo =
        shell::cargo(&["run", "--quiet", "-p", "xtask", "--features", "generate", "--bin", "generate", "--"]);
    shell::run(cargo.args(arguments))
}

fn report(result: StepResult) -> Result<(), String> {
    match result? {
        StepOutcome::Passed => println!("ok"),
        StepOutcome::Skipped(why) => println!("SKIPPED: {why}"),
    }
    Ok(())
}
