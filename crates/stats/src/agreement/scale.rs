//! Declared answers, and the credit for near misses.

use crate::{UndefinedReason, rank::tie_distance, undefined::check_all_finite};

/// Answers that a rater may give, as ascending numbers: `0, 1` for fail and pass, `0..=10` for a score. The scale is
/// declared and not taken from the data, because unused answers also affect distances and the agreement expected by
/// chance.
#[derive(Debug, Clone, PartialEq)]
pub struct RatingScale {
    points: Vec<f64>,
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

        if points.is_empty() { Err(UndefinedReason::NoValues) } else { Ok(Self { points }) }
    }

    /// Creates the scale of fail and pass: 0 and 1.
    pub fn binary() -> Self {
        Self { points: vec![0.0, 1.0] }
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
        let distance = tie_distance(&self.points);
        let above = self.points.partition_point(|point| *point < rating - distance);
        let is_near = self.points.get(above).is_some_and(|point| (point - rating).abs() <= distance);
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

impl AgreementWeights {
    /// Returns the weight of every pair of `values`, which must be ascending. Source: K. Gwet, Handbook of
    /// Inter-Rater Reliability (4th edition, 2014), section 3.5.
    pub(crate) fn matrix(self, values: &[f64]) -> Vec<Vec<f64>> {
        let range = values.last().copied().unwrap_or_default() - values.first().copied().unwrap_or_default();
        let share = |a: f64, b: f64| if range > 0.0 { (a - b).abs() / range } else { 0.0 };
        let relative = |a: f64, b: f64| if a + b == 0.0 { 0.0 } else { ((a - b) / (a + b)).powi(2) };
        let widest =
            values.iter().flat_map(|&a| values.iter().map(move |&b| relative(a, b))).fold(0.0f64, f64::max);
        let places = values.len() as f64;
        let pairs = places * (places - 1.0) / 2.0;
        let one = |i: usize, j: usize| {
            let (a, b) = (values[i], values[j]);

            if i == j {
                return 1.0;
            }

            match self {
                Self::Identity => 0.0,
                Self::Linear => 1.0 - share(a, b),
                Self::Quadratic => 1.0 - share(a, b).powi(2),
                Self::Ordinal => {
                    let apart = i.abs_diff(j) as f64;
                    1.0 - apart * (apart + 1.0) / 2.0 / pairs
                }
                Self::Radical => 1.0 - share(a, b).sqrt(),
                Self::Ratio => 1.0 - if widest > 0.0 { relative(a, b) / widest } else { 0.0 },
            }
        };

        (0..values.len()).map(|i| (0..values.len()).map(|j| one(i, j)).collect()).collect()
    }
}
