//! Which items may begin: what they wait for, and what becomes of them when that did not pass.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use assize_evalfile::OnDependencyFailure;
use assize_rubric::{Repeat, RepeatPlan, Verdict};
use assize_stats::{Level, repeats::lower_mean};
use assize_store::ResultRow;

use crate::WorkItem;

/// What may be done with an item.
pub(crate) enum Admission {
    /// It begins.
    Begin(Box<WorkItem>),
    /// It is not run, because a case it depends on did not pass.
    Held(Box<WorkItem>, Held),
    /// Nobody needs it any more.
    Needless,
    /// It waits.
    Waits,
}

/// Why an item is not run, and what that makes of it.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    /// Left out (incomplete) or failed.
    pub(crate) verdict: Verdict,
    /// Why, in words.
    pub(crate) why: String,
}

/// The case of an item: suite, id and target.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    suite: Arc<str>,
    case_id: String,
    target: Option<String>,
}

impl Key {
    fn of(item: &WorkItem) -> Self {
        Self {
            suite: Arc::clone(&item.suite),
            case_id: item.case.id.to_string(),
            target: item.source.target_name().map(str::to_owned),
        }
    }
}

/// What became of the repeats of one case so far.
#[derive(Debug, Clone, Default)]
struct Progress {
    plan: Option<RepeatPlan>,
    repeats: Vec<Repeat>,
}

impl Progress {
    /// The verdict on the case, once nothing more is to come.
    fn verdict(&self) -> Option<Verdict> {
        let plan = self.plan.filter(|plan| plan.is_over(&self.repeats))?;
        let settled = plan.settle(&self.repeats, |scores| lower_mean(scores, Level::P95).ok());
        Some(settled.verdict)
    }
}

/// The items that wait, and what has become of the cases that something hangs on. Only these are remembered, so that a
/// run without such cases takes no memory for them.
#[derive(Default)]
pub(crate) struct Board {
    progress: HashMap<Key, Progress>,
    waiting: HashMap<Key, Vec<WorkItem>>,
    /// Items that waited and may be looked at again.
    released: VecDeque<WorkItem>,
    /// Cases that did not pass.
    not_passed: usize,
}

impl Board {
    /// The next item that waited for something that has happened since.
    pub(crate) fn released(&mut self) -> Option<WorkItem> {
        self.released.pop_front()
    }

    /// What may be done with an item now.
    pub(crate) fn admit(&mut self, item: WorkItem) -> Admission {
        if item.relations.repeats.is_in_sequence() {
            let key = Key::of(&item);
            let before = self.progress.get(&key).map_or(&[][..], |progress| &progress.repeats);
            if item.relations.repeats.is_over(before) {
                return Admission::Needless;
            }
            if before.len() + 1 < item.repeat as usize {
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
                let key = Key {
                    suite: Arc::clone(&item.suite),
                    case_id: prerequisite.case_id.clone(),
                    target: target.clone(),
                };
                let Some(verdict) = self.progress.get(&key).and_then(Progress::verdict) else {
                    return self.wait(key, item);
                };
                if verdict != Verdict::Pass {
                    let with = target.as_deref().map(|name| format!(" with target `{name}`"));
                    let came_to = match verdict {
                        Verdict::Incomplete => "could not be decided",
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
        if failures.is_empty() {
            return Admission::Begin(Box::new(item));
        }
        let verdict = match relations.on_failure {
            OnDependencyFailure::Run => return Admission::Begin(Box::new(item)),
            OnDependencyFailure::Skip => Verdict::Incomplete,
            OnDependencyFailure::Fail => Verdict::Fail,
        };
        let why = format!("it depends on what did not pass: {}", failures.join(", "));
        Admission::Held(Box::new(item), Held { verdict, why })
    }

    fn wait(&mut self, key: Key, item: WorkItem) -> Admission {
        self.waiting.entry(key).or_default().push(item);
        Admission::Waits
    }

    /// Takes note of what became of an item, and counts its case once it is known not to have passed.
    pub(crate) fn finished(&mut self, item: &WorkItem, row: &ResultRow) {
        let verdict = self.remember(item, Repeat::from(row));
        let did_not_pass = verdict.is_some_and(|verdict| verdict != Verdict::Pass);
        self.not_passed += usize::from(did_not_pass && !row.is_skipped());
    }

    /// Takes note of what became of an item. The verdict on its case, if nothing more of it is to come.
    pub(crate) fn remember(&mut self, item: &WorkItem, repeat: Repeat) -> Option<Verdict> {
        let relations = &item.relations;
        let plan = relations.repeats;
        if !relations.is_awaited && plan.count == 1 {
            return Some(repeat.verdict);
        }
        let key = Key::of(item);
        let progress = self.progress.entry(key.clone()).or_default();
        progress.plan = Some(plan);
        progress.repeats.push(repeat);
        let verdict = progress.verdict();
        // A case that is over and on which nothing hangs is forgotten.
        if verdict.is_some() && !relations.is_awaited && !plan.is_in_sequence() {
            self.progress.remove(&key);
        }
        if let Some(items) = self.waiting.remove(&key) {
            self.released.extend(items);
        }
        verdict
    }

    /// Lets everything that waits be looked at once more, as if what it waits for had come to nothing. Whether there
    /// was anything.
    pub(crate) fn give_up(&mut self) -> bool {
        let waiting: Vec<(Key, Vec<WorkItem>)> = self.waiting.drain().collect();
        for (key, items) in waiting {
            let progress = self.progress.entry(key).or_default();
            let lines = items.first().map(|item| item.relations.repeats.lines);
            // One run that came to nothing: there is a verdict, and it is no pass.
            progress.plan = progress.plan.or(lines.map(RepeatPlan::once));
            progress.repeats.resize(progress.plan.map_or(0, |plan| plan.count as usize), Repeat::UNKNOWN);
            self.released.extend(items);
        }
        !self.released.is_empty()
    }

    /// Cases that did not pass.
    pub(crate) const fn not_passed(&self) -> usize {
        self.not_passed
    }
}
