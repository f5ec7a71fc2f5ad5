//! Making and living a run.
//!
//! An [`Engine`] lives in a process ([`ProcessContext`]) and tells an [`EventObserver`] of every [`EngineEvent`]. It reads eval files,
//! wires targets, judges, reply cache, budget and workspaces, plans the run, sees it through, and says with which [`ExitStatus`]
//! it ends. It prints nothing and parses no flags; what fails is an [`EngineError`].
//!
//! Relative paths of options begin in the working folder of the [`ProcessContext`]. Judges, targets and the storage of replies
//! may be the caller's own ([`Engine::with_judge`], [`Engine::with_target`], [`Engine::with_reply_store`]), and so is the clock.
//! Here a judge that finds every criterion met takes the place of a model:
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

#![warn(missing_docs)]

mod attempt;
mod attempt_material;
mod attempt_watch;
pub mod audit;
mod baselines;
mod budget_check;
mod case_scorings;
mod criterion_places;
mod critique;
mod dependencies;
mod engine;
mod error;
mod estimate;
mod eval;
mod event;
mod exit;
mod files;
mod forecast;
mod gateway;
mod generate;
mod grade;
mod graders;
mod judges;
mod labels;
mod load;
pub mod metrics;
mod mode;
mod options;
mod order;
pub mod pairwise;
mod plan;
mod prices;
mod process;
mod report_material;
mod resume;
pub mod runs;
mod scorecard;
mod session;
mod targets;
mod wiring;
mod workspaces;

pub use assize_run::RunEvent as CaseEvent;

pub use attempt::{AttemptJudge, TryOutcome};
pub use attempt_material::{AttemptCase, AttemptRequest, AttemptSubject, LoadedAttempt};
pub use attempt_watch::{AttemptWatch, WatchEvent};
pub use case_scorings::case_scorings;
pub use critique::{CritiqueFile, CritiqueOptions, CritiqueReport};
pub use engine::Engine;
pub use error::{EngineError, EngineErrorKind};
pub use estimate::RunEstimate;
pub use eval::{PlannedRun, RunOutcome};
pub use event::{EngineEvent, EventObserver};
pub use exit::{CallStop, ExitStatus, RunEnding, exit_of_run};
pub use files::{replace_file, replace_file_with};
pub use forecast::{RunPlan, estimate_text};
pub use gateway::{remedy, replies_file};
pub use generate::{GenerateOptions, GenerateReport};
pub use grade::GradeOptions;
pub use judges::OFFLINE;
pub use labels::{LabelOptions, LabelledRun, current_labels, label_set, labelled_run};
pub use load::{LoadedFile, LoadedFiles, id_patterns};
pub use mode::{EvalMode, Items, RunMode};
pub use options::{
    CacheUse, DeniedFindings, EvalOptions, PanelOptions, RunOptions, SequenceOptions, SpendingOptions,
    UnknownPrice,
};
pub use process::{ProcessContext, StopSignal};
pub use report_material::ReportMaterial;
pub use resume::NEWEST_RUN;
pub use scorecard::{ScorecardInput, ScorecardOptions, ScoredCard};
pub use session::{FinishedRun, stored_records, summary_json};
pub use targets::is_secret_name;
