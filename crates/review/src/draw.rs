//! Drawing the items to label under a budget: doubtful ones, or those in small strata, have a higher
//! probability.

use std::collections::BTreeMap;

use assize_rubric::LabelOutcome;
use assize_stats::SeededRandom;
use assize_stats::sampling::{inclusion_probabilities, systematic_draw};

use crate::{ReviewItem, ReviewReason};

/// Share of the draw that ignores doubt, so that each item has at least half the probability of an equal draw.
const EVEN_SHARE: f64 = 0.5;

/// Property that makes an item more likely to be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrawTarget {
    /// Doubt about the judge's decision: its probability or its stated confidence, or a missing decision.
    Doubt,
    /// A small stratum: items with the same criterion and the same decision of the judge. The number of
    /// labels in a stratum grows with the square root of its size. Source: M. Bankier, The American
    /// Statistician 42 (1988), 174-177.
    Strata,
}

/// Returns true if all items are equally likely to be drawn: the judge's confidence is the same for all, or
/// all strata have the same size.
pub(crate) fn is_plain_draw(items: &[ReviewItem], target: DrawTarget) -> bool {
    let sizes = item_sizes(items, target);
    sizes.iter().all(|size| (size - sizes[0]).abs() <= 1e-9 * sizes[0])
}

fn item_sizes(items: &[ReviewItem], target: DrawTarget) -> Vec<f64> {
    match target {
        DrawTarget::Doubt => doubts(items),
        DrawTarget::Strata => stratum_sizes(items),
    }
}

/// Draws items, moves them to the front in random order, and records the probability of each. The order of
/// `items` must not depend on the order in which their cases finished.
pub(crate) fn draw_items(items: &mut Vec<ReviewItem>, target: DrawTarget, budget: usize, seed: u64) -> usize {
    let sizes = item_sizes(items, target);
    // Sizes are finite and above 0.
    let probabilities = inclusion_probabilities(&sizes, budget).unwrap_or_else(|_| vec![1.0; sizes.len()]);
    let drawn = systematic_draw(&probabilities, &mut SeededRandom::new(seed));
    let count = drawn.len();

    let mut places = vec![usize::MAX; items.len()];
    for (place, &at) in drawn.iter().enumerate() {
        places[at] = place;
        items[at].drawn = Some(probabilities[at]);
    }
    let mut placed: Vec<(usize, ReviewItem)> = places.into_iter().zip(items.drain(..)).collect();
    placed.sort_by_key(|(place, _)| *place);
    items.extend(placed.into_iter().map(|(_, item)| item));
    count
}

/// Returns for each item the standard deviation of the decision that people may make, mixed with the mean of
/// all.
fn doubts(items: &[ReviewItem]) -> Vec<f64> {
    let doubt = |item: &ReviewItem| {
        let judge = item.judge.as_ref();
        let wrong = match (
            item.why,
            judge.and_then(|judge| judge.probability),
            judge.and_then(|judge| judge.confidence),
        ) {
            (ReviewReason::Check, Some(p), _) => p.clamp(0.01, 0.99),
            (ReviewReason::Check, None, Some("high")) => 0.1,
            (ReviewReason::Check, None, Some("low")) => 0.4,
            (ReviewReason::Check, None, _) => 0.25,
            _ => 0.5,
        };
        (wrong * (1.0 - wrong)).sqrt()
    };
    let sizes: Vec<f64> = items.iter().map(doubt).collect();
    let mean = sizes.iter().sum::<f64>() / sizes.len().max(1) as f64;
    sizes.into_iter().map(|size| (1.0 - EVEN_SHARE) * size / mean + EVEN_SHARE).collect()
}

fn stratum_sizes(items: &[ReviewItem]) -> Vec<f64> {
    let stratum = |item: &ReviewItem| {
        let decided = match item.judge.as_ref().and_then(|judge| judge.outcome) {
            Some(LabelOutcome::Met) => "met",
            Some(LabelOutcome::Unmet) => "unmet",
            Some(LabelOutcome::Score(score)) if score >= 5.0 => "high",
            Some(LabelOutcome::Score(_)) => "low",
            Some(_) | None => "undecided",
        };
        (item.criterion.clone(), decided)
    };
    let mut counts: BTreeMap<(String, &str), usize> = BTreeMap::new();
    for item in items {
        *counts.entry(stratum(item)).or_default() += 1;
    }
    items.iter().map(|item| 1.0 / (counts[&stratum(item)] as f64).sqrt()).collect()
}
