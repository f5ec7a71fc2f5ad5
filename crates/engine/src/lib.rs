//! Evaluation of language-model systems as a library: the engine behind the command line, the browser, the server for agents
//! and embedding programs.
//!
//! An [`Engine`] belongs to a process ([`ProcessContext`]) and reports every [`EngineEvent`] to an [`EventObserver`]. It reads
//! eval files, wires targets, judges, reply cache, budget and workspaces, plans a run, executes it, and returns its
//! [`ExitStatus`]. It prints nothing and parses no options. A failure is an [`EngineError`] with a kind; problems of files are
//! reported as [`EngineEvent::Diagnostics`] first. Relative paths in options start in the working folder of the
//! [`ProcessContext`].
//!
//! | to | use |
//! |---|---|
//! | run eval files | [`Engine::evaluate`]; with `dry_run`, its plan |
//! | grade answers in memory | [`SampleService`], [`SampleGrader`] |
//! | grade a file of answers | [`Engine::grade`] |
//! | check files | [`Engine::validate`], [`Engine::load`] |
//! | read runs | [`runs`], [`find_cases`], [`stored_records`], [`ReportMaterial`], [`metrics`] |
//! | compare, audit, draft | [`pairwise`], [`audit`], [`Engine::generate`] |
//!
//! # Evaluate a file
//!
//! If the options name no judge, the file's judge is used, or else the configuration's, or else [`OFFLINE`], which
//! compares words. The run is stored in `.assize/runs`, or in [`RunOptions::run_dir`].
//!
//! ```
//! use assize_engine::{Engine, EvalMode, EvalOptions, ExitStatus, ProcessContext, RunOutcome};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let suite = "tests: [{id: a, criteria: be right, input: How long?, output: Five days., assertions: [Says five days]}]";
//! std::fs::write(folder.path().join("support.eval.yaml"), suite)?;
//!
//! let process = ProcessContext::new(folder.path().to_owned(), std::env::temp_dir(), jiff::Timestamp::now);
//! let engine = Engine::new(process, |_| {});
//! let options = EvalOptions { paths: vec!["support.eval.yaml".into()], ..EvalOptions::default() };
//!
//! let RunOutcome::Finished(run) = engine.evaluate(EvalMode::default(), &options).await? else { unreachable!() };
//! assert_eq!((run.exit, run.totals.counts.pass), (ExitStatus::Passed, 1));
//! # Ok(())
//! # }
//! ```
//!
//! # Grade answers in memory
//!
//! Only the rubric, the configuration and the targets are read, and no run is stored. All graders of a process share
//! the limits, the budget and the reply cache of a [`SampleService`]. Each sample has a record. If ungraded criteria
//! could still change its verdict, that is [`Verdict::Incomplete`].
//!
//! ```
//! use std::path::Path;
//!
//! use assize_engine::{
//!     Engine, GivenOutput, GradingSample, GradingStop, ProcessContext, RubricSource, RunOptions, SampleService, Verdict,
//! };
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let process = ProcessContext::new(folder.path().to_owned(), std::env::temp_dir(), jiff::Timestamp::now);
//! let engine = Engine::new(process, |_| {});
//! let grader = SampleService::new(&engine, RunOptions::default(), Path::new("."))?.grader(None)?;
//!
//! let source = RubricSource::Text("criteria: [Says that refunds take 5 days]".to_owned());
//! let rubric = grader.prepare(&engine.read_rubric(&source)?)?;
//! let sample = |id, text: &str| GradingSample::new(id, &GivenOutput::Text(text.to_owned()));
//! let samples = vec![sample("a", "Refunds take 5 days.")?, sample("b", "No idea.")?];
//!
//! let graded = grader.grade_all(&rubric, samples, &GradingStop::new()).await;
//! let verdicts: Vec<Verdict> = graded.records.iter().map(|record| record.result.verdict).collect();
//! assert_eq!(verdicts, [Verdict::Pass, Verdict::Fail]);
//! assert!(!folder.path().join(".assize/runs").exists());
//! # Ok(())
//! # }
//! ```
//!
//! # Watch events
//!
//! The observer is called from several threads. A case is reported after its rows are recorded, so the observer may read them.
//!
//! ```
//! use std::sync::{Arc, Mutex};
//!
//! use assize_engine::{CaseEvent, Engine, EngineEvent, EvalMode, EvalOptions, ProcessContext};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let case = |id| format!("{{id: {id}, criteria: x, input: q, output: right, assertions: [{{type: contains, value: right}}]}}");
//! # std::fs::write(folder.path().join("a.eval.yaml"), format!("tests: [{}, {}]", case("a"), case("b")))?;
//! # let process = ProcessContext::new(folder.path().to_owned(), std::env::temp_dir(), jiff::Timestamp::now);
//! let lines = Arc::new(Mutex::new(Vec::new()));
//! let kept = Arc::clone(&lines);
//! let engine = Engine::new(process, move |event| {
//!     let line = match event {
//!         EngineEvent::RunStarted { cases } => format!("{cases} cases"),
//!         EngineEvent::Run(CaseEvent::CaseFinished { row }) => format!("{}: {}", row.case_id, row.verdict),
//!         EngineEvent::Warning(message) | EngineEvent::Failure(message) => message,
//!         _ => return,
//!     };
//!     kept.lock().expect("no observer panics").push(line);
//! });
//! # let options = EvalOptions { paths: vec!["a.eval.yaml".into()], ..EvalOptions::default() };
//!
//! engine.evaluate(EvalMode::default(), &options).await?;
//! let lines = lines.lock().expect("no observer panics");
//! assert_eq!((lines[0].as_str(), lines.len()), ("2 cases", 3));
//! # Ok(())
//! # }
//! ```
//!
//! # Cancel
//!
//! A run shuts down cleanly when the stop signal of its process completes: cases in flight are cancelled, finished cases are
//! recorded, and [`RunOptions::resume`] continues the run. A budget ([`SpendingOptions`]) and a deadline end it too.
//! Graders of samples take a [`GradingStop`] instead.
//!
//! ```
//! use assize_engine::{CancellationToken, Engine, EvalMode, EvalOptions, ExitStatus, ProcessContext, RunOutcome};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let suite = "tests: [{id: a, criteria: be right, input: q, output: right, assertions: [{type: contains, value: right}]}]";
//! # std::fs::write(folder.path().join("a.eval.yaml"), suite)?;
//! # let process = ProcessContext::new(folder.path().to_owned(), std::env::temp_dir(), jiff::Timestamp::now);
//! # let options = EvalOptions { paths: vec!["a.eval.yaml".into()], ..EvalOptions::default() };
//! let stop = CancellationToken::new();
//! let stopped = stop.clone();
//! let process = process.with_stop_signal(move || Box::pin(stopped.clone().cancelled_owned()));
//!
//! // Anybody may do this, at any time and from any thread.
//! stop.cancel();
//!
//! let engine = Engine::new(process, |_| {});
//! let RunOutcome::Finished(run) = engine.evaluate(EvalMode::default(), &options).await? else { unreachable!() };
//! match run.exit {
//!     ExitStatus::Interrupted => println!("stopped; resume `{}`", run.info.run_id),
//!     other => println!("ended before it was stopped, with exit code {}", other.code()),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Read results back
//!
//! A run folder is self-contained: every number can be recomputed from it. Rows are read one at a time.
//!
//! ```
//! use assize_engine::{CaseSelector, Engine, EvalMode, EvalOptions, ProcessContext, find_cases, runs, stored_records};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let suite = "tests: [{id: a, criteria: be right, input: q, output: wrong, assertions: [{type: contains, value: right}]}]";
//! # std::fs::write(folder.path().join("a.eval.yaml"), suite)?;
//! # let process = ProcessContext::new(folder.path().to_owned(), std::env::temp_dir(), jiff::Timestamp::now);
//! # let options = EvalOptions { paths: vec!["a.eval.yaml".into()], ..EvalOptions::default() };
//! # Engine::new(process.clone(), |_| {}).evaluate(EvalMode::default(), &options).await?;
//! let run = runs::find_run("last", &process)?;
//! let summary = run.info()?.summary.expect("the run has ended");
//! assert_eq!((summary.counts.fail, summary.exit_code), (1, 1));
//!
//! for record in stored_records(&run)? {
//!     let row = record?.result;
//!     println!("{} {:?} {}", row.case_id, row.score, row.verdict);
//! }
//!
//! let found = find_cases(&run, "a", CaseSelector::default(), None)?;
//! assert_eq!(found[0].record.result.score, Some(0.0));
//! # Ok(())
//! # }
//! ```
//!
//! # A judge of your own
//!
//! Judges, targets and the storage of replies may be the caller's own ([`Engine::with_judge`], [`Engine::with_target`],
//! [`Engine::with_reply_store`]), and so is the clock. Here a judge that finds every criterion met replaces a model:
//!
//! ```
//! use std::sync::Arc;
//!
//! use assize_engine::{Engine, EvalMode, EvalOptions, ExitStatus, ProcessContext, RunOutcome};
//! use assize_grade::{Judge, JudgeQuestion};
//! use assize_llm::BoxFuture;
//! use assize_rubric::{Decision, Finding, JudgeIdentity, Outcome};
//!
//! struct KindJudge;
//!
//! impl Judge for KindJudge {
//!     fn identity(&self) -> JudgeIdentity {
//!         JudgeIdentity { name: "kind".into(), ..JudgeIdentity::default() }
//!     }
//!
//!     fn decide<'a>(&'a self, questions: &'a [JudgeQuestion]) -> BoxFuture<'a, Vec<Vec<Decision>>> {
//!         let decide = |question: &JudgeQuestion| {
//!             let JudgeQuestion::Rubric(task) = question else { panic!("only rubrics are judged here") };
//!             let met = |criterion| Finding::Criterion { criterion, outcome: Outcome::Met };
//!             let criteria = task.rubric.criteria().iter().cloned();
//!             criteria.map(|criterion| Decision::new(self.identity(), met(criterion), "kindness")).collect()
//!         };
//!         Box::pin(async move { questions.iter().map(decide).collect() })
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let suite = "tests: [{id: a, criteria: be right, input: 2 + 2?, output: five, assertions: [Says four]}]";
//! std::fs::write(folder.path().join("sums.eval.yaml"), suite)?;
//!
//! let process = ProcessContext::new(folder.path().to_owned(), std::env::temp_dir(), jiff::Timestamp::now);
//! let engine = Engine::new(process, |_| {}).with_judge(Arc::new(KindJudge));
//! let mut options = EvalOptions { paths: vec!["sums.eval.yaml".into()], ..EvalOptions::default() };
//! options.run.judges = vec!["kind".to_owned()];
//!
//! let RunOutcome::Finished(run) = engine.evaluate(EvalMode::default(), &options).await? else { unreachable!() };
//! assert_eq!(run.exit, ExitStatus::Passed);
//! # Ok(())
//! # }
//! ```
//!
//! # Threads
//!
//! The futures of runs are not [`Send`]: the parts of a run stay on one thread, while its work is spread over the
//! threads of the runtime. On a runtime whose tasks must be [`Send`], start a run on a thread that may block. The
//! futures of a [`SampleGrader`] are [`Send`].
//!
//! ```
//! use assize_engine::{Engine, EngineError, EvalMode, EvalOptions, ExitStatus, RunOutcome};
//! use tokio::runtime::Handle;
//!
//! async fn evaluate(engine: Engine, options: EvalOptions) -> Result<ExitStatus, EngineError> {
//!     let handle = Handle::current();
//!     let work = move || match handle.block_on(engine.evaluate(EvalMode::default(), &options))? {
//!         RunOutcome::Finished(run) => Ok(run.exit),
//!         RunOutcome::Planned(_) | RunOutcome::Exported(_) => Ok(ExitStatus::Passed),
//!     };
//!     tokio::task::spawn_blocking(work).await.expect("a run does not panic")
//! }
//! ```
//!
//! `docs/library.md` of the repository lists the stable API.

