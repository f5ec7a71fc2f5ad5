//! The server and a client of the protocol in one process.

mod limits;
mod money;
mod progress;
mod safety;
mod support;
mod tools;
