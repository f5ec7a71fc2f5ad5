//! Tools for tests: a scripted model server, a fixture for the command line, and a runner for golden files.

pub mod cli;
mod diff;
pub mod filter;
pub mod golden;
pub mod mock;
#[cfg(unix)]
pub mod pty;
