//! Runs over many machines: real servers that replicate, real workers and coordinators as processes, and a
//! judge that counts.
#![cfg(unix)]

#[cfg(feature = "cloud")]
mod buckets;
mod faults;
mod features;
mod limits;
mod machines;
mod refusals;
mod runs;
mod signed;
