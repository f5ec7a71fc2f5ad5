//! Grading as a service: samples in, rewards with their decisions out, over HTTP.
//!
//! [`GradingServer`] listens, and answers until it is told to stop. All clients share one limiter, one budget and one reply
//! cache of the process; the cache of each key is a part of its own. Decisions are made by the judges of `assize-engine`, scores
//! by `assize-rubric`; nothing is computed here but the choice between them that a request asks for.
//!
//! Everything in a request is data. No path in it is opened, no command is run, and a rubric in a request can name only judges
//! that the operator named.
//!
//! Design: `docs/design/service.md`.

#![warn(missing_docs)]

mod access;
mod account_watch;
mod adapters;
mod admission;
mod api;
mod check;
mod connection_watch;
mod decode;
mod group;
mod idempotency;
mod inline_rubric;
mod inline_scorecard;
mod job;
mod key_file;
mod metrics;
mod openapi;
mod options;
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
