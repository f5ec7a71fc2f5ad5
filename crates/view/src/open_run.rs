//! A run that pages show: its index, read when first needed and extended while the run goes on.
//!
//! Reading the rows of a run of 100,000 cases takes half a second, and reading its judgements another half. The first
//! page of the table must not wait for either, and every page must mark an incomplete list as incomplete:
//!
//! - Rows are indexed in steps, the first small ([`FIRST_STEP_BYTES`], about a screen of rows), then [`STEP_BYTES`] at
//!   a time. A step reads without a lock on the index and takes the lock only to append, so pages can use the index in
//!   the meantime. `reading` ensures that only one thread reads.
//! - [`OpenRun::first_index`] returns as soon as there are some rows, and starts a thread that reads the rest. Only the
//!   unfiltered first page uses it, and that page states that more rows are coming. Filters, orders and searches use
//!   [`OpenRun::index`], which waits for all rows written so far.
//! - A thread that needs the first rows must not wait for the `reading` lock: the thread that holds it continues with
//!   the next step at once, so the waiting thread might get the lock only after the last step. It waits on `grown`
//!   instead, with a timeout, because the reading thread may have failed.
//! - Offsets of judgements have their own lock. A single thread reads them in advance, which leaves the other cores to
//!   pages, until a case page needs them; then all threads read. Offsets of questions are read only as far as the rows
//!   on screen need them.
//!
//! Lists of rows, searches and names for filters are cached with the end of the index that they belong to.

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use assize_engine::{PeopleLabels, ProcessContext, label_folders};
use assize_store::{
    CaseKey, CaseRecord, QuestionRow, ResultRow, RowsFile, RunFolder, RunSummary, StoreError,
};
use parking_lot::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard};

use crate::index::{
    CaseFilter, CaseSort, CaseTableIndex, FilterChoices, IndexPart, JudgementOffsets, QuestionOffsets,
    search_text, select_cases,
};
use crate::people::{RunPeople, label_stamp};
use crate::progress::RunProgress;

/// Number of sorted lists that are kept; pages of the table are slices of them.
const MAX_ORDERS: usize = 8;
/// Bytes of rows in the first step: enough for the first screen of a table.
const FIRST_STEP_BYTES: u64 = 1 << 20;
/// Bytes of rows in each further step.
const STEP_BYTES: u64 = 32 << 20;
/// How often a request that waits for the first rows checks whether another one is still reading.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Period over which the speed of a run is measured.
const RATE_WINDOW: Duration = Duration::from_secs(30);

/// Values to filter by: how far the index they were found in reached, and the people whose labels they include.
type StoredChoices = (u64, Arc<RunPeople>, Arc<FilterChoices>);

/// A run whose cases are indexed.
pub(crate) struct OpenRun {
    pub(crate) slug: String,
    pub(crate) folder: RunFolder,
    index: RwLock<CaseTableIndex>,
    /// Held while rows are read into the index.
    reading: Mutex<()>,
    /// Notified when rows were added. The lock that goes with it, `waiting`, guards nothing.
    grown: Condvar,
    waiting: Mutex<()>,
    judgements: Mutex<JudgementOffsets>,
    questions: Mutex<QuestionOffsets>,
    /// True once a case page has asked for details.
    are_details_wanted: AtomicBool,
    orders: Mutex<Vec<StoredOrder>>,
    choices: Mutex<Option<StoredChoices>>,
    process: ProcessContext,
    label_folders: OnceLock<Vec<PathBuf>>,
    people: Mutex<Option<KnownPeople>>,
    searched: Mutex<Option<SearchResult>>,
    progress: Mutex<RunProgress>,
    /// Earlier numbers of cases, and when they were seen.
    seen: Mutex<VecDeque<(Instant, usize)>>,
}

/// Labels of people on the rows up to `end`; valid while the label files stay the same.
struct KnownPeople {
    end: u64,
    stamp: BTreeSet<(PathBuf, u64, Option<SystemTime>)>,
    people: Arc<RunPeople>,
}

/// Rows of a filter; valid while the index still ends at `end`.
struct StoredOrder {
    query: String,
    end: u64,
    rows: Arc<Vec<u32>>,
}

struct SearchResult {
    text: String,
    end: u64,
    rows: Arc<Vec<bool>>,
}

/// Number of threads that read a file together.
fn readers() -> usize {
    std::thread::available_parallelism().map_or(2, |count| count.get().min(8))
}

impl OpenRun {
    pub(crate) fn new(slug: String, folder: RunFolder, process: ProcessContext) -> Self {
        Self {
            process,
            label_folders: OnceLock::new(),
            people: Mutex::default(),
            slug,
            folder,
            index: RwLock::default(),
            reading: Mutex::default(),
            grown: Condvar::new(),
            waiting: Mutex::default(),
            judgements: Mutex::default(),
            questions: Mutex::default(),
            are_details_wanted: AtomicBool::new(false),
            orders: Mutex::default(),
            choices: Mutex::default(),
            searched: Mutex::default(),
            progress: Mutex::default(),
            seen: Mutex::default(),
        }
    }

