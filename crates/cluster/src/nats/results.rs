//! Results in the object store of the servers, for machines without a shared folder or bucket.
//!
//! Storing an object there replaces an older one of the same name. So each attempt is an object of its own, and
//! a record that is created only if it is absent says which object is the result.

use std::time::Duration;

use async_nats::jetstream::kv::{self, CreateErrorKind};
use async_nats::jetstream::object_store::{GetErrorKind, ObjectStore};
use futures_util::TryStreamExt;
use tokio::io::AsyncReadExt;

use super::connection::Connection;
use super::records::latest;
use crate::error::ClusterError;
use crate::seam::{Later, ResultStore};

/// How often to look again for an object that has a record, and the pause before each look.
const FIND_ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_secs(1);
/// Time limit for reading a part of an object: a read that stalls halfway would never end.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) struct NatsResults {
    files: ObjectStore,
    done: kv::Store,
}

fn files_bucket(job: &str) -> String {
    format!("assize_{job}_files")
}

fn done_bucket(job: &str) -> String {
    format!("assize_{job}_done")
}

impl NatsResults {
    pub(super) async fn open(connection: &Connection, job: &str) -> Result<Self, ClusterError> {
        let done = kv::Config { bucket: done_bucket(job), history: 1, ..kv::Config::default() };

        Ok(Self { files: connection.objects(files_bucket(job)).await?, done: connection.bucket(done).await? })
    }
}

/// Removes the results of a job, if there are any.
pub(super) async fn remove(connection: &Connection, job: &str) -> Result<(), ClusterError> {
    let context = &connection.context;
    let (files, done) = (files_bucket(job), done_bucket(job));
    if let Err(error) = context.delete_object_store(&files).await
        && context.get_object_store(&files).await.is_ok()
    {
        return Err(ClusterError::unreachable("remove the results", error));
    }
    if let Err(error) = context.delete_key_value(&done).await
        && context.get_key_value(&done).await.is_ok()
    {
        return Err(ClusterError::unreachable("remove the results", error));
    }

    Ok(())
}

impl ResultStore for NatsResults {
    fn create<'a>(&'a self, name: &'a str, bytes: Vec<u8>) -> Later<'a, bool> {
        Box::pin(async move {
            let failed = |error: &dyn std::fmt::Display| ClusterError::unreachable("store a result", error);
            let object = format!("{name}-{}", uuid::Uuid::new_v4().simple());
            self.files.put(object.as_str(), &mut &bytes[..]).await.map_err(|error| failed(&error))?;

            match self.done.create(name, object.clone().into()).await {
                Ok(_) => Ok(true),
                Err(error) if error.kind() == CreateErrorKind::AlreadyExists => {
                    // Perhaps this very call created it, and the reply was lost.
                    let known = latest(&self.done, name, "store a result").await?;
                    if known.is_some_and(|known| known.bytes == object.as_bytes()) {
                        return Ok(true);
                    }
                    // If this fails, the object is removed with the job.
                    let _ = self.files.delete(&object).await;
                    Ok(false)
                }
                Err(error) => Err(failed(&error)),
            }
        })
    }

    fn contains<'a>(&'a self, name: &'a str) -> Later<'a, bool> {
        Box::pin(async move {
            let found = self.done.get(name).await;
            Ok(found.map_err(|error| ClusterError::unreachable("look for a result", error))?.is_some())
        })
    }

    fn get<'a>(&'a self, name: &'a str) -> Later<'a, Vec<u8>> {
        Box::pin(async move {
            let failed = |error: &dyn std::fmt::Display| {
                ClusterError::unreachable(&format!("read the result of unit {name}"), error)
            };
            let object = self.done.get(name).await.map_err(|error| failed(&error))?;
            let object = object.ok_or_else(|| failed(&"there is none"))?;
            let object = String::from_utf8_lossy(&object).into_owned();
            let mut tries = FIND_ATTEMPTS;
            let mut reader = loop {
                match self.files.get(&object).await {
                    Ok(reader) => break reader,
                    // A server that was suspended may not know the object yet.
                    Err(error) if error.kind() == GetErrorKind::NotFound && tries > 0 => {
                        tries -= 1;
                        tokio::time::sleep(PAUSE).await;
                    }
                    Err(error) if error.kind() == GetErrorKind::NotFound => {
                        return Err(ClusterError::Damaged(format!("there is no object `{object}`")));
                    }
                    Err(error) => return Err(failed(&error)),
                }
            };
            // Reading its parts would never end.
            if reader.info().deleted {
                return Err(ClusterError::Damaged(format!("object `{object}` was deleted")));
            }
            let mut bytes = Vec::with_capacity(reader.info().size);
            loop {
                match tokio::time::timeout(READ_TIMEOUT, reader.read_buf(&mut bytes)).await {
                    Ok(Ok(0)) => return Ok(bytes),
                    Ok(Ok(_)) => {}
                    // The checksum of the object does not match its bytes.
                    Ok(Err(error)) if error.kind() == std::io::ErrorKind::InvalidData => {
                        return Err(ClusterError::Damaged(format!("object `{object}`: {error}")));
                    }
                    Ok(Err(error)) => return Err(failed(&error)),
                    Err(error) => return Err(failed(&error)),
                }
            }
        })
    }

    fn discard<'a>(&'a self, name: &'a str) -> Later<'a, ()> {
        Box::pin(async move {
            let failed = |error: &dyn std::fmt::Display| {
                ClusterError::unreachable(&format!("remove the result of unit {name}"), error)
            };
            // The object itself is removed with the job.
            self.done.delete(name).await.map_err(|error| failed(&error))
        })
    }

    fn names(&self) -> Later<'_, Vec<String>> {
        Box::pin(async move {
            let failed = |error: &dyn std::fmt::Display| ClusterError::unreachable("list the results", error);
            let keys = self.done.keys().await.map_err(|error| failed(&error))?;
            keys.try_collect().await.map_err(|error| failed(&error))
        })
    }
}
