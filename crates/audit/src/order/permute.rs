//! Permutations of the criteria of a rubric.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use assize_model::{Grader, GraderKind, RubricGrader};
use assize_rubric::Rubric;
use assize_run::WorkItem;
use assize_stats::SeededRandom;
use rand_core::RngCore;

use crate::CaseVariant;
use crate::variant::case_rubrics;

/// Number of candidate orders for each chosen one, and the maximum number of draws if all candidates are
/// known already.
const DRAWS_PER_ORDER: usize = 100;
const MAX_DRAWS: usize = 1000;

/// Returns at most `most` different orders of `n` elements, without the original one: first the reverse, then
/// random ones.
///
/// Each element is compared with itself at other positions, so an element that is always at an end gives no
/// information. Of several drawn orders, the function therefore chooses the one whose first and last elements
/// were at an end least often. Deterministic for a seed.
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
    // Random orders are only drawn for three or more elements. The original and the reverse order have the
    // same two elements at their ends.
    let mut times_at_end: Vec<usize> =
        same.iter().map(|&at| if at == 0 || at + 1 == n { 2 } else { 0 }).collect();
    while found.len() < wanted {
        let Some(order) = draw_new_order(&same, &known, &times_at_end, &mut random) else { break };
        times_at_end[order[0]] += 1;
        times_at_end[order[n - 1]] += 1;
        known.insert(order.clone());
        found.push(order);
    }

    found
}

/// Draws an unknown order whose first and last elements were at an end as rarely as possible; `None` if only
/// known orders were drawn.
fn draw_new_order(
    same: &[usize],
    known: &BTreeSet<Vec<usize>>,
    times_at_end: &[usize],
    random: &mut SeededRandom,
) -> Option<Vec<usize>> {
    let mut best: Option<(usize, Vec<usize>)> = None;
    for draw in 0..MAX_DRAWS {
        if best.as_ref().is_some_and(|(times, _)| *times == 0 || draw >= DRAWS_PER_ORDER) {
            break;
        }

        let mut drawn: Vec<(u64, usize)> = same.iter().map(|&at| (random.next_u64(), at)).collect();
        drawn.sort_unstable();

        let order: Vec<usize> = drawn.into_iter().map(|(_, at)| at).collect();
        let times = times_at_end[order[0]] + times_at_end[order[order.len() - 1]];
        if best.as_ref().is_none_or(|(least, _)| times < *least) && !known.contains(&order) {
            best = Some((times, order));
        }
    }

    best.map(|(_, order)| order)
}

/// Builds the variants of a case with its criteria in other orders. There are none if no rubric has two
/// criteria. A rubric with fewer orders than `permutations` is missing from the later variants.
///
/// Each case has its own orders. Otherwise the effect of one particular order could look like the effect of a
/// position.
pub fn order_variants(item: &WorkItem, permutations: usize, seed: u64) -> Vec<CaseVariant> {
    let seed = seed_of_case(seed, item.case.id.as_str());
    let sizes: BTreeSet<usize> =
        case_rubrics(&item.case).iter().filter_map(|grader| criterion_count(grader)).collect();
    let orders: BTreeMap<usize, Vec<Vec<usize>>> =
        sizes.into_iter().map(|size| (size, draw_orders(size, permutations, seed))).collect();
    let orders = Arc::new(orders);

    // The longest rubric has the most orders.
    let count = orders.values().map(Vec::len).max().unwrap_or(0);
    (0..count)
        .map(|which| {
            let orders = Arc::clone(&orders);
            CaseVariant::altering_rubrics(format!("order.{}", which + 1), move |graders| {
                let reordered = |grader: &Arc<Grader>| {
                    let order = orders.get(&criterion_count(grader)?)?.get(which)?;
                    reorder(grader, order)
                };
                graders.iter().filter_map(reordered).collect()
            })
        })
        .collect()
}

/// Returns the seed for the orders of a case. Source of the hash: G. Fowler, L. C. Noll and K.-P. Vo, 64-bit
/// FNV-1a.
fn seed_of_case(seed: u64, case: &str) -> u64 {
    case.bytes().fold(0xcbf2_9ce4_8422_2325 ^ seed, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn criterion_count(grader: &Grader) -> Option<usize> {
    match &grader.kind {
        GraderKind::Rubric(rubric) => Some(rubric.rubric.criteria().len()),
        _ => None,
    }
}

fn reorder(grader: &Arc<Grader>, order: &[usize]) -> Option<Arc<Grader>> {
    let GraderKind::Rubric(rubric) = &grader.kind else { return None };
    let criteria = reorder_list(rubric.rubric.criteria(), order);
    let rubric = RubricGrader {
        rubric: Arc::new(Rubric::new(criteria).ok()?),
        places: reorder_list(&rubric.places, order),
        marks: reorder_list(&rubric.marks, order),
        ..RubricGrader::clone(rubric)
    };

    let kind = GraderKind::Rubric(rubric);
    Some(Arc::new(Grader { kind, ..Grader::clone(grader) }))
}

/// Reorders a list; a list shorter than the order stays unchanged.
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
        assert_eq!(draw_orders(4, 100, 1).len(), 23);
    }

    #[test]
    fn what_is_first_or_last_stands_in_the_middle_of_another_order() {
        for seed in 0..200 {
            let orders = draw_orders(5, 3, seed);
            assert_eq!(orders.len(), 3);
            for criterion in 0..5 {
                let is_inside = |order: &Vec<usize>| order[1..4].contains(&criterion);
                // The original order has all criteria except the first and the last inside.
                let inside = orders.iter().filter(|order| is_inside(order)).count();
                assert!(inside >= 1, "{criterion} of {orders:?}");
            }
        }
    }

    #[test]
    fn each_case_has_orders_of_its_own() {
        let seeds: BTreeSet<u64> = ["a", "b", "ab", "ba", ""].map(|case| seed_of_case(1, case)).into();
        assert_eq!(seeds.len(), 5);
        assert_ne!(seed_of_case(1, "a"), seed_of_case(2, "a"));
        assert_eq!(seed_of_case(1, "a"), seed_of_case(1, "a"));
    }
}
