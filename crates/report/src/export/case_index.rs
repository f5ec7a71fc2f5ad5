//! Order and groups of the cases of a run, without their rows.

use std::collections::HashMap;
use std::sync::Arc;

use assize_rubric::Verdict;
use assize_store::{CaseRecord, CaseRecords, RecordPosition, ResultRow};

use super::{ReportError, RunReport};

/// The cases of a run in the order of its files, about fifty bytes each.
pub(crate) struct CaseIndex {
    pub(crate) groups: Vec<CaseGroup>,
    entries: Vec<CaseEntry>,
    /// Numbers of cases whose gates failed.
    pub(crate) gated: usize,
}

/// The cases of a suite that one target answered.
#[derive(Debug)]
pub(crate) struct CaseGroup {
    pub(crate) suite: Arc<str>,
    pub(crate) target: Option<Arc<str>>,
    /// Cases by state, in the order of [`CaseState`].
    pub(crate) counts: [usize; 4],
    /// Sum of the times of its cases in milliseconds.
    pub(crate) duration_ms: u64,
    first_place: u64,
}

/// State of a case for readers that know tests only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CaseState {
    Passed,
    /// It failed or is borderline.
    Failed,
    /// Nobody could decide it.
    Ungraded,
    /// It was not run, because another one did not pass.
    Skipped,
}

/// A case of the index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CaseEntry {
    position: RecordPosition,
    place: u64,
    pub(crate) group: u32,
    pub(crate) state: CaseState,
}

impl CaseState {
    pub(crate) fn from_row(row: &ResultRow) -> Self {
        match row.verdict {
            _ if row.is_skipped() => Self::Skipped,
            Verdict::Pass => Self::Passed,
            Verdict::Borderline | Verdict::Fail => Self::Failed,
            Verdict::Incomplete => Self::Ungraded,
        }
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

impl CaseIndex {
    /// Reads a run once.
    pub(crate) fn read(run: &RunReport<'_>) -> Result<Self, ReportError> {
        let mut entries = Vec::new();
        let mut groups: Vec<CaseGroup> = Vec::new();
        let mut known: HashMap<(Arc<str>, Option<Arc<str>>), usize> = HashMap::new();
        let mut gated = 0;

        let mut records = run.records()?;
        loop {
            let position = records.position();
            let Some(record) = records.next() else { break };
            let mut record = record?;
            if !run.includes(&record) {
                continue;
            }
            (run.prepare)(&mut record);

            let row = &record.result;
            let place = row.place.unwrap_or(u64::MAX);
            let state = CaseState::from_row(row);
            let group = *known.entry((row.suite.clone(), row.target.clone())).or_insert_with(|| {
                groups.push(CaseGroup {
                    suite: row.suite.clone(),
                    target: row.target.clone(),
                    counts: [0; 4],
                    duration_ms: 0,
                    first_place: place,
                });
                groups.len() - 1
            });

            gated += usize::from(!row.gates_failed.is_empty());
            let part = &mut groups[group];
            part.counts[state as usize] += 1;
            part.duration_ms = part.duration_ms.saturating_add(row.duration_ms);
            part.first_place = part.first_place.min(place);
            entries.push(CaseEntry { position, place, group: group as u32, state });
        }

        // Groups in the order of the files; so are the cases of each. The sort is stable: where places are not known,
        // the order of the rows counts.
        entries.sort_by_key(|entry| {
            let group = entry.group as usize;
            (groups[group].first_place, group, entry.place)
        });

        Ok(Self { groups, entries, gated })
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Number of cases in a state.
    pub(crate) fn count(&self, state: CaseState) -> usize {
        self.groups.iter().map(|group| group.count(state)).sum()
    }

    /// The cases that are wanted, read one at a time.
    pub(crate) fn cases<'i>(
        &'i self,
        run: &'i RunReport<'_>,
        wanted: impl Fn(&CaseEntry) -> bool + 'i,
    ) -> Result<impl Iterator<Item = Result<(CaseEntry, CaseRecord), ReportError>> + 'i, ReportError> {
        let mut records = run.records()?;
        let entries = self.entries.iter().filter(move |entry| wanted(entry));

        Ok(entries.filter_map(move |entry| read_entry(run, &mut records, *entry).transpose()))
    }
}

fn read_entry(
    run: &RunReport<'_>,
    records: &mut CaseRecords,
    entry: CaseEntry,
) -> Result<Option<(CaseEntry, CaseRecord)>, ReportError> {
    let Some(mut record) = records.read_at(entry.position)? else { return Ok(None) };
    (run.prepare)(&mut record);

    Ok(Some((entry, record)))
}
