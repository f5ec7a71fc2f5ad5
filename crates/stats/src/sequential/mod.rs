//! Evidence that may be checked after each value, and acted on, without additional false alarms.

mod betting;
mod drift;

pub use betting::BettingSequence;
pub use drift::{DriftStep, DriftTest};
