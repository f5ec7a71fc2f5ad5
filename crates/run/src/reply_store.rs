//! Cached replies of models in the reply cache of the store.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use assize_llm::{BoxFuture, CacheHit, CallKey, ChatReply, ReplyStore};
use assize_store::{CachedReply, ReplyCache};
use serde::{Deserialize, Serialize};

/// Owner of a reply: the process that paid for it, and its run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyOwner {
    /// The run's id.
    pub run: String,
    /// Name that no other process has.
    pub process: String,
}

/// Owner of what is paid for now, shared by all stores of a run.
#[derive(Debug, Default)]
pub struct CurrentOwner {
    owner: RwLock<Option<ReplyOwner>>,
    /// Calls of earlier processes that have been counted by this one: each was made once.
    counted: Mutex<HashSet<CallKey>>,
}

impl CurrentOwner {
    /// Sets the owner of what is paid for from now on. What an earlier one paid for counts again.
    pub fn set(&self, owner: ReplyOwner) {
        *self.owner.write().unwrap_or_else(PoisonError::into_inner) = Some(owner);
        self.counted.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn get(&self) -> Option<ReplyOwner> {
        self.owner.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// True if an earlier process of this very run paid for it, and nothing has counted it since. This process has
    /// records of its own replies.
    fn owns(&self, key: CallKey, them: Option<&ReplyOwner>) -> bool {
        let owner = self.owner.read().unwrap_or_else(PoisonError::into_inner);
        let ours = owner
            .as_ref()
            .zip(them)
            .is_some_and(|(us, them)| us.run == them.run && us.process != them.process);

        ours && self.counted.lock().unwrap_or_else(PoisonError::into_inner).insert(key)
    }
}

/// Reply and its owner, the JSON in the cache's `reply` column.
#[derive(Serialize, Deserialize)]
struct StoredReply<'a> {
    #[serde(rename = "buyer")]
    owner: Option<Cow<'a, ReplyOwner>>,
    reply: Cow<'a, ChatReply>,
}

/// Reply cache as the storage of cached models.
pub struct CachedReplyStore {
    cache: Arc<ReplyCache>,
    /// Set once the run has a name; shared by all models of a run.
    owner: Arc<CurrentOwner>,
    /// The time, in seconds since 1970.
    now: Box<dyn Fn() -> i64 + Send + Sync>,
}

impl CachedReplyStore {
    /// Stores in `cache` what `owner` pays for; `now` gives the time in seconds since 1970.
    pub fn new(
        cache: Arc<ReplyCache>,
        owner: Arc<CurrentOwner>,
        now: impl Fn() -> i64 + Send + Sync + 'static,
    ) -> Self {
        Self { cache, owner, now: Box::new(now) }
    }
}

impl ReplyStore for CachedReplyStore {
    fn find(&self, key: CallKey) -> BoxFuture<'_, Option<CacheHit>> {
        // A look takes microseconds, less than handing it to another thread would, and waits for a disk only where the
        // system holds nothing of the file in memory. A cache that can't be read counts as a miss.
        let row = self.cache.find(key.as_bytes()).ok().flatten();
        let hit = row.and_then(|row| {
            let Ok(StoredReply { owner, reply }) = serde_json::from_str(&row.reply) else {
                // Left there, it would keep the reply that is paid for next from being stored.
                let _ = self.cache.forget(key.as_bytes());
                return None;
            };

            let mut reply: ChatReply = reply.into_owned();
            if let Some(body) = row.body {
                reply.raw = body;
            }

            Some(CacheHit { produced_by_this_run: self.owner.owns(key, owner.as_deref()), reply })
        });
        Box::pin(std::future::ready(hit))
    }

    fn keep(&self, key: CallKey, reply: &ChatReply) {
        let stored = StoredReply { owner: self.owner.get().map(Cow::Owned), reply: Cow::Borrowed(reply) };
        // A reply is made of strings and numbers, which all have a form in JSON.
        let Ok(json) = serde_json::to_string(&stored) else { return };

        self.cache.keep(CachedReply {
            key: *key.as_bytes(),
            model: reply.model.clone().unwrap_or_default(),
            created: (self.now)(),
            reply: json,
            body: Some(reply.raw.clone()),
        });
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use assize_llm::FinishReason;

    use super::*;

    /// A row as caches of all versions hold it; `raw` has a column of its own since tables of version 2.
    const STORED: &str = r#"{"buyer":{"run":"r1","process":"p1"},"reply":{"text":"yes","finish":"stop","refusal":null,
        "usage":{"input":7,"cached":null,"output":2},"model":"m-1","request_id":"id-1","raw":"{}",
        "latency":{"secs":1,"nanos":5},"attempts":2,"failed":[{"kind":"timeout","status":null,
        "waited":{"secs":0,"nanos":0},"usage":{"input":null,"cached":null,"output":null},"sent":true}]}}"#;

    #[test]
    fn stored_replies_of_earlier_versions_are_read() {
        let StoredReply { owner, reply } = serde_json::from_str(STORED).unwrap();
        let expected = ReplyOwner { run: "r1".into(), process: "p1".into() };
        assert_eq!(owner.as_deref(), Some(&expected));
        assert_eq!((&*reply.text, &reply.finish, &*reply.raw), ("yes", &FinishReason::Stop, "{}"));
        assert_eq!((reply.latency, reply.attempts), (Duration::new(1, 5), 2));
        assert_eq!((reply.usage.input, reply.failed.len()), (Some(7), 1));
    }

    #[test]
    fn a_stored_reply_is_written_without_the_body_that_has_its_own_column() {
        let stored: StoredReply<'_> = serde_json::from_str(STORED).unwrap();
        let plain: String = STORED.lines().map(str::trim_start).collect();
        assert_eq!(serde_json::to_string(&stored).unwrap(), plain.replace(r#""raw":"{}","#, ""));
    }
}
