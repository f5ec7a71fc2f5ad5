//! How far the figures of an evaluation can be trusted.
//!
//! Pure functions over numbers. Every result says how many values it rests on, by which method and
//! at which confidence level; a figure that has no value is an [`Undefined`] that says why, never NaN.

#![warn(missing_docs)]

mod interval;
mod mean;
mod proportion;
mod rare;
mod undefined;

pub use interval::{Interval, Level, LevelError, Method};
pub use mean::{Accumulator, Mean};
pub use proportion::{Proportion, proportion};
pub use rare::no_failure_bound;
pub use undefined::Undefined;
