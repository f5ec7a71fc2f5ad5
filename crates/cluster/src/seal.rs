//! Signatures of the data that travels over the servers.
//!
//! Results, replies and descriptions of jobs carry a MAC (HMAC-SHA256) by a secret that never travels over them. An
//! attacker who can write to the servers and does not know the secret can remove data, but can't change it unnoticed. A
//! signature also covers the purpose and the name of the data, so nothing can be moved to another job, unit or call.

use std::fmt;
use std::sync::Arc;

use assize_run::SharedReplies;
use futures_util::future::BoxFuture;
use hmac::{Hmac, KeyInit as _, Mac as _};
use parking_lot::Mutex;
use sha2::Sha256;

use crate::board::JOB_KEY;
use crate::error::ClusterError;
use crate::job::JobManifest;
use crate::seam::{Cluster, JobLinks, Later, LimitHandler, Record, Records, RefusedCount, ResultStore};

/// Mark of a signature, before its bytes.
const MARK: &[u8] = b"\nassize-hmac-sha256-1:";
/// Length of a signature, in bytes.
const TAG_BYTES: usize = 32;
/// Shortest secret, in bytes.
const SHORTEST_SECRET: usize = 16;

/// The secret of a coordinator and its workers.
#[derive(Clone)]
pub struct JobSecret(Arc<[u8]>);

impl fmt::Debug for JobSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JobSecret")
    }
}

impl JobSecret {
    /// Takes a secret, without white space around it.
    ///
    /// # Errors
    /// When it is so short that it could be guessed.
    pub fn new(text: &str) -> Result<Self, ClusterError> {
        let text = text.trim();
        if text.len() < SHORTEST_SECRET {
            return Err(ClusterError::Refused(format!(
                "the secret of the job has {} bytes; expected {SHORTEST_SECRET} or more. Make one with `openssl rand -hex 32`",
                text.len()
            )));
        }

        Ok(Self(text.as_bytes().into()))
    }

    fn mac(&self, what: Sealed<'_>, bytes: &[u8]) -> Hmac<Sha256> {
        // HMAC takes keys of any length.
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).unwrap_or_else(|_| unreachable!());
        for part in what.parts() {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac.update(bytes);
        mac
    }

    /// Appends the signature.
    pub(crate) fn seal(&self, what: Sealed<'_>, mut bytes: Vec<u8>) -> Vec<u8> {
        let tag = self.mac(what, &bytes).finalize().into_bytes();
        bytes.extend_from_slice(MARK);
        bytes.extend_from_slice(&tag);
        bytes
    }

    /// Removes the signature; `None` if it is missing or wrong.
    pub(crate) fn open(&self, what: Sealed<'_>, mut bytes: Vec<u8>) -> Option<Vec<u8>> {
        let (body, tag) = split(&bytes)?;
        self.mac(what, body).verify_slice(tag).ok()?;
        let length = body.len();
        bytes.truncate(length);
        Some(bytes)
    }
}

/// Purpose and name of signed data.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sealed<'a> {
    /// The description of a job, by its key.
    Job(&'a str),
    /// The result of a unit of a job.
    Result { job: &'a str, unit: &'a str },
    /// The reply to the call with this key. Jobs share replies.
    Reply([u8; 32]),
}

impl Sealed<'_> {
    fn parts(&self) -> [&[u8]; 3] {
        match self {
            Self::Job(key) => [b"job", key.as_bytes(), b""],
            Self::Result { job, unit } => [b"result", job.as_bytes(), unit.as_bytes()],
            Self::Reply(key) => [b"reply", key, b""],
        }
    }
}

/// The parts of signed data: the content and the signature.
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (rest, tag) = bytes.split_at_checked(bytes.len().checked_sub(TAG_BYTES)?)?;
    Some((rest.strip_suffix(MARK)?, tag))
}

/// A cluster in which everything is signed, and unsigned data is refused. Without a secret, nothing is signed, and
/// signed data is refused.
pub struct SealedCluster {
    inner: Arc<dyn Cluster>,
    secret: Option<JobSecret>,
    refused: Arc<Mutex<RefusedCount>>,
}

impl SealedCluster {
    /// Signs all data that is sent to this cluster.
    pub fn new(inner: Arc<dyn Cluster>, secret: Option<JobSecret>) -> Self {
        Self { inner, secret, refused: Arc::default() }
    }
}

impl Cluster for SealedCluster {
    fn records(&self) -> Arc<dyn Records> {
        Arc::new(SealedRecords { inner: self.inner.records(), secret: self.secret.clone() })
    }

    fn open<'a>(&'a self, job: &'a JobManifest) -> Later<'a, JobLinks> {
        Box::pin(async {
            let links = self.inner.open(job).await?;
            let Some(secret) = &self.secret else { return Ok(links) };
            Ok(JobLinks {
                results: Arc::new(SealedResults {
                    inner: links.results,
                    secret: secret.clone(),
                    job: job.job.clone(),
                    refused: Arc::clone(&self.refused),
                }),
                replies: Arc::new(SealedReplies {
                    inner: links.replies,
                    secret: secret.clone(),
                    refused: Arc::clone(&self.refused),
                }),
                ..links
            })
        })
    }

    fn remove<'a>(&'a self, job: &'a JobManifest) -> Later<'a, ()> {
        self.inner.remove(job)
    }

