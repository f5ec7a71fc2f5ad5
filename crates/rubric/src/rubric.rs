//! A validated list of criteria.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Criterion, CriterionId, CriterionScale};

/// A rubric: at least one criterion, unique ids, and weights that make a score possible.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<Criterion>", into = "Vec<Criterion>")]
pub struct Rubric {
    criteria: Vec<Criterion>,
}

/// Why a list of criteria is not a valid rubric.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RubricError {
    /// The list is empty.
    #[error("a rubric needs at least one criterion")]
    Empty,
    /// Two criteria share an id.
    #[error("criteria {first} and {second} are both called {id:?}")]
    DuplicateId {
        /// The shared id.
        id: CriterionId,
        /// Index of the first.
        first: usize,
        /// Index of the second.
        second: usize,
    },
    /// A checklist criterion without text. Holds its index.
    #[error("criterion {0} has no text")]
    NoText(usize),
    /// All weights are zero, so there is no weighted mean.
    #[error("all weights are zero")]
    NoWeight,
}

impl Rubric {
    /// Creates a rubric; reports every violation.
    pub fn new(criteria: Vec<Criterion>) -> Result<Self, Vec<RubricError>> {
        Self::check(criteria.iter()).map(|()| Self { criteria })
    }

    /// Checks that the criteria make a valid rubric; reports every violation.
    pub fn check<'a>(
        criteria: impl ExactSizeIterator<Item = &'a Criterion> + Clone,
    ) -> Result<(), Vec<RubricError>> {
        if criteria.len() == 0 {
            return Err(vec![RubricError::Empty]);
        }

        let mut errors = Vec::new();
        let mut repeated =
            find_repeated_ids(criteria.clone().map(|criterion| Some(&criterion.id))).into_iter().peekable();
        for (index, criterion) in criteria.clone().enumerate() {
            if let Some((first, second)) = repeated.next_if(|(_, second)| *second == index) {
                errors.push(RubricError::DuplicateId { id: criterion.id.clone(), first, second });
            }
            if criterion.scale == CriterionScale::Checklist && criterion.text.trim().is_empty() {
                errors.push(RubricError::NoText(index));
            }
        }

        if criteria.clone().all(|criterion| criterion.weight.get() == 0.0) {
            errors.push(RubricError::NoWeight);
        }

        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// The criteria, in the order of the file.
    pub fn criteria(&self) -> &[Criterion] {
        &self.criteria
    }
}

/// Up to this many ids are compared pairwise; beyond that, a hash table is faster.
const PAIRWISE_COMPARISON_LIMIT: usize = 16;

/// Finds ids that occur more than once. For each repetition, returns the index of the first occurrence and
/// its own, sorted by the latter. Entries without an id are ignored.
pub fn find_repeated_ids<'a>(
    ids: impl ExactSizeIterator<Item = Option<&'a CriterionId>> + Clone,
) -> Vec<(usize, usize)> {
    if ids.len() <= PAIRWISE_COMPARISON_LIMIT {
        let first = |id: &CriterionId| ids.clone().position(|other| other == Some(id));
        let places = ids.clone().enumerate().filter_map(|(place, id)| Some((first(id?)?, place)));
        return places.filter(|(first, place)| first < place).collect();
    }

    let mut seen: HashMap<&CriterionId, usize> = HashMap::with_capacity(ids.len());
    let places = ids.enumerate().filter_map(|(place, id)| Some((*seen.entry(id?).or_insert(place), place)));
    places.filter(|(first, place)| first < place).collect()
}

impl TryFrom<Vec<Criterion>> for Rubric {
    type Error = String;

    fn try_from(criteria: Vec<Criterion>) -> Result<Self, String> {
        Self::new(criteria)
            .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
    }
}

impl From<Rubric> for Vec<Criterion> {
    fn from(rubric: Rubric) -> Self {
        rubric.criteria
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Weight;

    #[test]
    fn many_ids_are_told_apart_as_few_are() {
        for count in [1, PAIRWISE_COMPARISON_LIMIT, PAIRWISE_COMPARISON_LIMIT + 1, 100] {
            let ids: Vec<CriterionId> =
                (0..count).map(|at| CriterionId::new(format!("c{}", at % 5))).collect();
            // The third of every five has no id.
            let given = ids.iter().enumerate().map(|(at, id)| (at % 5 != 2).then_some(id));
            let expected: Vec<(usize, usize)> =
                (5..count).filter(|at| at % 5 != 2).map(|at| (at % 5, at)).collect();
            assert_eq!(find_repeated_ids(given), expected);
        }
    }

    #[test]
    fn every_violation_is_reported() {
        let zero = Weight::new(0.0).expect("finite");
        let mut criteria = vec![
            Criterion::checklist("a", "does a"),
            Criterion::checklist("a", "does it again"),
            Criterion::checklist("b", "  "),
        ];
        for criterion in &mut criteria {
            criterion.weight = zero;
        }
        assert_eq!(
            Rubric::new(criteria).expect_err("broken"),
            vec![
                RubricError::DuplicateId { id: CriterionId::new("a"), first: 0, second: 1 },
                RubricError::NoText(2),
                RubricError::NoWeight,
            ]
        );
        assert_eq!(Rubric::new(vec![]), Err(vec![RubricError::Empty]));
    }
}
