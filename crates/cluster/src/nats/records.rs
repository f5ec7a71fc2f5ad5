//! Records in a bucket of keys and values.

use async_nats::jetstream::kv::{CreateErrorKind, Operation, Store, UpdateErrorKind};

use crate::error::ClusterError;
use crate::seam::{Later, Record, Records};

pub(super) struct NatsRecords {
    bucket: Store,
}

impl NatsRecords {
    pub(super) fn new(bucket: Store) -> Self {
        Self { bucket }
    }
}

impl Records for NatsRecords {
    fn get<'a>(&'a self, key: &'a str) -> Later<'a, Option<Record>> {
        Box::pin(async move {
            let entry = self.bucket.entry(key).await;
            let entry = entry.map_err(|error| ClusterError::unreachable("read a record", error))?;
            let found = entry.filter(|entry| entry.operation == Operation::Put);

            Ok(found.map(|entry| Record { bytes: entry.value.to_vec(), revision: entry.revision }))
        })
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
