//! Problems of files and options stop a run before it sends requests, each with its kind.

use crate::{EngineErrorKind, EngineEvent, ExitStatus};

use crate::tests::support::{Fixture, checked_suite, suite};

#[tokio::test]
async fn every_problem_has_its_kind_and_leads_to_the_exit_code_of_invalid_input() {
    let broken_targets = "targets: 3\n";
    let broken_target = "targets:\n  - name: a\n    provider: nobody-has-heard-of-it\n    settings: 3\n";
    for (kind, targets, filter, text, target) in [
        (EngineErrorKind::InvalidFile, "", "*", "tests: 3\n".to_owned(), None),
        (EngineErrorKind::InvalidFile, broken_targets, "*", checked_suite(&[("a", "right")]), None),
        (EngineErrorKind::Unrunnable, broken_target, "*", suite(1, &["yes"], false), Some("a")),
        (EngineErrorKind::Usage, "", "[", checked_suite(&[("a", "right")]), None),
        (EngineErrorKind::Usage, "", "none-*", checked_suite(&[("a", "right")]), None),
        (EngineErrorKind::Unrunnable, "", "*", suite(1, &["yes"], false), None),
        (EngineErrorKind::Unrunnable, "", "*", suite(1, &["yes"], false), Some("nobody")),
    ] {
        let fixture = Fixture::new();
        fixture.write("suite.yaml", &text);
        if !targets.is_empty() {
            fixture.write(".assize/targets.yaml", targets);
        }
        let mut options = fixture.options();
        options.filter = vec![filter.to_owned()];
        options.targets = target.map(str::to_owned).into_iter().collect();

        let error = fixture.run(&options).await.expect_err("a problem");

        assert_eq!((error.kind, error.exit), (kind, ExitStatus::Invalid), "{error}");
        assert!(!fixture.path("run").exists(), "{error}");
    }
}

#[tokio::test]
async fn problems_of_files_are_events() {
    let fixture = Fixture::new();
    fixture.write("suite.yaml", "tests: 3\n");
    let (engine, events) = fixture.engine();

    let outcome = engine.evaluate(crate::EvalMode::default(), &fixture.options()).await;

    assert!(outcome.is_err());
    let events = events.lock().expect("not poisoned").clone();
    assert!(
        matches!(events.as_slice(), [EngineEvent::Diagnostics { diagnostics, .. }] if !diagnostics.is_empty())
    );
}

#[tokio::test]
async fn files_use_the_targets_nearest_to_them() {
    let fixture = Fixture::new();
    let targets = |response: &str| {
        format!("targets:\n  - name: default\n    provider: mock\n    response: {response}\n")
    };
    let cases = "tests:\n  - id: a\n    criteria: be right\n    input: hello\n    assertions:\n      - type: contains\n        value: right\n";
    for (folder, response) in [("one", "right"), ("two", "wrong")] {
        fixture.write(&format!("{folder}/.assize/targets.yaml"), &targets(response));
        fixture.write(&format!("{folder}/suite.yaml"), &format!("name: {folder}\n{cases}"));
    }
    let mut options = fixture.options();
    options.paths = vec![fixture.path("one/suite.yaml"), fixture.path("two/suite.yaml")];

    let (run, _) = fixture.run(&options).await.expect("a run");

    let counts = run.totals.counts;
    assert_eq!((counts.pass, counts.fail, run.info.targets.len()), (1, 1, 1));
}
