//! Judged items of a stored run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use assize_rubric::{BenchmarkState, CaseDecision, DecidedBy, JudgeIdentity, Outcome, RawScore, SeenHash};
use assize_store::{CaseRecord, ResultRow, RunInfo, StoreError};

use super::bias::model_family;
use super::item::{CalibrationItem, DecisionValue, ItemKey, JudgeItemDecision};
use super::material::CalibrationMaterial;
use crate::facts::cluster_name;
use crate::shared_texts::SharedTexts;

/// Items of a run, with warnings about them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunItems {
    /// Items, without labels yet.
    pub material: CalibrationMaterial,
    /// Ids of criteria whose text differs between cases.
    pub reworded: Vec<String>,
    /// Number of graders other than rubrics, whose decisions people can't label individually.
    pub other_graders: u64,
}

/// A decision of a record. Whether its criterion id needs the grader's name to be unique is only known at the
/// end.
struct JudgedItem {
    item: CalibrationItem,
    grader: Arc<str>,
    text: String,
}

/// Fields of a record that its decisions share.
struct JudgedAnswer<'r> {
    result: &'r ResultRow,
    /// Key of its items, without the criterion.
    key: ItemKey,
    cluster: Arc<str>,
    length: Option<f64>,
    /// Model that gave the answer, if it is known.
    model: Option<&'r str>,
}

/// Texts of a grader's criteria with the same id: the first one, and whether there are others.
struct CriterionWording {
    first: String,
    differs: bool,
}

/// Collects the decisions of a run's judges. Every criterion of a rubric counts, even with weight 0; ungraded
/// criteria stay ungraded.
pub fn from_run(
    info: &RunInfo,
    cases: impl IntoIterator<Item = Result<CaseRecord, StoreError>>,
) -> Result<RunItems, StoreError> {
    let models: BTreeMap<&str, &str> = info
        .targets
        .iter()
        .filter_map(|target| Some((target.name.as_str(), target.model.as_deref()?)))
        .collect();

    let (mut items, mut graders) = (Vec::<CalibrationItem>::new(), Vec::<Arc<str>>::new());
    let (mut judges, mut other_graders) = (BTreeSet::new(), 0);
    let mut texts = SharedTexts::default();
    let mut shared: BTreeSet<Arc<str>> = BTreeSet::new();
    let mut wordings: BTreeMap<(Arc<str>, Arc<str>), CriterionWording> = BTreeMap::new();
    let mut own: BTreeMap<Arc<str>, Vec<usize>> = BTreeMap::new();
    for record in cases {
        let record = record?;
        let answer = JudgedAnswer::new(&record.result, &models, &mut texts);
        own.clear();
        // The votes of a panel are rows beside its decision; only the decision counts.
        for row in record.decisions.iter().filter(|row| !row.is_vote()) {
            let judge = &row.decision.judge;
            let decision = match row.criterion() {
                Some(_) => Some(answer.criterion_decision(row, &mut texts)),
                None => answer.benchmark_decision(row, &mut texts),
            };
            let Some(JudgedItem { item, grader, text }) = decision else {
                other_graders += 1;
                continue;
            };

            if !judges.contains(&*judge.name) {
                judges.insert(judge.name.to_string());
            }
            let criterion = &item.key.criterion;
            let wording = wordings.entry((Arc::clone(criterion), Arc::clone(&grader)));
            let wording = wording.or_insert_with(|| CriterionWording { first: text.clone(), differs: false });
            wording.differs |= wording.first != text;

            // Only decisions on the same answer can have the same key.
            let places = own.entry(Arc::clone(criterion)).or_default();
            if places.iter().any(|at| graders[*at] != grader) {
                shared.insert(Arc::clone(criterion));
            }
            if let Some(at) = places.iter().find(|at| graders[**at] == grader) {
                items[*at] = item;
            } else {
                places.push(items.len());
                items.push(item);
                graders.push(grader);
            }
        }
    }

    for (item, grader) in items.iter_mut().zip(&graders) {
        if shared.contains(&item.key.criterion) {
            item.key.criterion = texts.share(&format!("{grader}/{}", item.key.criterion));
        }
    }
    items.sort_unstable_by(|a, b| a.key.cmp(&b.key));

    let judge = (!judges.is_empty()).then(|| judges.into_iter().collect::<Vec<_>>().join(", "));
    let material = CalibrationMaterial { items, judge, ..CalibrationMaterial::default() };
    Ok(RunItems { material, reworded: reworded_ids(&wordings, &shared), other_graders })
}

