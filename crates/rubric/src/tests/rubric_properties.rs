//! Properties that hold for every rubric and every outcome.

use crate::{CriterionScale, GateState, Outcome, RubricScore, ScoringFormula, Verdict, Weight, score_rubric};
use proptest::prelude::*;

use crate::tests::random::{Judged, ROUNDING, judged, real_outcomes, weight};

fn close(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= ROUNDING,
        (a, b) => a == b,
    }
}

/// Same numbers up to rounding, and same verdict.
fn same(a: &RubricScore, b: &RubricScore) -> bool {
    close(a.bounds.map(|bounds| bounds.0), b.bounds.map(|bounds| bounds.0))
        && close(a.bounds.map(|bounds| bounds.1), b.bounds.map(|bounds| bounds.1))
        && close(a.coverage, b.coverage)
        && a.formula == b.formula
        && a.verdict == b.verdict
}

/// The three formulas exactly as documented, without bounds, scaling or compensation.
fn by_hand(judged: &Judged) -> Option<f64> {
    let applicable: Vec<(f64, f64)> = judged
        .pairs()
        .iter()
        .filter_map(|(criterion, outcome)| Some((criterion.weight.get(), outcome.value()?)))
        .collect();
    let earned: f64 = applicable.iter().map(|(weight, value)| weight * value).sum();
    let positive: f64 = applicable.iter().map(|(weight, _)| weight.max(0.0)).sum();
    let all: f64 = applicable.iter().map(|(weight, _)| weight.abs()).sum();
    if positive > 0.0 {
        Some((earned / positive).clamp(0.0, 1.0))
    } else {
        (all > 0.0).then(|| (1.0 + earned / all).clamp(0.0, 1.0))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    #[test]
    fn figures_stay_between_zero_and_one(judged in judged(8, 2)) {
        let score = judged.score();
        for figure in [score.score, score.bounds.map(|b| b.0), score.bounds.map(|b| b.1), score.coverage] {
            prop_assert!(figure.is_none_or(|figure| (0.0..=1.0).contains(&figure)));
        }
        prop_assert!(score.bounds.is_none_or(|(low, high)| low <= high));
        prop_assert_eq!(score.bounds.is_none(), score.formula.is_none());
        prop_assert_eq!(score.bounds.is_none(), score.coverage.is_none());
    }

    #[test]
    fn a_fully_judged_rubric_has_the_score_of_the_written_formula(judged in judged(8, 0)) {
        let score = judged.score();
        prop_assert!(close(score.score, by_hand(&judged)));
        prop_assert_eq!(score.coverage, score.score.map(|_| 1.0));
        prop_assert!(score.gates.iter().all(|(_, _, state)| *state != GateState::Open));
    }

    #[test]
    fn a_fully_judged_rubric_is_incomplete_only_without_weight(judged in judged(8, 0)) {
        let score = judged.score();
        prop_assert!(score.verdict != Some(Verdict::Incomplete) || score.bounds.is_none());
    }

    #[test]
    fn a_better_value_never_lowers_and_a_worse_fault_never_raises(
        judged in judged(8, 2), index in any::<prop::sample::Index>(),
        first in any::<prop::sample::Index>(), second in any::<prop::sample::Index>(),
    ) {
        let index = index.index(judged.outcomes.len());
        let criterion = &judged.rubric.criteria()[index];
        let mut values: Vec<Outcome> = real_outcomes(&criterion.scale);
        values.retain(|outcome| *outcome != Outcome::NotApplicable);
        let (a, b) = (values[first.index(values.len())], values[second.index(values.len())]);
        let (less, more) = if a.value() <= b.value() { (a, b) } else { (b, a) };
        let (worse, better) = if criterion.weight.is_penalty() { (more, less) } else { (less, more) };
        let (worse, better) =
            (judged.with_outcome(index, worse).score(), judged.with_outcome(index, better).score());
        if let (Some(worse), Some(better)) = (worse.bounds, better.bounds) {
            prop_assert!(worse.0 <= better.0 + ROUNDING && worse.1 <= better.1 + ROUNDING);
        }
    }

    #[test]
    fn order_does_not_matter(
        (judged, shuffled) in judged(8, 2).prop_flat_map(|judged| {
            let pairs = judged.pairs();
            (Just(judged), Just(pairs).prop_shuffle())
        }),
    ) {
        let shuffled = judged.with_pairs(shuffled).expect("same criteria");
        prop_assert!(same(&judged.score(), &shuffled.score()));
    }

    #[test]
    fn scaling_all_weights_does_not_matter(judged in judged(8, 2), exponent in -305i32..=306) {
        let scaled = judged.with_scaled_weights(10f64.powi(exponent));
        prop_assert!(same(&judged.score(), &scaled.score()));
    }

    #[test]
    fn a_failed_gate_is_a_fail_and_an_open_one_is_no_pass(judged in judged(8, 2)) {
        let score = judged.score();
        let any = |wanted| score.gates.iter().any(|(_, _, state)| *state == wanted);
        if any(GateState::Failed) {
            prop_assert_eq!(score.verdict, Some(Verdict::Fail));
        }
        if any(GateState::Open) {
            prop_assert!(!matches!(score.verdict, Some(Verdict::Pass | Verdict::Borderline)));
        }
    }

    #[test]
    fn every_answer_lands_inside_the_bounds_and_keeps_a_given_verdict(
        judged in judged(8, 6), answers in prop::collection::vec(0usize..12, 8),
    ) {
        let before = judged.score();
        let after = judged.completed(&answers).score();
        if let (Some((low, high)), Some(score)) = (before.bounds, after.score) {
            prop_assert!(low - ROUNDING <= score && score <= high + ROUNDING);
        }
        prop_assert!(before.bounds.is_some() || after.bounds.is_none());
        if before.verdict != Some(Verdict::Incomplete) {
            prop_assert_eq!(before.verdict, after.verdict);
        }
        if let Some(score) = before.score {
            prop_assert!(close(Some(score), after.score) || after.score.is_none());
        }
    }

    #[test]
    fn each_single_answer_narrows_the_bounds(
        judged in judged(8, 6), answer in 0usize..12, which in any::<prop::sample::Index>(),
    ) {
        let open = judged.ungraded();
        prop_assume!(!open.is_empty());
        let index = open[which.index(open.len())];
        let possible = real_outcomes(&judged.rubric.criteria()[index].scale);
        let before = judged.score();
        let after = judged.with_outcome(index, possible[answer % possible.len()]).score();
        if let (Some(outer), Some(inner)) = (before.bounds, after.bounds) {
            prop_assert!(outer.0 <= inner.0 + ROUNDING && inner.1 <= outer.1 + ROUNDING);
        }
        if before.verdict != Some(Verdict::Incomplete) {
            prop_assert_eq!(before.verdict, after.verdict);
        }
    }

    #[test]
    fn leaving_out_what_does_not_apply_changes_nothing(judged in judged(8, 2)) {
        let mut pairs = judged.pairs();
        pairs.retain(|(_, outcome)| *outcome != Outcome::NotApplicable);
        let Some(without) = judged.with_pairs(pairs) else { return Ok(()) };
        let (with, without) = (judged.score(), without.score());
        prop_assert!(same(&with, &without));
        prop_assert_eq!(with.score, without.score);
    }

    #[test]
    fn a_weight_that_is_not_written_is_one(judged in judged(8, 2)) {
        let score_with = |implicit: Weight| {
            let mut pairs = judged.pairs();
            for (criterion, _) in &mut pairs {
                criterion.weight = implicit;
            }
            judged.with_pairs(pairs).expect("weights are usable").score()
        };
        prop_assert_eq!(score_with(Weight::default()), score_with(weight(1.0)));
    }

    #[test]
    fn a_zero_weight_never_moves_the_score(judged in judged(8, 0), index in any::<prop::sample::Index>()) {
        let index = index.index(judged.outcomes.len());
        let mut pairs = judged.pairs();
        pairs[index].0.weight = weight(0.0);
        let Some(zeroed) = judged.with_pairs(pairs) else { return Ok(()) };
        let scores: Vec<Option<f64>> = real_outcomes(&zeroed.rubric.criteria()[index].scale)
            .into_iter()
            .map(|outcome| zeroed.with_outcome(index, outcome).score().score)
            .collect();
        prop_assert!(scores.windows(2).all(|pair| pair[0] == pair[1]));
    }

    #[test]
    fn outcomes_that_do_not_fit_are_refused(judged in judged(8, 2)) {
        let longer = [judged.outcomes.as_slice(), &[Outcome::Met]].concat();
        prop_assert!(score_rubric(&judged.rubric, &longer, judged.thresholds).is_err());
        prop_assert!(score_rubric(&judged.rubric, &[], judged.thresholds).is_err());
        for (index, criterion) in judged.rubric.criteria().iter().enumerate() {
            let wrong = match criterion.scale {
                CriterionScale::Checklist => crate::tests::random::scored(5),
                CriterionScale::Bands(_) => Outcome::Met,
            };
            let wrong = judged.with_outcome(index, wrong);
            prop_assert!(score_rubric(&wrong.rubric, &wrong.outcomes, wrong.thresholds).is_err());
        }
    }

    #[test]
    fn the_formula_follows_from_the_signs_that_apply(judged in judged(8, 2)) {
        let applies = |wanted: fn(f64) -> bool| {
            judged.pairs().iter().any(|(c, o)| *o != Outcome::NotApplicable && wanted(c.weight.get()))
        };
        let expected = match (applies(|w| w > 0.0), applies(|w| w < 0.0)) {
            (true, false) => Some(ScoringFormula::WeightedMean),
            (true, true) => Some(ScoringFormula::WithPenalties),
            (false, true) => Some(ScoringFormula::PenaltiesOnly),
            (false, false) => None,
        };
        prop_assert_eq!(judged.score().formula, expected);
    }
}

proptest! {
    // Most random rubrics are not incomplete, and every completion of the others is tested.
    #![proptest_config(ProptestConfig {
        failure_persistence: None, max_global_rejects: 100_000, ..ProptestConfig::with_cases(300)
    })]

    #[test]
    fn an_incomplete_verdict_could_really_go_either_way(judged in judged(4, 6)) {
        let open = judged.ungraded();
        let before = judged.score();
        // A gate on a penalty requires the fault that the weight punishes. The best score may be impossible, and the
        // verdict may stay incomplete although a closer analysis could decide it.
        let odd = open.iter().map(|&index| &judged.rubric.criteria()[index]).any(|c| c.gate.is_some() && c.weight.is_penalty());
        prop_assume!(open.len() <= 3 && !odd);
        prop_assume!(before.verdict == Some(Verdict::Incomplete) && before.bounds.is_some());
        let (mut low, mut high, mut verdicts) = (f64::INFINITY, f64::NEG_INFINITY, Vec::new());
        for number in 0..12usize.pow(open.len() as u32) {
            let mut completed = judged.clone();
            let mut rest = number;
            for &index in &open {
                let possible = real_outcomes(&judged.rubric.criteria()[index].scale);
                completed.outcomes[index] = possible[(rest % 12) % possible.len()];
                rest /= 12;
            }
            let score = completed.score();
            low = low.min(score.score.unwrap_or(f64::INFINITY));
            high = high.max(score.score.unwrap_or(f64::NEG_INFINITY));
            if !verdicts.contains(&score.verdict) {
                verdicts.push(score.verdict);
            }
        }
        prop_assert!(verdicts.len() > 1, "only {verdicts:?}");
        let bounds = before.bounds.expect("assumed above");
        prop_assert!((bounds.0 - low).abs() <= ROUNDING, "{bounds:?} but {low} is the lowest");
        prop_assert!((bounds.1 - high).abs() <= ROUNDING, "{bounds:?} but {high} is the highest");
    }
}
