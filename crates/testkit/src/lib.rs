//! Tools for tests: a scripted model server, a fixture for the command line, and a runner for golden files.

pub mod buckets;
pub mod cli;
mod diff;
pub mod filter;
pub mod golden;
mod known_judge;
pub mod llama;
pub mod mock;
#[cfg(unix)]
pub mod nats;
pub mod official_types;
mod pip;
#[cfg(unix)]
pub mod pty;

pub use known_judge::KnownJudge;