/// Returns the ids whose texts differ. If several graders of an answer have the same id, the grader's name is
/// part of it.
fn reworded_ids(
    wordings: &BTreeMap<(Arc<str>, Arc<str>), CriterionWording>,
    shared: &BTreeSet<Arc<str>>,
) -> Vec<String> {
    let mut by_id: BTreeMap<String, (&str, bool)> = BTreeMap::new();
    for ((criterion, grader), wording) in wordings {
        let id =
            if shared.contains(criterion) { format!("{grader}/{criterion}") } else { criterion.to_string() };
        let (first, differs) = by_id.entry(id).or_insert((&wording.first, false));
        *differs |= wording.differs || **first != *wording.first;
    }

    by_id.into_iter().filter(|(_, (_, differs))| *differs).map(|(id, _)| id).collect()
}

impl<'r> JudgedAnswer<'r> {
    fn new(result: &'r ResultRow, models: &BTreeMap<&str, &'r str>, texts: &mut SharedTexts) -> Self {
        Self {
            key: ItemKey {
                suite: texts.share(&result.suite),
                case: (&*result.case_id).into(),
                system: texts.share(result.target.as_deref().unwrap_or_default()),
                trial: result.trial,
                criterion: Arc::default(),
            },
            cluster: cluster_name(result).into(),
            length: result.answer.as_ref().map(|answer| answer.chars().count() as f64),
            model: result.target.as_deref().and_then(|name| models.get(name).copied()),
            result,
        }
    }

    /// Decision of a judge on a benchmark of a scorecard; `None` if checks or a person decided.
    fn benchmark_decision(&self, row: &CaseDecision, texts: &mut SharedTexts) -> Option<JudgedItem> {
        let benchmark = row.decision.benchmark()?;
        if benchmark.decided_by != Some(DecidedBy::Judge) {
            return None;
        }

        let said = match (benchmark.state, benchmark.pass) {
            (BenchmarkState::NotApplicable, _) => DecisionValue::NotApplicable,
            (BenchmarkState::Scored, Some(pass)) => DecisionValue::Verdict(pass),
            _ => DecisionValue::Undecided,
        };

        let mut found = self.criterion_decision(row, texts);
        found.item.key.criterion = texts.share(&row.grader);
        found.text = row.grader.to_string();
        found.item.seen = benchmark.seen;
        found.item.judge = found.item.judge.map(|judge| JudgeItemDecision { said, ..judge });

        Some(found)
    }

    fn criterion_decision(&self, row: &CaseDecision, texts: &mut SharedTexts) -> JudgedItem {
        let said = match row.decision.outcome() {
            Outcome::Met => DecisionValue::Verdict(true),
            Outcome::Unmet => DecisionValue::Verdict(false),
            Outcome::Scored(raw) => DecisionValue::Score(f64::from(RawScore::get(raw))),
            Outcome::Averaged(points) => DecisionValue::Score(points.get()),
            Outcome::NotApplicable => DecisionValue::NotApplicable,
            Outcome::Ungraded => DecisionValue::Undecided,
        };

        let families = self.model.and_then(model_family).zip(judge_family(&row.decision.judge));
        let probability =
            row.decision.probability.as_ref().filter(|_| matches!(said, DecisionValue::Verdict(_)));
        let judge = JudgeItemDecision {
            said,
            probability: probability.map(|found| found.expected),
            same_family: families.map(|(answer, judge)| answer == judge),
            captured_mass: None,
        };
        let seen = row.criterion().map(|criterion| {
            let result = self.result;
            let answer = result.answer.as_deref().unwrap_or_default();
            let case = result.case_hash.as_deref();
            SeenHash::from_criterion(criterion, case, result.target.as_deref(), answer)
        });

        JudgedItem {
            item: CalibrationItem {
                key: ItemKey { criterion: texts.share(&row.shown_criterion()), ..self.key.clone() },
                judge: Some(judge),
                seen,
                length: self.length,
                cluster: Arc::clone(&self.cluster),
                labels: None,
            },
            grader: texts.share(&row.grader),
            text: row.criterion().map(|criterion| criterion.text.clone()).unwrap_or_default(),
        }
    }
}

fn judge_family(judge: &JudgeIdentity) -> Option<String> {
    if &*judge.name == "offline" {
        return None;
    }
    model_family(judge.model.as_deref().unwrap_or(&judge.name))
}
