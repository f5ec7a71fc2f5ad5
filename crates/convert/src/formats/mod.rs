//! Conversion between the two formats of eval files: renamed keys, and every differing default written out.

mod case;
mod criterion;
mod grader;
mod lines;
mod suite;
mod way;

pub(crate) use suite::suite;
pub(crate) use way::Way;
