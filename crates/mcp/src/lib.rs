//! Server for agents over the Model Context Protocol: tools to validate, plan, grade, run and read evals, and resources with
//! schemas, error codes and lint rules.
//!
//! An [`McpServer`] answers one client over a pair of streams. What a client may reach is decided when the server is made, by
//! [`McpOptions`], and never by a request: the folder that paths can't leave, the right to store runs, the right to start
//! programs. Texts of answers and judges are returned as data, in fields of their own.
//!
//! Design: `docs/design/service.md`.

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

pub use server::{McpError, McpOptions, McpServer, RunStorage};
