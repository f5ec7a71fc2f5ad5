//! Grades answers by one criterion, in memory: `cargo run -p assize-engine --example grade -- CRITERION ANSWER...`.
//!
//! The judge is `offline`, which compares words. A model is named in `RunOptions::judges`, and then needs the key of its
//! provider among the variables of the `ProcessContext`.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use assize_engine::{
    Budget, Engine, EngineError, EngineEvent, GivenOutput, GradingSample, GradingStop, ProcessContext,
    RubricSource, RunOptions, SampleService, SpendingOptions, Usd,
};

#[tokio::main]
async fn main() -> Result<ExitCode, EngineError> {
    let mut arguments = std::env::args().skip(1);
    let criterion = arguments.next().unwrap_or_default();
    let lines = grade(&criterion, arguments.collect()).await?;

    let mut stdout = std::io::stdout().lock();
    for line in lines {
        drop(writeln!(stdout, "{line}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Grades answers by a criterion; returns a line for each.
pub(crate) async fn grade(criterion: &str, answers: Vec<String>) -> Result<Vec<String>, EngineError> {
    let process = ProcessContext::new(".".into(), std::env::temp_dir(), jiff::Timestamp::now);
    let engine = Engine::new(process, |event| {
        if let EngineEvent::Warning(message) = event {
            drop(writeln!(std::io::stderr(), "{message}"));
        }
    });

    let budget = Budget { usd: Usd::from_dollars(0.10), ..Budget::default() };
    let run = RunOptions {
        judges: vec!["offline".to_owned()],
        spending: SpendingOptions { budget, ..SpendingOptions::default() },
        ..RunOptions::default()
    };
    let grader = SampleService::new(&engine, run, Path::new("."))?.grader(None)?;

    // JSON is YAML, so that a text with quotes and colons stays one criterion.
    let source = RubricSource::Text(serde_json::json!({ "criteria": [criterion] }).to_string());
    let rubric = grader.prepare(&engine.read_rubric(&source)?)?;
    let samples = answers
        .into_iter()
        .enumerate()
        .map(|(at, text)| GradingSample::new(format!("sample-{}", at + 1), &GivenOutput::Text(text)));
    let samples = samples.collect::<Result<Vec<_>, _>>()?;

    let graded = grader.grade_all(&rubric, samples, &GradingStop::new()).await;
    let results = graded.records.iter().map(|record| &record.result);
    Ok(results.map(|result| format!("{}: {}", result.case_id, result.verdict)).collect())
}
