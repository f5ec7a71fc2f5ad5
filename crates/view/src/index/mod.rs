//! A compact index of the cases of a run: some hundred bytes a case, and the offsets of its rows.
//!
//! The rows of a large run take hundreds of megabytes. Parsed, they would not fit into memory, and they can't be read
//! again for each page. The index keeps only the values that the table of cases shows, filters and sorts by; a case
//! page then reads single rows at their offsets, through the same checked reader as every command. The index is only in
//! memory: scanning 330 MB in parallel takes less than a second, and an index on disk could be stale.
//!
//! Invariants:
//!
//! - Rows are in the order of `results.jsonl` and are only appended, so a row number and a list of row numbers
//!   stay valid while a run grows. If the file becomes shorter, the index is thrown away.
//! - [`CaseTableIndex::end`] is the offset behind the last indexed row. Everything derived from the index
//!   (orders, searches, choices) is stored with that offset and recomputed when it has changed.
//! - Names (suites, targets, tags, gates, criteria) are interned. Each part that a thread reads has its own
//!   numbers, which are translated when the part is appended.
//! - The rows are kept sorted by every column, with ties in the order of the files. A filter goes through one of these
//!   orders, so that no page has to wait for sorting.
//!
//! Offsets of judgements ([`JudgementOffsets`]) and questions ([`QuestionOffsets`]) are separate, each behind its own lock: only
//! case pages need the judgements, and reading them takes longer than reading the rows.

mod case_index;
mod detail_index;
mod entry;
mod filter;
mod order;
mod row_head;
mod select;
mod text_search;

pub(crate) use case_index::{CaseCounts, CaseTableIndex, FilterChoices, IndexPart};
pub(crate) use detail_index::{JudgementOffsets, QuestionOffsets};
pub(crate) use entry::{CaseStatus, CaseTableEntry, CriterionEntry};
pub(crate) use filter::{CaseFilter, CaseSort, OutcomeChoice, VerdictChoice};
pub(crate) use select::select_cases;
pub(crate) use text_search::search_text;
