//! Answers of stored runs that serve as baselines.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use assize_model::{Case, CompositeGrader, Grader, GraderKind, PairwiseBaseline, PairwiseGrader};
use assize_store::{AnswerIndex, AnswerPart, RunFolder};
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

    /// Returns the problem with the stored run that a grader names as its baseline, if there is one.
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

        let key = BaselineKey { suite, case: case.id.as_str(), test: case.test_id() };
        let graders = case.graders.iter().map(|grader| self.with_answer(grader, &key, trial)).collect();
        Arc::new(Case { graders, ..Case::clone(case) })
    }

    fn with_answer(&self, grader: &Arc<Grader>, key: &BaselineKey<'_>, trial: u32) -> Arc<Grader> {
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
        BaselineKey { suite, case, test }: &BaselineKey<'_>,
        trial: u32,
    ) -> Result<Arc<str>, EngineError> {
        let index = self.open(written, folder)?;
        // With a prompt selected, the index has the ids of tests.
        for (id, trial) in [(case, trial), (test, trial), (case, 1), (test, 1)] {
            let row = index.row(&((*suite).to_owned(), (*id).to_owned(), trial))?;
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
        let name = written.rfind(['/', '\\']).map_or(0, |at| at + 1);
        let part = written[name..].split_once('@').map(|(_, part)| part);
        let key = format!("{key}@{}", part.unwrap_or_default());
        if let Some(known) = opened.get(&key) {
            return known.clone();
        }

        let found = match folder {
            Some(folder) => {
                let run = RunFolder::new(folder);
                let part = part.map(|part| runs::answer_part(&run, written, part)).transpose();
                part.map(|part| (run, part.unwrap_or_default()))
            }
            None => runs::find_answers(written, &self.process),
        };
        let found = found.and_then(|(run, part)| index(&run, part, written)).map(Arc::new);
        opened.insert(key, found.clone());

        found
    }
}

/// Key of a case in a baseline.
struct BaselineKey<'c> {
    suite: &'c str,
    case: &'c str,
    test: &'c str,
}

/// Index of a run's answers by the named target, or by the only one.
fn index(run: &RunFolder, part: AnswerPart, written: &str) -> Result<AnswerIndex, EngineError> {
    run.info()?;
    let targets = run.answer_names()?.targets;
    let target = match (part.target, targets.iter().collect::<Vec<_>>().as_slice()) {
        (Some(target), _) => Some(target),
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
    Ok(run.answers(target.as_deref(), part.prompt.as_deref())?)
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