    fn serve_limits<'a>(&'a self, job: &'a str, handler: LimitHandler) -> Later<'a, Box<dyn Send>> {
        self.inner.serve_limits(job, handler)
    }

    fn refused(&self) -> RefusedCount {
        *self.refused.lock()
    }
}

/// Records. The descriptions of jobs among them are signed.
struct SealedRecords {
    inner: Arc<dyn Records>,
    secret: Option<JobSecret>,
}

impl Records for SealedRecords {
    fn get<'a>(&'a self, key: &'a str) -> Later<'a, Option<Record>> {
        Box::pin(async move {
            let found = self.inner.get(key).await?;
            let (Some(record), Some(job)) = (&found, key.strip_prefix(JOB_KEY)) else { return Ok(found) };
            let (bytes, revision) = (record.bytes.clone(), record.revision);
            match &self.secret {
                None if split(&bytes).is_some() => Err(ClusterError::Refused(format!(
                    "job {job} is signed; give this process the secret of the job with `--job-secret FILE` or \
                     `ASSIZE_JOB_SECRET`"
                ))),
                None => Ok(found),
                // Not an error: an attacker who can write to the servers could stop all workers with it.
                Some(secret) => {
                    Ok(secret.open(Sealed::Job(key), bytes).map(|bytes| Record { bytes, revision }))
                }
            }
        })
    }

    fn replace<'a>(&'a self, key: &'a str, bytes: Vec<u8>, revision: u64) -> Later<'a, Option<u64>> {
        let bytes = match &self.secret {
            Some(secret) if key.starts_with(JOB_KEY) => secret.seal(Sealed::Job(key), bytes),
            _ => bytes,
        };
        self.inner.replace(key, bytes, revision)
    }
}

/// Results with signatures.
struct SealedResults {
    inner: Arc<dyn ResultStore>,
    secret: JobSecret,
    job: String,
    refused: Arc<Mutex<RefusedCount>>,
}

impl ResultStore for SealedResults {
    fn create<'a>(&'a self, name: &'a str, bytes: Vec<u8>) -> Later<'a, bool> {
        let sealed = self.secret.seal(Sealed::Result { job: &self.job, unit: name }, bytes);
        self.inner.create(name, sealed)
    }

    fn contains<'a>(&'a self, name: &'a str) -> Later<'a, bool> {
        self.inner.contains(name)
    }

    fn get<'a>(&'a self, name: &'a str) -> Later<'a, Vec<u8>> {
        Box::pin(async move {
            let bytes = self.inner.get(name).await?;
            open_result(&self.secret, &self.job, name, bytes)
                .inspect_err(|_| self.refused.lock().results += 1)
        })
    }

    fn discard<'a>(&'a self, name: &'a str) -> Later<'a, ()> {
        self.inner.discard(name)
    }

    fn names(&self) -> Later<'_, Vec<String>> {
        self.inner.names()
    }
}

/// The content of a signed result.
///
/// # Errors
/// [`ClusterError::Damaged`] when the signature is missing or wrong.
pub(crate) fn open_result(
    secret: &JobSecret,
    job: &str,
    unit: &str,
    bytes: Vec<u8>,
) -> Result<Vec<u8>, ClusterError> {
    let opened = secret.open(Sealed::Result { job, unit }, bytes);
    opened.ok_or_else(|| ClusterError::Damaged("it is not signed with the secret of the job".to_owned()))
}

/// Replies with signatures.
struct SealedReplies {
    inner: Arc<dyn SharedReplies>,
    secret: JobSecret,
    refused: Arc<Mutex<RefusedCount>>,
}

impl SharedReplies for SealedReplies {
    fn get(&self, key: [u8; 32]) -> BoxFuture<'_, Option<Vec<u8>>> {
        Box::pin(async move {
            let bytes = self.inner.get(key).await?;
            let opened = self.secret.open(Sealed::Reply(key), bytes);
            if opened.is_none() {
                self.refused.lock().replies += 1;
            }
            opened
        })
    }

    fn put(&self, key: [u8; 32], reply: Vec<u8>) {
        self.inner.put(key, self.secret.seal(Sealed::Reply(key), reply));
    }

    fn settled(&self) -> BoxFuture<'_, ()> {
        self.inner.settled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_for_one_use_one_name_one_secret() {
        let secret = JobSecret::new("0123456789abcdef\n").unwrap();
        let other = JobSecret::new("0123456789abcdeg").unwrap();
        let named = |job, unit| Sealed::Result { job, unit };
        let sealed = secret.seal(named("job-1", "2"), b"rows".to_vec());

        assert_eq!(secret.open(named("job-1", "2"), sealed.clone()).as_deref(), Some(&b"rows"[..]));
        assert!(other.open(named("job-1", "2"), sealed.clone()).is_none());
        for what in [
            named("job-1", "1"),
            named("job-2", "2"),
            named("job-12", ""),
            Sealed::Job("job-1"),
            Sealed::Reply([0; 32]),
        ] {
            assert!(secret.open(what, sealed.clone()).is_none(), "{what:?}");
        }
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(secret.open(named("job-1", "2"), changed).is_none(), "{at}");
        }
        for short in [&[][..], b"rows", &sealed[..sealed.len() - 1], &sealed[1..]] {
            assert!(secret.open(named("job-1", "2"), short.to_vec()).is_none());
        }
        assert!(JobSecret::new(" short ").is_err());
    }
}
