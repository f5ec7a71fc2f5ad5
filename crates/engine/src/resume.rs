//! Resumes a stopped run: which run, and which of its cases are still valid.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use assize_analysis::RunSummarizer;
use assize_rubric::{TrialResult, Verdict};
use assize_run::{AnswerHistory, ItemError, ItemRelations, RunTotals, WorkItem, fingerprint};
use assize_store::{CaseKey, CaseRecord, RunFolder, RunInfo, RunWriter};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::runs::{find_run, newest_first};

/// The run to resume: `name`, or the newest one that was started with the same options as `now`.
pub(crate) fn choose_run(name: &str, now: &RunInfo, engine: &Engine) -> Result<RunFolder, EngineError> {
    if name != NEWEST_RUN {
        let folder = find_run(name, engine.process())?;
        check(&folder, now)?;
        return Ok(folder);
    }
    newest_first(engine.process())
        .find(|folder| folder.info().is_ok_and(|stored| describe_difference(&stored, now).is_none()))
        .ok_or_else(|| {
            EngineError::usage(
                "no stopped run of this suite with these settings to resume; remove `--resume` to start a new one",
            )
        })
}

/// Name that selects the newest run with the same options.
pub const NEWEST_RUN: &str = "last";

/// Rejects a run with other settings, because resuming would discard its results.
pub(crate) fn check(folder: &RunFolder, now: &RunInfo) -> Result<(), EngineError> {
    let stored = folder.info()?;
    match describe_difference(&stored, now) {
        None => Ok(()),
        Some(what) => Err(EngineError::usage(format!(
            "`{}` can't be resumed: {what}. Start a new run, or use the options it was started with",
            folder.path().display()
        ))),
    }
}

/// The difference between a stored run and the requested one. Contents of files may differ.
fn describe_difference(stored: &RunInfo, now: &RunInfo) -> Option<String> {
    fn named(names: impl Iterator<Item = String>) -> String {
        let mut names: Vec<String> = names.collect();
        names.sort();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }

    fn threshold(given: Option<f64>) -> String {
        given.map_or_else(|| "as the files say".to_owned(), |given| given.to_string())
    }

    let suites = |info: &RunInfo| named(info.suites.iter().map(|suite| suite.name.clone()));
    let judges = |info: &RunInfo| named(info.judges.iter().map(|judge| judge.identity.name.to_string()));
    let targets = |info: &RunInfo| named(info.targets.iter().map(|target| target.name.clone()));
    let shard = |info: &RunInfo| {
        info.shard
            .as_ref()
            .map_or_else(|| "none".to_owned(), |shard| format!("{}/{}", shard.number, shard.count))
    };
    let excluded = |info: &RunInfo| named(info.settings.other.get(EXCLUDED_TAGS).cloned().into_iter());
    let aspects = [
        ("its command", stored.command.clone(), now.command.clone()),
        ("its suites", suites(stored), suites(now)),
        ("its judges", judges(stored), judges(now)),
        ("its targets", targets(stored), targets(now)),
        ("its judging", stored.settings.judging.clone(), now.settings.judging.clone()),
        ("its threshold", threshold(stored.settings.threshold), threshold(now.settings.threshold)),
        ("its borderline", threshold(stored.settings.borderline), threshold(now.settings.borderline)),
        (
            "its filter",
            named(stored.settings.filter.iter().cloned()),
            named(now.settings.filter.iter().cloned()),
        ),
        ("its shard", shard(stored), shard(now)),
        ("its tags", named(stored.settings.tags.iter().cloned()), named(now.settings.tags.iter().cloned())),
        ("its excluded tags", excluded(stored), excluded(now)),
    ];

    aspects
        .into_iter()
        .find(|(_, stored, now)| stored != now)
        .map(|(what, stored, now)| format!("{what}: {stored}; now: {now}"))
}

/// A run that is continued.
pub(crate) struct ResumedRun {
    pub(crate) writer: RunWriter,
    /// Cases that need not run again, with their results.
    pub(crate) done: HashMap<CaseKey, TrialResult>,
    /// Their answers that others take over.
    pub(crate) history: AnswerHistory,
    /// The number of cases that were done and run again, because the case or its settings have changed.
    pub(crate) changed: usize,
    /// The number of cases that were done and no longer belong to the run.
    pub(crate) gone: usize,
    /// Totals of the cases that are done.
    pub(crate) totals: RunTotals,
    /// Their part in the metrics of the run.
    pub(crate) figures: RunSummarizer,
}

