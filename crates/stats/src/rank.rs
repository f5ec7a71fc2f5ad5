//! Ranks with ties, and quantiles of sorted values.

/// Returns the positions of the values in ascending order of the values.
pub(crate) fn sort_order(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    order
}

/// Distance within which values are tied if the largest is at least 1; below that, relative to the largest.
/// Scores that are mathematically equal often differ by the order of summation.
const TIE_TOLERANCE: f64 = 1e-9;

/// Returns the distance within which values of a list are tied.
pub(crate) fn tie_distance(values: &[f64]) -> f64 {
    TIE_TOLERANCE * values.iter().fold(0.0f64, |largest, value| largest.max(value.abs())).min(1.0)
}

/// Calls `see` with the positions of each group of tied values, in ascending order of values. Minus zero
/// equals zero. All code that treats ties uses this function.
fn for_each_tie(values: &[f64], see: impl FnMut(&[usize])) {
    let values: Vec<f64> = values.iter().map(|value| value + 0.0).collect();
    let (order, distance) = (sort_order(&values), tie_distance(&values));
    order.chunk_by(|&a, &b| values[b] - values[a] <= distance).for_each(see);
}

/// Returns the ranks from 1, with mid-ranks for ties, and the sizes of the groups of tied values.
pub(crate) fn mid_ranks(values: &[f64]) -> (Vec<f64>, Vec<u64>) {
    let mut ranks = vec![0.0; values.len()];
    let mut groups = Vec::new();
    let mut start = 0;
    for_each_tie(values, |tied| {
        let middle = f64::midpoint((start + 1) as f64, (start + tied.len()) as f64);
        for &position in tied {
            ranks[position] = middle;
        }

        start += tied.len();
        groups.push(tied.len() as u64);
    });

    (ranks, groups)
}

/// Returns the values, with each group of tied values replaced by its lowest one: values that differ only by
/// rounding become equal. Values are tied within 1e-9, or relative to the largest one if that is below 1.
pub fn merge_ties(values: &[f64]) -> Vec<f64> {
    let mut merged = values.to_vec();
    for_each_tie(values, |tied| {
        let lowest = tied.first().map_or(0.0, |&at| values[at] + 0.0);
        for &position in tied {
            merged[position] = lowest;
        }
    });

    merged
}

/// Returns the quantile of ascending values, interpolated between neighbours: the value at position
/// `share (n - 1)`. Source: R. Hyndman and Y. Fan, The American Statistician 50 (1996), definition 7.
pub(crate) fn quantile(ascending: &[f64], share: f64) -> Option<f64> {
    let last = ascending.len().checked_sub(1)?;
    let position = share.clamp(0.0, 1.0) * last as f64;
    let below = position.floor();
    let (low, high) = (ascending[below as usize], ascending[(below as usize + 1).min(last)]);
    Some(low + (high - low) * (position - below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_differ_by_rounding_become_the_lowest_of_them() {
        assert_eq!(merge_ties(&[3.0 + 1e-12, 2.0, 3.0, 3.001]), [3.0, 2.0, 3.0, 3.001]);
        // Small values keep their differences.
        assert_eq!(merge_ties(&[1e-12, 2e-12]), [1e-12, 2e-12]);
        assert!(merge_ties(&[]).is_empty());
    }
}
