//! An implementation of the seam with NATS JetStream.

mod connection;
mod queue;
mod records;
mod replies;
mod results;

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::kv;
use futures_util::StreamExt;
use tokio::task::JoinHandle;

use crate::bucket::{Variables, reach_results};
use crate::error::ClusterError;
use crate::job::JobManifest;
use crate::limits::{LimitReply, LimitRequest};
use crate::seam::{Cluster, JobLinks, Later, LimitDesk, LimitHandler, Records, ResultStore};
use connection::Connection;
use replies::LostReplies;

pub use connection::{ClusterAddress, ClusterAddressError, ConnectionObserver};

/// Bucket of the records of jobs.
const RECORDS: &str = "assize";
/// How long records are kept.
const RECORDS_AGE: Duration = Duration::from_hours(24 * 30);
/// How long replies are kept.
const REPLIES_AGE: Duration = Duration::from_hours(24 * 7);
/// How long to wait for an answer of the coordinator.
const LIMITS_TIMEOUT: Duration = Duration::from_secs(2);

/// Machines that meet at NATS servers.
pub struct NatsCluster {
    connection: Connection,
    records: Arc<dyn Records>,
    lost: Arc<LostReplies>,
    variables: Variables,
}

impl NatsCluster {
    /// Connects to the servers. `variables` of the process hold the credentials of buckets. `observe` receives
    /// a message when the servers are away, and when they don't take a reply.
    ///
    /// # Errors
    /// When none of the servers can be reached, or they are too old, or have no JetStream.
    pub async fn connect(
        address: &ClusterAddress,
        variables: Variables,
        observe: ConnectionObserver,
    ) -> Result<Self, ClusterError> {
        let lost = LostReplies::new(Arc::clone(&observe));
        let connection = Connection::open(address, observe).await?;
        let bucket = kv::Config {
            bucket: RECORDS.to_owned(),
            history: 1,
            max_age: RECORDS_AGE,
            ..kv::Config::default()
        };
        let records = Arc::new(records::NatsRecords { bucket: connection.bucket(bucket).await? });

        Ok(Self { connection, records, lost, variables })
    }
}

impl Cluster for NatsCluster {
    fn records(&self) -> Arc<dyn Records> {
        Arc::clone(&self.records)
    }

    fn open<'a>(&'a self, job: &'a JobManifest) -> Later<'a, JobLinks> {
        Box::pin(async move {
            // First, so that a refused location leaves nothing behind on the servers.
            let results: Arc<dyn ResultStore> = match &job.results {
                Some(place) => reach_results(place, &job.job, &self.variables).await?,
                None => Arc::new(results::NatsResults::open(&self.connection, &job.job).await?),
            };
            let queue = queue::NatsQueue::open(&self.connection, job).await?;
            let replies = replies::NatsReplies::open(
                &self.connection,
                job.fence_key()?,
                REPLIES_AGE,
                Arc::clone(&self.lost),
            )
            .await?;
            let limits =
                NatsDesk { client: self.connection.client.clone(), subject: limits_subject(&job.job) };

            Ok(JobLinks {
                queue: Arc::new(queue),
                results,
                replies: Arc::new(replies),
                limits: Arc::new(limits),
            })
        })
    }

    fn remove<'a>(&'a self, job: &'a JobManifest) -> Later<'a, ()> {
        Box::pin(async move {
            queue::remove(&self.connection, &job.job).await?;
            if job.results.is_none() {
                results::remove(&self.connection, &job.job).await?;
            }

            Ok(())
        })
    }

    fn serve_limits<'a>(&'a self, job: &'a str, handler: LimitHandler) -> Later<'a, Box<dyn Send>> {
        Box::pin(async move {
            let client = self.connection.client.clone();
            let subscribed = client.subscribe(limits_subject(job)).await;
            let mut requests =
                subscribed.map_err(|error| ClusterError::unreachable("listen for workers", error))?;
            let serving = tokio::spawn(async move {
                while let Some(message) = requests.next().await {
                    let Some(inbox) = message.reply else { continue };
                    let Ok(request) = serde_json::from_slice::<LimitRequest>(&message.payload) else {
                        continue;
                    };
                    let (client, handler) = (client.clone(), Arc::clone(&handler));
                    tokio::spawn(async move {
                        let reply = handler(request).await;
                        if let Some(bytes) = reply.and_then(|reply| serde_json::to_vec(&reply).ok()) {
                            // A worker that gets no answer asks again.
                            let _ = client.publish(inbox, bytes.into()).await;
                        }
                    });
                }
            });

            Ok(Box::new(AbortOnDrop(serving)) as Box<dyn Send>)
        })
    }
}

struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The coordinator, as its workers reach it.
struct NatsDesk {
    client: async_nats::Client,
    subject: String,
}

impl LimitDesk for NatsDesk {
    fn ask<'a>(&'a self, request: &'a LimitRequest) -> Later<'a, LimitReply> {
        Box::pin(async move {
            let failed =
                |error: &dyn std::fmt::Display| ClusterError::unreachable("ask the coordinator", error);
            let bytes = serde_json::to_vec(request).map_err(|error| failed(&error))?;
            let response = self.client.request(self.subject.clone(), bytes.into());
            let answer = tokio::time::timeout(LIMITS_TIMEOUT, response)
                .await
                .map_err(|error| failed(&error))?
                .map_err(|error| failed(&error))?;

            serde_json::from_slice(&answer.payload).map_err(|error| failed(&error))
        })
    }
}

fn limits_subject(job: &str) -> String {
    format!("assize.{job}.limits")
}
