//! The service over real connections, with a scripted model behind its judge.

mod access;
mod adapters;
mod client;
mod endings;
mod fairness;
mod fixture;
mod grading;
mod hostile;
mod openapi;
mod rewards;
mod scorecards;
mod telemetry;
mod tls;
