//! Permutation tests of claims about orders: they exchange the judgements of a rubric.

use assize_stats::SeededRandom;
use assize_stats::compare::{ArrangedUnit, TestSide, arrangement_test, arrangements};

use super::reordered::{CallEnd, OrderedJudgement, PlacedDecision, ReorderedRubric, by_criterion, distances};

/// Maximum number of arrangements of the judgements that are drawn, and the seed of the draws.
const DRAWS: u32 = 9_999;
const SEED: u64 = 0;

/// Suite and case.
type OrderCase<'a> = &'a (String, String);

/// Returns the p-value of the null hypothesis that other orders change no more decisions than the same order
/// does; `None` if no rubric was judged both ways.
///
/// If the order has no effect, the judgements of a rubric are interchangeable: any of them could have been
/// the ones in the same order. The statistic is the share of decisions that other orders change minus the
/// share that the same order changes.
pub(super) fn p_of_no_flips(rubrics: &[ReorderedRubric]) -> Option<f64> {
    let mut random = SeededRandom::new(SEED);
    let units: Vec<ArrangedUnit<OrderCase<'_>>> = rubrics
        .iter()
        .filter(|rubric| (2..rubric.judgements.len()).contains(&rubric.unchanged()))
        .map(|rubric| {
            let judgements: Vec<&OrderedJudgement> = rubric.judgements.iter().collect();
            let distances = distances(&judgements);
            let mean_distance = |first: usize, others: &[usize]| {
                others.iter().map(|other| distances[first][*other]).sum::<f64>() / others.len() as f64
            };
            let value = |order: &Vec<usize>| {
                let (again, moved) = order[1..].split_at(rubric.unchanged() - 1);
                mean_distance(order[0], moved) - mean_distance(order[0], again)
            };
            let values = arrangements(judgements.len(), &mut random).iter().map(value).collect();
            ArrangedUnit { cluster: &rubric.case, values }
        })
        .collect();

    arrangement_test(&units, TestSide::Above, DRAWS, &mut random).ok().map(|found| found.p)
}

/// Returns the p-value of the null hypothesis that an end of the call has no effect, and the mean effect with
/// its sign; `None` if no criterion was both at the end and in the middle.
///
/// If the position has no effect, judgements in different orders are interchangeable. Each order counts once:
/// a judge that gets the same call again may repeat itself word for word, which is no evidence about
/// positions. Each criterion is weighted by the precision of its difference: `n m / (n + m)` for n decisions
/// at the end and m in the middle.
pub(super) fn p_of_no_place(end: CallEnd, rubrics: &[ReorderedRubric]) -> Option<(f64, f64)> {
    let mut random = SeededRandom::new(SEED);
    let units: Vec<ArrangedUnit<OrderCase<'_>>> = rubrics
        .iter()
        .filter_map(|rubric| {
            let orders: Vec<&OrderedJudgement> =
                rubric.judgements.iter().take(1).chain(&rubric.judgements[rubric.unchanged()..]).collect();
            let effects = exchanged_effects(end, &orders)?;
            let value = |order: &Vec<usize>| {
                order.iter().zip(&effects).map(|(judgement, effects)| effects[*judgement]).sum()
            };
            let values = arrangements(orders.len(), &mut random).iter().map(value).collect();
            Some(ArrangedUnit { cluster: &rubric.case, values })
        })
        .collect();

    let found = arrangement_test(&units, TestSide::Both, DRAWS, &mut random).ok()?;
    Some((found.p, found.mean))
}

/// Returns for each order how much each judgement would add to the effect of an end of the call if it had
/// been made in that order. `None` if no criterion was both at the end and in the middle.
fn exchanged_effects(end: CallEnd, judgements: &[&OrderedJudgement]) -> Option<Vec<Vec<f64>>> {
    let mut effects = vec![vec![0.0; judgements.len()]; judgements.len()];
    let mut is_measured = false;
    for placed in by_criterion(judgements) {
        let count = |is: fn(CallEnd, &PlacedDecision) -> bool| {
            placed.iter().flatten().filter(|placed| is(end, placed)).count() as f64
        };
        let (here, beside) = (count(CallEnd::is_at), count(CallEnd::is_beside));
        let values: Vec<Option<f64>> =
            placed.iter().map(|placed| placed.and_then(PlacedDecision::value)).collect();
        let known: Vec<f64> = values.iter().flatten().copied().collect();
        if here * beside == 0.0 || known.is_empty() {
            continue;
        }

        // A missing decision counts as the mean of the others, so it adds nothing to the effect.
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        let precision = here * beside / (here + beside);
        for (effects, placed) in effects.iter_mut().zip(&placed) {
            let weight = match placed {
                Some(placed) if end.is_at(placed) => precision / here,
                Some(placed) if end.is_beside(placed) => -precision / beside,
                _ => continue,
            };
            for (effect, value) in effects.iter_mut().zip(&values) {
                *effect += weight * (value.unwrap_or(mean) - mean);
            }
        }
        is_measured = true;
    }

    is_measured.then_some(effects)
}
