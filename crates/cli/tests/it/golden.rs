//! The output of `assize validate` in each format, and its exit code. Every folder under `fixtures/validate` is
//! a working folder whose file `args` has the arguments, one per line.

use std::fs;

use assize_testkit::cli::CliTest;
use assize_testkit::filter::OutputFilter;
use assize_testkit::golden;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/validate");

#[test]
fn validate_prints_problems_in_every_form() {
    golden::run(FIXTURES, "txt", |case| {
        let mut cli = CliTest::new(env!("CARGO_BIN_EXE_assize"));
        cli.copy_folder(&case.input, "");
        fs::remove_file(cli.path("args")).expect("it was copied");
        let args = fs::read_to_string(case.input.join("args")).expect("arguments");
        let args: Vec<&str> = args.lines().collect();
        cli.filter(OutputFilter::text(
            format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION")),
            "\"version\": \"[VERSION]\"",
        ));
        cli.snapshot(&args)
    });
}
