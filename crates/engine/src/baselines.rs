//! Answers of stored runs that serve as baselines.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use assize_model::{Case, CompositeGrader, Grader, GraderKind, PairwiseBaseline, PairwiseGrader};
use assize_store::{AnswerIndex, RunFolder};
use parking_lot::Mutex;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::process::ProcessContext;
use crate::runs;

/// Stored runs that serve as baselines, each opened once.
pub(crate) struct BaselineRuns {
    process: ProcessContext,
    opened: Mutex<BTreeMap<String, Result<Arc<AnswerIndex>, EngineError>>>,
}

impl BaselineRuns {
    pub(crate) fn new(engine: &Engine) -> Self {
        Self { process: engine.process().clone(), opened: Mutex::default() }
    }

    /// What is wrong with the stored run that a grader names as its baseline, if anything.
    pub(crate) fn check_baseline(&self, grader: &Grader) -> Option<String> {
        let GraderKind::Pairwise(PairwiseGrader { baseline, .. }) = &grader.kind else { return None };
        let PairwiseBaseline::Run { written, folder, answer: None } = baseline else { return None };
        let problem = self.open(written, folder.as_ref()).err()?;
        Some(format!("grader `{}`: {problem}", grader.name))
    }

    /// Fills baseline answers into the graders of a case; returns the same case if no grader needs one.
    pub(crate) fn fill_answers(&self, suite: &str, case: &Arc<Case>, trial: u32) -> Arc<Case> {
        if !case.graders.iter().any(|grader| needs_stored_run(grader)) {
            return Arc::clone(case);
        }

        let key = (suite.to_owned(), case.id.to_string());
        let graders = case.graders.iter().map(|grader| self.with_answer(grader, &key, trial)).collect();
        Arc::new(Case { graders, ..Case::clone(case) })
    }

    fn with_answer(&self, grader: &Arc<Grader>, key: &(String, String), trial: u32) -> Arc<Grader> {
        let kind = match &grader.kind {
            GraderKind::Pairwise(pairwise) => {
                let PairwiseBaseline::Run { written, folder, answer: None } = &pairwise.baseline else {
                    return Arc::clone(grader);
                };
                let answer = self.answer(written, folder.as_ref(), key, trial).map_err(|error| error.message);
                let baseline = PairwiseBaseline::Run {
                    written: written.clone(),
                    folder: folder.clone(),
                    answer: Some(answer),
                };
                GraderKind::Pairwise(PairwiseGrader { baseline, ..pairwise.clone() })
            }
            GraderKind::Composite(composite) => GraderKind::Composite(CompositeGrader {
                members: composite
                    .members
                    .iter()
                    .map(|member| self.with_answer(member, key, trial))
                    .collect(),
                ..composite.clone()
            }),
            _ => return Arc::clone(grader),
        };
        Arc::new(Grader { kind, ..Grader::clone(grader) })
    }

    /// The run's answer to the case: to the same trial, or else to the first one.
    fn answer(
        &self,
        written: &str,
        folder: Option<&PathBuf>,
        (suite, case): &(String, String),
        trial: u32,
    ) -> Result<Arc<str>, EngineError> {
        let index = self.open(written, folder)?;
        for trial in [trial, 1] {
            let row = index.row(&(suite.clone(), case.clone(), trial))?;
            if let Some(answer) = row.and_then(|row| row.answer) {
                return Ok(answer.into());
            }
        }

        Err(EngineError::usage(format!(
            "the run `{written}` has no answer to the case `{case}` of `{suite}`"
        )))
    }

    fn open(&self, written: &str, folder: Option<&PathBuf>) -> Result<Arc<AnswerIndex>, EngineError> {
        let mut opened = self.opened.lock();
        // The same text names different runs if it is a path relative to different files.
        let key = folder.map_or_else(|| written.to_owned(), |folder| folder.display().to_string());
        let key = format!("{key}@{}", target_of(written).unwrap_or_default());
        if let Some(known) = opened.get(&key) {
            return known.clone();
        }

        let found = match folder {
            Some(folder) => Ok((RunFolder::new(folder), target_of(written).map(str::to_owned))),
            None => runs::find_answers(written, &self.process),
        };
        let found = found.and_then(|(run, target)| index(&run, target.as_deref(), written)).map(Arc::new);
        opened.insert(key, found.clone());

        found
    }
}

fn target_of(written: &str) -> Option<&str> {
    written.rsplit_once('@').map(|(_, target)| target)
}

/// Index of the answers of a run: those of the named target, or else of the only one.
fn index(run: &RunFolder, target: Option<&str>, written: &str) -> Result<AnswerIndex, EngineError> {
    run.info()?;
    let targets = run.answering_targets()?;
    let target = match (target, targets.iter().collect::<Vec<_>>().as_slice()) {
        (Some(target), _) if targets.contains(&Some(target.to_owned())) => Some(target.to_owned()),
        (Some(target), _) => {
            return Err(EngineError::usage(format!(
                "the run `{written}` has no answers from target `{target}`"
            )));
        }
        (None, []) => return Err(EngineError::usage(format!("the run `{written}` holds no answers"))),
        (None, [only]) => (*only).clone(),
        (None, several) => {
            let names: Vec<String> =
                several.iter().map(|name| name.as_deref().unwrap_or("(given)").to_owned()).collect();
            return Err(EngineError::usage(format!(
                "the run `{written}` holds answers of several targets ({}): name one, as in `{written}@{}`",
                names.join(", "),
                names.last().map_or("TARGET", String::as_str)
            )));
        }
    };
    Ok(run.answers(target.as_deref())?)
}

/// Whether a grader, or one of its members, is compared with a stored run.
fn needs_stored_run(grader: &Grader) -> bool {
    match &grader.kind {
        GraderKind::Pairwise(pairwise) => {
            matches!(pairwise.baseline, PairwiseBaseline::Run { answer: None, .. })
        }
        GraderKind::Composite(composite) => composite.members.iter().any(|member| needs_stored_run(member)),
        _ => false,
    }
}
