//! Many answers are graded in memory at the same time.

use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::{
    Budget, CacheUse, CaseEvent, Engine, EngineErrorKind, EngineEvent, GivenOutput, GradedSamples,
    GradingSample, GradingStop, RubricSource, RunOptions, SampleGrader, SampleService, SpendingOptions,
    Verdict,
};
use assize_testkit::mock::MockServer;

use crate::tests::support::{Fixture, model};

fn samples(answers: &[&str]) -> Vec<GradingSample> {
    let sample = |(at, text): (usize, &&str)| {
        let output = GivenOutput::Text((*text).to_owned());
        GradingSample::new(format!("sample-{}", at + 1), &output).expect("a text is an answer")
    };

    answers.iter().enumerate().map(sample).collect()
}

fn asking(budget: Budget, cache: CacheUse) -> RunOptions {
    let spending = SpendingOptions { cache, budget, ..SpendingOptions::default() };

    RunOptions { judges: vec!["openai:judge-1".to_owned()], spending, ..RunOptions::default() }
}

fn grader(engine: &Engine, run: RunOptions) -> SampleGrader {
    let service = SampleService::new(engine, run, Path::new("")).expect("a service");
    service.grader(None).expect("a grader")
}

async fn grade(engine: &Engine, run: RunOptions, rubric: &str, answers: &[&str]) -> GradedSamples {
    let grader = grader(engine, run);
    let rubric = engine.read_rubric(&RubricSource::Text(rubric.to_owned())).expect("a rubric");
    let rubric = grader.prepare(&rubric).expect("it can be judged");

    grader.grade_all(&rubric, samples(answers), &GradingStop::new()).await
}

fn verdicts(graded: &GradedSamples) -> Vec<(String, Verdict)> {
    let results = graded.records.iter().map(|record| &record.result);
    results.map(|result| (result.case_id.to_string(), result.verdict)).collect()
}

#[tokio::test]
async fn records_are_in_the_order_of_the_samples_whatever_finishes_first() {
    let fixture = Fixture::new();
    let answers: Vec<String> = (0..200).map(|n| format!("The answer is {}.", n % 2)).collect();
    let answers: Vec<&str> = answers.iter().map(String::as_str).collect();

    let engine = fixture.engine().0;
    let graded =
        grade(&engine, RunOptions::default(), "criteria: [Says that the answer is 1]", &answers).await;

    for (at, found) in verdicts(&graded).into_iter().enumerate() {
        let expected = if at % 2 == 1 { Verdict::Pass } else { Verdict::Fail };
        assert_eq!(found, (format!("sample-{}", at + 1), expected));
    }
    assert!(!fixture.path(".assize").exists(), "nothing was written");
}

#[tokio::test]
async fn a_budget_leaves_the_rest_ungraded_with_the_reason() {
    let server = MockServer::start(model);
    let fixture = Fixture::with_server(&server);
    let budget = Budget { calls: Some(2), ..Budget::default() };

    let engine = fixture.engine().0;
    let graded =
        grade(&engine, asking(budget, CacheUse::Off), "criteria: [yes]", &["a", "b", "c", "d"]).await;

    let open: Vec<_> =
        graded.records.iter().filter(|record| record.result.verdict == Verdict::Incomplete).collect();
    assert_eq!((open.len(), graded.summary.exit_code, server.count()), (2, 4, 2));
    assert!(open.iter().all(|record| record.decisions[0].decision.ungraded.is_some()));
    assert!(graded.stop.is_some());
    assert!(!fixture.path(".assize").exists(), "without a cache nothing is written");
}

#[tokio::test]
async fn replies_are_kept_and_a_plan_asks_nobody() {
    let server = MockServer::start(model);
    let fixture = Fixture::with_server(&server);
    let run = || asking(Budget::default(), CacheUse::On);
    let engine = fixture.engine().0;

    let planner = SampleService::for_plans(&engine, run(), Path::new("")).expect("a service");
    let planner = planner.grader(None).expect("a grader");
    let source = RubricSource::Text("criteria: [yes, no]".to_owned());
    let rubric = planner.prepare(&engine.read_rubric(&source).expect("a rubric")).expect("it can be judged");
    let planned = planner.plan(&rubric, samples(&["a", "b"])).expect("a plan");
    assert_eq!((planned.cases, planned.plan.to_json(planned.cases, &[])["calls"].as_u64()), (2, Some(4)));
    assert_eq!(server.count(), 0);

    let first = grade(&engine, run(), "criteria: [yes, no]", &["a", "b"]).await;
    let again = grade(&engine, run(), "criteria: [yes, no]", &["a", "b"]).await;
    assert_eq!((verdicts(&first) == verdicts(&again), server.count()), (true, 4));
    assert!(!fixture.path(".assize/runs").exists());
}

#[tokio::test]
async fn what_is_stopped_has_records_too_and_finished_samples_are_told_of() {
    let fixture = Fixture::new();
    let finished = Arc::new(Mutex::new(0));
    let count = Arc::clone(&finished);
    let engine = Engine::new(fixture.process(), move |event| {
        if let EngineEvent::Run(CaseEvent::CaseFinished { .. }) = event {
            *count.lock().expect("no observer panics") += 1;
        }
    });
    let grader = grader(&engine, RunOptions::default());
    let source = RubricSource::Text("criteria: [Says yes]".to_owned());
    let rubric = grader.prepare(&engine.read_rubric(&source).expect("a rubric")).expect("it can be judged");
    let stop = GradingStop::new();
    stop.stop("enough");

    let graded = grader.grade_all(&rubric, samples(&["yes", "yes"]), &stop).await;

    assert_eq!(graded.records.iter().filter(|record| record.result.score.is_none()).count(), 2);
    assert_eq!((graded.summary.exit_code, *finished.lock().expect("not poisoned")), (130, 2));
}

#[tokio::test]
async fn rubrics_with_errors_are_refused_and_files_are_read() {
    let fixture = Fixture::new();
    fixture.write("rubric.yaml", "criteria: [Says yes]\n");
    let engine = fixture.engine().0;

    let error = engine.read_rubric(&RubricSource::Text("criteria: []".to_owned())).expect_err("refused");
    assert_eq!(error.kind, EngineErrorKind::InvalidFile, "{}", error.message);

    let rubric = engine.read_rubric(&RubricSource::File("rubric.yaml".into())).expect("a rubric");
    let grader = grader(&engine, RunOptions::default());
    let rubric = grader.prepare(&rubric).expect("it can be judged");
    let graded = grader.grade_all(&rubric, samples(&["yes"]), &GradingStop::new()).await;
    assert_eq!(verdicts(&graded), [("sample-1".to_owned(), Verdict::Pass)]);
}
