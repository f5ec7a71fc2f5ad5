//! Limits of money, tokens, calls and rates that all workers share.
//!
//! The coordinator keeps the book ([`LimitBook`]). A worker leases parts of the limits for a few seconds and
//! returns the rest.
//!
//! Why leases, and not a shared counter: a counter on the servers can be incremented atomically, but it can't say
//! whether a worker may still return budget, which decides whether a refusal is final. Compare-and-swap on one record
//! loses thousands of races a second with a thousand workers. Fixed shares waste the share of a worker that is gone.

mod book;
mod bucket;
mod keeper;
mod share;

pub use book::{BudgetReply, LimitBook, LimitReply, LimitRequest, RateAsk, RateGrant};
pub(crate) use keeper::LimitKeeper;
pub(crate) use share::LimitShare;
