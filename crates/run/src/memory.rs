//! Remembered replies in the reply cache of the store.

use std::sync::{Arc, OnceLock};

use assize_llm::{BoxFuture, CallKey, Found, KeptReply, ReplyMemory};
use assize_store::{CachedReply, ReplyCache};
use serde::{Deserialize, Serialize};

/// Who buys replies: a process working on a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buyer {
    /// The run's id.
    pub run: String,
    /// Any word that no other process has.
    pub process: String,
}

/// A reply with the one who bought it, as it stands in the cache.
#[derive(Serialize, Deserialize)]
struct Entry {
    buyer: Option<Buyer>,
    reply: KeptReply,
}

/// The reply cache as a memory of models.
pub struct CacheMemory {
    cache: Arc<ReplyCache>,
    /// Set once the run has a name; the same for all memories of a run.
    buyer: Arc<OnceLock<Buyer>>,
    /// The time, in seconds since 1970.
    now: Box<dyn Fn() -> i64 + Send + Sync>,
}

impl CacheMemory {
    /// Remembers in `cache` what `buyer` buys; `now` gives the time in seconds since 1970.
    pub fn new(
        cache: Arc<ReplyCache>,
        buyer: Arc<OnceLock<Buyer>>,
        now: impl Fn() -> i64 + Send + Sync + 'static,
    ) -> Self {
        Self { cache, buyer, now: Box::new(now) }
    }

    /// Whether an earlier process of this very run bought it. What this process bought stands in its own records.
    fn is_ours(&self, buyer: Option<&Buyer>) -> bool {
        self.buyer.get().zip(buyer).is_some_and(|(us, them)| us.run == them.run && us.process != them.process)
    }
}

impl ReplyMemory for CacheMemory {
    fn find(&self, key: CallKey) -> BoxFuture<'_, Option<Found>> {
        // A look takes microseconds, less than handing it to another thread would, and waits for a disk only where the
        // system holds nothing of the file in memory.
        let found = self.cache.find(key.as_bytes());
        // What can't be read is as good as not there: it is bought again.
        let entry = found.ok().flatten().and_then(|found| {
            let Ok(mut entry) = serde_json::from_str::<Entry>(&found.reply) else {
                // It would stand in the way of the one that is bought instead.
                let _ = self.cache.forget(key.as_bytes());
                return None;
            };
            if let Some(body) = found.body {
                entry.reply.raw = body;
            }
            Some(entry)
        });
        let found = entry.map(|entry| Found {
            bought_by_this_run: self.is_ours(entry.buyer.as_ref()),
            reply: entry.reply,
        });
        Box::pin(std::future::ready(found))
    }

    fn keep(&self, key: CallKey, mut reply: KeptReply) {
        let model = reply.model.clone().unwrap_or_default();
        // It is JSON itself, and would be half as long again inside other JSON.
        let body = Some(std::mem::take(&mut reply.raw));
        let entry = Entry { buyer: self.buyer.get().cloned(), reply };
        // A reply is made of strings and numbers, which all have a form in JSON.
        if let Ok(reply) = serde_json::to_string(&entry) {
            self.cache.keep(CachedReply { key: *key.as_bytes(), model, created: (self.now)(), reply, body });
        }
    }
}
