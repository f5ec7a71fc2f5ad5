//! Judgements of a rubric in several orders.

use std::collections::BTreeMap;

use crate::{DecisionChange, DecisionPair, ScaleDecision};

/// A rubric of a case, judged in the author's order and in others.
#[derive(Debug, Clone, PartialEq)]
pub struct ReorderedRubric {
    /// Suite and case.
    pub case: (String, String),
    /// Judgements: first in the author's order, then in other orders.
    pub judgements: Vec<OrderedJudgement>,
}

/// One judgement of a rubric.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderedJudgement {
    /// True for the author's order.
    pub is_unchanged: bool,
    /// Decision on each criterion, in the order in which they were judged.
    pub decisions: Vec<PlacedDecision>,
}

/// A decision with the position of its criterion in the call.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedDecision {
    /// Id of the criterion.
    pub criterion: String,
    /// Position in the call, from 0.
    pub place: usize,
    /// Number of criteria in the call, at least 1.
    pub of: usize,
    /// The decision.
    pub decision: ScaleDecision,
}

impl PlacedDecision {
    /// Returns the step on the scale as a share of the highest step: 0 for unmet, 1 for met. `None` without a
    /// step.
    pub(super) fn value(&self) -> Option<f64> {
        match self.decision {
            ScaleDecision::Step { at, top } => Some(at as f64 / top.max(1) as f64),
            ScaleDecision::NotApplicable | ScaleDecision::Ungraded => None,
        }
    }
}

impl ReorderedRubric {
    /// Returns the number of judgements in the author's order.
    pub(super) fn unchanged(&self) -> usize {
        self.judgements.iter().take_while(|judgement| judgement.is_unchanged).count()
    }
}

/// Returns the decisions on each criterion, in the order of the judgements; `None` if a judgement lacks the
/// criterion.
pub(super) fn by_criterion<'a>(judgements: &[&'a OrderedJudgement]) -> Vec<Vec<Option<&'a PlacedDecision>>> {
    let mut criteria: BTreeMap<&str, Vec<Option<&PlacedDecision>>> = BTreeMap::new();
    for (at, judgement) in judgements.iter().enumerate() {
        for placed in &judgement.decisions {
            let of_criterion =
                criteria.entry(placed.criterion.as_str()).or_insert_with(|| vec![None; judgements.len()]);
            of_criterion[at] = Some(placed);
        }
    }

    criteria.into_values().collect()
}

/// Returns for each pair of judgements the share of criteria on which their decisions are known to differ.
pub(super) fn distances(judgements: &[&OrderedJudgement]) -> Vec<Vec<f64>> {
    let differ = |one: Option<&PlacedDecision>, other: Option<&PlacedDecision>| {
        let change =
            one.zip(other).map(|(one, other)| DecisionPair::compare(one.decision, other.decision, false));
        change.is_some_and(|change| !matches!(change, DecisionChange::None | DecisionChange::Unknown))
    };

    let criteria = by_criterion(judgements);
    let mut distances = vec![vec![0.0; judgements.len()]; judgements.len()];
    for placed in &criteria {
        for (distances, one) in distances.iter_mut().zip(placed) {
            for (distance, other) in distances.iter_mut().zip(placed) {
                *distance += f64::from(u8::from(differ(*one, *other))) / criteria.len() as f64;
            }
        }
    }

    distances
}

/// An end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallEnd {
    First,
    Last,
}

impl CallEnd {
    pub(super) const ALL: [Self; 2] = [Self::First, Self::Last];

    pub(super) fn is_at(self, decision: &PlacedDecision) -> bool {
        match self {
            Self::First => decision.of > 1 && decision.place == 0,
            Self::Last => decision.of > 1 && decision.place + 1 == decision.of,
        }
    }

    /// Returns true for a position that this end is compared with: one in the middle of the call. A call of
    /// two criteria has no middle, so its two ends are compared with each other.
    pub(super) fn is_beside(self, decision: &PlacedDecision) -> bool {
        if decision.of == 2 {
            return !self.is_at(decision);
        }
        decision.of > 2 && Self::ALL.iter().all(|end| !end.is_at(decision))
    }

    pub(super) const fn metric(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::First => ("first_place", "met when first, minus met in the middle", "criteria of cases"),
            Self::Last => ("last_place", "met when last, minus met in the middle", "criteria of cases"),
        }
    }

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Last => "last",
        }
    }
}
