//! Baseline answers, read from stored runs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use assize_evalfile::{Baseline, Case, CompositeGrader, Grader, GraderKind, PairwiseGrader};
use assize_store::{AnswerIndex, RunFolder};

use super::runs;
use crate::context::Context;

/// Stored runs that serve as baselines, each opened once.
pub(crate) struct Baselines {
    working_folder: PathBuf,
    opened: Mutex<BTreeMap<String, Result<Arc<AnswerIndex>, String>>>,
}

impl Baselines {
    pub(crate) fn new(context: &Context) -> Self {
        Self { working_folder: context.working_folder.clone(), opened: Mutex::default() }
    }

    /// Error message if the baseline run of a grader can't be read.
    pub(crate) fn problem(&self, grader: &Grader) -> Option<String> {
        let GraderKind::Pairwise(PairwiseGrader { baseline, .. }) = &grader.kind else { return None };
        let Baseline::Run { written, folder, answer: None } = baseline else { return None };
        let problem = self.open(written, folder.as_ref()).err()?;
        Some(format!("grader `{}`: {problem}", grader.name))
    }

    /// Fills baseline answers into the graders of a case; returns the same case if no grader needs one.
    pub(crate) fn filled(&self, suite: &str, case: &Arc<Case>, repeat: u32) -> Arc<Case> {
        if !case.graders.iter().any(|grader| names_run(grader)) {
            return Arc::clone(case);
        }
        let key = (suite.to_owned(), case.id.to_string());
        let graders = case.graders.iter().map(|grader| self.with_answer(grader, &key, repeat)).collect();
        Arc::new(Case { graders, ..Case::clone(case) })
    }

    fn with_answer(&self, grader: &Arc<Grader>, key: &(String, String), repeat: u32) -> Arc<Grader> {
        let kind = match &grader.kind {
            GraderKind::Pairwise(pairwise) => {
                let Baseline::Run { written, folder, answer: None } = &pairwise.baseline else {
                    return Arc::clone(grader);
                };
                let answer = Some(self.answer(written, folder.as_ref(), key, repeat));
                let baseline = Baseline::Run { written: written.clone(), folder: folder.clone(), answer };
                GraderKind::Pairwise(PairwiseGrader { baseline, ..pairwise.clone() })
            }
            GraderKind::Composite(composite) => GraderKind::Composite(CompositeGrader {
                members: composite
                    .members
                    .iter()
                    .map(|member| self.with_answer(member, key, repeat))
                    .collect(),
                ..composite.clone()
            }),
            _ => return Arc::clone(grader),
        };
        Arc::new(Grader { kind, ..Grader::clone(grader) })
    }

    /// The run's answer to a case: that of the same repeat, else of the first.
    fn answer(
        &self,
        written: &str,
        folder: Option<&PathBuf>,
        (suite, case): &(String, String),
        repeat: u32,
    ) -> Result<Arc<str>, String> {
        let index = self.open(written, folder)?;
        for repeat in [repeat, 1] {
            let row = index.row(&(suite.clone(), case.clone(), repeat)).map_err(|error| error.to_string())?;
            if let Some(answer) = row.and_then(|row| row.answer) {
                return Ok(answer.into());
            }
        }
        Err(format!("the run `{written}` has no answer to the case `{case}` of `{suite}`"))
    }

    fn open(&self, written: &str, folder: Option<&PathBuf>) -> Result<Arc<AnswerIndex>, String> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        // A relative path means different runs in different files, so the key is the resolved folder.
        let key = folder.map_or_else(|| written.to_owned(), |folder| folder.display().to_string());
        let key = format!("{key}@{}", target_of(written).unwrap_or_default());
        if let Some(known) = opened.get(&key) {
            return known.clone();
        }
        let found = match folder {
            Some(folder) => Ok((RunFolder::at(folder), target_of(written).map(str::to_owned))),
            None => runs::find_answers_in(written, &self.working_folder),
        };
        let found = found.and_then(|(run, target)| index(&run, target.as_deref(), written)).map(Arc::new);
        opened.insert(key, found.clone());
        found
    }
}

fn target_of(written: &str) -> Option<&str> {
    written.rsplit_once('@').map(|(_, target)| target)
}

/// Index of the answers of a run: those of the named target, else of the only one.
fn index(run: &RunFolder, target: Option<&str>, written: &str) -> Result<AnswerIndex, String> {
    let text = |error: assize_store::StoreError| error.to_string();
    run.info().map_err(text)?;
    let targets = run.answered_by().map_err(text)?;
    let target = match (target, targets.iter().collect::<Vec<_>>().as_slice()) {
        (Some(target), _) if targets.contains(&Some(target.to_owned())) => Some(target.to_owned()),
        (Some(target), _) => {
            return Err(format!("the run `{written}` holds no answers of a target `{target}`"));
        }
        (None, []) => return Err(format!("the run `{written}` holds no answers")),
        (None, [only]) => (*only).clone(),
        (None, several) => {
            let names: Vec<String> =
                several.iter().map(|name| name.as_deref().unwrap_or("(given)").to_owned()).collect();
            return Err(format!(
                "the run `{written}` holds answers of several targets ({}): name one, as in `{written}@{}`",
                names.join(", "),
                names.last().map_or("TARGET", String::as_str)
            ));
        }
    };
    run.answers(target.as_deref()).map_err(text)
}

/// Returns true if a grader, or a member of it, has a stored run as its baseline.
fn names_run(grader: &Grader) -> bool {
    match &grader.kind {
        GraderKind::Pairwise(pairwise) => matches!(pairwise.baseline, Baseline::Run { answer: None, .. }),
        GraderKind::Composite(composite) => composite.members.iter().any(|member| names_run(member)),
        _ => false,
    }
}
