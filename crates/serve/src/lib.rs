//! Grading as a service: samples in, rewards with their decisions out, over HTTP.
//!
//! [`GradingServer`] listens and answers until it is stopped. All clients share one rate limiter, one budget and one
//! reply cache of the process; each key has its own part of the cache. The judges of `assize-engine` make the decisions
//! and `assize-rubric` computes scores; this crate only chooses which score a request gets as its reward.
//!
//! Everything in a request is data. Paths in it are not opened, commands are not run, and a rubric in a request
//! can name only judges that the operator has named.

#![warn(missing_docs)]

mod access;
mod account_watch;
mod adapters;
mod admission;
mod api;
mod body;
mod check;
mod connection_watch;
mod decode;
mod grade_sample;
mod group;
mod idempotency;
mod inline_rubric;
mod inline_scorecard;
mod job;
mod key_file;
mod metrics;
mod openapi;
mod options;
mod paths;
mod plan;
mod problem;
mod query;
mod reply;
mod request;
mod request_memory;
mod routes;
mod rubric_library;
mod server;
mod service;
mod stall;
mod telemetry;
mod tenant;
mod tls;
mod work;

pub use api::{
    BenchmarkResult, CompareMode, DecisionResult, GradeReply, GradeRequest, GradeSample, GradeStatus,
    GradeSummary, NamedRubric, OnUngraded, RewardKind, RubricListing, RubricListingKind, RubricSource,
    SampleResult, ScorecardPartResult, ScorecardSource, StreamEnd, UngradedPolicy,
};
pub use check::{AdapterBody, check_adapter, check_formula, check_request};
pub use key_file::{ClientKey, KeyFile, KeyQuotas};
pub use openapi::openapi;
pub use options::{RequestLimits, ServeOptions, TelemetryOptions};
pub use problem::{ErrorBody, ErrorReply, RequestProblem};
pub use server::{GradingServer, GradingServerError};

#[cfg(test)]
mod tests;
