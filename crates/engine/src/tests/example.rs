//! The examples of front ends.

use std::sync::{Arc, Mutex};

use crate::ExitStatus;

use crate::tests::support::{Fixture, checked_suite};

#[expect(dead_code, reason = "its main is run by cargo")]
#[path = "../../examples/evaluate.rs"]
mod evaluate;

#[expect(dead_code, reason = "its main is run by cargo")]
#[path = "../../examples/grade.rs"]
mod grade;

#[tokio::test]
async fn the_example_runs_a_suite_and_tells_of_its_cases() {
    let fixture = Fixture::new();
    let suite = fixture.write("suite.yaml", &checked_suite(&[("good", "all right"), ("bad", "all wrong")]));
    let lines = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&lines);

    let tell = move |line| kept.lock().expect("not poisoned").push(line);
    let exit = evaluate::evaluate(vec![suite], fixture.path("run"), tell).await.expect("it runs");

    let mut lines = lines.lock().expect("not poisoned").clone();
    lines.sort();
    assert_eq!(
        (exit, lines),
        (ExitStatus::Failed, vec!["2 cases".into(), "bad: fail".into(), "good: pass".into()])
    );
}

#[tokio::test]
async fn the_example_grades_answers_by_a_criterion() {
    let answers = ["Refunds take 5 days.", "No idea."].map(str::to_owned).to_vec();

    let lines = grade::grade("Says: \"refunds take 5 days\"", answers).await.expect("it grades");

    assert_eq!(lines, ["sample-1: pass", "sample-2: fail"]);
}
