//! Writes checked models as the values of eval files. Read back, they have the same meaning.

mod criterion;

pub use criterion::criterion_value;
