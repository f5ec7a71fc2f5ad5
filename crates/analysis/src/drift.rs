//! Drift of a judge: the same answers judged again by one run after another.

use std::collections::{BTreeMap, BTreeSet};

use assize_rubric::{CaseDecision, Outcome, SeenHash};
use assize_stats::{
    UndefinedReason,
    sequential::{DriftStep, DriftTest},
};
use assize_store::CaseRecord;

/// A judge with this much evidence counts as changed. An unchanged judge needs at least this many runs, on average, to
/// reach it.
pub const CHANGED: f64 = 20.0;

/// Subject of a decision.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Anchor {
    suite: String,
    case: String,
    trial: u32,
    grader: String,
    criterion: String,
    /// Hash of the material that the judge saw.
    seen: String,
}

/// Decisions of a run that may be anchors: decisions on the same material in several runs.
#[derive(Debug, Clone, Default)]
pub struct AnchorRun {
    label: String,
    decisions: BTreeMap<Anchor, bool>,
    judges: BTreeSet<String>,
    cached: usize,
}

impl AnchorRun {
    /// Creates a run without decisions.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// Adds the decisions of a stored case. Decisions from the reply cache are only counted, because no judge
    /// made them again.
    pub fn add_record(&mut self, record: &CaseRecord) {
        let row = &record.result;
        for decided in record.decisions.iter().filter(|row| !row.is_vote()) {
            let Some(criterion) = decided.criterion() else { continue };
            let met = match decided.decision.outcome() {
                Outcome::Met => true,
                Outcome::Unmet => false,
                Outcome::Scored(raw) => raw.get() >= 5,
                _ => continue,
            };
            if !is_fresh(record, decided) {
                self.cached += 1;
                continue;
            }

            let answer = row.answer.as_deref().unwrap_or_default();
            let seen =
                SeenHash::from_criterion(criterion, row.case_hash.as_deref(), row.target.as_deref(), answer);
            let anchor = Anchor {
                suite: row.suite.to_string(),
                case: row.case_id.to_string(),
                trial: row.trial,
                grader: decided.grader.to_string(),
                criterion: decided.shown_criterion().to_string(),
                seen: seen.to_string(),
            };
            self.decisions.insert(anchor, met);
            let judge = &decided.decision.judge;
            let prompt = judge.prompt_hash.as_deref().unwrap_or_default();
            let model = judge.model.as_deref().unwrap_or_default();
            self.judges.insert(format!("{} {model} {prompt}", judge.name));
        }
    }
}

/// Returns true if the decision, or one of the votes behind it, came from a call and not from the cache.
fn is_fresh(record: &CaseRecord, decided: &CaseDecision) -> bool {
    let is_asked =
        |row: &CaseDecision| row.decision.spent.attempts > 0 || row.decision.spent.cached_calls == 0;
    let mut votes =
        record.decisions.iter().filter(|row| row.is_vote() && row.is_about_same(decided)).peekable();
    if votes.peek().is_some() { votes.any(is_asked) } else { is_asked(decided) }
}

/// A run of a drift report.
#[derive(Debug, Clone, PartialEq)]
pub struct DriftPoint {
    /// Label of the run.
    pub label: String,
    /// Number of decisions that an earlier run made on the same material.
    pub anchors: usize,
    /// Number of anchors whose decision differs from the last run that made it.
    pub changed: usize,
    /// Number of decisions of the run that came from the reply cache.
    pub cached: usize,
    /// True if the judge's name, model or prompt differs from the run before.
    pub renamed: bool,
    /// Result of the test after this run; `None` if the run has no anchors.
    pub step: Option<DriftStep>,
}

/// Drift over runs.
#[derive(Debug, Clone, PartialEq)]
pub struct DriftReport {
    /// The runs, the oldest first.
    pub points: Vec<DriftPoint>,
    /// Index of the first run that shows that the judge changed.
    pub changed_at: Option<usize>,
}

/// Tests whether the judge changed over runs, the oldest first. Fails if no two runs decided on the same
/// material.
pub fn judge_drift(runs: &[AnchorRun]) -> Result<DriftReport, UndefinedReason> {
    let mut counts: BTreeMap<&Anchor, usize> = BTreeMap::new();
    for anchor in runs.iter().flat_map(|run| run.decisions.keys()) {
        *counts.entry(anchor).or_default() += 1;
    }
    let anchors: Vec<&Anchor> =
        counts.into_iter().filter(|(_, runs)| *runs > 1).map(|(anchor, _)| anchor).collect();
    if anchors.is_empty() {
        return Err(UndefinedReason::NoPairs);
    }

    // Anchors are sorted, so the anchors of a case are neighbours. Their decisions may depend on each other.
    let cases = anchors.chunk_by(|a, b| (&a.suite, &a.case) == (&b.suite, &b.case));
    let mut test = DriftTest::new(cases.map(<[_]>::len).collect());
    let mut last: Vec<Option<bool>> = vec![None; anchors.len()];
    let (mut points, mut changed_at) = (Vec::new(), None);
    let mut judges: Option<&BTreeSet<String>> = None;
    for (at, run) in runs.iter().enumerate() {
        let decisions: Vec<Option<bool>> =
            anchors.iter().map(|anchor| run.decisions.get(*anchor).copied()).collect();
        let changed =
            last.iter().zip(&decisions).filter(|(old, new)| old.is_some() && new.is_some() && old != new);
        let changed = changed.count();
        let step = test.add(&decisions)?;
        for (last, new) in last.iter_mut().zip(&decisions) {
            *last = new.or(*last);
        }
        if changed_at.is_none() && step.is_some_and(|step| step.evidence >= CHANGED) {
            changed_at = Some(at);
        }
        points.push(DriftPoint {
            label: run.label.clone(),
            anchors: step.map_or(0, |step| step.items),
            changed,
            cached: run.cached,
            renamed: judges.is_some_and(|before| *before != run.judges),
            step,
        });
        judges = Some(&run.judges);
    }

    Ok(DriftReport { points, changed_at })
}
