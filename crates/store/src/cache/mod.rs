//! The reply cache: a file beside the runs that may be deleted at any time.
//!
//! Runs are the record; the cache only saves money. It is an SQLite database because several processes may
//! use one workspace at a time, and any of them may be killed at any byte: a write-ahead log and short
//! transactions give both without a server. The first reply for a key stays, so that a repeated run gets the
//! reply that the earlier results rest on. A damaged row counts as missing and is deleted; it would otherwise
//! block the reply that is paid for instead.

mod database;
#[cfg(test)]
mod fault_tests;
mod fence_key;
mod journal;
mod record;
mod replies;
mod upkeep;
mod writer;

pub use fence_key::fence_key;
pub use record::CachedReply;
pub use replies::ReplyCache;
pub use upkeep::{CacheStats, ModelStats};
