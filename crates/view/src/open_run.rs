//! A run that pages show: its index, read when it is first needed and extended while the run goes on.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use assize_store::{CaseRecord, QuestionRow, RowsFile, RunFolder, RunSummary, StoreError};

use crate::index::{
    CaseFilter, CaseTableIndex, DetailIndex, FilterChoices, IndexPart, search_text, select_cases,
};
use crate::progress::RunProgress;

/// Orders of cases that are kept, so that pages of them are slices.
const MAX_ORDERS: usize = 8;
/// Bytes of rows that are indexed first, so that the first page of a table need not wait for the others.
const FIRST_STEP: u64 = 1 << 20;
/// Bytes of rows that are indexed in each further step.
const STEP: u64 = 32 << 20;
/// Time after which who waits for the first rows looks again, should nobody read any more.
const LOOK: Duration = Duration::from_millis(50);
/// Time over which the rate of a running run is taken.
const RATE_WINDOW: Duration = Duration::from_secs(30);

/// A run whose cases are indexed.
pub(crate) struct OpenRun {
    slug: String,
    folder: RunFolder,
    index: RwLock<CaseTableIndex>,
    /// Held while rows are read into the index.
    reading: Mutex<()>,
    /// Told when rows were added, to who waits for the first ones.
    grown: Condvar,
    waiting: Mutex<()>,
    details: Mutex<DetailIndex>,
    /// True once a page has asked for them.
    are_details_wanted: AtomicBool,
    orders: Mutex<Vec<StoredOrder>>,
    choices: Mutex<Option<(u64, Arc<FilterChoices>)>>,
    searched: Mutex<Option<SearchResult>>,
    progress: Mutex<RunProgress>,
    /// Times at which the number of cases was looked at, with the number.
    seen: Mutex<VecDeque<(Instant, usize)>>,
}

/// Rows of a filter, for as long as the index ends where it did.
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Threads that read a file at the same time.
fn readers() -> usize {
    std::thread::available_parallelism().map_or(2, |count| count.get().min(8))
}

impl OpenRun {
    pub(crate) fn new(slug: String, folder: RunFolder) -> Self {
        Self {
            slug,
            folder,
            index: RwLock::default(),
            reading: Mutex::default(),
            grown: Condvar::new(),
            waiting: Mutex::default(),
            details: Mutex::default(),
            are_details_wanted: AtomicBool::new(false),
            orders: Mutex::default(),
            choices: Mutex::default(),
            searched: Mutex::default(),
            progress: Mutex::default(),
            seen: Mutex::default(),
        }
    }

    pub(crate) fn slug(&self) -> &str {
        &self.slug
    }

    pub(crate) fn folder(&self) -> &RunFolder {
        &self.folder
    }

