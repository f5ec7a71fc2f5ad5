//! Remembered replies in the reply cache of the store.

use std::sync::Arc;

use assize_llm::{BoxFuture, CallKey, KeptReply, ReplyMemory};
use assize_store::{CachedReply, ReplyCache};

/// The reply cache as a memory of models.
pub struct CacheMemory {
    cache: Arc<ReplyCache>,
    /// The time, in seconds since 1970.
    now: fn() -> i64,
}

impl CacheMemory {
    /// Remembers in `cache`; `now` gives the time in seconds since 1970.
    pub fn new(cache: Arc<ReplyCache>, now: fn() -> i64) -> Self {
        Self { cache, now }
    }
}

impl ReplyMemory for CacheMemory {
    fn find(&self, key: CallKey) -> BoxFuture<'_, Option<KeptReply>> {
        let cache = Arc::clone(&self.cache);
        Box::pin(async move {
            // Reading may wait for a disk, which must not hold up the other calls of this thread.
            let found = tokio::task::spawn_blocking(move || cache.find(key.as_bytes())).await;
            // What can't be read, or was written by something else, is as good as not there: it is bought again.
            serde_json::from_str(&found.ok()?.ok()??).ok()
        })
    }

    fn keep(&self, key: CallKey, reply: KeptReply) {
        let model = reply.model.clone().unwrap_or_default();
        // A reply is made of strings and numbers, which all have a form in JSON.
        if let Ok(reply) = serde_json::to_string(&reply) {
            self.cache.keep(CachedReply { key: *key.as_bytes(), model, created: (self.now)(), reply });
        }
    }
}
