//! Grades answers by one criterion, in memory: `cargo run -p assize-engine --example grade -- CRITERION ANSWER...`.
//!
//! The judge is `offline`, which compares words. A model is named in `RunOptions::judges`, and then needs the key of its
//! provider among the variables of the `ProcessContext`.

use std::io::Write as _;
use std::process::ExitCode;

use assize_engine::{
    Budget, CancellationToken, Engine, EngineError, EngineEvent, GivenAnswer, GivenSample, ProcessContext,
    RubricSource, RunOptions, SampleOptions, SpendingOptions, Usd,
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

    let samples = answers
        .into_iter()
        .map(|text| GivenSample { id: None, answer: GivenAnswer { text, ..GivenAnswer::default() } });
    // JSON is YAML, so that a text with quotes and colons stays one criterion.
    let rubric = RubricSource::Text(serde_json::json!({ "criteria": [criterion] }).to_string());
    let budget = Budget { usd: Usd::from_dollars(0.10), ..Budget::default() };
    let run = RunOptions {
        judges: vec!["offline".to_owned()],
        spending: SpendingOptions { budget, ..SpendingOptions::default() },
        ..RunOptions::default()
    };
    let options = SampleOptions { run, ..SampleOptions::new(rubric, samples.collect()) };

    let graded = engine.grade_samples(&options, &CancellationToken::new()).await?;
    let line = |(id, record): &(String, Option<assize_engine::CaseRecord>)| match record {
        Some(record) => format!("{id}: {}", record.result.verdict),
        None => format!("{id}: not graded"),
    };
    Ok(graded.records.iter().map(line).collect())
}
