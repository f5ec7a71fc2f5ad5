//! A server for agents over the Model Context Protocol: tools to validate, plan, grade, run and read evals, and
//! resources with schemas, error codes and lint rules.
//!
//! An [`McpServer`] serves one client over a pair of streams. [`McpOptions`] decide what a client can access when the
//! server is created, and no request can change that: the folder that paths can't leave, whether runs may be stored,
//! and whether programs may be started. Texts of answers and judges are returned as data, in separate fields.

#![warn(missing_docs)]

mod arguments;
mod background;
mod message_limit;
mod outcome;
mod output_schema;
mod progress;
mod resources;
mod results;
mod root;
mod schema_text;
mod server;
mod session_budget;
mod tools;

pub use server::{McpError, McpOptions, McpServer};
pub use tools::RunStorage;

#[cfg(test)]
mod tests;
