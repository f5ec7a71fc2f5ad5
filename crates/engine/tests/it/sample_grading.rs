//! Answers that are graded in memory.

use assize_engine::{
    Budget, CacheUse, CancellationToken, Engine, EngineErrorKind, GivenAnswer, GivenSample, RubricSource,
    RunOptions, SampleOptions, SpendingOptions, Verdict,
};
use assize_testkit::mock::MockServer;

use crate::support::{Fixture, model};

fn options(rubric: &str, answers: &[&str]) -> SampleOptions {
    let sample = |text: &&str| GivenSample {
        id: None,
        answer: GivenAnswer { text: (*text).to_owned(), ..GivenAnswer::default() },
    };

    SampleOptions::new(RubricSource::Text(rubric.to_owned()), answers.iter().map(sample).collect())
}

fn asking(options: SampleOptions, budget: Budget, cache: CacheUse) -> SampleOptions {
    let spending = SpendingOptions { budget, cache, ..SpendingOptions::default() };
    let judges = vec!["openai:judge-1".to_owned()];

    SampleOptions { run: RunOptions { judges, spending, ..RunOptions::default() }, ..options }
}

async fn grade(engine: &Engine, options: &SampleOptions) -> Vec<(String, Option<Verdict>)> {
    let graded = engine.grade_samples(options, &CancellationToken::new()).await.expect("it grades");
    graded.records.into_iter().map(|(id, record)| (id, record.map(|record| record.result.verdict))).collect()
}

#[tokio::test]
async fn records_are_in_the_order_of_the_samples_whatever_finishes_first() {
    let fixture = Fixture::new();
    let answers: Vec<String> = (0..200).map(|n| format!("The answer is {}.", n % 2)).collect();
    let answers: Vec<&str> = answers.iter().map(String::as_str).collect();

    let graded =
        grade(&fixture.engine().0, &options("criteria: [Says that the answer is 1]", &answers)).await;

    for (at, (id, verdict)) in graded.iter().enumerate() {
        let expected = if at % 2 == 1 { Verdict::Pass } else { Verdict::Fail };
        assert_eq!((id, verdict), (&format!("sample-{}", at + 1), &Some(expected)));
    }
    assert!(!fixture.path(".assize").exists(), "nothing was written");
}

#[tokio::test]
async fn a_budget_leaves_the_rest_without_records_and_says_so() {
    let server = MockServer::start(model);
    let fixture = Fixture::with_server(&server);
    let budget = Budget { calls: Some(2), ..Budget::default() };
    let options = asking(options("criteria: [yes]", &["a", "b", "c", "d"]), budget, CacheUse::Off);

    let engine = fixture.engine().0;
    let graded = engine.grade_samples(&options, &CancellationToken::new()).await.expect("it grades");

    let done = graded.records.iter().filter(|(_, record)| record.is_some()).count();
    assert_eq!((done, graded.summary.not_run, graded.summary.exit_code, server.count()), (2, 2, 4, 2));
    assert!(graded.stop.is_some());
    assert!(!fixture.path(".assize").exists(), "without a cache nothing is written");
}

#[tokio::test]
async fn replies_are_kept_and_a_plan_asks_nobody() {
    let server = MockServer::start(model);
    let fixture = Fixture::with_server(&server);
    let options = asking(options("criteria: [yes, no]", &["a", "b"]), Budget::default(), CacheUse::On);
    let engine = fixture.engine().0;

    let planned = engine.plan_samples(&options).expect("a plan");
    assert_eq!((planned.cases, planned.plan.to_json(planned.cases, &[])["calls"].as_u64()), (2, Some(4)));
    assert_eq!(server.count(), 0);

    let first = grade(&engine, &options).await;
    let again = grade(&engine, &options).await;
    assert_eq!((first == again, server.count()), (true, 4));
    assert!(!fixture.path(".assize/runs").exists());
}

#[tokio::test]
async fn what_is_cancelled_is_not_graded() {
    let fixture = Fixture::new();
    let cancel = CancellationToken::new();
    cancel.cancel();

    let options = options("criteria: [Says yes]", &["yes"]);
    let graded = fixture.engine().0.grade_samples(&options, &cancel).await.expect("it ends");

    assert_eq!((graded.records[0].1.is_none(), graded.summary.exit_code), (true, 130));
}

#[tokio::test]
async fn what_can_not_be_graded_is_refused() {
    let fixture = Fixture::new();
    fixture.write("rubric.yaml", "criteria: [Says yes]\n");
    let engine = fixture.engine().0;
    let mut twice = options("criteria: [Says yes]", &["a", "b"]);
    twice.samples.iter_mut().for_each(|sample| sample.id = Some("x".to_owned()));

    for (options, kind) in [
        (options("criteria: []", &["a"]), EngineErrorKind::InvalidFile),
        (options("criteria: [Says yes]", &[]), EngineErrorKind::Usage),
        (twice, EngineErrorKind::Usage),
    ] {
        let error = engine.grade_samples(&options, &CancellationToken::new()).await.expect_err("refused");
        assert_eq!(error.kind, kind, "{}", error.message);
    }

    let rubric = RubricSource::File("rubric.yaml".into());
    let options = SampleOptions { rubric, ..options("", &["yes"]) };
    assert_eq!(grade(&engine, &options).await[0].1, Some(Verdict::Pass));
}
