//! Dependencies between items: which cases an item waits for, and what happens if one of them does not pass.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use assize_model::OnDependencyFailure;
use assize_rubric::{TrialPlan, TrialResult, Verdict};
use assize_stats::{ConfidenceLevel, repeats::mean_lower_bound};
use assize_store::{CaseErrorKind, CaseKey, ResultRow};
use serde_json::{Map, Value};

use crate::history::AnswerGap;
use crate::{AnswerHistory, WorkItem};

/// Whether an item may start now.
pub(crate) enum Admission {
    /// It starts, with these answers to other cases.
    Start(Box<WorkItem>, Map<String, Value>),
    /// It is recorded without being run, because a case that it depends on did not pass.
    Blocked(Box<WorkItem>, BlockedItem),
    /// It is dropped: it is a trial of a case whose verdict is settled.
    Redundant(Box<WorkItem>),
    /// It waits for other items, and returns through [`DependencyTracker::released`].
    Waiting,
}

/// Why an item is not run, and the verdict that follows.
#[derive(Debug, Clone)]
pub(crate) struct BlockedItem {
    pub(crate) verdict: Verdict,
    pub(crate) kind: CaseErrorKind,
    /// The reason in words.
    pub(crate) reason: String,
}

/// The case of an item: suite, id and target.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct TrackedCase {
    suite: Arc<str>,
    case_id: String,
    target: Option<String>,
}

impl TrackedCase {
    fn new(item: &WorkItem) -> Self {
        Self {
            suite: Arc::clone(&item.suite),
            case_id: item.case.id.to_string(),
            target: item.source.name_of_target().map(str::to_owned),
        }
    }

    fn of_key(key: &CaseKey) -> Self {
        let target = key.target.as_deref().map(str::to_owned);
        Self { suite: Arc::clone(&key.suite), case_id: key.case_id.to_string(), target }
    }
}

/// Results of the trials of one case so far.
#[derive(Debug, Clone, Default)]
struct CaseProgress {
    plan: Option<TrialPlan>,
    trials: Vec<TrialResult>,
}

impl CaseProgress {
    /// The verdict of the case, once all its trials are done.
    fn verdict(&self) -> Option<Verdict> {
        let plan = self.plan.filter(|plan| plan.is_finished(&self.trials))?;
        let settled =
            plan.conclude(&self.trials, |scores| mean_lower_bound(scores, ConfidenceLevel::P95).ok());
        Some(settled.verdict)
    }
}

/// Tracks the items that wait and the cases that others depend on. Only these are remembered, so that a run
/// without such cases needs no memory for them.
#[derive(Default)]
pub(crate) struct DependencyTracker {
    progress: HashMap<TrackedCase, CaseProgress>,
    waiting: HashMap<TrackedCase, Vec<WorkItem>>,
    /// Recorded answers that other items take over.
    history: AnswerHistory,
    /// Items that waited and may be checked again.
    pub(crate) released: VecDeque<WorkItem>,
    /// Cases that did not pass.
    pub(crate) not_passed: usize,
}

impl DependencyTracker {
    /// A tracker that knows these answers.
    pub(crate) fn new(history: AnswerHistory) -> Self {
        Self { history, ..Self::default() }
    }

