//! From one format of eval files to the other: the same values under other keys, and every default that differs said.

mod case;
mod criterion;
mod grader;
mod lines;
mod suite;

pub(crate) use suite::{Way, suite};
