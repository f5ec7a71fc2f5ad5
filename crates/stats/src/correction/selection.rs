//! Possible error of a rate if the labelled cases were not drawn at random.

use crate::{UndefinedReason, undefined::check_finite};

/// Cases with the same decision of the judge, some of them labelled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SelectionStratum {
    /// Share of the labelled cases that people find met, 0 to 1.
    pub rate: f64,
    /// Number of labelled cases.
    pub labelled: f64,
    /// Number of other cases.
    pub unlabelled: f64,
}

/// Returns bounds of the rate over all cases. Within each stratum, the odds of being met differ between labelled and
/// other cases by a factor of at most `factor`, which is 1 or more: 1 assumes a random choice within strata, infinity
/// assumes nothing. With the rate r of the labelled cases, the rate of the others is then between `r / (r + f (1 - r))`
/// and `f r / (f r + 1 - r)`. Sources: C. Manski, American Economic Review 80 (1990), 319-323 (no assumption); Z. Tan,
/// Journal of the American Statistical Association 101 (2006), 1619-1637, and Q. Zhao, D. Small and B. Bhattacharya,
/// Journal of the Royal Statistical Society B 81 (2019), 735-761 (a bound on odds).
pub fn selection_bounds(strata: &[SelectionStratum], factor: f64) -> Result<(f64, f64), UndefinedReason> {
    let all: f64 = strata.iter().map(|stratum| stratum.labelled + stratum.unlabelled).sum();
    if all <= 0.0 {
        return Err(UndefinedReason::NoValues);
    }
    let is_valid = |stratum: &SelectionStratum| (0.0..=1.0).contains(&stratum.rate);
    if factor.is_nan() || factor < 1.0 || !strata.iter().all(is_valid) {
        return Err(UndefinedReason::OutOfRange);
    }

    let bound = |low: bool| {
        let contribution = |stratum: &SelectionStratum| {
            let SelectionStratum { rate, labelled, unlabelled } = *stratum;
            let other = match (factor.is_infinite() || labelled == 0.0, low) {
                (true, true) => 0.0,
                (true, false) => 1.0,
                (false, true) => rate / (rate + factor * (1.0 - rate)),
                (false, false) => factor * rate / (factor * rate + 1.0 - rate),
            };
            labelled * rate + unlabelled * other
        };
        check_finite(strata.iter().map(contribution).sum::<f64>() / all)
    };
    Ok((bound(true)?, bound(false)?))
}

/// Largest finite factor that is tried.
const MAX_FACTOR: f64 = 1e6;

/// Returns the smallest factor at which the bounds contain a value: how strong selection must be for the
/// value to be true. It is 1 if no selection is needed, infinite if the value is only possible without any
/// assumption, and unreachable if it is impossible.
pub fn selection_to_reach(strata: &[SelectionStratum], value: f64) -> Result<f64, UndefinedReason> {
    let holds =
        |factor: f64| selection_bounds(strata, factor).map(|(low, high)| low <= value && value <= high);
    if holds(1.0)? {
        return Ok(1.0);
    }
    if !holds(MAX_FACTOR)? {
        // If all labels of a stratum are alike, the rate of the others is the same at any finite factor.
        return if holds(f64::INFINITY)? { Ok(f64::INFINITY) } else { Err(UndefinedReason::Unreachable) };
    }

    let (mut low, mut high) = (0.0, MAX_FACTOR.ln());
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if holds(middle.exp())? { high = middle } else { low = middle }
    }
    Ok(high.exp())
}
