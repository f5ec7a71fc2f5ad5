//! Limits of money, tokens, calls and rates that all workers keep together.
//!
//! The coordinator holds the book; a worker gets parts of it for a few seconds and gives back what it does not need.

mod book;
mod bucket;
mod keeper;
mod share;

pub use book::{BudgetReply, LimitBook, LimitReply, LimitRequest, RateAsk, RateGrant};
pub(crate) use keeper::LimitKeeper;
pub(crate) use share::LimitShare;