#![warn(missing_docs)]

mod attempt;
mod attempt_material;
mod attempt_watch;
pub mod audit;
mod baselines;
mod batch;
mod budget_check;
pub mod calibration;
mod capability;
mod case_scorings;
mod case_sequence;
mod consent;
mod criterion_places;
mod critique;
mod dependencies;
mod engine;
mod error;
mod estimate;
mod eval;
mod evaluation;
mod event;
mod exchange;
mod exit;
mod explained;
mod extensions;
mod files;
mod forecast;
mod gateway;
mod generate;
mod grade;
mod graders;
mod judges;
mod labels;
mod load;
mod merge;
pub mod metrics;
mod mode;
mod options;
mod order;
pub mod pairwise;
mod people;
mod plan;
mod plan_identity;
mod preflight_report;
mod prepared;
mod prepared_plan;
mod prices;
mod process;
mod read_together;
mod report_material;
mod resume;
mod run_deps;
mod run_outcome;
pub mod runs;
mod samples;
mod schemas;
mod scorecard;
mod session;
mod shard;
mod spend_meter;
mod stopping;
mod stored_records;
mod summary_json;
mod targets;
mod trend;
mod trust;
mod validate;
mod wiring;
mod workspaces;

pub use assize_run::RunEvent as CaseEvent;

