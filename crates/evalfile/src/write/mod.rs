//! Checked models as the values that eval files hold, so that what is read again means the same.

mod criterion;

pub use criterion::criterion_value;
