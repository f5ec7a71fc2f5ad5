//! Samples in memory: graded without a run folder, stopped in the middle, compared.

use std::path::Path;

use crate::{Engine, GradingSample, GradingStop, ProcessContext, RunOptions, SampleService};
use assize_evalfile::read_rubric;
use assize_model::GivenOutput;
use assize_rubric::{UngradedKind, Verdict};

fn sample(answer: &str) -> GradingSample {
    GradingSample::new("a", &GivenOutput::Text(answer.to_owned())).expect("a text is an answer")
}

fn service(folder: &Path) -> SampleService {
    let process = ProcessContext::new(folder.to_owned(), std::env::temp_dir(), jiff::Timestamp::now);
    let engine = Engine::new(process, |_| {});
    SampleService::new(&engine, RunOptions::default(), Path::new(""))
        .expect("the offline judge needs nothing")
}

#[tokio::test]
async fn a_sample_is_graded_without_a_trace_on_the_disk() {
    let folder = tempfile::tempdir().expect("a folder");
    let grader = service(folder.path()).grader(Some("client")).expect("a grader");
    let rubric = read_rubric(Path::new("r.json"), r#"["mentions apples", "mentions pears"]"#);
    let rubric = grader.prepare(&rubric).expect("it can be judged");
    assert_eq!((rubric.criteria(), &rubric.judges[..]), (2, &["offline".to_owned()][..]));

    let record = grader.grade(&rubric, sample("it mentions apples"), &GradingStop::new()).await;
    assert_eq!((record.result.score, record.result.verdict), (Some(0.5), Verdict::Fail));
    assert_eq!(std::fs::read_dir(folder.path()).expect("readable").count(), 0);
}

#[tokio::test]
async fn what_is_stopped_is_ungraded_with_the_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let grader = service(folder.path()).grader(None).expect("a grader");
    let rubric = read_rubric(Path::new("r.json"), r#"["mentions apples"]"#);
    let rubric = grader.prepare(&rubric).expect("it can be judged");
    let stop = GradingStop::new();
    let part = stop.child();
    stop.stop("lunch");

    let record = grader.grade(&rubric, sample("it mentions apples"), &part).await;
    let ungraded = record.decisions[0].decision.ungraded.as_ref().expect("it was not judged");
    assert_eq!((ungraded.kind, ungraded.message.as_str()), (UngradedKind::Cancelled, "lunch"));
    assert_eq!((record.result.score_low, record.result.score_high), (Some(0.0), Some(1.0)));
}

#[tokio::test]
async fn what_decides_about_results_is_one_hash() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    let grader = service.grader(None).expect("a grader");
    let hash = |text: &str| {
        let rubric = read_rubric(Path::new("r.json"), text);
        grader.prepare(&rubric).expect("it can be judged").config_hash
    };
    let first = hash(r#"["a"]"#);
    assert_eq!(first, hash(r#"["a"]"#));
    for other in
        [r#"["b"]"#, r#"[{"outcome": "a", "weight": 2}]"#, r#"{"criteria": ["a"], "threshold": 0.5}"#]
    {
        assert_ne!(first, hash(other), "{other}");
    }
    let other = service.grader(Some("client")).expect("a grader");
    let rubric = read_rubric(Path::new("r.json"), r#"["a"]"#);
    assert_eq!(
        first,
        other.prepare(&rubric).expect("it can be judged").config_hash,
        "the same for every client"
    );
}
