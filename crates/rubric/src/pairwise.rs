//! Two answers compared in both orders: what the two decisions come to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::UnitInterval;

/// Better of two answers according to a judge, by the place in which it was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Preference")]
pub enum AnswerPreference {
    /// The one shown first.
    First,
    /// The one shown second.
    Second,
    /// Neither.
    Tie,
}

crate::named_enum! {
    /// Result of the candidate against the baseline, once both orders were judged.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    pub enum PairOutcome {
        /// Better in both orders.
        Win = "win",
        /// Worse in both orders.
        Loss = "loss",
        /// A tie in both orders.
        Tie = "tie",
        /// The orders disagree, so that the place in which an answer stood had a part in the decision.
        Inconsistent = "inconsistent",
    }
}

impl PairOutcome {
    /// From the decision with the candidate first and the one with the baseline first. Only what both orders say counts
    /// as said: a win in one and a tie in the other is inconsistent, too.
    pub const fn from_orders(candidate_first: AnswerPreference, baseline_first: AnswerPreference) -> Self {
        match (candidate_first, baseline_first) {
            (AnswerPreference::First, AnswerPreference::Second) => Self::Win,
            (AnswerPreference::Second, AnswerPreference::First) => Self::Loss,
            (AnswerPreference::Tie, AnswerPreference::Tie) => Self::Tie,
            _ => Self::Inconsistent,
        }
    }

    /// Result as seen from the baseline.
    #[must_use]
    pub const fn reversed(self) -> Self {
        match self {
            Self::Win => Self::Loss,
            Self::Loss => Self::Win,
            same => same,
        }
    }
}

/// Scores of outcomes, 0 to 1: a win is 1 and a loss is 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairScores {
    /// A tie.
    pub tie: UnitInterval,
    /// Orders that disagree.
    pub inconsistent: UnitInterval,
}

impl Default for PairScores {
    /// One half either way: neither answer was shown to be better.
    fn default() -> Self {
        Self { tie: UnitInterval::HALF, inconsistent: UnitInterval::HALF }
    }
}

impl PairScores {
    /// The score of an outcome.
    pub const fn score_for(self, outcome: PairOutcome) -> UnitInterval {
        match outcome {
            PairOutcome::Win => UnitInterval::ONE,
            PairOutcome::Loss => UnitInterval::ZERO,
            PairOutcome::Tie => self.tie,
            PairOutcome::Inconsistent => self.inconsistent,
        }
    }
}

/// A comparison of the answer of the case, the candidate, with another one, the baseline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PairwiseRow")]
pub struct AnswerComparison {
    /// Result of the candidate; null where an order could not be judged.
    pub outcome: Option<PairOutcome>,
    /// Source of the baseline: `reference`, `text`, or `run NAME`.
    pub baseline: String,
    /// Decision with the candidate shown first.
    pub candidate_first: OrderDecision,
    /// Decision with the baseline shown first.
    pub baseline_first: OrderDecision,
}

/// Decision in one order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "OrderRow")]
pub struct OrderDecision {
    /// The answer that was found better, by its place; null where it could not be judged.
    pub preference: Option<AnswerPreference>,
    /// The judge's reason; else why there is no decision.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [AnswerPreference; 3] =
        [AnswerPreference::First, AnswerPreference::Second, AnswerPreference::Tie];

    #[test]
    fn only_what_both_orders_say_counts_as_said() {
        use AnswerPreference as P;
        use PairOutcome::{Inconsistent, Loss, Tie, Win};
        let found = |a, b| PairOutcome::from_orders(a, b);
        assert_eq!([found(P::First, P::Second), found(P::Second, P::First)], [Win, Loss]);
        assert_eq!(found(P::Tie, P::Tie), Tie);
        // The place decided, or half of the time it did.
        for (a, b) in [(P::First, P::First), (P::Second, P::Second), (P::First, P::Tie), (P::Tie, P::First)] {
            assert_eq!(found(a, b), Inconsistent, "{a:?} {b:?}");
        }
    }

    #[test]
    fn exchanging_the_answers_turns_the_outcome_around() {
        for a in ALL {
            for b in ALL {
                assert_eq!(PairOutcome::from_orders(a, b), PairOutcome::from_orders(b, a).reversed());
            }
        }
        for outcome in PairOutcome::ALL {
            let (one, other) = (
                PairScores::default().score_for(outcome),
                PairScores::default().score_for(outcome.reversed()),
            );
            assert!((one.get() + other.get() - 1.0).abs() < 1e-12);
        }
    }
}