    /// The index with all rows written so far.
    pub(crate) fn index(&self) -> Result<RwLockReadGuard<'_, CaseTableIndex>, StoreError> {
        while self.read_step()? {}
        Ok(self.read_index())
    }

    /// Reads all rows, and sorts them by every column before a page asks for it.
    pub(crate) fn prepare(&self) -> Result<(), StoreError> {
        let index = self.index()?;
        for sort in CaseSort::ALL {
            index.order(sort);
        }
        Ok(())
    }

    /// The index with at least the first rows. Another thread reads the rest.
    pub(crate) fn first_index(self: &Arc<Self>) -> Result<RwLockReadGuard<'_, CaseTableIndex>, StoreError> {
        while self.read_index().len() == 0 && !self.is_indexed() {
            // The thread that holds the lock continues with the next step at once, so waiting for the lock could take
            // until the last row is read.
            if let Some(reading) = self.reading.try_lock() {
                if !self.read_rows(reading)? {
                    break;
                }
            } else {
                self.grown.wait_for(&mut self.waiting.lock(), POLL_INTERVAL);
            }
        }
        let is_being_read = self.reading.is_locked();
        if !self.is_indexed() && !is_being_read {
            let run = Arc::clone(self);
            // An error is not lost: reading fails again, and is reported, when a page needs the rows.
            std::thread::spawn(move || run.prepare());
        }

        Ok(self.read_index())
    }

    /// Returns true if the index has every row written so far.
    pub(crate) fn is_indexed(&self) -> bool {
        self.read_index().end == self.folder.rows_length(RowsFile::Results)
    }

    /// Returns true if the cases read so far have several prompts. The caller may hold the index.
    pub(crate) fn has_prompts(&self) -> bool {
        self.index.read_recursive().prompts().len() > 1
    }

    fn read_index(&self) -> RwLockReadGuard<'_, CaseTableIndex> {
        self.index.read()
    }

    /// Reads some of the rows that are not indexed yet. Returns false if there are none.
    fn read_step(&self) -> Result<bool, StoreError> {
        if self.is_indexed() {
            return Ok(false);
        }

        self.read_rows(self.reading.lock())
    }

    /// Reads the next rows; the index stays readable meanwhile. Returns false if there are none.
    fn read_rows(&self, _reading: MutexGuard<'_, ()>) -> Result<bool, StoreError> {
        let (mut from, length) = (self.read_index().end, self.folder.rows_length(RowsFile::Results));
        if length < from {
            // Resuming a run may have dropped rows: its file was replaced by a shorter one.
            *self.index.write() = CaseTableIndex::default();
            from = 0;
        }

        let step = if from == 0 { FIRST_STEP_BYTES } else { STEP_BYTES };
        let found = IndexPart::read(&self.folder, from..length.min(from + step), readers())?;
        let is_more = found.end > from;
        self.index.write().append(found);
        self.grown.notify_all();

        Ok(is_more)
    }

    /// Reads the offsets of judgements ahead of time, until a case page needs them; that page
    /// then reads the rest with all threads. A single thread here leaves the other cores to pages.
    pub(crate) fn read_ahead(&self) -> Result<(), StoreError> {
        let mut is_more = true;
        while is_more && !self.are_details_wanted.load(Ordering::Relaxed) {
            is_more = self.judgements.lock().read_step(&self.folder, 1)?;
        }
        Ok(())
    }

    /// The offsets of judgements that are known so far.
    fn known_judgements(&self) -> MutexGuard<'_, JudgementOffsets> {
        self.are_details_wanted.store(true, Ordering::Relaxed);
        self.judgements.lock()
    }

    /// Rows of an index that pass a filter, in its order. `base` is the run that the filter asks for changes since.
    pub(crate) fn select(
        &self,
        index: &CaseTableIndex,
        filter: &CaseFilter,
        base: Option<&Self>,
    ) -> Result<Arc<Vec<u32>>, StoreError> {
        let (query, end) = (filter.to_query(), index.end);
        // Labels change while the rows stay the same.
        let disputed = if filter.disputed { Some(index.disputed(&*self.people(index)?)) } else { None };
        let mut orders = self.orders.lock();
        let is_known = |order: &StoredOrder| order.query == query && order.end == end && disputed.is_none();
        if let Some(at) = orders.iter().position(is_known) {
            let order = orders.remove(at);
            let rows = Arc::clone(&order.rows);
            orders.insert(0, order);
            return Ok(rows);
        }

        let found = filter.text.as_ref().map(|text| self.search(index, text)).transpose()?;
        let changed = match base {
            // A second lock on the same index could wait for ever.
            Some(base) if std::ptr::eq(self, base) => Some(index.changed_since(index)),
            Some(base) => Some(index.changed_since(&*base.index()?)),
            None => None,
        };
        let masks: Vec<&[bool]> = found
            .iter()
            .map(|found| found.as_slice())
            .chain(changed.as_deref())
            .chain(disputed.as_deref())
            .collect();
        let rows = Arc::new(select_cases(index, filter, &masks));
        orders.retain(|order| order.query != query);
        orders.insert(0, StoredOrder { query, end, rows: Arc::clone(&rows) });
        orders.truncate(MAX_ORDERS);

        Ok(rows)
    }

    fn search(&self, index: &CaseTableIndex, text: &str) -> Result<Arc<Vec<bool>>, StoreError> {
        let mut searched = self.searched.lock();
        if let Some(result) =
            searched.as_ref().filter(|result| result.text == text && result.end == index.end)
        {
            return Ok(Arc::clone(&result.rows));
        }

        let rows = Arc::new(search_text(&self.folder, index, text, readers())?);
        *searched = Some(SearchResult { text: text.to_owned(), end: index.end, rows: Arc::clone(&rows) });
        Ok(rows)
    }

    /// Names that the cases of an index can be filtered by.
    pub(crate) fn choices(&self, index: &CaseTableIndex) -> Result<Arc<FilterChoices>, StoreError> {
        let people = self.people(index)?;
        let mut choices = self.choices.lock();
        if let Some((end, about, known)) = choices.as_ref()
            && *end == index.end
            && Arc::ptr_eq(about, &people)
        {
            return Ok(Arc::clone(known));
        }

        let mut found = index.choices();
        found.counts.disputed =
            index.disputed(&people).into_iter().filter(|is_disputed| *is_disputed).count();
        let found = Arc::new(found);
        *choices = Some((index.end, people, Arc::clone(&found)));
        Ok(found)
    }

    /// What people said about the cases of an index; nothing until all rows are read. Labels that can't be read are
    /// reported by the page about calibration.
    pub(crate) fn people(&self, index: &CaseTableIndex) -> Result<Arc<RunPeople>, StoreError> {
        let end = index.end;
        let folders = if let Some(folders) = self.label_folders.get() {
            folders
        } else {
            let folders = label_folders(&self.folder.info()?, &self.process);
            self.label_folders.get_or_init(|| folders)
        };
        let stamp = label_stamp(folders);
        let mut known = self.people.lock();
        if let Some(known) = known.as_ref()
            && known.end == end
            && known.stamp == stamp
        {
            return Ok(Arc::clone(&known.people));
        }

        let mut people = RunPeople::default();
        if !stamp.is_empty() && end == self.folder.rows_length(RowsFile::Results) {
            let info = self.folder.info()?;
            if let Ok(labels) = PeopleLabels::read(&info, &self.process) {
                let cases = labels.cases();
                for (row, entry) in (0..).zip(&index.entries).filter(|(_, entry)| cases.contains(&*entry.id))
                {
                    if let Some(record) = self.record_at(&index.key(entry), entry.offset)? {
                        people.insert(row, labels.of(&info, record));
                    }
                }
            }
        }
        let people = Arc::new(people);
        *known = Some(KnownPeople { end, stamp, people: Arc::clone(&people) });
        Ok(people)
    }

    /// Reads the case in a row with its decisions; `None` if there is none.
    pub(crate) fn record(&self, row: u32) -> Result<Option<CaseRecord>, StoreError> {
        let (key, result) = {
            let index = self.index()?;
            let Some(entry) = index.get(row) else { return Ok(None) };
            (index.key(entry), entry.offset)
        };
        self.record_at(&key, result)
    }

    fn record_at(&self, key: &CaseKey, result: u64) -> Result<Option<CaseRecord>, StoreError> {
        let known = self.known_judgements().position(key, result);
        if let Some(at) = known {
            return self.folder.case_at(at);
        }

        let at = {
            let mut judgements = self.known_judgements();
            while judgements.read_step(&self.folder, readers())? {}
            judgements.position(key, result).unwrap_or_else(|| judgements.position_without_judgements(result))
        };
        self.folder.case_at(at)
    }

    /// Reads the question of a case, if the run stored it.
    pub(crate) fn question(&self, result: &ResultRow) -> Result<Option<QuestionRow>, StoreError> {
        let Some(hash) = result.case_hash.as_deref() else { return Ok(None) };
        let known = self.questions.lock().find(&self.folder, hash, readers())?;
        let row = known.map(|offset| self.folder.question_at(offset)).transpose()?.flatten();
        Ok(row.filter(|row| row.case_hash == hash))
    }

    /// Summary of a run without one, computed from the rows written so far.
    pub(crate) fn current_summary(&self) -> Result<RunSummary, assize_engine::EngineError> {
        self.progress.lock().summary(&self.folder)
    }

    /// Cases a second over the last [`RATE_WINDOW`]; `None` until there are two measurements.
    pub(crate) fn rate(&self, cases: usize, now: Instant) -> Option<f64> {
        let mut seen = self.seen.lock();
        while seen.front().is_some_and(|(at, _)| now.duration_since(*at) > RATE_WINDOW) {
            seen.pop_front();
        }

        seen.push_back((now, cases));
        let (first, before) = *seen.front()?;
        let seconds = now.duration_since(first).as_secs_f64();
        (seconds > 0.5).then(|| cases.saturating_sub(before) as f64 / seconds)
    }
}
