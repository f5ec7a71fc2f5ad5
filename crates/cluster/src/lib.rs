//! One run over many machines: units of work, leases, one store of results, one budget.
//!
//! A [`Coordinator`] turns a plan into a job and hands out its units. Any number of [`Worker`]s take units, run
//! each with the normal engine, and store each result as one file. The [`Cluster`] trait is the seam between
//! them and the machines: [`NatsCluster`] implements it with NATS servers.

#![warn(missing_docs)]

mod absence;
mod board;
mod bucket;
mod coordinator;
mod error;
mod event;
mod gather;
mod job;
pub mod limits;
mod nats;
mod pack;
mod patience;
mod request;
mod seal;
mod seam;
mod unit;
mod watch;
mod worker;

pub use bucket::{check_results, open_results};
pub use coordinator::{ClusterOptions, ClusterRunError, Coordinator};
pub use error::ClusterError;
pub use event::JobEvent;
pub use gather::{UnpackedJob, is_job, unpack_job};
pub use job::{JobLimits, JobManifest, JobPlan, JobState};
pub use nats::{ClusterAddress, ClusterAddressError, ConnectionObserver, NatsCluster};
pub use request::{ArgumentReader, EvalRequest};
pub use seal::{JobSecret, SealedCluster};
pub use seam::{
    Cluster, JobLinks, Later, LimitDesk, LimitHandler, Record, Records, RefusedCount, ResultStore, UnitLease,
    WorkQueue,
};
pub use unit::{UnitName, WorkUnit, covering_units, missing_units};
pub use worker::{Worker, WorkerEnd, WorkerEvent, WorkerOptions};

#[cfg(test)]
mod tests;
