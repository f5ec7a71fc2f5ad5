//! Evaluates eval files with progress: `cargo run -p assize-engine --example evaluate -- evals/support.eval.yaml`.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use assize_engine::{
    CaseEvent, Engine, EngineError, EngineEvent, EvalMode, EvalOptions, ExitStatus, ProcessContext,
    RunOptions, RunOutcome,
};

#[tokio::main]
async fn main() -> Result<ExitCode, EngineError> {
    let paths = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let tell = |line| drop(writeln!(std::io::stderr(), "{line}"));
    Ok(evaluate(paths, PathBuf::from("runs/example"), tell).await?.code().into())
}

/// Runs the eval files into a folder, and returns the exit code of the run.
pub(crate) async fn evaluate(
    paths: Vec<PathBuf>,
    out: PathBuf,
    tell: impl Fn(String) + Send + Sync + 'static,
) -> Result<ExitStatus, EngineError> {
    let process = ProcessContext::new(PathBuf::from("."), std::env::temp_dir(), jiff::Timestamp::now);
    let engine = Engine::new(process, move |event| match event {
        EngineEvent::RunStarted { cases } => tell(format!("{cases} cases")),
        EngineEvent::Run(CaseEvent::CaseFinished { row }) => {
            tell(format!("{}: {}", row.case_id, row.verdict));
        }
        EngineEvent::Warning(message)
        | EngineEvent::Notice(message)
        | EngineEvent::RunWarning(message)
        | EngineEvent::Failure(message) => {
            tell(message);
        }
        _ => {}
    });
    let run = RunOptions { run_dir: Some(out), ..RunOptions::default() };
    let options = EvalOptions { paths, run, ..EvalOptions::default() };
    match engine.evaluate(EvalMode::default(), &options).await? {
        RunOutcome::Finished(run) => Ok(run.exit),
        RunOutcome::Planned(_) | RunOutcome::Exported(_) => Ok(ExitStatus::Passed),
    }
}
