//! Records in a key-value bucket. None is ever deleted.

use async_nats::jetstream::kv::{CreateErrorKind, Store, UpdateErrorKind};
use async_nats::jetstream::stream::LastRawMessageErrorKind;

use crate::error::ClusterError;
use crate::seam::{Later, Record, Records};

pub(super) struct NatsRecords {
    pub(super) bucket: Store,
}

/// The newest record under a key. It is read from the leader: other servers may answer with old data after they
/// were suspended.
pub(super) async fn latest(bucket: &Store, key: &str, what: &str) -> Result<Option<Record>, ClusterError> {
    let subject = format!("{}{key}", bucket.prefix);
    match bucket.stream.get_last_raw_message_by_subject(&subject).await {
        Ok(found) => Ok(Some(Record { bytes: found.payload.to_vec(), revision: found.sequence })),
        Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
        Err(error) => Err(ClusterError::unreachable(what, error)),
    }
}

impl Records for NatsRecords {
    fn get<'a>(&'a self, key: &'a str) -> Later<'a, Option<Record>> {
        Box::pin(async move { latest(&self.bucket, key, "read a record").await })
    }

    fn replace<'a>(&'a self, key: &'a str, bytes: Vec<u8>, revision: u64) -> Later<'a, Option<u64>> {
        Box::pin(async move {
            if revision == 0 {
                return match self.bucket.create(key, bytes.into()).await {
                    Ok(revision) => Ok(Some(revision)),
                    Err(error) if error.kind() == CreateErrorKind::AlreadyExists => Ok(None),
                    Err(error) => Err(ClusterError::unreachable("write a record", error)),
                };
            }

            match self.bucket.update(key, bytes.into(), revision).await {
                Ok(revision) => Ok(Some(revision)),
                Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => Ok(None),
                Err(error) => Err(ClusterError::unreachable("write a record", error)),
            }
        })
    }
}
