//! Conclusions about the pass rate from labels of cases that were not drawn at random.

use assize_rubric::SamplingMethod;
use assize_stats::{
    ConfidenceLevel, UndefinedReason, bounded_mean_clustered,
    correction::{SelectionStratum, selection_bounds, selection_to_reach},
};

use super::item::{CalibrationItem, DecisionValue};

/// Ratios of the odds of labelled and unlabelled items that are tried; infinity makes no assumption.
const FACTORS: [f64; 5] = [1.0, 1.5, 2.0, 3.0, f64::INFINITY];

/// Bounds of a pass rate for one strength of selection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SelectionBound {
    /// Largest ratio of the odds of being met between labelled items and others with the same decision of the
    /// judge.
    pub factor: f64,
    /// Lowest and highest rate, if the rates of the labelled items were known exactly.
    pub bounds: (f64, f64),
    /// The bounds, widened by the sampling error of the labels.
    pub with_error: (f64, f64),
}

/// How biased the pass rate may be by the choice of the labelled items.
#[derive(Debug, Clone, PartialEq)]
pub struct SelectionReport {
    /// Number of labelled items.
    pub labelled: usize,
    /// Number of judged items without a label.
    pub unlabelled: usize,
    /// Bounds, by growing strength of selection.
    pub bounds: Vec<SelectionBound>,
    /// The judge's own rate, and the strength of selection with which it would be the true rate, apart from
    /// sampling error.
    pub judge: (f64, Result<f64, UndefinedReason>),
}

/// A stratum with the ends of the interval of its rate.
struct MeasuredStratum {
    stratum: SelectionStratum,
    low: f64,
    high: f64,
}

/// Bounds the pass rate of verdicts, if only some items are labelled and not all labelled ones were drawn at
/// random.
pub(crate) fn selection_report(
    judged: &[(&CalibrationItem, f64)],
    level: ConfidenceLevel,
) -> Option<SelectionReport> {
    let by_lot = |item: &CalibrationItem| {
        matches!(item.sampled(), Some(SamplingMethod::Random | SamplingMethod::Weighted))
    };
    let labelled: Vec<&CalibrationItem> =
        judged.iter().map(|(item, _)| *item).filter(|item| item.people_mean().is_some()).collect();
    let is_verdict = |item: &CalibrationItem| {
        item.judge.as_ref().is_some_and(|judge| matches!(judge.said, DecisionValue::Verdict(_)))
    };
    let is_open = labelled.is_empty() || labelled.len() == judged.len();
    if is_open || labelled.iter().all(|item| by_lot(item)) || !judged.iter().all(|(item, _)| is_verdict(item))
    {
        return None;
    }

    let strata: Vec<MeasuredStratum> = [0.0, 1.0]
        .into_iter()
        .filter_map(|said| {
            let members: Vec<&CalibrationItem> =
                judged.iter().filter(|(_, judge)| *judge == said).map(|(item, _)| *item).collect();
            measure(&members, level)
        })
        .collect();
    let plain: Vec<SelectionStratum> = strata.iter().map(|one| one.stratum).collect();
    let bounds = FACTORS
        .into_iter()
        .filter_map(|factor| {
            let bounds = selection_bounds(&plain, factor).ok()?;
            Some(SelectionBound { factor, bounds, with_error: widened(&strata, bounds, factor)? })
        })
        .collect();
    let judge = judged.iter().map(|(_, judge)| judge).sum::<f64>() / judged.len() as f64;

    Some(SelectionReport {
        labelled: labelled.len(),
        unlabelled: judged.len() - labelled.len(),
        bounds,
        judge: (judge, selection_to_reach(&plain, judge)),
    })
}

fn measure(members: &[&CalibrationItem], level: ConfidenceLevel) -> Option<MeasuredStratum> {
    let labelled: Vec<(f64, &str)> =
        members.iter().filter_map(|item| Some((item.people_mean()?, &*item.cluster))).collect();
    if members.is_empty() {
        return None;
    }

    let (values, clusters): (Vec<f64>, Vec<&str>) = labelled.into_iter().unzip();
    let unlabelled = (members.len() - values.len()) as f64;
    let stratum = |rate: f64| SelectionStratum { rate, labelled: values.len() as f64, unlabelled };
    // A stratum without labels could have any rate from 0 to 1 under every assumption, and so could a single
    // cluster.
    let found = bounded_mean_clustered(&values, &clusters, (0.0, 1.0), level);
    Some(match found {
        Ok(found) => {
            let (low, high) = found.interval.map_or((0.0, 1.0), |interval| (interval.low, interval.high));
            MeasuredStratum { stratum: stratum(found.mean), low, high }
        }
        Err(_) => MeasuredStratum { stratum: stratum(0.5), low: 0.0, high: 1.0 },
    })
}

/// Widens the bounds by the interval of each stratum; the widths are added in quadrature.
fn widened(strata: &[MeasuredStratum], bounds: (f64, f64), factor: f64) -> Option<(f64, f64)> {
    let moved = |at: usize, rate: f64| {
        let changed: Vec<SelectionStratum> = strata
            .iter()
            .enumerate()
            .map(
                |(place, one)| {
                    if place == at { SelectionStratum { rate, ..one.stratum } } else { one.stratum }
                },
            )
            .collect();
        selection_bounds(&changed, factor).ok()
    };
    let (mut down, mut up) = (0.0, 0.0);
    for (at, one) in strata.iter().enumerate() {
        down += (bounds.0 - moved(at, one.low)?.0).powi(2);
        up += (moved(at, one.high)?.1 - bounds.1).powi(2);
    }
    // Without an assumption about the other items, the counts of the labelled items are exact, so there is no
    // error to add.
    if factor.is_infinite() {
        return Some(bounds);
    }
    Some(((bounds.0 - down.sqrt()).max(0.0), (bounds.1 + up.sqrt()).min(1.0)))
}
