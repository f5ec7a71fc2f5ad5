//! Runs the checks. Without the folder of data sets and suites, those that need it are ignored and counted as
//! ignored.

use std::process::ExitCode;

fn main() -> ExitCode {
    assize_conformance::main()
}
