//! No request exceeds the budget, and a run that it stopped can be continued.

use std::num::NonZeroUsize;
use std::time::Duration;

use crate::{CacheUse, EngineErrorKind, EngineEvent, EvalOptions, ExitStatus, NEWEST_RUN};
use assize_rubric::Usd;
use assize_testkit::mock::{MockReply, MockRequest, MockServer};

use crate::tests::support::{Fixture, finished_cases, model, suite};

const CRITERIA: &[&str] = &["yes one", "yes two", "yes three"];

fn options(fixture: &Fixture, calls: u64) -> EvalOptions {
    let mut options = fixture.options();
    options.run.judges = vec!["openai:judge-1".to_owned()];
    options.run.workers = NonZeroUsize::new(1);
    options.run.spending.budget.calls = Some(calls);
    options
}

#[tokio::test]
async fn a_budget_that_is_just_enough_stops_nothing() {
    let server = MockServer::start(model);
    let fixture = Fixture::with_server(&server);
    fixture.write("suite.yaml", &suite(2, CRITERIA, false));
    let mut options = options(&fixture, 8);
    options.targets = vec!["openai:answers-1".to_owned()];

    let (run, _) = fixture.run(&options).await.expect("a run");
    assert_eq!(run.exit, ExitStatus::Passed);

    // Cached replies cost nothing.
    options.run.spending.budget.calls = Some(0);
    options.run.run_dir = Some(fixture.path("again"));
    let (run, _) = fixture.run(&options).await.expect("a run");
    assert_eq!((run.exit, server.count()), (ExitStatus::Passed, 8));
}

#[tokio::test]
async fn a_run_that_the_budget_stopped_is_resumed_with_another() {
    let server = MockServer::start(model);
    let fixture = Fixture::with_server(&server);
    fixture.write("suite.yaml", &suite(4, CRITERIA, true));
    let mut options = options(&fixture, 7);

    let (run, events) = fixture.run(&options).await.expect("a run");
    let reached = events.iter().filter(|event| matches!(event, EngineEvent::BudgetReached { .. })).count();
    assert_eq!((run.exit, server.count(), reached), (ExitStatus::OverBudget, 7, 1));
    assert_eq!(finished_cases(&fixture.path("run")), ["case-0", "case-1"]);

    options.run.spending.budget.calls = Some(20);
    options.run.resume = Some(NEWEST_RUN.to_owned());
    let (run, events) = fixture.run(&options).await.expect("a run");
    let resumed = events.iter().find_map(|event| match event {
        EngineEvent::Resumed { done, changed, gone, .. } => Some((*done, *changed, *gone)),
        _ => None,
    });
    assert_eq!((run.exit, resumed, server.count()), (ExitStatus::Passed, Some((2, 0, 0)), 12));
}

#[tokio::test]
async fn retries_count_as_calls_and_are_told() {
    let server =
        MockServer::start(|_: &MockRequest| MockReply::RateLimited { retry_after: Some(Duration::ZERO) });
    let fixture = Fixture::with_server(&server);
    fixture.write("suite.yaml", &suite(3, CRITERIA, true));

    let (run, events) = fixture.run(&options(&fixture, 2)).await.expect("a run");

    let retries = events.iter().filter(|event| matches!(event, EngineEvent::CallRetrying { .. })).count();
    let summary = run.info.summary.expect("a summary");
    assert_eq!((run.exit, server.count(), summary.not_run), (ExitStatus::OverBudget, 2, 3));
    assert!((1..=2).contains(&retries), "{retries}");
}

#[tokio::test]
async fn a_budget_in_dollars_needs_every_price() {
    let server = MockServer::start(model);
    let fixture = Fixture::with_server(&server);
    fixture.write("suite.yaml", &suite(1, CRITERIA, true));
    let mut options = options(&fixture, 100);
    options.run.spending.budget.usd = Usd::from_dollars(1.0);

    let error = fixture.run(&options).await.expect_err("no price is known");

    assert_eq!((error.kind, error.exit.code(), server.count()), (EngineErrorKind::Budget, 2, 0));
    assert!(error.message.starts_with("unknown price for openai:judge-1"), "{error}");
}

#[tokio::test]
async fn the_cache_alone_buys_nothing() {
    let server = MockServer::start(model);
    let fixture = Fixture::with_server(&server);
    fixture.write("suite.yaml", &suite(2, CRITERIA, true));
    let mut options = options(&fixture, 100);
    options.run.spending.cache = CacheUse::Only;

    let (run, _) = fixture.run(&options).await.expect("a run");

    assert_eq!((run.exit, server.count()), (ExitStatus::Incomplete, 0));
}
