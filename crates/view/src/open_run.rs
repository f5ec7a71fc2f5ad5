//! A run that pages show: its index, read when it is first needed and extended while the run goes on.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use assize_store::{CaseRecord, QuestionRow, RunFolder, RunSummary, StoreError};

use crate::index::{CaseFilter, CaseTableIndex, FilterChoices, search_text, select_cases};
use crate::progress::RunProgress;

/// Orders of cases that are kept, so that pages of them are slices.
const MAX_ORDERS: usize = 8;
/// Time over which the rate of a running run is taken.
const RATE_WINDOW: Duration = Duration::from_secs(30);

/// A run whose cases are indexed.
pub(crate) struct OpenRun {
    slug: String,
    folder: RunFolder,
    index: RwLock<CaseTableIndex>,
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
        let is_current = {
            let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
            index.end() == self.folder.rows_length(assize_store::RowsFile::Results)
        };
        if !is_current {
            let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
            index.extend(&self.folder, readers())?;
        }

        Ok(self.index.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads where judgements and questions begin, which a case page needs.
    pub(crate) fn index_details(&self) -> Result<(), StoreError> {
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        index.index_details(&self.folder, readers())
    }

    /// Rows that a filter takes, in its order.
    pub(crate) fn select(&self, filter: &CaseFilter) -> Result<Arc<Vec<u32>>, StoreError> {
        let index = self.index()?;
        let (query, end) = (filter.to_query(), index.end());
        let mut orders = lock(&self.orders);
        if let Some(at) = orders.iter().position(|order| order.query == query && order.end == end) {
            let order = orders.remove(at);
            let rows = Arc::clone(&order.rows);
            orders.insert(0, order);
            return Ok(rows);
        }

        let found = match &filter.text {
            Some(text) => Some(self.search(&index, text)?),
            None => None,
        };
        let rows = Arc::new(select_cases(&index, filter, found.as_ref().map(|found| found.as_slice())));
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

    /// Names that cases can be filtered by.
    pub(crate) fn choices(&self) -> Result<Arc<FilterChoices>, StoreError> {
        let index = self.index()?;
        let mut choices = lock(&self.choices);
        if let Some((end, known)) = choices.as_ref()
            && *end == index.end()
        {
            return Ok(Arc::clone(known));
        }

        let found = Arc::new(index.choices());
        *choices = Some((index.end(), Arc::clone(&found)));
        Ok(found)
    }

    /// Reads the case in a row with its decisions; `None` if there is none.
    pub(crate) fn record(&self, row: u32) -> Result<Option<CaseRecord>, StoreError> {
        let known = {
            let index = self.index()?;
            let Some(entry) = index.get(row) else { return Ok(None) };
            index.offset(entry)
        };
        if let Some(at) = known {
            return self.folder.case_at(at);
        }

        self.index_details()?;
        let index = self.index()?;
        let Some(entry) = index.get(row) else { return Ok(None) };
        self.folder.case_at(index.offset(entry).unwrap_or_else(|| index.offset_without_judgements(entry)))
    }

    /// Reads the question of a case, if the run kept it.
    pub(crate) fn question(&self, record: &CaseRecord) -> Result<Option<QuestionRow>, StoreError> {
        let Some(hash) = record.result.case_hash.as_deref() else { return Ok(None) };
        let Some(offset) = self.index()?.question(hash) else { return Ok(None) };

        self.folder.question_at(offset)
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
