//! Order of a review, and the resulting sampling method.

use std::str::FromStr;

use assize_rubric::SamplingMethod;
use assize_stats::SeededRandom;
use rand_core::RngCore;

use crate::draw::{DrawTarget, draw_items, is_plain_draw};
use crate::{ReviewItem, ReviewReason, ReviewWeight};

/// Order of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReviewOrder {
    /// Items that need review, the most urgent kind first, otherwise in the order of the files.
    #[default]
    Queue,
    /// All items in random order from a seed.
    Random(u64),
    /// All items, the judge's least certain decisions first.
    UncertainFirst,
    /// As many items as the limit allows, drawn with a seed and with recorded probabilities.
    Drawn(DrawTarget, u64),
}

/// Error: unknown order.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown order `{0}`: use `queue`, `uncertain-first`, `random`, `stratified` or `active`; the last three take a seed, \
     such as `random:7`"
)]
pub struct ReviewOrderError(String);

impl FromStr for ReviewOrder {
    type Err = ReviewOrderError;

    fn from_str(text: &str) -> Result<Self, ReviewOrderError> {
        match text {
            "queue" => Ok(Self::Queue),
            "uncertain-first" => Ok(Self::UncertainFirst),
            other => {
                let (name, seed) = other.split_once(':').unwrap_or((other, "0"));
                let seed = seed.parse().map_err(|_| ReviewOrderError(other.to_owned()))?;
                match name {
                    "random" => Ok(Self::Random(seed)),
                    "stratified" => Ok(Self::Drawn(DrawTarget::Strata, seed)),
                    "active" => Ok(Self::Drawn(DrawTarget::Doubt, seed)),
                    _ => Err(ReviewOrderError(other.to_owned())),
                }
            }
        }
    }
}

impl ReviewOrder {
    /// Returns true if the order covers all items, not only those that need review.
    pub const fn covers_all(self) -> bool {
        !matches!(self, Self::Queue)
    }

    /// Returns the sampling method recorded in labels. In a random order, the labels are a random sample even
    /// if the reviewer stops early.
    pub const fn sampling(self) -> SamplingMethod {
        match self {
            Self::Random(_) => SamplingMethod::Random,
            Self::Drawn(..) => SamplingMethod::Weighted,
            Self::Queue | Self::UncertainFirst => SamplingMethod::Chosen,
        }
    }

    /// Returns true if this order draws items by doubt or by strata but all items have the same probability.
    pub fn is_plain_draw(self, items: &[ReviewItem]) -> bool {
        matches!(self, Self::Drawn(target, _) if is_plain_draw(items, target))
    }

    /// Sorts items into this order and returns how many of them the reviewer labels with this limit. Deterministic for
    /// equal items, limit and seed.
    pub fn select_items(self, items: &mut Vec<ReviewItem>, limit: Option<usize>) -> usize {
        let limit = limit.unwrap_or(items.len()).min(items.len());
        if let Self::Drawn(target, seed) = self {
            items.sort_by(|a, b| item_identity(a).cmp(&item_identity(b)));
            return draw_items(items, target, limit, seed);
        }
        self.sort_items(items);
        limit
    }

    /// Sorts items into this order; drawn items keep their order. Deterministic for equal items and seed.
    pub fn sort_items(self, items: &mut Vec<ReviewItem>) {
        match self {
            Self::Queue => items.sort_by_key(urgency),
            Self::Random(seed) => {
                // The random order must not depend on the order in which cases finished.
                items.sort_by(|a, b| item_identity(a).cmp(&item_identity(b)));
                let mut random = SeededRandom::new(seed);
                let mut drawn: Vec<(u64, ReviewItem)> =
                    items.drain(..).map(|item| (random.next_u64(), item)).collect();
                drawn.sort_by_key(|(draw, _)| *draw);

                items.extend(drawn.into_iter().map(|(_, item)| item));
            }
            Self::UncertainFirst => items.sort_by_key(doubt_rank),
            // The draw has already put the items in order.
            Self::Drawn(..) => {}
        }
    }
}

fn item_identity(item: &ReviewItem) -> (&str, Option<&str>, Option<&str>, Option<u32>, &str) {
    (&item.case, item.suite.as_deref(), item.system.as_deref(), item.trial, &item.criterion)
}

/// Ranks items of the queue. Items that don't count come last. Otherwise, items on which reviewers disagree come
/// first, then those that can block scores of the levels above.
fn urgency(item: &ReviewItem) -> (bool, bool, ReviewWeight, u8) {
    let ReviewItem { weight, why, .. } = item;
    (*weight == ReviewWeight::Reported, *why != ReviewReason::ReviewersDiffer, *weight, item.blind_rank())
}

