//! Intervals: known numbers, properties, and the cases that have no answer.

mod mean;
mod proportion;
mod rare;
mod vectors;
