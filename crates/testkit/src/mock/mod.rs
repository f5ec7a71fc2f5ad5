//! A local model server whose replies and faults a test scripts.

mod connection;
mod incoming;
mod reply;
mod script;
mod send;
mod server;
mod wire;

pub use incoming::{Incoming, Recorded};
pub use reply::{Reply, Token};
pub use script::{Asked, Script, always, sequence, truthful};
pub use server::{MockOptions, MockServer};
