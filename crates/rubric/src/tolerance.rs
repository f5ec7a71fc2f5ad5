//! Comparison of a score with a threshold, allowing for rounding errors.

/// How far a score may miss a threshold through rounding alone: the sum 0.1 + 0.7 should reach 0.8.
pub const TOLERANCE: f64 = 1e-9;

/// Returns true if `value` reaches the threshold `line`, within [`TOLERANCE`].
pub fn at_least(value: f64, line: f64) -> bool {
    value >= line - TOLERANCE
}
