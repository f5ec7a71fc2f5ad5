//! Conversion between the two formats of eval files: renamed keys, and every differing default written out.

mod case;
mod criterion;
mod grader;
mod suite;
mod thresholds;
mod way;

pub(crate) use suite::convert_format;
pub(crate) use way::Way;
