//! Permutations of the criteria of a rubric.

use std::collections::BTreeSet;
use std::sync::Arc;

use assize_evalfile::{Grader, GraderKind, RubricGrader};
use assize_rubric::Rubric;
use assize_run::WorkItem;
use assize_stats::SeededRandom;
use rand_core::RngCore;

use crate::CaseVariant;
use crate::variant::case_rubrics;

/// Number of draws without a new order after which the search stops.
const MAX_DRAWS: usize = 1000;

/// Returns at most `most` different orders of `n` things, without the identity: the reverse first, the others
/// drawn at random. Deterministic for a seed.
pub fn draw_orders(n: usize, most: usize, seed: u64) -> Vec<Vec<usize>> {
    let same: Vec<usize> = (0..n).collect();
    let reverse: Vec<usize> = (0..n).rev().collect();
    let mut known = BTreeSet::from([same.clone()]);
    let mut found = Vec::new();
    if most > 0 && known.insert(reverse.clone()) {
        found.push(reverse);
    }

    let all = (1..=n).try_fold(1_usize, usize::checked_mul).unwrap_or(usize::MAX);
    let wanted = most.min(all - 1);
    let mut random = SeededRandom::new(seed);
    for _ in 0..MAX_DRAWS.saturating_add(wanted) {
        if found.len() >= wanted {
            break;
        }

        let mut drawn: Vec<(u64, usize)> = same.iter().map(|&at| (random.next_u64(), at)).collect();
        drawn.sort_unstable();

        let order: Vec<usize> = drawn.into_iter().map(|(_, at)| at).collect();
        if known.insert(order.clone()) {
            found.push(order);
        }
    }

    found
}

/// Builds the variants of a case with its criteria in other orders; none if no rubric has two criteria. A
/// rubric with fewer orders than wanted is absent from the later variants.
pub fn order_variants(item: &WorkItem, permutations: usize, seed: u64) -> Vec<CaseVariant> {
    let longest =
        case_rubrics(&item.case).iter().filter_map(|grader| criterion_count(grader)).max().unwrap_or(0);
    let count = draw_orders(longest, permutations, seed).len();
    (0..count)
        .map(|which| {
            CaseVariant::altering_rubrics(format!("order.{}", which + 1), move |graders| {
                let reordered = |grader: &Arc<Grader>| reorder(grader, which, permutations, seed);
                graders.iter().filter_map(reordered).collect()
            })
        })
        .collect()
}

fn criterion_count(grader: &Grader) -> Option<usize> {
    match &grader.kind {
        GraderKind::Rubric(rubric) => Some(rubric.rubric.criteria().len()),
        _ => None,
    }
}

fn reorder(grader: &Arc<Grader>, which: usize, permutations: usize, seed: u64) -> Option<Arc<Grader>> {
    let GraderKind::Rubric(rubric) = &grader.kind else { return None };
    let order = draw_orders(rubric.rubric.criteria().len(), permutations, seed).into_iter().nth(which)?;
    let criteria = reorder_list(rubric.rubric.criteria(), &order);
    let rubric = RubricGrader {
        rubric: Arc::new(Rubric::new(criteria).ok()?),
        places: reorder_list(&rubric.places, &order),
        marks: reorder_list(&rubric.marks, &order),
        ..RubricGrader::clone(rubric)
    };

    let kind = GraderKind::Rubric(rubric);
    Some(Arc::new(Grader { kind, ..Grader::clone(grader) }))
}

/// Reorders a list; lists that do not cover every criterion stay unchanged.
fn reorder_list<T: Clone>(things: &[T], order: &[usize]) -> Vec<T> {
    let found: Option<Vec<T>> = order.iter().map(|&at| things.get(at).cloned()).collect();
    found.unwrap_or_else(|| things.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_other_orders_each_once_and_a_seed_is_one_choice() {
        assert!(draw_orders(0, 3, 1).is_empty() && draw_orders(1, 3, 1).is_empty());
        assert_eq!(draw_orders(2, 3, 1), [[1, 0]]);
        let three = draw_orders(3, 100, 7);
        assert_eq!(three.len(), 5);
        assert_eq!(three[0], [2, 1, 0]);
        let distinct: BTreeSet<_> = three.iter().collect();
        assert!(distinct.len() == 5 && !distinct.contains(&vec![0, 1, 2]));
        assert_eq!(draw_orders(20, 4, 9), draw_orders(20, 4, 9));
        assert_ne!(draw_orders(20, 4, 9)[1], draw_orders(20, 4, 10)[1]);
        assert_eq!(draw_orders(200, 4, 9).len(), 4);
        assert!(draw_orders(5, 0, 1).is_empty());
    }
}
