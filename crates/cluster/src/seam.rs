//! The seam between the work and the machines: queue, records, results, replies and limits. Code above this seam does
//! not know about message servers.

use std::sync::Arc;
use std::time::Duration;

use assize_run::SharedReplies;
use futures_util::future::BoxFuture;

use crate::error::ClusterError;
use crate::job::JobManifest;
use crate::limits::{LimitReply, LimitRequest};
use crate::unit::{UnitName, WorkUnit};

/// Future result of an operation of the cluster.
pub type Later<'a, T> = BoxFuture<'a, Result<T, ClusterError>>;

/// Answers workers that ask for parts of the limits; `None` sends no answer.
pub type LimitHandler = Arc<dyn Fn(LimitRequest) -> BoxFuture<'static, Option<LimitReply>> + Send + Sync>;

/// A group of machines that work together.
pub trait Cluster: Send + Sync {
    /// Records of jobs. They outlive every process.
    fn records(&self) -> Arc<dyn Records>;

    /// Creates the queue, the records and the stores of a job, unless they exist.
    fn open<'a>(&'a self, job: &'a JobManifest) -> Later<'a, JobLinks>;

    /// Removes what [`Cluster::open`] created. Results in a folder or a bucket stay.
    fn remove<'a>(&'a self, job: &'a JobManifest) -> Later<'a, ()>;

    /// Answers requests for parts of the limits of a job until the returned value is dropped.
    fn serve_limits<'a>(&'a self, job: &'a str, handler: LimitHandler) -> Later<'a, Box<dyn Send>>;

    /// Results and replies that were refused so far, because they are not signed with the secret of the job.
    fn refused(&self) -> RefusedCount {
        RefusedCount::default()
    }
}

/// Links of a job.
#[derive(Clone)]
pub struct JobLinks {
    /// Units to be worked on.
    pub queue: Arc<dyn WorkQueue>,
    /// Their results.
    pub results: Arc<dyn ResultStore>,
    /// Replies of models.
    pub replies: Arc<dyn SharedReplies>,
    /// Parts of the limits.
    pub limits: Arc<dyn LimitDesk>,
}

/// Small records, each with a revision.
pub trait Records: Send + Sync {
    /// The record under this key.
    fn get<'a>(&'a self, key: &'a str) -> Later<'a, Option<Record>>;

    /// Replaces the record if it has this revision (0: there is none) and returns the new revision; `None` if
    /// its revision is another one.
    fn replace<'a>(&'a self, key: &'a str, bytes: Vec<u8>, revision: u64) -> Later<'a, Option<u64>>;
}

/// A record as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Contents.
    pub bytes: Vec<u8>,
    /// Revision, more than 0.
    pub revision: u64,
}

/// A queue of units. Each is handed out again until it is completed, so two workers may work on it, but it is
/// never lost.
pub trait WorkQueue: Send + Sync {
    /// Adds units, except units that are in the queue already, leased or not. A unit that was added under the
    /// same tag shortly before is not added again.
    fn publish<'a>(&'a self, units: &'a [WorkUnit], tag: &'a str) -> Later<'a, ()>;

    /// Leases a unit, waiting for one at most this long.
    fn lease(&self, wait: Duration) -> Later<'_, Option<Box<dyn UnitLease>>>;

    /// Number of units in the queue, including leased ones.
    fn depth(&self) -> Later<'_, u64>;

    /// Names of the units in the queue, including leased ones.
    fn names(&self) -> Later<'_, Vec<UnitName>>;

    /// Time after which a unit is handed out again unless its lease is extended.
    fn lease_term(&self) -> Duration;
}

/// Lease of a unit.
pub trait UnitLease: Send + Sync {
    /// The unit.
    fn unit(&self) -> &WorkUnit;

    /// How often it was handed out, including this time.
    fn deliveries(&self) -> u64;

    /// Restarts the term. On an error, the lease may expire.
    fn extend(&self) -> Later<'_, ()>;

    /// Takes the unit out of the queue.
    fn complete(&self) -> Later<'_, ()>;
}

/// Results, one immutable file a unit.
pub trait ResultStore: Send + Sync {
    /// Stores a result. Returns false, and keeps the earlier one, if there is a result already.
    fn create<'a>(&'a self, name: &'a str, bytes: Vec<u8>) -> Later<'a, bool>;

    /// True if there is a result of this name.
    fn contains<'a>(&'a self, name: &'a str) -> Later<'a, bool>;

    /// The result of this name.
    fn get<'a>(&'a self, name: &'a str) -> Later<'a, Vec<u8>>;

    /// Removes a damaged result, if it is there, so that another one can be stored.
    fn discard<'a>(&'a self, name: &'a str) -> Later<'a, ()>;

    /// Names of all results.
    fn names(&self) -> Later<'_, Vec<String>>;
}

/// A worker's access to the shared limits.
pub trait LimitDesk: Send + Sync {
    /// Asks for a part. An error means that the coordinator does not answer now.
    fn ask<'a>(&'a self, request: &'a LimitRequest) -> Later<'a, LimitReply>;
}

/// Numbers of results and replies that were refused because of a missing or wrong signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RefusedCount {
    /// Results of units.
    pub results: u64,
    /// Replies of models.
    pub replies: u64,
}
