//! Judges that fail in every way a server or a model can: no wrong outcome, nothing lost, no secret revealed.
//!
//! [`matrix`] tests every fault in every wire format, [`storm`] mixes them at random and compares with what the
//! server knows it said, [`secrets`] looks for the key in everything that the program leaves behind. [`audit`]
//! tests judges that believe answers, [`probing`] judges that look at the wrong things.

mod audit;
mod engine;
mod kinds;
mod matrix;
mod probing;
mod secrets;
mod storm;
