//! Comparison of two answers in both orders, and the combined result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::UnitInterval;

/// Position of the answer that the judge prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Preference")]
pub enum AnswerPreference {
    /// The answer shown first.
    First,
    /// The answer shown second.
    Second,
    /// Neither.
    Tie,
}

crate::named_enum! {
    /// Result of the candidate against the baseline over both orders.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    pub enum PairOutcome {
        /// Better in both orders.
        Win = "win",
        /// Worse in both orders.
        Loss = "loss",
        /// A tie in both orders.
        Tie = "tie",
        /// The orders disagree, so the position of the answers influenced the decision.
        Inconsistent = "inconsistent",
    }
}

impl PairOutcome {
    /// Combines the decision with the candidate shown first and the one with the baseline shown first. An
    /// answer wins only if it wins in both orders: a win in one and a tie in the other is inconsistent.
    pub const fn from_orders(candidate_first: AnswerPreference, baseline_first: AnswerPreference) -> Self {
        match (candidate_first, baseline_first) {
            (AnswerPreference::First, AnswerPreference::Second) => Self::Win,
            (AnswerPreference::Second, AnswerPreference::First) => Self::Loss,
            (AnswerPreference::Tie, AnswerPreference::Tie) => Self::Tie,
            _ => Self::Inconsistent,
        }
    }

    /// Returns the result from the baseline's point of view.
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
    /// A half for both answers: neither was shown to be better.
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

/// Pairwise comparison of the case's answer (the candidate) with another answer (the baseline).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PairwiseRow")]
pub struct AnswerComparison {
    /// Result of the candidate; null if one of the orders is ungraded.
    pub outcome: Option<PairOutcome>,
    /// Source of the baseline: `reference`, `text`, or `run NAME`.
    pub baseline: String,
    /// Decision with the candidate shown first.
    pub candidate_first: OrderDecision,
    /// Decision with the baseline shown first.
    pub baseline_first: OrderDecision,
}

/// Decision for one order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "OrderRow")]
pub struct OrderDecision {
    /// Position of the better answer; null if ungraded.
    pub preference: Option<AnswerPreference>,
    /// Reason for the decision, or why there is none.
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
        // The position decided, in both orders or in one of them.
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