/// Cases that depend on the answers to others. If one of the cases whose answers are compared runs, all of them do; if
/// a case runs, so do those that take over its answer.
#[derive(Default)]
struct TiedCases {
    /// Cases of each test whose answers are compared, by suite, test and trial.
    groups: BTreeMap<(Arc<str>, Arc<str>, u32), HashSet<CaseKey>>,
    /// Cases that take over answers of other cases or hand on their own, each with its relations.
    taking: HashMap<CaseKey, Arc<ItemRelations>>,
    /// Cases that must run.
    open: HashSet<CaseKey>,
}

impl TiedCases {
    fn add(&mut self, item: &WorkItem) {
        if let Some(group) = &item.relations.rivals {
            let test = (Arc::clone(&item.suite), Arc::clone(&group.test), item.trial);
            self.groups.entry(test).or_default().insert(item.key());
        }
        if item.case.history.is_some() {
            self.taking.insert(item.key(), Arc::clone(&item.relations));
        }
    }

    fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.taking.is_empty()
    }

    /// Notes the cases that need not run.
    fn note_whole(&mut self, whole: &HashSet<CaseKey>) {
        self.open.extend(self.taking.keys().filter(|key| !whole.contains(key)).cloned());
        loop {
            let before = self.open.len();
            for group in self.groups.values() {
                if group.iter().any(|key| !whole.contains(key) || self.open.contains(key)) {
                    self.open.extend(group.iter().cloned());
                }
            }
            let takes_open = |(key, relations): &(&CaseKey, &Arc<ItemRelations>)| {
                relations.earlier.iter().any(|earlier| self.open.contains(&earlier.key_for(key)))
            };
            let next: Vec<CaseKey> =
                self.taking.iter().filter(takes_open).map(|(key, _)| key.clone()).collect();
            self.open.extend(next);
            if self.open.len() == before {
                return;
            }
        }
    }
}

/// Opens a run to resume it. `items` are all its items. Incomplete cases run again if `retries_incomplete`.
pub(crate) fn resume(
    folder: &RunFolder,
    info: &RunInfo,
    items: impl Iterator<Item = Result<WorkItem, ItemError>>,
    retries_incomplete: bool,
) -> Result<ResumedRun, EngineError> {
    let mut planned = HashMap::new();
    let mut tied = TiedCases::default();
    for item in items {
        let item = item?;
        let key = item.key();
        tied.add(&item);
        if let Some(_twin) = planned.insert(key, fingerprint(&item)) {
            return Err(EngineError::usage(format!(
                "this run can't be resumed, because two suites named `{1}` both have a case `{0}`. Give the suites different names",
                item.case.id, item.suite
            )));
        }
    }

    // Cases that were skipped because of another case are evaluated again.
    let holds = |key: &CaseKey, record: &CaseRecord, inputs: &str| {
        let row = &record.result;
        let is_open = retries_incomplete && row.verdict == Verdict::Incomplete;
        planned.get(key).is_some_and(|planned| planned == inputs) && !row.depends_on_failed_case() && !is_open
    };
    if !tied.is_empty() {
        let whole = folder.whole_cases(&mut |record, inputs| holds(&record.result.key(), record, inputs))?;
        tied.note_whole(&whole);
    }

    let mut totals = RunTotals::beside(folder.path());
    let mut figures = RunSummarizer::new(folder.path());
    let mut done = HashMap::new();
    let mut history = AnswerHistory::default();
    let (mut changed, mut gone) = (0, 0);
    let writer = folder.resume(info, &mut |record, inputs| {
        let row = &record.result;
        let key = row.key();

        let planned = planned.get(&key);
        gone += usize::from(planned.is_none());
        changed += usize::from(planned.is_some_and(|planned| planned != inputs));

        let holds = holds(&key, record, inputs) && !tied.open.contains(&key);
        if holds {
            totals.add(record);
            figures.push(row);
            if let Some(relations) = tied.taking.get(&key) {
                history.note(relations, row);
            }
            done.insert(key, TrialResult::from(row));
        }

        holds
    })?;

    Ok(ResumedRun { writer, done, history, changed, gone, totals, figures })
}

/// The setting of a run for the excluded tags.
pub(crate) const EXCLUDED_TAGS: &str = "exclude_tags";
