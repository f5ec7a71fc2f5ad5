//! The reply cache: a file beside the runs that may be deleted at any time.
//!
//! Lookups are frequent and must not wait for writes, and a paid reply must survive a killed process. So [`ReplyCache`]
//! reads over its own connections, a single thread writes rows in batches (`writer`), and until a batch is committed
//! its rows are in memory for lookups and in a file for the next process (`journal`). A row has a checksum (`record`),
//! because a damaged reply must never become a decision.
//!
//! Design: `docs/design/storage-and-resuming.md`.

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
