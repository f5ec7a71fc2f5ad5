//! Effect of the place of a criterion in its call on its decision.

use std::collections::BTreeMap;

use assize_analysis::MetricEstimate;
use assize_analysis::shares::mean_metric;
use assize_stats::multiplicity::{PValueAdjustment, adjust_p_values, is_significant};

use crate::report::p_of_no_effect;

/// Probability of an error that the claims about places may have together. Flips beyond noise have as much again.
const ALPHA: f64 = 0.025;

/// A decision with the place of its criterion in the call.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedDecision {
    /// Suite, case, grader and criterion.
    pub item: (String, String, String, String),
    /// Place in the call, from 0.
    pub place: usize,
    /// Number of criteria in the call, at least 2.
    pub of: usize,
    /// Step of the scale as a share of its steps: 0 for unmet, 1 for met.
    pub value: f64,
}

/// An end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallEnd {
    First,
    Last,
}

impl CallEnd {
    const ALL: [Self; 2] = [Self::First, Self::Last];

    fn is_at(self, decision: &PlacedDecision) -> bool {
        match self {
            Self::First => decision.place == 0,
            Self::Last => decision.place + 1 == decision.of,
        }
    }

    /// Returns true for a place that this end is compared with: one in the middle of the call. A call of two has none, so that
    /// its ends are compared with each other.
    fn is_beside(self, decision: &PlacedDecision) -> bool {
        if decision.of == 2 {
            return !self.is_at(decision);
        }
        Self::ALL.iter().all(|end| !end.is_at(decision))
    }

    const fn metric(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::First => ("first_place", "met in the first place minus in the middle", "criteria of cases"),
            Self::Last => ("last_place", "met in the last place minus in the middle", "criteria of cases"),
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Last => "last",
        }
    }
}

/// Effects of both ends of a call.
pub(super) struct PlaceEffects {
    /// A metric for each end.
    pub(super) figures: Vec<MetricEstimate>,
    /// Sentence about the ends that raise or lower decisions beyond chance; `None` if neither is shown to.
    pub(super) says: Option<String>,
}

/// Measures how much more often criteria are met in the first and in the last place of a call than in the middle: a bias for
/// one end is none against the other. Each criterion of a case is compared with itself, so that what it asks does not
/// matter, and a bias shows that acts at random: the rate has a direction, which flips lack. The claims about both ends
/// are adjusted together, by Holm.
pub(super) fn place_effects(decisions: &[PlacedDecision]) -> PlaceEffects {
    let by_end = CallEnd::ALL.map(|end| differences_at(end, decisions));
    let figures = CallEnd::ALL
        .iter()
        .zip(&by_end)
        .map(|(end, differences)| {
            let says =
                "Each criterion of a case against itself in the middle; away from 0, the place decides.";
            mean_metric(end.metric(), says, differences)
        })
        .collect();

    let p_values: Vec<f64> = by_end.iter().map(|differences| p_of_no_effect(differences)).collect();
    let adjusted = adjust_p_values(&p_values, PValueAdjustment::Holm).unwrap_or(p_values);
    let shown: Vec<String> = CallEnd::ALL
        .iter()
        .zip(&by_end)
        .zip(&adjusted)
        .filter(|(_, p)| is_significant(**p, ALPHA))
        .map(|((end, differences), _)| {
            let mean = differences.iter().map(|(_, value)| value).sum::<f64>() / differences.len() as f64;
            let (share, word) = (mean.abs() * 100.0, if mean > 0.0 { "more" } else { "less" });
            format!("{share:.1} points {word} often in the {} place of a call than in the middle", end.word())
        })
        .collect();

    PlaceEffects {
        figures,
        says: (!shown.is_empty())
            .then(|| format!("The same criterion is met {}: where it stands matters.", shown.join(", and "))),
    }
}

/// Mean value at an end of the call minus that in the middle, for each criterion of a case that was at both.
fn differences_at(end: CallEnd, decisions: &[PlacedDecision]) -> Vec<((String, String), f64)> {
    #[derive(Default)]
    struct PlaceMean {
        sum: f64,
        n: f64,
    }

    let mut items: BTreeMap<_, [PlaceMean; 2]> = BTreeMap::new();
    for decision in decisions.iter().filter(|decision| end.is_at(decision) || end.is_beside(decision)) {
        let side = &mut items.entry(&decision.item).or_default()[usize::from(end.is_at(decision))];
        side.sum += decision.value;
        side.n += 1.0;
    }

    items
        .into_iter()
        .filter(|(_, [middle, here])| middle.n > 0.0 && here.n > 0.0)
        .map(|((suite, case, ..), [middle, here])| {
            ((suite.clone(), case.clone()), here.sum / here.n - middle.sum / middle.n)
        })
        .collect()
}
