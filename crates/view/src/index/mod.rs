//! Compact index of the cases of a run: some hundred bytes a case, and the offsets of its rows.

mod case_index;
mod detail_index;
mod entry;
mod filter;
mod order;
mod row_head;
mod text_search;

pub(crate) use case_index::{CaseTableIndex, FilterChoices, IndexPart};
pub(crate) use detail_index::DetailIndex;
pub(crate) use entry::{CaseStatus, CaseTableEntry};
pub(crate) use filter::{CaseFilter, CaseSort, OutcomeChoice, VerdictChoice};
pub(crate) use order::select_cases;
pub(crate) use text_search::search_text;
