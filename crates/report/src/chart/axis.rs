//! The axis that several charts share.

use std::fmt::Write as _;

use super::{begin, decimal};

/// Range of values of a chart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChartAxis {
    low: f64,
    high: f64,
}

impl ChartAxis {
    /// From 0 to 1, for rates and scores.
    pub const UNIT: Self = Self { low: 0.0, high: 1.0 };

    /// From -1 to 1, for coefficients of agreement.
    pub const SIGNED: Self = Self { low: -1.0, high: 1.0 };

    /// Returns an axis that is symmetric around 0 and wide enough for these values: a multiple of 0.05 to
    /// each side.
    pub fn around_zero(values: impl IntoIterator<Item = f64>) -> Self {
        const STEP: f64 = 0.05;
        let largest = values.into_iter().filter(|value| value.is_finite()).map(f64::abs).fold(0.0, f64::max);
        let extent = (largest / STEP).ceil().max(1.0) * STEP;
        Self { low: -extent, high: extent }
    }

    /// Position of a value, in percent of the width, 0 to 100. Values beyond the axis are put at its end.
    pub(super) fn percent(self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        100.0 * share.clamp(0.0, 1.0)
    }

    pub(crate) const fn contains(self, value: f64) -> bool {
        value >= self.low && value <= self.high
    }
}

/// Draws labels at both ends and in the middle of the axis. `format` formats a value.
pub fn axis_labels(axis: ChartAxis, format: impl Fn(f64) -> String) -> String {
    let middle = f64::midpoint(axis.low, axis.high);
    let mut svg = begin("axis", 18, &format!("axis from {} to {}", format(axis.low), format(axis.high)));
    for (value, anchor) in [(axis.low, "start"), (middle, "middle"), (axis.high, "end")] {
        let x = decimal(axis.percent(value));
        let _ = write!(
            svg,
            "<text class=\"{anchor}\" x=\"{x}%\" y=\"15\" text-anchor=\"{anchor}\">{}</text>",
            super::escape(&format(value))
        );
    }

    svg + "</svg>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_around_zero_holds_all_values() {
        let axis = ChartAxis::around_zero([-0.12, 0.03, f64::NAN]);
        assert!(axis.contains(-0.15) && axis.contains(0.15) && !axis.contains(0.16), "{axis:?}");
        assert_eq!(axis.percent(0.0), 50.0);
        assert_eq!(ChartAxis::around_zero([]), ChartAxis { low: -0.05, high: 0.05 });
    }

    #[test]
    fn values_beyond_the_axis_are_at_its_end() {
        assert_eq!(ChartAxis::UNIT.percent(1.5), 100.0);
        assert_eq!(ChartAxis::UNIT.percent(-1.0), 0.0);
    }
}