// Options and results are made of these.
pub use assize_evalfile::GivenAnswer;
pub use assize_llm::{BatchPlace, BatchRole, Budget};
pub use assize_model::GivenOutput;
pub use assize_rubric::{Usd, Verdict};
pub use assize_store::{CaseRecord, ResultRow, RunFolder, RunInfo, RunSummary, SentRequests};
pub use tokio_util::sync::CancellationToken;

pub use assize_analysis::{ExitStatus, RunDecision, RunEnding, exit_of_run, exit_with_pass_rate};
pub use assize_analysis::{ScoredCard, brief_result};
pub use attempt::{AttemptJudge, TryOutcome};
pub use attempt_material::{AttemptCase, AttemptRequest, AttemptSubject, LoadedAttempt};
pub use attempt_watch::{AttemptWatch, WatchEvent};
pub use capability::{CapabilityList, OutsideFile, SentVariable};
pub use case_scorings::case_scorings;
pub use case_sequence::CaseSequence;
pub use critique::{CritiqueFile, CritiqueOptions, CritiqueReport};
pub use engine::{Engine, Sharing};
pub use error::{EngineError, EngineErrorKind};
pub use estimate::RunEstimate;
pub use event::{EngineEvent, EventObserver};
pub use exchange::{CountedExamples, ExchangeOptions, ExportReport, ExportedFile, ImportReport};
pub use exit::CallStop;
pub use explained::{CaseSelector, FoundCase, find_cases, unknown_criterion, unknown_selection};
pub use files::{refuse_read_file, replace_file, replace_file_with, write_report_file};
pub use forecast::{RunPlan, estimate_text};
pub use gateway::{forget_servers, remedy, replies_file, workspace_fence_key};
pub use generate::{GenerateOptions, GenerateReport};
pub use grade::GradeOptions;
pub use judges::OFFLINE;
pub use labels::{
    LabelOptions, LabelledRun, current_scorecard, label_folders, label_set, labelled_run, write_review_list,
};
pub use load::{LoadedFile, LoadedFiles, id_patterns};
pub use merge::{MergeOptions, MergedJob};
pub use mode::{EvalMode, Items, RunMode};
pub use options::{
    BatchOptions, CacheUse, DeniedFindings, EvalOptions, PanelOptions, ProgramUse, RunOptions,
    SequenceOptions, SpendingOptions, StopReference, UnitOptions, UnknownPrice,
};
pub use people::{LabelledItem, PeopleLabels, PersonDecision};
pub use plan_identity::PlanIdentity;
pub use prepared_plan::PreparedPlan;
pub use process::{ProcessContext, StopSignal};
pub use read_together::read_together;
pub use report_material::{ReportMaterial, concluded_info};
pub use resume::NEWEST_RUN;
pub use run_outcome::{FinishedRun, PlannedRun, RunOutcome};
pub use runs::run_id as new_run_id;
pub use samples::{
    BenchmarkResult, ComparedPair, DecisionResult, FailureLog, GradeStatus, GradeSummary, GradedSamples,
    GradingBatch, GradingSample, GradingStop, OnUngraded, PreparedRubric, RewardKind, RubricSource,
    SampleGrader, SampleParts, SamplePlace, SampleProblem, SampleResult, SampleService, ScorecardPartResult,
    ScoredPart, ScoredSample, UngradedPolicy, content_text,
};
pub use schemas::{all_schemas, stored_schemas};
pub use scorecard::{ScorecardInput, ScorecardOptions};
pub use stored_records::stored_records;
pub use summary_json::summary_json;
pub use targets::is_secret_name;
pub use trend::read_trend;
pub use trust::{TrustedFolder, TrustedFolders};
pub use validate::{ValidatedFile, ValidationReport};

/// Runs the examples of the page for embedders.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
mod library_page {}

// Examples are compiled as tests, too.
#[cfg(test)]
extern crate self as assize_engine;
#[cfg(test)]
mod tests;
