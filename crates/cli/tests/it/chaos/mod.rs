//! Judges that fail in every way a server or a model can: no wrong outcome, no lost result, no revealed secret.
//!
//! [`matrix`] tests every fault in every wire format, [`storm`] mixes them at random and compares with the server's
//! log, [`secrets`] searches for the key in all output and files of the program. [`audit`] tests judges that believe
//! answers, [`probing`] judges that decide by irrelevant properties.

mod audit;
mod engine;
mod kinds;
mod matrix;
mod probing;
mod secrets;
mod storm;
