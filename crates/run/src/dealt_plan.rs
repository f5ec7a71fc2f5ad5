//! A plan whose cases are assigned to all shards at once, for a process that works on many shards.

use std::path::Path;
use std::sync::Arc;

use assize_model::CasePlace;
use assize_store::{SortedRecords, StoreError};
use parking_lot::Mutex;

use crate::shard::{CaseGroups, GroupBuilder, ShardDealer, ShardNumber, ShardPart, ShardPlan, add_item};
use crate::{ItemError, WorkItem};

/// A case of a plan: its position in its dataset, and its items.
pub type PlacedItems = (CasePlace, Vec<Result<WorkItem, ItemError>>);

/// A case of a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DealtCase {
    /// The number of cases before it in the files of the plan.
    pub index: usize,
    /// Position in its dataset.
    pub place: CasePlace,
    /// Position of its first item in the plan.
    pub first: u64,
    items: u32,
}

/// The numbers stored for a case: its shard, its index, the position of its first item, its number of items,
/// and its position in its dataset.
const CASE_NUMBERS: usize = 7;

impl DealtCase {
    fn to_record(self, shard: u32) -> [u64; CASE_NUMBERS] {
        let Self { index, place, first, items } = self;
        [shard.into(), index as u64, first, items.into(), place.start, place.line, place.row]
    }

    fn from_record([_, index, first, items, start, line, row]: [u64; CASE_NUMBERS]) -> Self {
        Self { index: index as usize, place: CasePlace { start, line, row }, first, items: items as u32 }
    }
}

/// A plan whose cases are assigned to shards.
///
/// If there are many cases, their positions are in a file, sorted by shard. Memory holds 8 bytes for each shard, and
/// nothing for a case.
#[derive(Debug)]
pub struct DealtPlan {
    hash: String,
    items: u64,
    groups: Arc<CaseGroups>,
    cases: Mutex<SortedRecords<CASE_NUMBERS>>,
    /// For each shard, the number of cases in earlier shards; then the total.
    starts: Vec<u64>,
}

/// Assigns cases to shards in the order of the plan.
struct CaseDeal<'g> {
    dealer: ShardDealer<'g>,
    cases: SortedRecords<CASE_NUMBERS>,
    /// The number of cases of each shard.
    counts: Vec<u64>,
    index: usize,
    /// Position of the next item.
    next: u64,
}

impl<'g> CaseDeal<'g> {
    fn new(count: u32, groups: &'g CaseGroups, beside: &Path) -> Self {
        Self {
            dealer: ShardDealer::new(count, groups),
            cases: SortedRecords::new(beside),
            counts: vec![0; count as usize],
            index: 0,
            next: 1,
        }
    }

    /// Assigns the next case. Cases without items are not selected.
    fn add(&mut self, group: Option<usize>, place: CasePlace, items: u32) {
        if items > 0 {
            let shard = self.dealer.deal(group, items);
            self.cases.push(DealtCase { index: self.index, place, first: self.next, items }.to_record(shard));
            self.counts[shard as usize] += 1;
        }
        self.index += 1;
        self.next += u64::from(items);
    }
}

impl DealtPlan {
    /// Assigns a plan to `count` shards. `cases` lists the items of each case, in the same order each time.
    /// They go to the same shards as with [`ShardPlan::select`]. If there are many cases, they are stored in an
    /// unnamed file in the folder `beside`.
    ///
    /// # Errors
    /// If the items can't be read, or the file can't be written.
    pub fn new<I>(count: u32, beside: &Path, cases: impl Fn() -> I) -> Result<Self, ItemError>
    where
        I: Iterator<Item = PlacedItems>,
    {
        let size = |items: &[Result<WorkItem, ItemError>]| u32::try_from(items.len()).unwrap_or(u32::MAX);
        let mut hasher = blake3::Hasher::new();
        let mut groups = GroupBuilder::default();
        let none = CaseGroups::default();
        let mut deal = CaseDeal::new(count, &none, beside);
        for (place, case) in cases() {
            deal.add(None, place, size(&case));
            for item in case {
                let item = item?;
                add_item(&mut hasher, &item);
                groups.add(&item);
            }
        }

        let groups = Arc::new(groups.finish());
        if !groups.is_empty() {
            // Only the first pass shows which cases are tied to each other, so ties need a second one.
            deal = CaseDeal::new(count, &groups, beside);
            for (place, case) in cases() {
                let items = size(&case);
                let first = case.into_iter().next().transpose()?;
                deal.add(first.and_then(|item| groups.group_of(&item)), place, items);
            }
        }

        let CaseDeal { mut cases, counts, next, .. } = deal;
        cases.settle().map_err(unreadable)?;
        let starts = std::iter::once(0).chain(counts.into_iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        }));

        Ok(Self {
            hash: hasher.finalize().to_hex().to_string(),
            items: next - 1,
            starts: starts.collect(),
            groups,
            cases: Mutex::new(cases),
        })
    }

    /// Hash of all items, see [`ShardPlan::hash`].
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The number of items of the plan.
    pub const fn items(&self) -> u64 {
        self.items
    }

    /// The cases of a shard, in the order of the plan.
    ///
    /// # Errors
    /// If the file can't be read.
    pub fn cases_of(&self, shard: ShardNumber) -> Result<Vec<DealtCase>, ItemError> {
        let at = shard.number() as usize;
        let Some(&[from, to]) = self.starts.get(at - 1..=at).and_then(<[u64]>::as_array) else {
            return Ok(Vec::new());
        };
        let mut cases = self.cases.lock();
        let records = cases.range(from as usize..to as usize).map_err(unreadable)?;

        Ok(records.into_iter().map(DealtCase::from_record).collect())
    }

    /// The plan of a part of a shard. `items` lists the items of the shard with their positions.
    ///
    /// # Errors
    /// If the items can't be read.
    pub fn shard<I>(
        &self,
        shard: ShardNumber,
        part: ShardPart,
        items: impl Fn() -> I,
    ) -> Result<ShardPlan, ItemError>
    where
        I: Iterator<Item = Result<WorkItem, ItemError>>,
    {
        let own = self.cases_of(shard)?.iter().map(|case| u64::from(case.items)).sum();
        let groups = Arc::clone(&self.groups);
        ShardPlan::of_dealt(shard, part, self.hash.clone(), self.items, own, groups, items)
    }
}

fn unreadable(error: StoreError) -> ItemError {
    ItemError::Source(Box::new(error))
}