    /// The index with all rows that are written by now.
    pub(crate) fn index(&self) -> Result<RwLockReadGuard<'_, CaseTableIndex>, StoreError> {
        while self.read_step()? {}
        Ok(self.read_index())
    }

    /// Reads all rows, and sorts them by every column before somebody asks for that.
    pub(crate) fn prepare(&self) -> Result<(), StoreError> {
        self.index()?.sort_all();
        Ok(())
    }

    /// The index as far as it is read, with the first rows at least. The others are read meanwhile.
    pub(crate) fn first_index(self: &Arc<Self>) -> Result<RwLockReadGuard<'_, CaseTableIndex>, StoreError> {
        while self.read_index().len() == 0 && !self.is_indexed() {
            // Whoever reads goes on with the next rows at once, so that waiting for its lock could take until the last ones.
            if let Ok(reading) = self.reading.try_lock() {
                if !self.read_rows(reading)? {
                    break;
                }
            } else {
                drop(self.grown.wait_timeout(lock(&self.waiting), LOOK));
            }
        }
        let is_being_read = self.reading.try_lock().is_err();
        if !self.is_indexed() && !is_being_read {
            let run = Arc::clone(self);
            // What fails here fails again, and is told, where a page needs it.
            std::thread::spawn(move || run.prepare());
        }

        Ok(self.read_index())
    }

    /// Returns true if the index has every row that is written by now.
    pub(crate) fn is_indexed(&self) -> bool {
        self.read_index().end() == self.folder.rows_length(RowsFile::Results)
    }

    fn read_index(&self) -> RwLockReadGuard<'_, CaseTableIndex> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads some of the rows that are not in the index. Returns false if there is none.
    fn read_step(&self) -> Result<bool, StoreError> {
        if self.is_indexed() {
            return Ok(false);
        }

        self.read_rows(lock(&self.reading))
    }

    /// Reads the next rows; pages look at the index meanwhile. Returns false if there is none.
    fn read_rows(&self, _reading: MutexGuard<'_, ()>) -> Result<bool, StoreError> {
        let (mut from, length) = (self.read_index().end(), self.folder.rows_length(RowsFile::Results));
        if length < from {
            // A run that is resumed may have lost rows: its file was replaced by a shorter one.
            *self.index.write().unwrap_or_else(PoisonError::into_inner) = CaseTableIndex::default();
            from = 0;
        }

        let step = if from == 0 { FIRST_STEP } else { STEP };
        let found = IndexPart::read(&self.folder, from..length.min(from + step), readers())?;
        let is_more = found.end > from;
        self.index.write().unwrap_or_else(PoisonError::into_inner).append(found);
        self.grown.notify_all();

        Ok(is_more)
    }

    /// Reads where judgements and questions begin, which a case page needs, until one does: it goes on with more readers. One
    /// reader leaves the others to who shows a page meanwhile.
    pub(crate) fn read_ahead(&self) -> Result<(), StoreError> {
        let mut is_more = true;
        while is_more && !self.are_details_wanted.load(Ordering::Relaxed) {
            is_more = lock(&self.details).read_step(&self.folder, 1)?;
        }
        Ok(())
    }

    /// The places of judgements and questions as far as they are known.
    fn known_details(&self) -> MutexGuard<'_, DetailIndex> {
        self.are_details_wanted.store(true, Ordering::Relaxed);
        lock(&self.details)
    }

    /// Rows that a filter takes, in its order.
    pub(crate) fn select(&self, filter: &CaseFilter) -> Result<Arc<Vec<u32>>, StoreError> {
        self.select_of(&*self.index()?, filter)
    }

    /// Rows of an index that a filter takes, in its order.
    pub(crate) fn select_of(
        &self,
        index: &CaseTableIndex,
        filter: &CaseFilter,
    ) -> Result<Arc<Vec<u32>>, StoreError> {
        let (query, end) = (filter.to_query(), index.end());
        let mut orders = lock(&self.orders);
        if let Some(at) = orders.iter().position(|order| order.query == query && order.end == end) {
            let order = orders.remove(at);
            let rows = Arc::clone(&order.rows);
            orders.insert(0, order);
            return Ok(rows);
        }

        let found = match &filter.text {
            Some(text) => Some(self.search(index, text)?),
            None => None,
        };
        let rows = Arc::new(select_cases(index, filter, found.as_ref().map(|found| found.as_slice())));
        orders.retain(|order| order.query != query);
        orders.insert(0, StoredOrder { query, end, rows: Arc::clone(&rows) });
        orders.truncate(MAX_ORDERS);

        Ok(rows)
    }

    fn search(&self, index: &CaseTableIndex, text: &str) -> Result<Arc<Vec<bool>>, StoreError> {
        let mut searched = lock(&self.searched);
        if let Some(result) =
            searched.as_ref().filter(|result| result.text == text && result.end == index.end())
        {
            return Ok(Arc::clone(&result.rows));
        }

        let rows = Arc::new(search_text(&self.folder, index, text, readers())?);
        *searched = Some(SearchResult { text: text.to_owned(), end: index.end(), rows: Arc::clone(&rows) });
        Ok(rows)
    }

    /// Names that cases of an index can be filtered by.
    pub(crate) fn choices(&self, index: &CaseTableIndex) -> Arc<FilterChoices> {
        let mut choices = lock(&self.choices);
        if let Some((end, known)) = choices.as_ref()
            && *end == index.end()
        {
            return Arc::clone(known);
        }

        let found = Arc::new(index.choices());
        *choices = Some((index.end(), Arc::clone(&found)));
        found
    }

    /// Reads the case in a row with its decisions; `None` if there is none.
    pub(crate) fn record(&self, row: u32) -> Result<Option<CaseRecord>, StoreError> {
        let (key, result) = {
            let index = self.index()?;
            let Some(entry) = index.get(row) else { return Ok(None) };
            (index.key(entry), entry.offset)
        };
        let known = self.known_details().position(&key, result);
        if let Some(at) = known {
            return self.folder.case_at(at);
        }

        let at = {
            let details = self.all_details()?;
            details.position(&key, result).unwrap_or_else(|| details.position_without_judgements(result))
        };
        self.folder.case_at(at)
    }

    /// Reads the question of a case, if the run kept it.
    pub(crate) fn question(&self, record: &CaseRecord) -> Result<Option<QuestionRow>, StoreError> {
        let Some(hash) = record.result.case_hash.as_deref() else { return Ok(None) };
        let known = self.known_details().question(hash);
        let known = match known {
            Some(offset) => Some(offset),
            None => self.all_details()?.question(hash),
        };
        let row = known.map(|offset| self.folder.question_at(offset)).transpose()?.flatten();
        Ok(row.filter(|row| row.case_hash == hash))
    }

    fn all_details(&self) -> Result<MutexGuard<'_, DetailIndex>, StoreError> {
        let mut details = self.known_details();
        while details.read_step(&self.folder, readers())? {}
        Ok(details)
    }

    /// Summary of a run that has none, from the rows that are written by now.
    pub(crate) fn current_summary(&self) -> Result<RunSummary, assize_engine::EngineError> {
        lock(&self.progress).summary(&self.folder)
    }

    /// Cases a second, over the last half minute; `None` until it was looked at twice.
    pub(crate) fn rate(&self, cases: usize, now: Instant) -> Option<f64> {
        let mut seen = lock(&self.seen);
        while seen.front().is_some_and(|(at, _)| now.duration_since(*at) > RATE_WINDOW) {
            seen.pop_front();
        }

        seen.push_back((now, cases));
        let (first, before) = *seen.front()?;
        let seconds = now.duration_since(first).as_secs_f64();
        (seconds > 0.5).then(|| cases.saturating_sub(before) as f64 / seconds)
    }
}
