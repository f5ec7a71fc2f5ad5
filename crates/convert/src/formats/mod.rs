//! Conversion between the two formats of eval files: renamed keys, and every differing default written out.

mod case;
mod criterion;
mod grader;
mod lines;
mod suite;

pub(crate) use suite::{Way, suite};
