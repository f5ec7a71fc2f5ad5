//! Judged items of a stored run.

use std::collections::{BTreeMap, BTreeSet};

use assize_rubric::{BenchmarkState, CaseDecision, DecidedBy, JudgeIdentity, Outcome, RawScore, SeenHash};
use assize_store::{CaseRecord, ResultRow, RunInfo, StoreError};

use super::bias::model_family;
use super::item::{CalibrationItem, DecisionValue, ItemKey, JudgeItemDecision};
use super::material::CalibrationMaterial;

/// Items of a run, with warnings about them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunItems {
    /// Items, without labels yet.
    pub material: CalibrationMaterial,
    /// Ids whose criterion text differs between cases.
    pub reworded: Vec<String>,
    /// Number of graders other than rubrics, whose decisions people can't label one by one.
    pub other_graders: u64,
}

/// One decision, before it is known whether its criterion's id needs the grader's name to be unique.
struct JudgedItem {
    key: ItemKey,
    grader: String,
    text: String,
    said: DecisionValue,
    /// Probability of "met", for a verdict that was read off token probabilities.
    probability: Option<f64>,
    same_family: Option<bool>,
    seen: Option<SeenHash>,
    length: Option<f64>,
}

/// Collects the decisions of a run's judges. Every criterion of a rubric counts, whatever its weight;
/// ungraded ones stay ungraded.
pub fn from_run(
    info: &RunInfo,
    cases: impl IntoIterator<Item = Result<CaseRecord, StoreError>>,
) -> Result<RunItems, StoreError> {
    let models: BTreeMap<&str, &str> = info
        .targets
        .iter()
        .filter_map(|target| Some((target.name.as_str(), target.model.as_deref()?)))
        .collect();

    let (mut decisions, mut judges, mut other_graders) = (Vec::new(), BTreeSet::new(), 0);
    for record in cases {
        let record = record?;
        let length = record.result.answer.as_ref().map(|answer| answer.chars().count() as f64);
        let answered = record.result.target.as_deref().and_then(|name| models.get(name).copied());
        // The votes of a panel are rows beside its decision; only the decision counts.
        for row in record.decisions.iter().filter(|row| !row.is_vote()) {
            let judge = &row.decision.judge;
            if row.criterion().is_none() {
                match benchmark_decision(&record.result, row, answered, length) {
                    Some(decision) => {
                        judges.insert(judge.name.clone());
                        decisions.push(decision);
                    }
                    None => other_graders += 1,
                }
                continue;
            }

            judges.insert(judge.name.clone());
            decisions.push(criterion_decision(&record.result, row, answered, length));
        }
    }

    let shared = shared_ids(&decisions);
    let mut wordings: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut items = BTreeMap::new();
    for JudgedItem { mut key, grader, text, said, probability, same_family, seen, length } in decisions {
        if shared.contains(&key.criterion) {
            key.criterion = format!("{grader}/{}", key.criterion);
        }

        wordings.entry(key.criterion.clone()).or_default().insert(text);
        let judge = Some(JudgeItemDecision { said, probability, same_family, captured_mass: None });
        let item = CalibrationItem {
            people: Vec::new(),
            adjudicated: None,
            judge,
            seen,
            length,
            cluster: format!("{}\u{1f}{}", key.suite, key.case),
            requires: Vec::new(),
            sampled: None,
            drawn: None,
            split: None,
            place: None,
            key: key.clone(),
        };
        items.insert(key, item);
    }

    let reworded = wordings.into_iter().filter(|(_, texts)| texts.len() > 1).map(|(id, _)| id).collect();
    let judge = (!judges.is_empty()).then(|| judges.into_iter().collect::<Vec<_>>().join(", "));
    let material =
        CalibrationMaterial { items: items.into_values().collect(), judge, ..CalibrationMaterial::default() };
    Ok(RunItems { material, reworded, other_graders })
}

/// Decision of a judge about a benchmark of a scorecard; `None` for those that checks or people decided.
fn benchmark_decision(
    result: &ResultRow,
    row: &CaseDecision,
    answered: Option<&str>,
    length: Option<f64>,
) -> Option<JudgedItem> {
    let benchmark = row.decision.benchmark()?;
    if benchmark.decided_by != Some(DecidedBy::Judge) {
        return None;
    }

    let said = match (benchmark.state, benchmark.pass) {
        (BenchmarkState::NotApplicable, _) => DecisionValue::NotApplicable,
        (BenchmarkState::Scored, Some(pass)) => DecisionValue::Verdict(pass),
        _ => DecisionValue::Undecided,
    };

    let mut found = criterion_decision(result, row, answered, length);
    found.key.criterion = row.grader.to_string();
    found.text = row.grader.to_string();
    found.seen = benchmark.seen;

    Some(JudgedItem { said, ..found })
}

fn criterion_decision(
    result: &ResultRow,
    row: &CaseDecision,
    answered: Option<&str>,
    length: Option<f64>,
) -> JudgedItem {
    let said = match row.decision.outcome() {
        Outcome::Met => DecisionValue::Verdict(true),
        Outcome::Unmet => DecisionValue::Verdict(false),
        Outcome::Scored(raw) => DecisionValue::Score(f64::from(RawScore::get(raw))),
        Outcome::Averaged(points) => DecisionValue::Score(points.get()),
        Outcome::NotApplicable => DecisionValue::NotApplicable,
        Outcome::Ungraded => DecisionValue::Undecided,
    };

    let families = answered.and_then(model_family).zip(judge_family(&row.decision.judge));
    JudgedItem {
        key: ItemKey {
            suite: result.suite.to_string(),
            case: result.case_id.to_string(),
            system: result.target.as_deref().unwrap_or_default().to_owned(),
            repeat: result.repeat,
            criterion: row.shown_criterion().to_string(),
        },
        grader: row.grader.to_string(),
        text: row.criterion().map(|criterion| criterion.text.clone()).unwrap_or_default(),
        said,
        probability: row
            .decision
            .probability
            .as_ref()
            .filter(|_| matches!(said, DecisionValue::Verdict(_)))
            .map(|found| found.expected),
        seen: row.criterion().map(|criterion| {
            let answer = result.answer.as_deref().unwrap_or_default();
            let case = result.case_hash.as_deref();
            SeenHash::from_criterion(criterion, case, result.target.as_deref(), answer)
        }),
        same_family: families.map(|(answer, judge)| answer == judge),
        length,
    }
}

fn judge_family(judge: &JudgeIdentity) -> Option<String> {
    if &*judge.name == "offline" {
        return None;
    }
    model_family(judge.model.as_deref().unwrap_or(&judge.name))
}

/// Ids that several graders of one case have.
fn shared_ids(decisions: &[JudgedItem]) -> BTreeSet<String> {
    let mut graders: BTreeMap<&ItemKey, &str> = BTreeMap::new();
    let mut shared = BTreeSet::new();
    for decision in decisions {
        let first = *graders.entry(&decision.key).or_insert(&decision.grader);
        if first != decision.grader {
            shared.insert(decision.key.criterion.clone());
        }
    }

    shared
}
