//! Conversion between the two formats of eval files: renamed keys, and every differing default written out.

mod case;
mod criterion;
mod direction;
mod grader;
mod suite;
mod thresholds;

pub(crate) use direction::FormatDirection;
pub(crate) use suite::convert_format;
