//! Order, groups and verdicts of the cases of a run, without their rows.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use assize_rubric::{TrialPlan, TrialResult, TrialSummary, Verdict, VerdictThresholds};
use assize_stats::{ConfidenceLevel, repeats::mean_lower_bound};
use assize_store::{CaseRecord, CaseRecords, RecordPosition, ResultRow, RunInfo};

use super::{ReportError, RunReport};
use crate::mark::VerdictMark;

/// Maximum number of distinct thresholds that are kept.
const MAX_THRESHOLDS: usize = 4;

/// The cases of a run in the order of its eval files, about a hundred bytes each. Several trials of a case
/// are one entry, with the verdict that the trial strategy gives them.
pub(crate) struct CaseIndex {
    pub(crate) groups: Vec<CaseGroup>,
    cases: Vec<IndexedCase>,
    /// Number of cases with a failed gate in at least one trial.
    pub(crate) gated: usize,
    /// The distinct thresholds of verdicts, at most [`MAX_THRESHOLDS`].
    pub(crate) thresholds: Vec<VerdictThresholds>,
}

/// The cases of a suite that were answered by one target.
#[derive(Debug)]
pub(crate) struct CaseGroup {
    pub(crate) suite: Arc<str>,
    pub(crate) target: Option<Arc<str>>,
    /// Number of cases in each state, in the order of [`CaseState`].
    pub(crate) counts: [usize; 6],
    /// Sum of the times of its cases in milliseconds.
    pub(crate) duration_ms: u64,
    first_place: u64,
}

/// State of a case for formats that only know tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CaseState {
    Passed,
    /// It failed or is borderline.
    Failed,
    /// Its verdict is incomplete.
    Ungraded,
    /// It was not run, because a case that it depends on did not pass.
    Skipped,
    /// Its verdict does not count for the run.
    Measured,
    /// It did not pass, but the run did, because a rule about the run as a whole allows it.
    Allowed,
}

/// A case of the index.
#[derive(Debug)]
pub(crate) struct IndexedCase {
    pub(crate) group: u32,
    pub(crate) state: CaseState,
    /// Its trials, if the suite asks for several.
    pub(crate) trials: Option<Box<CombinedTrials>>,
    place: u64,
    gated: bool,
    rows: Vec<RecordPosition>,
}

/// Trials of a case, and the verdict that the trial strategy gives them.
#[derive(Debug)]
pub(crate) struct CombinedTrials {
    pub(crate) plan: TrialPlan,
    pub(crate) summary: TrialSummary,
}

/// A case with its records: one record, or one for each trial in order.
#[derive(Debug)]
pub(crate) struct ReportedCase<'i> {
    pub(crate) case: &'i IndexedCase,
    pub(crate) records: Vec<CaseRecord>,
}

/// Trials of a case while they are collected.
struct OpenTrials {
    plan: TrialPlan,
    results: BTreeMap<u32, (TrialResult, RecordPosition)>,
}

impl CaseState {
    fn from_row(row: &ResultRow) -> Self {
        if row.is_skipped() { Self::Skipped } else { Self::from_verdict(row.verdict) }
    }

    fn from_verdict(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Pass => Self::Passed,
            Verdict::Borderline | Verdict::Fail => Self::Failed,
            Verdict::Incomplete => Self::Ungraded,
        }
    }

    /// Returns true if a case in this state counts against the run.
    pub(crate) fn is_counted(self) -> bool {
        matches!(self, Self::Failed | Self::Ungraded)
    }
}

impl CaseGroup {
    pub(crate) fn count(&self, state: CaseState) -> usize {
        self.counts[state as usize]
    }

    pub(crate) fn total(&self) -> usize {
        self.counts.iter().sum()
    }

    /// Name of the suite, and of the target if there is one.
    pub(crate) fn name(&self) -> String {
        match &self.target {
            Some(target) => format!("{}.{target}", self.suite),
            None => self.suite.to_string(),
        }
    }
}

impl CombinedTrials {
    /// Describes the numbers of trials and the strategy in one line.
    pub(crate) fn describe(&self) -> String {
        let TrialSummary { passed, run, decided, .. } = self.summary;
        let count = self.plan.count;
        let missing = if run < count && self.summary.verdict == Verdict::Incomplete {
            format!(", {} not run", count - run)
        } else {
            String::new()
        };
        let open = if decided < run { format!(", {} incomplete", run - decided) } else { String::new() };

        format!(
            "{passed} of {run} trials passed{open}{missing} (combined by {}: {})",
            self.plan.strategy.name(),
            self.summary.verdict.name()
        )
    }
}

