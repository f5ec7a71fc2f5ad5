//! The queue: a stream of units that are removed once they are acknowledged. Each unit has its own subject, and
//! the servers keep one message a subject, so a unit that is published twice is queued once.

use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::message::{AckKind, PublishMessage};
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType};
use async_nats::jetstream::{Context, Message};
use futures_util::{StreamExt, TryStreamExt};

use super::connection::Connection;
use crate::error::ClusterError;
use crate::job::JobManifest;
use crate::seam::{Later, UnitLease, WorkQueue};
use crate::unit::{UnitName, WorkUnit};

/// Number of units published before their acknowledgements are awaited.
const MAX_UNACKNOWLEDGED: usize = 256;
/// Number of units that may be leased at once.
const MAX_LEASED: i64 = 100_000;
/// Number of workers that may wait for a unit at once.
const MAX_WAITING: i64 = 10_000;

pub(super) struct NatsQueue {
    context: Context,
    stream: String,
    subject: String,
    consumer: PullConsumer,
    term: Duration,
}

fn stream_name(job: &str) -> String {
    format!("assize_{job}_work")
}

impl NatsQueue {
    pub(super) async fn open(connection: &Connection, job: &JobManifest) -> Result<Self, ClusterError> {
        let (name, subject) = (stream_name(&job.job), format!("assize.{}.work", job.job));
        let stream = connection
            .stream(Config {
                name: name.clone(),
                subjects: vec![format!("{subject}.>")],
                retention: RetentionPolicy::WorkQueue,
                max_messages_per_subject: 1,
                discard: DiscardPolicy::New,
                discard_new_per_subject: true,
                storage: StorageType::File,
                ..Config::default()
            })
            .await?;
        let consumer = stream
            .get_or_create_consumer(
                "workers",
                pull::Config {
                    durable_name: Some("workers".to_owned()),
                    ack_policy: AckPolicy::Explicit,
                    ack_wait: job.lease_term(),
                    max_deliver: -1,
                    max_ack_pending: MAX_LEASED,
                    max_waiting: MAX_WAITING,
                    ..pull::Config::default()
                },
            )
            .await
            .map_err(|error| ClusterError::unreachable("open the queue", error))?;

        Ok(Self {
            context: connection.context.clone(),
            stream: name,
            subject,
            consumer,
            term: job.lease_term(),
        })
    }
}

/// Removes the queue of a job, if there is one.
pub(super) async fn remove(connection: &Connection, job: &str) -> Result<(), ClusterError> {
    let name = stream_name(job);
    match connection.context.delete_stream(&name).await {
        Ok(_) => Ok(()),
        Err(_) if connection.context.get_stream(&name).await.is_err() => Ok(()),
        Err(error) => Err(ClusterError::unreachable("remove the queue", error)),
    }
}

impl NatsQueue {
    fn subject_of(&self, name: &UnitName) -> String {
        format!("{}.{name}", self.subject)
    }

    /// True if the unit is in the queue. In that case the servers refuse it, with one of several errors.
    async fn holds(&self, name: &UnitName) -> bool {
        let Ok(stream) = self.context.get_stream_no_info(&self.stream).await else { return false };
        stream.get_last_raw_message_by_subject(&self.subject_of(name)).await.is_ok()
    }
}

impl WorkQueue for NatsQueue {
    fn publish<'a>(&'a self, units: &'a [WorkUnit], tag: &'a str) -> Later<'a, ()> {
        Box::pin(async move {
            let failed =
                |error: &dyn std::fmt::Display| ClusterError::unreachable("add units to the queue", error);
            for some in units.chunks(MAX_UNACKNOWLEDGED) {
                let mut acknowledged = Vec::with_capacity(some.len());
                for unit in some {
                    let bytes = serde_json::to_vec(unit).map_err(|error| failed(&error))?;
                    let id = format!("{}-{tag}", unit.name);
                    let message = PublishMessage::build().payload(bytes.into()).message_id(id);
                    let sent = self.context.send_publish(self.subject_of(&unit.name), message).await;
                    acknowledged.push((unit, sent.map_err(|error| failed(&error))?));
                }
                for (unit, acknowledgement) in acknowledged {
                    // A unit that was in the queue and is done by now was not missing either.
                    if let Err(error) = acknowledgement.await
                        && !error.to_string().contains("maximum messages per subject")
                        && !self.holds(&unit.name).await
                    {
                        return Err(failed(&error));
                    }
                }
            }

            Ok(())
        })
    }

    fn lease(&self, wait: Duration) -> Later<'_, Option<Box<dyn UnitLease>>> {
        Box::pin(async move {
            let failed = |error: &dyn std::fmt::Display| ClusterError::unreachable("take a unit", error);
            let fetched = self.consumer.fetch().max_messages(1).expires(wait).messages().await;
            let mut messages = fetched.map_err(|error| failed(&error))?;
            // The server ends the wait. If it does not answer, the timeout ends it.
            let next = tokio::time::timeout(wait + Duration::from_secs(5), messages.next());
            let message = match next.await.map_err(|error| failed(&error))? {
                None => return Ok(None),
                Some(message) => message.map_err(|error| failed(&error))?,
            };

            let Ok(unit) = serde_json::from_slice(&message.payload) else {
                // This message was not written by this version: drop it.
                let _ = message.ack_with(AckKind::Term).await;
                return Ok(None);
            };
            let deliveries = message.info().map_or(1, |info| u64::try_from(info.delivered).unwrap_or(1));

            Ok(Some(Box::new(NatsLease { message, unit, deliveries }) as Box<dyn UnitLease>))
        })
    }

    fn depth(&self) -> Later<'_, u64> {
        Box::pin(async move {
            let stream = self.context.get_stream(&self.stream).await;
            let stream = stream.map_err(|error| ClusterError::unreachable("look at the queue", error))?;

            Ok(stream.cached_info().state.messages)
        })
    }

    fn names(&self) -> Later<'_, Vec<UnitName>> {
        Box::pin(async move {
            let failed =
                |error: &dyn std::fmt::Display| ClusterError::unreachable("look at the queue", error);
            let stream = self.context.get_stream_no_info(&self.stream).await;
            let stream = stream.map_err(|error| failed(&error))?;
            let subjects = stream.info_with_subjects(format!("{}.>", self.subject)).await;
            let subjects: Vec<(String, usize)> = subjects
                .map_err(|error| failed(&error))?
                .try_collect()
                .await
                .map_err(|error| failed(&error))?;
            let prefix = format!("{}.", self.subject);

            Ok(subjects.iter().filter_map(|(of, _)| of.strip_prefix(&prefix)?.parse().ok()).collect())
        })
    }

    fn lease_term(&self) -> Duration {
        self.term
    }
}

struct NatsLease {
    message: Message,
    unit: WorkUnit,
    deliveries: u64,
}

impl UnitLease for NatsLease {
    fn unit(&self) -> &WorkUnit {
        &self.unit
    }

    fn deliveries(&self) -> u64 {
        self.deliveries
    }

    fn extend(&self) -> Later<'_, ()> {
        Box::pin(async move {
            let extended = self.message.double_ack_with(AckKind::Progress).await;
            extended.map_err(|error| ClusterError::unreachable("extend a lease", error))
        })
    }

    fn complete(&self) -> Later<'_, ()> {
        Box::pin(async move {
            let done = self.message.double_ack().await;
            done.map_err(|error| ClusterError::unreachable("complete a unit", error))
        })
    }
}
