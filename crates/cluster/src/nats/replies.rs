//! Replies of models, by the keys of the reply cache, in a bucket that all jobs with the same secret share.

use std::sync::Arc;
use std::time::Duration;

use assize_run::SharedReplies;
use async_nats::HeaderMap;
use async_nats::header::NATS_EXPECTED_LAST_SUBJECT_SEQUENCE;
use async_nats::jetstream::{Context, kv};
use futures_util::future::BoxFuture;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use super::connection::Connection;
use crate::error::ClusterError;

/// Wait for an answer about a reply that somebody else may have bought, and the pause before the next question.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(200);
/// Replies on their way to the servers at once.
const ON_THE_WAY: usize = 256;
/// Attempts at storing a reply.
const ATTEMPTS: u32 = 5;
/// Bytes of a message beside its contents, at most.
const AROUND: usize = 1024;

pub(super) struct NatsReplies {
    bucket: kv::Store,
    context: Context,
    largest: usize,
    on_the_way: Arc<Semaphore>,
    runtime: Handle,
}

impl NatsReplies {
    pub(super) async fn open(
        connection: &Connection,
        fence_key: [u8; 32],
        age: Duration,
    ) -> Result<Self, ClusterError> {
        // With another secret, every request is another one.
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
            largest: connection.client.server_info().max_payload.saturating_sub(AROUND),
            on_the_way: Arc::new(Semaphore::new(ON_THE_WAY)),
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
            // Before the next call, there is room for its reply: what is not stored may have to be paid again.
            drop(self.on_the_way.acquire().await);
            // As long as nobody knows whether it was bought, it is not bought again. A worker whose servers stay away loses its
            // unit, which ends this.
            loop {
                let found = tokio::time::timeout(PATIENCE, self.bucket.get(text(key))).await;
                if let Ok(Ok(found)) = found {
                    return found.map(|bytes| bytes.to_vec());
                }
                tokio::time::sleep(PAUSE).await;
            }
        })
    }

    fn put(&self, key: [u8; 32], reply: Vec<u8>) {
        // What is too large for a message stays in the cache of this machine.
        if reply.len() > self.largest {
            return;
        }

        let subject = format!("{}{}", self.bucket.prefix, text(key));
        let (context, on_the_way) = (self.context.clone(), Arc::clone(&self.on_the_way));
        let reply = bytes::Bytes::from(reply);
        self.runtime.spawn(async move {
            let _permit = on_the_way.acquire().await;
            for attempt in 0..ATTEMPTS {
                // The first reply stays: a later one is refused.
                let mut headers = HeaderMap::new();
                headers.insert(NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, "0");
                let sent = context.publish_with_headers(subject.clone(), headers, reply.clone()).await;
                let refused = match sent {
                    Err(_) => false,
                    Ok(acknowledgement) => match acknowledgement.await {
                        Ok(_) => return,
                        Err(error) => {
                            error.kind()
                                == async_nats::jetstream::context::PublishErrorKind::WrongLastSequence
                        }
                    },
                };
                if refused {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(200 << attempt)).await;
            }
        });
    }
}
