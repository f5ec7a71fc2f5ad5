//! A short run of each target, with a fresh seed each time.

use std::time::Duration;

use assize_fuzz::{FuzzRun, FuzzTarget, fresh_seed};

/// Number of inputs for each target.
const INPUTS: u64 = 1_500;

#[expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a failure must be repeatable from the test's output"
)]
fn run_briefly(target: FuzzTarget) {
    let seed = std::env::var("ASSIZE_FUZZ_SEED")
        .ok()
        .map_or_else(fresh_seed, |seed| seed.parse().expect("a number"));
    let run = FuzzRun { inputs: INPUTS, time: Duration::from_mins(1), ..FuzzRun::new(target, seed) };
    let again = format!("cargo run -p assize-fuzz -- {} --seed {seed} --input", target.name());
    println!("ASSIZE_FUZZ_SEED={seed}");

    let shown = again.clone();
    let summary = run.execute(|_| {}, move |number, _| panic!("too slow: {shown} {number}"));
    for failure in &summary.failures {
        println!("{again} {}: {}", failure.number, failure.cause);
    }

    assert!(summary.failures.is_empty(), "{} inputs failed", summary.failures.len());
    assert!(summary.inputs > 0);
}

#[test]
fn bodies_of_frameworks() {
    run_briefly(FuzzTarget::Adapter);
}

#[test]
fn yaml_trees() {
    run_briefly(FuzzTarget::Yaml);
}

#[test]
fn json_trees() {
    run_briefly(FuzzTarget::Json);
}

#[test]
fn eval_files() {
    run_briefly(FuzzTarget::Suite);
}

#[test]
fn judge_replies() {
    run_briefly(FuzzTarget::Reply);
}

#[test]
fn run_folders() {
    run_briefly(FuzzTarget::RunFolder);
}

#[test]
fn language_server() {
    run_briefly(FuzzTarget::LanguageServer);
}

#[test]
fn an_input_follows_from_seed_and_number() {
    let run = FuzzRun::new(FuzzTarget::Yaml, 7);
    assert_eq!(run.input(41), run.input(41));
    assert_ne!(run.input(41), run.input(42));
}

#[test]
fn inputs_with_a_new_outcome_become_seeds() {
    let run = FuzzRun { inputs: 500, learns: true, ..FuzzRun::new(FuzzTarget::Yaml, 7) };
    let mut reports = 0;
    let summary = run.execute(|_| reports += 1, |number, _| panic!("too slow: {number}"));
    assert_eq!((summary.inputs, summary.failures.len()), (500, 0));
    assert!(summary.learnt > 5 && summary.learnt < 500, "{}", summary.learnt);
    assert!(reports > 0);
}

#[test]
fn requests_to_the_grading_service() {
    run_briefly(FuzzTarget::Request);
}

#[test]
fn records_of_other_tools() {
    run_briefly(FuzzTarget::Records);
}
