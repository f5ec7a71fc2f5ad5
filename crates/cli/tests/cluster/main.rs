//! Runs over many machines: real servers that replicate, real workers and coordinators as processes, a judge that counts.
#![cfg(unix)]

mod faults;
mod features;
mod limits;
mod machines;
mod refusals;
mod runs;