impl IndexedCase {
    /// Number of rows: 1, or the number of trials.
    pub(crate) fn rows(&self) -> usize {
        self.rows.len()
    }
}

impl ReportedCase<'_> {
    /// First row of the case, which has its name.
    pub(crate) fn row(&self) -> &ResultRow {
        &self.records[0].result
    }

    /// Verdict of the case, over all its trials.
    pub(crate) fn verdict(&self) -> Verdict {
        self.case.trials.as_ref().map_or(self.row().verdict, |trials| trials.summary.verdict)
    }

    /// Mark of that verdict.
    pub(crate) fn mark(&self) -> VerdictMark {
        match &self.case.trials {
            Some(trials) if self.case.state != CaseState::Skipped => {
                VerdictMark::for_verdict(trials.summary.verdict)
            }
            _ => VerdictMark::for_case(self.row()),
        }
    }

    /// Score of the case, or its range.
    pub(crate) fn score(&self) -> Option<String> {
        let row = self.row();
        match &self.case.trials {
            Some(trials) => trials.summary.score.map(crate::number::format_score),
            None => crate::number::format_score_or_range(row.score, row.score_low, row.score_high),
        }
    }
}

impl CaseIndex {
    /// Builds the index in one pass over the run.
    pub(crate) fn read(run: &RunReport<'_>) -> Result<Self, ReportError> {
        let mut index = Self { groups: Vec::new(), cases: Vec::new(), gated: 0, thresholds: Vec::new() };
        let mut known: HashMap<(Arc<str>, Option<Arc<str>>), usize> = HashMap::new();
        let mut repeated: HashMap<(usize, Arc<str>), (usize, OpenTrials)> = HashMap::new();

        let mut records = run.records()?;
        loop {
            let position = records.position();
            let Some(record) = records.next() else { break };
            let mut record = record?;
            if !run.includes(&record) {
                continue;
            }
            (run.prepare)(&mut record);
            index.add_thresholds(&record);

            let row = &record.result;
            let group =
                *known.entry((row.suite.clone(), row.target.clone())).or_insert_with(|| index.add_group(row));
            match row.trials {
                None => drop(index.add_case(group, row, position)),
                Some(plan) => {
                    let (at, open) = repeated.entry((group, row.case_id.clone())).or_insert_with(|| {
                        let open = OpenTrials { plan, results: BTreeMap::new() };
                        (index.add_case(group, row, position), open)
                    });
                    index.add_trial(*at, row);
                    open.results.insert(row.trial, (TrialResult::from(row), position));
                }
            }

            let part = &mut index.groups[group];
            part.duration_ms = part.duration_ms.saturating_add(row.duration_ms);
            part.first_place = part.first_place.min(row.place.unwrap_or(u64::MAX));
        }

        for (at, open) in repeated.into_values() {
            index.cases[at].combine(open);
        }
        index.finish(run.info);

        Ok(index)
    }

    fn add_thresholds(&mut self, record: &CaseRecord) {
        let Some(decision) = record.decisions.first() else { return };
        if self.thresholds.len() < MAX_THRESHOLDS && !self.thresholds.contains(&decision.thresholds) {
            self.thresholds.push(decision.thresholds);
        }
    }

    fn add_group(&mut self, row: &ResultRow) -> usize {
        self.groups.push(CaseGroup {
            suite: row.suite.clone(),
            target: row.target.clone(),
            counts: [0; 6],
            duration_ms: 0,
            first_place: u64::MAX,
        });

        self.groups.len() - 1
    }

    fn add_case(&mut self, group: usize, row: &ResultRow, position: RecordPosition) -> usize {
        self.cases.push(IndexedCase {
            group: group as u32,
            state: CaseState::from_row(row),
            trials: None,
            place: row.place.unwrap_or(u64::MAX),
            gated: !row.gates_failed.is_empty(),
            rows: vec![position],
        });

        self.cases.len() - 1
    }

    /// Adds the result of another trial to the case.
    fn add_trial(&mut self, at: usize, row: &ResultRow) {
        let case = &mut self.cases[at];
        case.place = case.place.min(row.place.unwrap_or(u64::MAX));
        case.gated |= !row.gates_failed.is_empty();
        // A case is skipped only if all its trials are.
        if !row.is_skipped() {
            case.state = CaseState::Ungraded;
        }
    }

