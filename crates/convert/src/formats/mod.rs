//! From one format of eval files to the other: the same values under other keys, and every default that differs said.

mod case;
mod criterion;
mod grader;
mod lines;
mod suite;
mod way;

pub(crate) use suite::suite;
pub(crate) use way::Way;
