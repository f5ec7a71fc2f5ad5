//! A resumed run keeps the cases that still hold.

use crate::{EngineErrorKind, EngineEvent, ExitStatus, NEWEST_RUN};

use crate::tests::support::{Fixture, checked_suite, finished_cases};

fn resumed(events: &[EngineEvent]) -> Option<(usize, usize, usize)> {
    events.iter().find_map(|event| match event {
        EngineEvent::Resumed { done, changed, gone, .. } => Some((*done, *changed, *gone)),
        _ => None,
    })
}

#[tokio::test]
async fn what_changed_is_run_again_and_what_is_gone_is_dropped() {
    let fixture = Fixture::new();
    let mut options = fixture.options();
    fixture.write("suite.yaml", &checked_suite(&[("a", "right"), ("b", "right"), ("c", "right")]));
    let (run, events) = fixture.run(&options).await.expect("a run");
    assert_eq!((run.exit, resumed(&events)), (ExitStatus::Passed, None));

    fixture.write("suite.yaml", &checked_suite(&[("a", "right"), ("b", "wrong"), ("d", "right")]));
    options.run.resume = Some(NEWEST_RUN.to_owned());
    let (run, events) = fixture.run(&options).await.expect("a run");

    let begun = events.iter().filter(|event| matches!(event, EngineEvent::RunStarted { cases: 2 })).count();
    assert_eq!((run.exit, resumed(&events), begun), (ExitStatus::Failed, Some((1, 1, 1)), 1));
    let mut cases = finished_cases(&fixture.path("run"));
    cases.sort();
    assert_eq!(cases, ["a", "b", "d"]);
}

#[tokio::test]
async fn a_run_that_was_begun_otherwise_is_not_resumed() {
    let fixture = Fixture::new();
    let mut options = fixture.options();
    fixture.write("suite.yaml", &checked_suite(&[("a", "right")]));
    fixture.run(&options).await.expect("a run");

    options.run.resume = Some(NEWEST_RUN.to_owned());
    options.tags = Vec::new();
    options.filter = vec!["a*".to_owned()];
    let error = fixture.run(&options).await.expect_err("another filter");

    assert_eq!(error.kind, EngineErrorKind::Usage);
    assert!(error.message.contains("its filter: none; now: a*"), "{error}");
}

#[tokio::test]
async fn a_folder_that_holds_a_run_is_not_overwritten() {
    let fixture = Fixture::new();
    let options = fixture.options();
    fixture.write("suite.yaml", &checked_suite(&[("a", "right")]));
    fixture.run(&options).await.expect("a run");

    let error = fixture.run(&options).await.expect_err("occupied");

    assert_eq!((error.kind, error.exit.code()), (EngineErrorKind::Usage, 2));
}

#[tokio::test]
async fn a_resumed_run_that_is_damaged_is_unreadable() {
    let fixture = Fixture::new();
    let mut options = fixture.options();
    fixture.write("suite.yaml", &checked_suite(&[("a", "right")]));
    fixture.write("broken/run.json", "{");

    options.run.run_dir = Some(fixture.path("broken"));
    options.run.resume = Some(NEWEST_RUN.to_owned());
    let error = fixture.run(&options).await.expect_err("damaged");

    assert_eq!((error.kind, error.exit.code()), (EngineErrorKind::Unreadable, 2), "{error}");
}
