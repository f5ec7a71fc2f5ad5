//! The reply cache as a store for model replies.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use assize_llm::{BoxFuture, CacheHit, CallKey, ChatReply, ReplyStore};
use assize_store::{CachedReply, ReplyCache};
use parking_lot::{Mutex, RwLock};
use serde::{Deserialize, Serialize};

/// The owner of a reply: the process that paid for it, and its run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyOwner {
    /// The run's id.
    pub run: String,
    /// A name that no other process has.
    pub process: String,
}

/// The owner of new replies. Shared by all stores of a run.
#[derive(Debug, Default)]
pub struct CurrentOwner {
    owner: RwLock<Option<ReplyOwner>>,
    /// Calls of earlier processes that this process has counted. Each was made once.
    counted: Mutex<HashSet<CallKey>>,
}

impl CurrentOwner {
    /// Sets the owner of replies from now on. Replies of an earlier owner count again.
    pub fn set(&self, owner: ReplyOwner) {
        *self.owner.write() = Some(owner);
        self.counted.lock().clear();
    }

    fn get(&self) -> Option<ReplyOwner> {
        self.owner.read().clone()
    }

    /// Whether an earlier process of this run paid for it and it has not been counted since. This process has
    /// its own records of the replies that it paid for.
    fn owns(&self, key: CallKey, them: Option<&ReplyOwner>) -> bool {
        let owner = self.owner.read();
        let ours = owner
            .as_ref()
            .zip(them)
            .is_some_and(|(us, them)| us.run == them.run && us.process != them.process);

        ours && self.counted.lock().insert(key)
    }
}

/// A reply and its owner: the JSON in the cache's `reply` column.
#[derive(Serialize, Deserialize)]
struct StoredReply<'a> {
    #[serde(rename = "buyer")]
    owner: Option<Cow<'a, ReplyOwner>>,
    reply: Cow<'a, ChatReply>,
}

/// A reply store that several machines share.
pub trait SharedReplies: Send + Sync {
    /// Returns the reply that is stored under this key. Waits while the store can't be reached.
    fn get(&self, key: [u8; 32]) -> BoxFuture<'_, Option<Vec<u8>>>;

    /// Stores a reply, unless there is one under this key. Returns at once.
    fn put(&self, key: [u8; 32], reply: Vec<u8>);

    /// Waits until every reply is stored or has failed to be.
    fn settled(&self) -> BoxFuture<'_, ()>;
}

/// The reply cache as the store of cached models.
pub struct CachedReplyStore {
    cache: Arc<ReplyCache>,
    /// Set when the run has a name; shared by all models of a run.
    owner: Arc<CurrentOwner>,
    /// The time, in seconds since 1970.
    now: Box<dyn Fn() -> i64 + Send + Sync>,
    shared: Option<Arc<dyn SharedReplies>>,
}

impl CachedReplyStore {
    /// Stores replies in `cache` with their `owner`. `now` is the time in seconds since 1970.
    pub fn new(
        cache: Arc<ReplyCache>,
        owner: Arc<CurrentOwner>,
        now: impl Fn() -> i64 + Send + Sync + 'static,
    ) -> Self {
        Self { cache, owner, now: Box::new(now), shared: None }
    }

    /// Looks in `shared` for replies that the cache does not have, and passes new replies on to it.
    #[must_use]
    pub fn sharing(self, shared: Arc<dyn SharedReplies>) -> Self {
        Self { shared: Some(shared), ..self }
    }

    fn hit(&self, key: CallKey, owner: Option<&ReplyOwner>, reply: ChatReply) -> CacheHit {
        CacheHit { produced_by_this_run: self.owner.owns(key, owner), reply }
    }
}

/// A reply with its owner and body, in the form for other machines.
#[derive(Serialize, Deserialize)]
struct TravellingReply {
    stored: String,
    body: String,
}

impl ReplyStore for CachedReplyStore {
    fn find(&self, key: CallKey) -> BoxFuture<'_, Option<CacheHit>> {
        // A lookup takes microseconds, less than moving it to another thread. It waits for a disk only if the
        // file is not in the system's cache. An unreadable cache counts as a miss.
        let row = self.cache.find(key.as_bytes()).ok().flatten();
        let hit = row.and_then(|row| {
            let Ok(StoredReply { owner, reply }) = serde_json::from_str(&row.reply) else {
                // If it stayed, the next reply for this key could not be stored.
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
        // A reply consists of strings and numbers, which can always be written as JSON.
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

    /// A row as caches of all versions hold it. Since version 2 of the tables, `raw` has a separate column.
    const STORED_ROW: &str = r#"{"buyer":{"run":"r1","process":"p1"},"reply":{"text":"yes","finish":"stop","refusal":null,
        "usage":{"input":7,"cached":null,"output":2},"model":"m-1","request_id":"id-1","raw":"{}",
        "latency":{"secs":1,"nanos":5},"attempts":2,"failed":[{"kind":"timeout","status":null,
        "waited":{"secs":0,"nanos":0},"usage":{"input":null,"cached":null,"output":null},"sent":true}]}}"#;

    #[test]
    fn stored_replies_of_earlier_versions_are_read() {
        let StoredReply { owner, reply } = serde_json::from_str(STORED_ROW).unwrap();
        let expected = ReplyOwner { run: "r1".into(), process: "p1".into() };
        assert_eq!(owner.as_deref(), Some(&expected));
        assert_eq!((&*reply.text, &reply.finish, &*reply.raw), ("yes", &FinishReason::Stop, "{}"));
        assert_eq!((reply.latency, reply.attempts), (Duration::new(1, 5), 2));
        assert_eq!((reply.usage.input, reply.failed.len()), (Some(7), 1));
    }

    #[test]
    fn a_stored_reply_is_written_without_the_body_that_has_its_own_column() {
        let stored: StoredReply<'_> = serde_json::from_str(STORED_ROW).unwrap();
        let plain: String = STORED_ROW.lines().map(str::trim_start).collect();
        assert_eq!(serde_json::to_string(&stored).unwrap(), plain.replace(r#""raw":"{}","#, ""));
    }
}
