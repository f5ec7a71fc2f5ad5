//! Replies of models under the keys of the reply cache, in a bucket that all jobs with the same secret share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use assize_run::SharedReplies;
use async_nats::HeaderMap;
use async_nats::header::NATS_EXPECTED_LAST_SUBJECT_SEQUENCE;
use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::jetstream::{Context, kv};
use futures_util::future::BoxFuture;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;

use super::connection::{Connection, ConnectionObserver};
use crate::error::ClusterError;

/// How long to wait for an answer about a reply that another worker may have paid for, and the pause before the
/// next question.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(200);
/// Number of replies being sent to the servers at once.
const MAX_IN_FLIGHT: usize = 256;
/// Number of refusals by the servers after which a reply is given up as lost.
const MAX_REFUSALS: u32 = 5;
/// Time after which a reply is given up as lost while the servers are away, and the longest pause between two
/// attempts.
const GIVE_UP_AFTER: Duration = Duration::from_mins(15);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);
/// Largest overhead of a message beside its contents, in bytes.
const MESSAGE_OVERHEAD: usize = 1024;

pub(super) struct NatsReplies {
    bucket: kv::Store,
    context: Context,
    largest: usize,
    in_flight: Arc<Semaphore>,
    /// Number of replies that are neither stored nor lost yet.
    open: watch::Sender<usize>,
    lost: Arc<LostReplies>,
    runtime: Handle,
}

impl NatsReplies {
    pub(super) async fn open(
        connection: &Connection,
        fence_key: [u8; 32],
        age: Duration,
        lost: Arc<LostReplies>,
    ) -> Result<Self, ClusterError> {
        // The secret is part of the name, because another secret makes every request different.
        let tag = blake3::derive_key("assize replies of a cluster, version 1", &fence_key);
        let tag = blake3::Hash::from_bytes(tag).to_hex();
        let bucket = kv::Config {
            bucket: format!("assize_replies_{}", &tag[..16]),
            history: 1,
            max_age: age,
            ..kv::Config::default()
        };

        Ok(Self {
            bucket: connection.bucket(bucket).await?,
            context: connection.context.clone(),
            largest: connection.client.server_info().max_payload.saturating_sub(MESSAGE_OVERHEAD),
            in_flight: Arc::new(Semaphore::new(MAX_IN_FLIGHT)),
            open: watch::Sender::new(0),
            lost,
            runtime: Handle::current(),
        })
    }
}

fn text(key: [u8; 32]) -> String {
    blake3::Hash::from_bytes(key).to_hex().to_string()
}

impl SharedReplies for NatsReplies {
    fn get(&self, key: [u8; 32]) -> BoxFuture<'_, Option<Vec<u8>>> {
        Box::pin(async move {
            // Make sure that the reply to the next call has room: a reply that is not stored may have to be
            // paid for again.
            drop(self.in_flight.acquire().await);
            // The call waits until this worker knows whether another one has paid for the reply. A worker whose servers
            // stay away loses its unit, which ends this loop.
            loop {
                let found = tokio::time::timeout(LOOKUP_TIMEOUT, self.bucket.get(text(key))).await;
                if let Ok(Ok(found)) = found {
                    return found.map(|bytes| bytes.to_vec());
                }
                tokio::time::sleep(PAUSE).await;
            }
        })
    }

    fn put(&self, key: [u8; 32], reply: Vec<u8>) {
        if reply.len() > self.largest {
            self.lost.note(&format!("{} bytes are more than a message may have", reply.len()));
            return;
        }

        let sending = Sending {
            context: self.context.clone(),
            subject: format!("{}{}", self.bucket.prefix, text(key)),
            reply: reply.into(),
        };
        let (in_flight, lost) = (Arc::clone(&self.in_flight), Arc::clone(&self.lost));
        self.open.send_modify(|open| *open += 1);
        let open = self.open.clone();
        self.runtime.spawn(async move {
            let _permit = in_flight.acquire().await;
            if let Err(why) = sending.finish().await {
                lost.note(&why);
            }
            open.send_modify(|open| *open -= 1);
        });
    }

    fn settled(&self) -> BoxFuture<'_, ()> {
        let mut open = self.open.subscribe();
        Box::pin(async move {
            // `self` owns a sender, so the channel can't close during the wait.
            let _ = open.wait_for(|open| *open == 0).await;
        })
    }
}

/// A reply being sent to the servers.
struct Sending {
    context: Context,
    subject: String,
    reply: bytes::Bytes,
}

impl Sending {
    /// Retries until the reply is stored. Waits for servers that are away, but gives up on servers that refuse
    /// it.
    async fn finish(self) -> Result<(), String> {
        let begun = Instant::now();
        let mut refusals = 0;
        let mut pause = PAUSE;
        loop {
            let Err(error) = self.publish().await else { return Ok(()) };
            match error.kind() {
                // The first reply is kept; servers refuse later ones.
                PublishErrorKind::WrongLastSequence => return Ok(()),
                PublishErrorKind::TimedOut
                | PublishErrorKind::BrokenPipe
                | PublishErrorKind::StreamNotFound => {}
                _ => refusals += 1,
            }
            if refusals >= MAX_REFUSALS || begun.elapsed() >= GIVE_UP_AFTER {
                return Err(error.to_string());
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn publish(&self) -> Result<(), PublishError> {
        let mut headers = HeaderMap::new();
        headers.insert(NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, "0");
        let sent = self.context.publish_with_headers(self.subject.clone(), headers, self.reply.clone());
        sent.await?.await.map(|_| ())
    }
}

/// Replies that the servers do not have. Warns about the first, the second, the fourth and so on.
pub(super) struct LostReplies {
    count: AtomicU64,
    observe: ConnectionObserver,
}

impl LostReplies {
    pub(super) fn new(observe: ConnectionObserver) -> Arc<Self> {
        Arc::new(Self { count: AtomicU64::new(0), observe })
    }

    fn note(&self, why: &str) {
        let count = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_power_of_two() {
            let replies = if count == 1 { "a reply".to_owned() } else { format!("{count} replies") };
            (self.observe)(format!(
                "can't share {replies} with other workers ({why}); results are not affected, but calls may have to be paid again"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn lost_replies_are_counted_and_told_ever_less_often() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let lost = LostReplies::new({
            let told = Arc::clone(&told);
            Arc::new(move |what| told.lock().unwrap().push(what))
        });
        for _ in 0..9 {
            lost.note("maximum bytes exceeded");
        }

        let told = told.lock().unwrap();
        let starts = ["a reply", "2 replies", "4 replies", "8 replies"];
        assert_eq!(told.len(), starts.len(), "{told:?}");
        for (told, start) in told.iter().zip(starts) {
            assert!(told.starts_with(&format!("can't share {start} with other workers (maximum")), "{told}");
        }
    }
}
