//! Judgements of a rubric in several orders.

use std::collections::BTreeMap;

use crate::{DecisionChange, DecisionPair, ScaleDecision};

/// A rubric of a case, judged in the order of its author and in others.
#[derive(Debug, Clone, PartialEq)]
pub struct ReorderedRubric {
    /// Suite and case.
    pub case: (String, String),
    /// Judgements: those in the order of the author first, the other orders after them.
    pub judgements: Vec<OrderedJudgement>,
}

/// One judgement of a rubric.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderedJudgement {
    /// True in the order of the author.
    pub is_unchanged: bool,
    /// The decision on each criterion, in the order in which they were judged.
    pub decisions: Vec<PlacedDecision>,
}

/// A decision with the place of its criterion in the call.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedDecision {
    /// Id of the criterion.
    pub criterion: String,
    /// Place in the call, from 0.
    pub place: usize,
    /// Number of criteria in the call, at least 1.
    pub of: usize,
    /// The decision.
    pub decision: ScaleDecision,
}

impl PlacedDecision {
    /// Step of the scale as a share of its steps: 0 for unmet, 1 for met. `None` without a step.
    pub(super) fn value(&self) -> Option<f64> {
        match self.decision {
            ScaleDecision::Step { at, top } => Some(at as f64 / top.max(1) as f64),
            ScaleDecision::NotApplicable | ScaleDecision::Ungraded => None,
        }
    }
}

impl ReorderedRubric {
    /// Number of judgements in the order of the author.
    pub(super) fn unchanged(&self) -> usize {
        self.judgements.iter().take_while(|judgement| judgement.is_unchanged).count()
    }
}

/// The decisions of judgements on each criterion, in the order of the judgements; `None` where a judgement lacks the criterion.
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

/// Share of criteria on which each judgement is known to differ from each other one.
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
