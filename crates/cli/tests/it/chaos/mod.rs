//! Judges that fail in every way a server and a model can: no wrong outcome, nothing lost, no secret told.
//!
//! [`matrix`] goes through every fault in every wire format, [`storm`] mixes them at random and compares with what the
//! server knows it said, [`secrets`] looks for the key in everything the program leaves behind. [`audit`] puts judges to
//! the test that answers can talk round, [`probing`] those that look at the wrong things.

mod audit;
mod engine;
mod kinds;
mod matrix;
mod probing;
mod secrets;
mod storm;
