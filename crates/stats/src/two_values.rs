//! Ends of the interval of a mean over units with nearly two values.
//!
//! If all units except a few are equal, the mean is essentially the share of one of two values, and only an exact
//! interval of a proportion covers it at every share. So for each way to split the units into two groups, the interval
//! must extend at least as far as the exact interval of that share.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::{
    ConfidenceLevel,
    proportion::{MAX_BLAKER_TRIALS, blaker_end},
    unit_list::UnitList,
};

/// The exact distance is reduced by the spread of the units, but to no less than this share of it.
const MIN_EXACT_SHARE: f64 = 0.8;

/// Maximum number of units that are split off from the others.
const MAX_APART: usize = 10;

/// Units from 0 to 1, regarded as a mixture of two values whose shares have the exact interval of a proportion. The
/// mixtures are: all units with an end of the range that no unit has, and the few lowest or highest units with the
/// others.
#[derive(Debug)]
pub(crate) struct NearlyTwoValues {
    mean: f64,
    /// Distance from the mean of the lowest unit to the mean of the others, then of the two lowest units, and
    /// so on.
    lowest: Vec<f64>,
    /// The same for the highest units.
    highest: Vec<f64>,
    /// Number of units.
    count: u64,
}

/// Maximum number of cached distances.
const MAX_KEPT: usize = 1_000;

thread_local! {
    /// Cached distances by number of successes, number of trials and level, because means of many cases with
    /// equal numbers of trials need the same ones.
    static DISTANCES: RefCell<HashMap<(u64, u64, u64), f64>> = RefCell::default();
}

/// Returns the distance from the share `count / all` to the lower end of Blaker's interval.
fn distance_to_end(count: u64, all: u64, level: ConfidenceLevel) -> f64 {
    let key = (count, all, level.get().to_bits());
    DISTANCES.with_borrow_mut(|kept| {
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        *kept.entry(key).or_insert_with(|| count as f64 / all as f64 - blaker_end(count, all, level))
    })
}

/// Returns the distances from the mean of the first units to the mean of all others, in a sample with this sum and
/// size: for the first `step` units (not necessarily a whole number), for twice as many, and so on; each represents
/// `1 / count` of the sample. If the units hold less of the sample, their distance is reduced in proportion. If they
/// hold more, it is not increased, because the deviation of a large cluster is already part of the error of the mean.
fn distances(units: &[(f64, f64)], step: f64, count: f64, (sum, size): (f64, f64)) -> Vec<f64> {
    let mut found = Vec::new();
    let (mut own_sum, mut own_size, mut left) = (0.0, 0.0, step);
    for unit in units {
        let mut of_unit = 1.0_f64;
        while of_unit > 0.0 && found.len() < MAX_APART {
            let taken = of_unit.min(left);
            own_sum += taken * unit.0;
            own_size += taken * unit.1;
            of_unit -= taken;
            left -= taken;
            if left <= 0.0 {
                let distance = (own_sum / own_size - (sum - own_sum) / (size - own_size)).abs();
                let share = (found.len() + 1) as f64 / count;
                found.push(distance * (own_size / size / share).min(1.0));
                left = step;
            }
        }
    }
    found
}

impl NearlyTwoValues {
    /// Takes at least two units, which are equivalent to `count` units of equal size. Each of those is as
    /// large as `step` units.
    pub(crate) fn new(units: &impl UnitList, count: f64, step: f64) -> Self {
        let (mut sum, mut size) = (0.0, 0.0);
        let (mut lowest, mut highest) = (Vec::new(), Vec::new());
        let most = ((MAX_APART as f64 * step).ceil() as usize).clamp(1, units.count() / 2);
        units.visit(|of_unit, n| {
            sum += of_unit;
            size += n;
            // Both lists begin with the outermost unit.
            let value = of_unit / n;
            let keep = |list: &mut Vec<(f64, f64)>, is_further: &dyn Fn(f64) -> bool| {
                let at = list.partition_point(|(sum, size)| !is_further(sum / size));
                if at < most {
                    list.truncate(most - 1);
                    list.insert(at, (of_unit, n));
                }
            };
            keep(&mut lowest, &|other| value < other);
            keep(&mut highest, &|other| value > other);
        });

        Self {
            mean: sum / size,
            lowest: distances(&lowest, step, count, (sum, size)),
            highest: distances(&highest, step, count, (sum, size)),
            count: count as u64,
        }
    }

    /// Moves the ends of an interval outwards to where they would be if the units are such a mixture. `own`
    /// are the ends that follow from the spread of the units alone.
    pub(crate) fn widen(
        self,
        (low, high): (f64, f64),
        own: (f64, f64),
        level: ConfidenceLevel,
    ) -> (f64, f64) {
        if self.count > MAX_BLAKER_TRIALS {
            return (low, high);
        }

        // The units may have missed all values at an end of the range, and their mean has an error, too; both at once
        // are less likely.
        let below = |count: u64| distance_to_end(count, self.count, level);
        let all = below(self.count);
        let of_end = |unseen: f64, reached: f64| {
            let exact = all * unseen;
            (exact - reached / 2.0).max(MIN_EXACT_SHARE * exact)
        };
        let mut down = of_end(self.mean, self.mean - own.0);
        let mut up = of_end(1.0 - self.mean, own.1 - self.mean);

        for (apart, (lowest, highest)) in (1..self.count).zip(self.lowest.iter().zip(&self.highest)) {
            let (few, others) = (below(apart), below(self.count - apart));
            down = down.max(others * lowest).max(few * highest);
            up = up.max(others * highest).max(few * lowest);
        }
        (low.min((self.mean - down).max(0.0)), high.max((self.mean + up).min(1.0)))
    }
}
