//! Comparison of a score with a threshold, within rounding error.

/// Distance by which a score may miss a threshold through rounding alone: 0.1 + 0.7 of 1.0 is 0.8.
pub const TOLERANCE: f64 = 1e-9;

/// Returns true if `value` reaches the threshold `line`, within [`TOLERANCE`].
pub fn at_least(value: f64, line: f64) -> bool {
    value >= line - TOLERANCE
}
