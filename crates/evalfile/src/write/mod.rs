//! Serialisation of checked models to the values of eval files, such that they read back with the same
//! meaning.

mod criterion;

pub use criterion::criterion_value;
