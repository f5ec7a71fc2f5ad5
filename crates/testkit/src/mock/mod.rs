//! A local model server whose replies and faults a test scripts.

mod batches;
mod connection;
mod incoming;
mod reply;
pub mod rule;
mod script;
mod send;
mod server;
mod wire;

pub use batches::{MockBatchFaults, MockBatches};
pub use incoming::{MockRequest, RecordedRequest};
pub use reply::{MockReply, MockToken};
pub use script::{MockJudgeQuestion, ReplyScript, always, sequence, truthful, with_slots};
pub use server::{MockOptions, MockServer};
