//! The reply cache: a file beside the runs that may be deleted at any time.
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
