//! What a run keeps from one process to the next: remembered replies, finished cases, spent budgets.

mod cache;
mod resume;
mod support;
