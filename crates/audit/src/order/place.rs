//! Position bias: effect of the position of a criterion in its call on the decision.

use std::collections::BTreeMap;

use assize_analysis::MetricEstimate;
use assize_analysis::shares::mean_metric;

use super::exchange::p_of_no_place;
use super::reordered::{CallEnd, ReorderedRubric};

/// Effect of an end of the call.
pub(super) struct PlaceEffect {
    /// Share of criteria that are met at this end minus the share met in the middle.
    pub(super) figure: MetricEstimate,
    /// p-value of the null hypothesis of no effect; `None` if the effect was not measured.
    pub(super) p: Option<f64>,
    /// Description of the effect.
    pub(super) says: String,
}

/// Measures how much more often criteria are met at an end of a call than in the middle. Comparing the two
/// ends with each other would hide a bias towards both.
///
/// Each criterion of a case is compared with itself, so its content doesn't matter. Unlike the share of
/// flips, this difference has a direction, so it also shows a bias that affects only some of the judgements.
pub(super) fn place_effect(end: CallEnd, rubrics: &[ReorderedRubric]) -> PlaceEffect {
    let differences = differences_at(end, rubrics);
    let says = "The same criterion at this position and in the middle of a call; other than 0, the position changes decisions.";
    let figure = mean_metric(end.metric(), says, &differences);
    let mean = figure.value.unwrap_or(0.0);
    let (share, word) = (mean.abs() * 100.0, if mean > 0.0 { "more" } else { "less" });

    PlaceEffect {
        // A significant effect only supports a claim if it has the direction of the figure.
        p: p_of_no_place(end, rubrics).map(|(p, effect)| if effect * mean > 0.0 { p } else { 1.0 }),
        says: format!(
            "{share:.1} percentage points {word} often when it is {} in the call than in the middle",
            end.word()
        ),
        figure,
    }
}

/// Returns for each criterion of a case that was at both positions its mean value at an end of the call minus
/// that in the middle.
fn differences_at(end: CallEnd, rubrics: &[ReorderedRubric]) -> Vec<((String, String), f64)> {
    let mut differences = Vec::new();
    for rubric in rubrics {
        let mut criteria: BTreeMap<&str, [(f64, f64); 2]> = BTreeMap::new();
        for placed in rubric.judgements.iter().flat_map(|judgement| &judgement.decisions) {
            let Some(value) = placed.value().filter(|_| end.is_at(placed) || end.is_beside(placed)) else {
                continue;
            };
            let sides = criteria.entry(&placed.criterion).or_default();
            let (sum, n) = &mut sides[usize::from(end.is_at(placed))];
            *sum += value;
            *n += 1.0;
        }

        let both = criteria.into_values().filter(|[middle, here]| middle.1 > 0.0 && here.1 > 0.0);
        differences
            .extend(both.map(|[middle, here]| (rubric.case.clone(), here.0 / here.1 - middle.0 / middle.1)));
    }

    differences
}