    fn finish(&mut self, info: &RunInfo) {
        let (cases_count, passed) = (do_cases_count(info), is_passed(info));
        for case in &mut self.cases {
            if !cases_count {
                case.state = CaseState::Measured;
            } else if passed && case.state.is_counted() {
                case.state = CaseState::Allowed;
            }
            self.groups[case.group as usize].counts[case.state as usize] += 1;
            self.gated += usize::from(case.gated);
        }

        // Groups come in the order of the files, and so do the cases of each group. The sort is stable: cases
        // whose position is unknown keep the order of their rows.
        let groups = &self.groups;
        self.cases.sort_by_key(|case| {
            let group = case.group as usize;
            (groups[group].first_place, group, case.place)
        });
    }

    /// Number of cases.
    pub(crate) fn len(&self) -> usize {
        self.cases.len()
    }

    /// Number of rows; every trial counts.
    pub(crate) fn row_count(&self) -> usize {
        self.cases.iter().map(IndexedCase::rows).sum()
    }

    /// Returns true if a case has several trials.
    pub(crate) fn has_trials(&self) -> bool {
        self.cases.iter().any(|case| case.trials.is_some())
    }

    /// Number of cases in a state.
    pub(crate) fn count(&self, state: CaseState) -> usize {
        self.groups.iter().map(|group| group.count(state)).sum()
    }

    /// Returns the rows of the wanted cases, read one at a time.
    pub(crate) fn rows<'i>(
        &'i self,
        run: &'i RunReport<'_>,
        wanted: impl Fn(&IndexedCase) -> bool + 'i,
    ) -> Result<impl Iterator<Item = Result<(&'i IndexedCase, CaseRecord), ReportError>> + 'i, ReportError>
    {
        let mut records = run.records()?;
        let cases = self.cases.iter().filter(move |case| wanted(case));
        let rows = cases.flat_map(|case| case.rows.iter().map(move |position| (case, *position)));

        Ok(rows.filter_map(move |(case, position)| {
            let read = read_row(run, &mut records, position).transpose()?;
            Some(read.map(|record| (case, record)))
        }))
    }

    /// Returns the wanted cases with all their rows, read one case at a time.
    pub(crate) fn cases<'i>(
        &'i self,
        run: &'i RunReport<'_>,
        wanted: impl Fn(&IndexedCase) -> bool + 'i,
    ) -> Result<impl Iterator<Item = Result<ReportedCase<'i>, ReportError>> + 'i, ReportError> {
        let mut records = run.records()?;
        let cases = self.cases.iter().filter(move |case| wanted(case));

        Ok(cases.filter_map(move |case| {
            let read =
                case.rows.iter().filter_map(|position| read_row(run, &mut records, *position).transpose());
            match read.collect::<Result<Vec<CaseRecord>, ReportError>>() {
                Ok(records) if records.is_empty() => None,
                Ok(records) => Some(Ok(ReportedCase { case, records })),
                Err(error) => Some(Err(error)),
            }
        }))
    }
}

impl IndexedCase {
    /// Derives the state of the case from all its trials.
    fn combine(&mut self, open: OpenTrials) {
        let results: Vec<TrialResult> = open.results.values().map(|(result, _)| *result).collect();
        let summary =
            open.plan.conclude(&results, |scores| mean_lower_bound(scores, ConfidenceLevel::P95).ok());
        if self.state != CaseState::Skipped {
            self.state = CaseState::from_verdict(summary.verdict);
        }

        self.rows = open.results.into_values().map(|(_, position)| position).collect();
        self.trials = Some(Box::new(CombinedTrials { plan: open.plan, summary }));
    }
}

fn read_row(
    run: &RunReport<'_>,
    records: &mut CaseRecords,
    position: RecordPosition,
) -> Result<Option<CaseRecord>, ReportError> {
    let Some(mut record) = records.read_at(position)? else { return Ok(None) };
    (run.prepare)(&mut record);

    Ok(Some(record))
}

/// Returns true if verdicts of cases count for the run. An audit and a pairwise comparison only use cases for
/// measuring. In a run of a scorecard the tree decides; its cases count only if the tree does not pass.
pub(crate) fn do_cases_count(info: &RunInfo) -> bool {
    !(info.is_measurement() || info.scorecard.is_some() && is_passed(info))
}

/// Returns true if the run ended with exit code 0.
pub(crate) fn is_passed(info: &RunInfo) -> bool {
    info.finished_at.is_some() && info.summary.as_ref().is_some_and(|summary| summary.exit_code == 0)
}
