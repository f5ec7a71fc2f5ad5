//! Development tasks of this repository, as one program: `cargo xtask NAME`.

#![expect(clippy::print_stdout, reason = "a tool for developers: its report goes to the terminal")]

mod check;
#[cfg(test)]
mod documented_files;
mod generate;
mod layers;
mod metadata;
mod package_files;
mod python;
mod repo_lints;
mod report_readers;
mod shell;
mod static_program;
mod tools;
mod wheel;
mod words;
#[cfg(test)]
mod worked_example;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask NAME

  check               everything that must hold before a change is merged
  layers              which crate may use which
  lints               file length, leftover markers, machine paths, links and paths in pages, unused dependencies
  words [--list]      how types, functions and comments are worded, held to limits
  generate [--check]  generated pages, the README's picture and schemas, or whether they are current
  package-files       completion scripts and man pages for a release, into target/package
  python [PROFILE]    the Python library, built and tested; profile `dev` unless given
  static-program      what only static programs have: compiled-in certificates, and the code that uses them
  report-readers      reports, read with the programs and schemas of other tools
  wheel [PROFILE]     the wheel for Python, built and tried out; profile `release` unless given";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match args.as_slice() {
        ["check"] => check::run(),
        ["layers"] => layers::run(),
        ["lints"] => repo_lints::run(),
        ["words"] => words::run(false),
        ["words", "--list"] => words::run(true),
        ["generate"] => generate::run(generate::Mode::Write, generate::Build::Alone),
        ["generate", "--check"] => generate::run(generate::Mode::Check, generate::Build::Alone),
        ["package-files"] => package_files::run(),
        ["python"] => report_python(python::run("dev")),
        ["python", profile] => report_python(python::run(profile)),
        ["report-readers"] => report_readers::run().map(|outcome| match outcome {
            Err(why) => println!("SKIPPED: reports: {why}"),
            Ok(()) => println!("reports: other tools read them"),
        }),
        ["static-program"] => static_program::run(),
        ["wheel"] => report_wheel(wheel::run("release")),
        ["wheel", profile] => report_wheel(wheel::run(profile)),
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

fn report_python(outcome: Result<python::PythonOutcome, String>) -> Result<(), String> {
    match outcome? {
        python::PythonOutcome::Skipped(why) => println!("SKIPPED: python: {why}"),
        python::PythonOutcome::Works => println!("python: the library works"),
    }

    Ok(())
}

fn report_wheel(outcome: Result<wheel::WheelOutcome, String>) -> Result<(), String> {
    match outcome? {
        wheel::WheelOutcome::Skipped(why) => println!("SKIPPED: wheel: {why}"),
        wheel::WheelOutcome::Works(path, skipped) => {
            println!("wheel: {} works", path.display());
            for why in skipped {
                println!("SKIPPED: wheel: {why}");
            }
        }
    }

    Ok(())
}
