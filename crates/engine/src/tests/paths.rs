//! Relative paths of options start in the working folder of the engine, not of the process.

use std::path::{Path, PathBuf};

use crate::{EvalOptions, GradeOptions, ProcessContext, RunOutcome, runs};

use crate::tests::support::{Fixture, checked_suite};

#[tokio::test]
async fn relative_paths_begin_in_the_working_folder() {
    let fixture = Fixture::new();
    let case = "  - id: a\n    criteria: be right\n    input: hello\n    assertions: [{type: contains, value: right}]\n";
    fixture.write("evals/suite.yaml", &format!("name: relative\ntests:\n{case}"));
    fixture.write("more/targets.yaml", "targets: [{name: default, provider: mock, response: right}]\n");
    let mut options = EvalOptions {
        paths: vec!["evals/suite.yaml".into()],
        targets_file: Some("more/targets.yaml".into()),
        ..EvalOptions::default()
    };
    options.run.run_dir = Some("results/one".into());

    let (run, _) = fixture.run(&options).await.expect("a run");

    assert_eq!((run.totals.counts.pass, run.folder.path()), (1, &*fixture.path("results/one")));
    assert!(runs::find_run("results/one", &fixture.process()).is_ok());
    assert!(!Path::new("results").exists());

    options.run.run_dir = None;
    let (run, _) = fixture.run(&options).await.expect("a run");
    assert!(run.folder.path().starts_with(fixture.path(".assize/runs")), "{:?}", run.folder.path());
    assert!(runs::find_run("last", &fixture.process()).is_ok());
}

#[tokio::test]
async fn relative_files_of_answers_begin_in_the_working_folder() {
    let fixture = Fixture::new();
    fixture.write("rubric.yaml", "name: words\ncriteria:\n  - Says right\n");
    fixture.write("answers.jsonl", "{\"id\": \"a\", \"question\": \"What?\", \"answer\": \"right\"}\n");
    let mut options = GradeOptions {
        rubric: "rubric.yaml".into(),
        answers: "answers.jsonl".into(),
        ..GradeOptions::default()
    };
    options.run.run_dir = Some("run".into());

    let graded = fixture.engine().0.grade(&options).await.expect("a run");
    let RunOutcome::Finished(run) = graded else { panic!("it was not run") };

    assert_eq!((run.totals.counts.total(), run.folder.path()), (1, &*fixture.path("run")));
}

#[test]
fn a_relative_working_folder_is_the_one_it_leads_to_now() {
    let process = ProcessContext::new(PathBuf::from("."), PathBuf::new(), jiff::Timestamp::now);
    let here = std::path::absolute(".").expect("a folder");

    assert_eq!((&process.working_folder, process.resolve("a/b")), (&here, here.join("a/b")));
    assert_eq!(process.resolve("/tmp"), Path::new("/tmp"));
    assert_eq!(process.with_paths_as_written().resolve("a/b"), Path::new("a/b"));
}

#[tokio::test]
async fn options_with_absolute_paths_are_taken_as_they_are() {
    let (fixture, elsewhere) = (Fixture::new(), Fixture::new());
    elsewhere.write("suite.yaml", &checked_suite(&[("a", "right")]));

    let (run, _) = fixture.run(&elsewhere.options()).await.expect("a run");

    assert_eq!(run.folder.path(), elsewhere.path("run"));
}