/// Ranks items by the judge's certainty, the least certain first.
fn doubt_rank(item: &ReviewItem) -> (u8, ReviewReason) {
    let confidence = item.judge.as_ref().and_then(|judge| judge.confidence);
    let rank = match (item.why, confidence) {
        (ReviewReason::Check, Some("low")) => 1,
        (ReviewReason::Check, Some("medium")) => 2,
        (ReviewReason::Check, None) => 3,
        (ReviewReason::Check, Some(_)) => 4,
        _ => 0,
    };
    (rank, item.why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::tests::items;

    fn ids(items: &[ReviewItem]) -> Vec<String> {
        items.iter().map(|item| item.case.clone()).collect()
    }

    #[test]
    fn a_random_order_depends_on_the_seed_and_on_nothing_else() {
        let (mut first, mut second) = (items(40), items(40));
        second.reverse();
        ReviewOrder::Random(7).sort_items(&mut first);
        ReviewOrder::Random(7).sort_items(&mut second);
        assert_eq!(ids(&first), ids(&second));
        ReviewOrder::Random(8).sort_items(&mut second);
        assert_ne!(ids(&first), ids(&second));
    }

    #[test]
    fn the_queue_is_by_urgency_and_doubt_is_by_confidence() {
        let mut all = items(4);
        all[0].why = ReviewReason::Check;
        all[1].why = ReviewReason::Uncertain;
        all[2].why = ReviewReason::Waiting;
        all[3].why = ReviewReason::Check;
        if let Some(judge) = &mut all[3].judge {
            judge.confidence = Some("low");
        }
        let mut queue = all.clone();
        ReviewOrder::Queue.sort_items(&mut queue);
        assert_eq!(ids(&queue), ["case-2", "case-1", "case-0", "case-3"]);
        ReviewOrder::UncertainFirst.sort_items(&mut all);
        assert_eq!(ids(&all), ["case-2", "case-1", "case-3", "case-0"]);
    }

    #[test]
    fn reviewers_who_differ_come_first_then_gates_and_signals_last() {
        let mut all = items(5);
        all[0].weight = ReviewWeight::Reported;
        all[0].why = ReviewReason::ReviewersDiffer;
        all[1].why = ReviewReason::Waiting;
        all[2].weight = ReviewWeight::Gate;
        all[2].why = ReviewReason::Uncertain;
        all[3].why = ReviewReason::ReviewersDiffer;
        all[4].weight = ReviewWeight::Reported;
        ReviewOrder::Queue.sort_items(&mut all);
        assert_eq!(ids(&all), ["case-3", "case-2", "case-1", "case-0", "case-4"]);
    }

    #[test]
    fn orders_are_read_and_only_the_random_one_makes_a_sample() {
        assert_eq!("random:12".parse(), Ok(ReviewOrder::Random(12)));
        assert_eq!("active:3".parse(), Ok(ReviewOrder::Drawn(DrawTarget::Doubt, 3)));
        assert!("random:x".parse::<ReviewOrder>().is_err() && "queue:1".parse::<ReviewOrder>().is_err());
        assert_eq!(ReviewOrder::Random(1).sampling(), SamplingMethod::Random);
        assert_eq!(ReviewOrder::UncertainFirst.sampling(), SamplingMethod::Chosen);
    }

    #[test]
    fn a_draw_keeps_to_the_budget_and_prefers_doubtful_items() {
        let mut all = items(400);
        for (at, item) in all.iter_mut().enumerate() {
            item.why = ReviewReason::Check;
            if let Some(judge) = &mut item.judge {
                judge.confidence = Some(if at % 4 == 0 { "low" } else { "high" });
            }
        }
        let (mut again, order) = (all.clone(), ReviewOrder::Drawn(DrawTarget::Doubt, 5));
        again.reverse();
        let count = order.select_items(&mut all, Some(80));
        assert_eq!((count, order.select_items(&mut again, Some(80))), (80, 80));
        assert_eq!(ids(&all[..80]), ids(&again[..80]), "the order of cases does not matter");

        let is_low =
            |item: &&ReviewItem| item.judge.as_ref().is_some_and(|judge| judge.confidence == Some("low"));
        assert!(all[..80].iter().filter(is_low).count() > 22, "a quarter would be 20");
        // The inverse probabilities add up to about the number of items.
        let sum: f64 = all[..80].iter().filter_map(|item| item.drawn).map(|p| 1.0 / p).sum();
        assert!((sum - 400.0).abs() < 20.0, "{sum}");
        assert!(all[80..].iter().all(|item| item.drawn.is_none()));

        // If the judge states no confidence, all items have the same probability.
        assert!(!order.is_plain_draw(&all) && !ReviewOrder::Random(5).is_plain_draw(&all));
        for judge in again.iter_mut().filter_map(|item| item.judge.as_mut()) {
            judge.confidence = None;
        }
        assert!(order.is_plain_draw(&again));

        // Without a limit, every item is drawn with probability 1.
        assert_eq!(order.select_items(&mut again, None), 400);
        assert!(again.iter().all(|item| item.drawn == Some(1.0)));
    }
}
