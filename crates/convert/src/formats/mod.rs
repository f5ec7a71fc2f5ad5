//! Converts between the two formats of eval files. Keys are renamed, and every default that differs is written
//! out.

mod case;
mod criterion;
mod direction;
mod grader;
mod suite;
mod thresholds;

pub(crate) use direction::FormatDirection;
pub(crate) use suite::convert_format;
