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

/// Storage of replies that several machines share.
pub trait SharedReplies: Send + Sync {
    /// Returns what was stored under this key. Waits where the storage can't be reached.
    fn get(&self, key: [u8; 32]) -> BoxFuture<'_, Option<Vec<u8>>>;

    /// Stores a reply, unless there is one under this key. Returns at once.
    fn put(&self, key: [u8; 32], reply: Vec<u8>);

    /// Waits until every reply that was put is stored, or can't be.
    fn settled(&self) -> BoxFuture<'_, ()>;
}

/// Reply cache as the storage of cached models.
pub struct CachedReplyStore {
    cache: Arc<ReplyCache>,
    /// Set once the run has a name; shared by all models of a run.
    owner: Arc<CurrentOwner>,
    /// The time, in seconds since 1970.
    now: Box<dyn Fn() -> i64 + Send + Sync>,
    shared: Option<Arc<dyn SharedReplies>>,
}

impl CachedReplyStore {
    /// Stores in `cache` what `owner` pays for; `now` gives the time in seconds since 1970.
    pub fn new(
        cache: Arc<ReplyCache>,
        owner: Arc<CurrentOwner>,
        now: impl Fn() -> i64 + Send + Sync + 'static,
    ) -> Self {
        Self { cache, owner, now: Box::new(now), shared: None }
    }

    /// Looks up in `shared` what the cache does not have, and hands on to it what is stored.
    #[must_use]
    pub fn sharing(self, shared: Arc<dyn SharedReplies>) -> Self {
        Self { shared: Some(shared), ..self }
    }

    fn hit(&self, key: CallKey, owner: Option<&ReplyOwner>, reply: ChatReply) -> CacheHit {
        CacheHit { produced_by_this_run: self.owner.owns(key, owner), reply }
    }
}

/// Reply with its owner and its body, as other machines get it.
#[derive(Serialize, Deserialize)]
struct TravellingReply {
    stored: String,
    body: String,
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

            Some(self.hit(key, owner.as_deref(), reply))
        });

        match &self.shared {
            Some(shared) if hit.is_none() => Box::pin(async move {
                let bytes = shared.get(*key.as_bytes()).await?;
                let TravellingReply { stored, body } = serde_json::from_slice(&bytes).ok()?;
                let StoredReply { owner, reply } = serde_json::from_str(&stored).ok()?;
                let reply = ChatReply { raw: body, ..reply.into_owned() };

                Some(self.hit(key, owner.as_deref(), reply))
            }),
            _ => Box::pin(std::future::ready(hit)),
        }
    }

    fn keep(&self, key: CallKey, reply: &ChatReply) {
        let stored = StoredReply { owner: self.owner.get().map(Cow::Owned), reply: Cow::Borrowed(reply) };
        // A reply is made of strings and numbers, which all have a form in JSON.
        let Ok(json) = serde_json::to_string(&stored) else { return };
        if let Some(shared) = &self.shared {
            let travelling = TravellingReply { stored: json.clone(), body: reply.raw.clone() };
            if let Ok(bytes) = serde_json::to_vec(&travelling) {
                shared.put(*key.as_bytes(), bytes);
            }
        }

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
