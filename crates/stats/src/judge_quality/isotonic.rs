//! Calibration of a judge's scores to human scores by isotonic regression.

use crate::{
    UndefinedReason,
    rank::{merge_ties, sort_order, tie_distance},
    undefined::{check_all_finite, check_finite, check_not_empty},
};

/// Non-decreasing function fitted to labelled scores.
#[derive(Debug, Clone, PartialEq)]
pub struct IsotonicFit {
    /// Distinct scores in ascending order, with the value each is mapped to.
    points: Vec<(f64, f64)>,
}

struct IsotonicBlock {
    value: f64,
    weight: f64,
    points: usize,
}

impl IsotonicFit {
    /// Fits `y` to `x` by pooling adjacent violators; cases whose x is the same within 1e-9 are averaged
    /// first. Source: M. Ayer et al., Annals of Mathematical Statistics 26 (1955), 641-647; R. Barlow et al.,
    /// Statistical Inference under Order Restrictions (1972).
    pub fn fit(x: &[f64], y: &[f64], weights: Option<&[f64]>) -> Result<Self, UndefinedReason> {
        let even;
        let weights = if let Some(weights) = weights {
            weights
        } else {
            even = vec![1.0; x.len()];
            &even
        };
        if x.len() != y.len() || x.len() != weights.len() {
            return Err(UndefinedReason::UnequalLengths);
        }

        for list in [x, y, weights] {
            check_all_finite(list)?;
        }

        if weights.iter().any(|&weight| weight < 0.0) {
            return Err(UndefinedReason::OutOfRange);
        }

        let x = merge_ties(x);
        // A case without weight has no influence, and would divide by zero.
        let ascending: Vec<usize> =
            sort_order(&x).into_iter().filter(|&index| weights[index] > 0.0).collect();
        let mut scores = Vec::new();
        let mut blocks: Vec<IsotonicBlock> = Vec::new();
        for run in ascending.chunk_by(|&a, &b| x[a] == x[b]) {
            let weight: f64 = run.iter().map(|&index| weights[index]).sum();
            let value = run.iter().map(|&index| weights[index] * y[index]).sum::<f64>() / weight;
            scores.push(x[run[0]]);
            blocks.push(IsotonicBlock { value, weight, points: 1 });
            pool_violators(&mut blocks);
        }

        check_not_empty(scores.len())?;

        for block in &blocks {
            check_finite(block.value)?;
        }

        let fitted = blocks.iter().flat_map(|block| std::iter::repeat_n(block.value, block.points));
        Ok(Self { points: scores.into_iter().zip(fitted).collect() })
    }

    /// Returns the distinct scores in ascending order, with the value each is mapped to.
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// Returns the value that a score is mapped to: interpolated between fitted points, constant beyond the
    /// outer ones.
    pub fn predict(&self, score: f64) -> Result<f64, UndefinedReason> {
        if score.is_nan() {
            return Err(UndefinedReason::NotFinite);
        }

        let ends: Vec<f64> =
            self.points.first().into_iter().chain(self.points.last()).map(|(x, _)| *x).collect();
        let distance = tie_distance(&ends);
        let after = self.points.partition_point(|&(x, _)| x < score - distance);
        match (after.checked_sub(1).and_then(|at| self.points.get(at)), self.points.get(after)) {
            (_, Some(&(x, y))) if x <= score + distance => Ok(y),
            (Some(&(x0, y0)), Some(&(x1, y1))) => check_finite(y0 + (y1 - y0) * ((score - x0) / (x1 - x0))),
            (Some(&(_, y)), None) | (None, Some(&(_, y))) => Ok(y),
            (None, None) => Err(UndefinedReason::NoValues),
        }
    }
}

/// Merges the last blocks until they are increasing.
fn pool_violators(blocks: &mut Vec<IsotonicBlock>) {
    while let [.., before, last] = blocks.as_mut_slice() {
        if before.value < last.value {
            break;
        }

        let weight = before.weight + last.weight;
        before.value += (last.value - before.value) * (last.weight / weight);
        before.weight = weight;
        before.points += last.points;

        blocks.pop();
    }
}