    /// Decides whether an item may start.
    pub(crate) fn admit(&mut self, item: WorkItem) -> Admission {
        if item.relations.trials.is_in_sequence() {
            let key = TrackedCase::new(&item);
            let before = self.progress.get(&key).map_or(&[][..], |progress| &progress.trials);
            if item.relations.trials.is_finished(before) {
                return Admission::Redundant(Box::new(item));
            }
            if before.len() + 1 < item.trial as usize {
                return self.wait(key, item);
            }
        }

        let mut failures = Vec::new();
        let relations = Arc::clone(&item.relations);
        for prerequisite in &relations.after {
            if prerequisite.targets.is_empty() {
                failures.push(format!("`{}` is not part of this run", prerequisite.case_id));
            }
            for target in &prerequisite.targets {
                let key = TrackedCase {
                    suite: Arc::clone(&item.suite),
                    case_id: prerequisite.case_id.clone(),
                    target: target.clone(),
                };
                let Some(verdict) = self.progress.get(&key).and_then(CaseProgress::verdict) else {
                    return self.wait(key, item);
                };
                if verdict != Verdict::Pass {
                    let with = target.as_deref().map(|name| format!(" with target `{name}`"));
                    let came_to = match verdict {
                        Verdict::Incomplete => "is incomplete",
                        Verdict::Borderline => "is borderline",
                        Verdict::Fail | Verdict::Pass => "failed",
                    };
                    failures.push(format!(
                        "`{}`{} {came_to}",
                        prerequisite.case_id,
                        with.unwrap_or_default()
                    ));
                }
            }
        }

        let failed = match relations.on_failure {
            _ if failures.is_empty() => None,
            OnDependencyFailure::Run => None,
            OnDependencyFailure::Skip => Some((Verdict::Incomplete, CaseErrorKind::Skipped)),
            OnDependencyFailure::Fail => Some((Verdict::Fail, CaseErrorKind::DependencyFailed)),
        };
        if let Some((verdict, kind)) = failed {
            let reason = format!("a dependency did not pass: {}", failures.join(", "));
            return Admission::Blocked(Box::new(item), BlockedItem { verdict, kind, reason });
        }

        match self.history.answers_for(&item) {
            Ok(answers) => Admission::Start(Box::new(item), answers),
            Err(AnswerGap::Awaited(key)) => self.wait(TrackedCase::of_key(&key), item),
            Err(AnswerGap::Lost(reason)) => {
                let (verdict, kind) = (Verdict::Incomplete, CaseErrorKind::NoAnswer);
                Admission::Blocked(Box::new(item), BlockedItem { verdict, kind, reason })
            }
        }
    }

    fn wait(&mut self, key: TrackedCase, item: WorkItem) -> Admission {
        self.waiting.entry(key).or_default().push(item);
        Admission::Waiting
    }

    /// Records the result of an item. Counts its case once it certainly did not pass.
    pub(crate) fn note_result(&mut self, item: &WorkItem, row: &ResultRow) {
        self.history.note(&item.relations, row);
        let verdict = self.note_trial(item, TrialResult::from(row));
        let did_not_pass = verdict.is_some_and(|verdict| verdict != Verdict::Pass);
        self.not_passed += usize::from(did_not_pass && !row.is_skipped());
    }

    /// Notes one trial of a case. Returns the verdict of the case after its last trial.
    pub(crate) fn note_trial(&mut self, item: &WorkItem, trial: TrialResult) -> Option<Verdict> {
        let relations = &item.relations;
        let plan = relations.trials;
        if !relations.is_awaited && plan.count == 1 {
            return Some(trial.verdict);
        }

        let key = TrackedCase::new(item);
        let progress = self.progress.entry(key.clone()).or_default();
        progress.plan = Some(plan);
        progress.trials.push(trial);

        let verdict = progress.verdict();

        // A finished case that no other case depends on need not be remembered.
        if verdict.is_some() && !relations.is_awaited && !plan.is_in_sequence() {
            self.progress.remove(&key);
        }
        if let Some(items) = self.waiting.remove(&key) {
            self.released.extend(items);
        }

        verdict
    }

    /// Releases everything that waits, as if the awaited cases had ended without a result. Returns false if
    /// nothing waits.
    pub(crate) fn release_all(&mut self) -> bool {
        self.history.close();
        let waiting: Vec<(TrackedCase, Vec<WorkItem>)> = self.waiting.drain().collect();
        for (key, items) in waiting {
            let progress = self.progress.entry(key).or_default();
            let thresholds = items.first().map(|item| item.relations.trials.thresholds);

            // A single trial with an unknown result: there is a verdict, and it is not a pass.
            progress.plan = progress.plan.or(thresholds.map(TrialPlan::single));
            progress.trials.resize(progress.plan.map_or(0, |plan| plan.count as usize), TrialResult::UNKNOWN);

            self.released.extend(items);
        }

        !self.released.is_empty()
    }
}
