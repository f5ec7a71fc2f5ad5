//! Declared answers, and the credit for near misses.

use crate::{UndefinedReason, rank::tie_distance, undefined::check_all_finite};

/// Answers that a rater may give, as ascending numbers: `0, 1` for fail and pass, `0..=10` for a score. The scale is
/// declared and not taken from the data, because unused answers also affect distances and the agreement expected by
/// chance.
#[derive(Debug, Clone, PartialEq)]
pub struct RatingScale {
    points: Vec<f64>,
    /// How far a rating may be from its point.
    distance: f64,
}

/// Partial credit for two answers that differ. For the positions or values v of the two answers:
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AgreementWeights {
    /// 1 if they are equal, else 0.
    #[default]
    Identity,
    /// `1 - |v - v'| / range`.
    Linear,
    /// `1 - ((v - v') / range)^2`.
    Quadratic,
    /// `1 - C(d + 1, 2) / C(q, 2)` for two of q answers that are d positions apart.
    Ordinal,
    /// `1 - sqrt(|v - v'| / range)`.
    Radical,
    /// `1 - ((v - v') / (v + v'))^2`, with the distance divided by its largest value.
    Ratio,
}

impl RatingScale {
    /// Creates a scale from points in any order; duplicates are removed, as are points that differ only by rounding.
    pub fn new(points: impl IntoIterator<Item = f64>) -> Result<Self, UndefinedReason> {
        // Adding 0 turns minus zero into zero.
        let mut points: Vec<f64> = points.into_iter().map(|point| point + 0.0).collect();
        check_all_finite(&points)?;
        points.sort_by(f64::total_cmp);
        let distance = tie_distance(&points);
        points.dedup_by(|next, kept| *next - *kept <= distance);

        if points.is_empty() { Err(UndefinedReason::NoValues) } else { Ok(Self { points, distance }) }
    }

    /// Creates the scale of fail and pass: 0 and 1.
    pub fn binary() -> Self {
        Self { points: vec![0.0, 1.0], distance: tie_distance(&[0.0, 1.0]) }
    }

    /// Returns the points in ascending order.
    pub fn points(&self) -> &[f64] {
        &self.points
    }

    /// Returns the number of points.
    pub const fn len(&self) -> usize {
        self.points.len()
    }

    /// Always returns false: a scale has at least one point.
    pub const fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Returns the position of a rating on the scale. Ratings may miss a point by rounding.
    pub fn position(&self, rating: f64) -> Result<usize, UndefinedReason> {
        let above = self.points.partition_point(|point| *point < rating - self.distance);
        let is_near = self.points.get(above).is_some_and(|point| (point - rating).abs() <= self.distance);
        if is_near { Ok(above) } else { Err(UndefinedReason::NotOnScale) }
    }

    /// Returns the position of a number on the scale, from 0; for a number between two points, the
    /// interpolated position. Numbers may be beyond the ends by rounding.
    pub(crate) fn place(&self, rating: f64) -> Result<f64, UndefinedReason> {
        if let Ok(position) = self.position(rating) {
            return Ok(position as f64);
        }

        let above = self.points.partition_point(|point| *point < rating);
        match (above.checked_sub(1), self.points.get(above)) {
            (Some(at), Some(next)) => Ok(at as f64 + (rating - self.points[at]) / (next - self.points[at])),
            _ => Err(UndefinedReason::NotOnScale),
        }
    }
}

/// Credits for the pairs of ascending points. Source: K. Gwet, Handbook of Inter-Rater Reliability (4th edition, 2014),
/// section 3.5.
pub(crate) struct Credits<'p> {
    weights: AgreementWeights,
    points: &'p [f64],
    range: f64,
    /// The largest distance, if the weights are [`AgreementWeights::Ratio`].
    widest: f64,
}

impl<'p> Credits<'p> {
    pub(crate) fn new(weights: AgreementWeights, points: &'p [f64]) -> Self {
        let range = points.last().copied().unwrap_or_default() - points.first().copied().unwrap_or_default();
        let mut credits = Self { weights, points, range, widest: 0.0 };
        if weights == AgreementWeights::Ratio {
            let all = points.iter().flat_map(|a| points.iter().map(|b| relative(*a, *b)));
            credits.widest = all.fold(0.0f64, f64::max);
        }
        credits
    }

    /// The credit for two points, by their positions.
    pub(crate) fn of(&self, i: usize, j: usize) -> f64 {
        let (a, b) = (self.points[i], self.points[j]);
        if i == j {
            return 1.0;
        }

        let share = if self.range > 0.0 { (a - b).abs() / self.range } else { 0.0 };
        match self.weights {
            AgreementWeights::Identity => 0.0,
            AgreementWeights::Linear => 1.0 - share,
            AgreementWeights::Quadratic => 1.0 - share.powi(2),
            AgreementWeights::Ordinal => {
                let (apart, places) = (i.abs_diff(j) as f64, self.points.len() as f64);
                1.0 - apart * (apart + 1.0) / (places * (places - 1.0))
            }
            AgreementWeights::Radical => 1.0 - share.sqrt(),
            AgreementWeights::Ratio => {
                1.0 - if self.widest > 0.0 { relative(a, b) / self.widest } else { 0.0 }
            }
        }
    }

    /// Sum of the credits of all ordered pairs of answers, from their positions and how often each was given.
    pub(crate) fn among(&self, counts: &[(usize, f64)]) -> f64 {
        match self.weights {
            AgreementWeights::Identity => counts.iter().map(|(_, count)| count * count).sum(),
            AgreementWeights::Quadratic => {
                let n: f64 = counts.iter().map(|(_, count)| count).sum();
                let given: Vec<(f64, f64)> =
                    counts.iter().map(|(at, count)| (self.points[*at], *count)).collect();
                let apart = sum_squared_differences(&given);
                n * n - if self.range > 0.0 { apart / self.range.powi(2) } else { 0.0 }
            }
            _ => {
                let with = |(i, count): &(usize, f64)| {
                    counts.iter().map(|(j, other)| self.of(*i, *j) * other).sum::<f64>() * count
                };
                counts.iter().map(with).sum()
            }
        }
    }

    /// Mean credit of all pairs of different ratings, `size` in number; 0 for a single rating.
    pub(crate) fn agreed(&self, counts: &[(usize, f64)], size: f64) -> f64 {
        if size >= 2.0 { (self.among(counts) - size) / (size * (size - 1.0)) } else { 0.0 }
    }

    /// Sum of the credits of all ordered pairs of points.
    pub(crate) fn total(&self) -> f64 {
        self.among(&(0..self.points.len()).map(|at| (at, 1.0)).collect::<Vec<_>>())
    }
}

fn relative(a: f64, b: f64) -> f64 {
    if a + b == 0.0 { 0.0 } else { ((a - b) / (a + b)).powi(2) }
}

/// Sum of the squared differences of all ordered pairs of numbers, from the numbers and how often each occurs: they differ
/// by 2 n times as much as the numbers differ from their mean.
pub(crate) fn sum_squared_differences(counted: &[(f64, f64)]) -> f64 {
    let n: f64 = counted.iter().map(|(_, count)| count).sum();
    let mean = counted.iter().map(|(value, count)| count * value).sum::<f64>() / n;
    2.0 * n * counted.iter().map(|(value, count)| count * (value - mean).powi(2)).sum::<f64>()
}
