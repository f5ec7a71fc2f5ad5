//! Properties that hold for every case and every set of graders.

use crate::{
    CaseScore, GateState, GraderOutcome, GraderScore, GraderWeighting, Verdict, VerdictThresholds, Weight,
    score_case,
};
use proptest::prelude::*;

use crate::tests::random::{Case, ROUNDING, Work, case, unit, weight};

fn close(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= ROUNDING,
        (a, b) => a == b,
    }
}

fn same(a: &CaseScore, b: &CaseScore) -> bool {
    close(a.bounds.map(|bounds| bounds.0), b.bounds.map(|bounds| bounds.0))
        && close(a.bounds.map(|bounds| bounds.1), b.bounds.map(|bounds| bounds.1))
        && close(a.coverage, b.coverage)
        && a.verdict == b.verdict
}

fn inside(inner: Option<(f64, f64)>, outer: Option<(f64, f64)>) -> bool {
    match (inner, outer) {
        (Some(inner), Some(outer)) => outer.0 <= inner.0 + ROUNDING && inner.1 <= outer.1 + ROUNDING,
        (None, _) => true,
        (Some(_), None) => false,
    }
}

/// The score of a grader that is the only one in its case.
fn alone(weighting: GraderWeighting, outcome: GraderOutcome, thresholds: VerdictThresholds) -> GraderScore {
    score_case(&[(weighting, outcome)], thresholds).graders.remove(0)
}

/// Returns true if a gate that affects the case failed: inside a grader that is not negated, or the grader's
/// own.
fn gate_failed(case: &Case, score: &CaseScore) -> bool {
    let inner = |(weighting, work): &(GraderWeighting, Work)| match work {
        Work::Rubric(judged) if !weighting.negate => {
            let judged = crate::tests::random::Judged { thresholds: case.thresholds, ..judged.clone() };
            judged.score().gates.iter().any(|(_, _, state)| *state == GateState::Failed)
        }
        _ => false,
    };
    case.graders.iter().any(inner)
        || score.graders.iter().any(|grader| grader.required == Some(GateState::Failed))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    #[test]
    fn figures_stay_between_zero_and_one(case in case(5, 2)) {
        let score = case.score();
        let graders = score.graders.iter().map(|grader| (grader.score, grader.bounds, grader.coverage));
        for (score, bounds, coverage) in graders.chain([(score.score, score.bounds, score.coverage)]) {
            for figure in [score, bounds.map(|b| b.0), bounds.map(|b| b.1), coverage] {
                prop_assert!(figure.is_none_or(|figure| (0.0..=1.0).contains(&figure)));
            }
            prop_assert!(bounds.is_none_or(|(low, high)| low <= high));
        }
    }

    #[test]
    fn the_score_is_the_weighted_mean_of_the_graders_that_apply(case in case(5, 0)) {
        let score = case.score();
        let known: Vec<(f64, f64)> = case.graders.iter().zip(&score.graders)
            .filter_map(|((weighting, _), grader)| Some((weighting.weight.get(), grader.score?)))
            .collect();
        let total: f64 = known.iter().map(|(weight, _)| weight).sum();
        let mean = known.iter().map(|(weight, score)| weight * score).sum::<f64>() / total;
        prop_assert!(close(score.score, (total > 0.0).then_some(mean)));
    }

    #[test]
    fn a_failed_gate_anywhere_fails_the_case(case in case(5, 2)) {
        let score = case.score();
        if gate_failed(&case, &score) {
            prop_assert_eq!(score.verdict, Verdict::Fail);
        }
        if score.graders.iter().any(|grader| grader.required == Some(GateState::Open)) {
            prop_assert!(!matches!(score.verdict, Verdict::Pass | Verdict::Borderline));
        }
    }

    #[test]
    fn every_answer_lands_inside_the_bounds_and_keeps_a_given_verdict(
        case in case(5, 5), answers in prop::collection::vec(0usize..12, 4),
        values in prop::collection::vec(
            prop_oneof![1 => Just(None), 1 => Just(Some(0.0)), 1 => Just(Some(1.0)), 2 => (0.0..=1.0).prop_map(Some)], 5),
    ) {
        let before = case.score();
        let after = case.completed(&answers, &values).score();
        prop_assert!(inside(after.bounds, before.bounds));
        if before.verdict != Verdict::Incomplete {
            prop_assert_eq!(before.verdict, after.verdict);
        }
        for (before, after) in before.graders.iter().zip(&after.graders) {
            prop_assert!(inside(after.bounds, before.bounds));
            if before.verdict != Some(Verdict::Incomplete) {
                prop_assert_eq!(before.verdict, after.verdict);
            }
            if let Some(GateState::Failed) = before.required {
                prop_assert_eq!(after.required, before.required);
            }
            if let Some(GateState::Passed) = before.required {
                prop_assert!(matches!(after.required, Some(GateState::Passed | GateState::NotApplicable)));
            }
        }
    }

    #[test]
    fn order_does_not_matter(
        (case, graders) in case(5, 2).prop_flat_map(|case| {
            let graders = case.graders.clone();
            (Just(case), Just(graders).prop_shuffle())
        }),
    ) {
        let shuffled = Case { graders, thresholds: case.thresholds };
        prop_assert!(same(&case.score(), &shuffled.score()));
    }

    #[test]
    fn scaling_all_weights_does_not_matter(case in case(5, 2), exponent in -305i32..=306) {
        let mut scaled = case.clone();
        for (weighting, _) in &mut scaled.graders {
            weighting.weight = weight(weighting.weight.get() * 10f64.powi(exponent));
        }
        prop_assert!(same(&case.score(), &scaled.score()));
    }

    #[test]
    fn a_better_grader_never_lowers_the_case(
        case in case(5, 2), index in any::<prop::sample::Index>(), a in 0.0..=1.0, b in 0.0..=1.0,
    ) {
        let index = index.index(case.graders.len());
        let with = |value: f64| {
            let mut changed = case.clone();
            changed.graders[index].1 = Work::Value(value);
            changed.score()
        };
        let (less, more) = (f64::min(a, b), f64::max(a, b));
        let (worse, better) =
            if case.graders[index].0.negate { (with(more), with(less)) } else { (with(less), with(more)) };
        if let (Some(worse), Some(better)) = (worse.bounds, better.bounds) {
            prop_assert!(worse.0 <= better.0 + ROUNDING && worse.1 <= better.1 + ROUNDING);
        }
        // The case's verdict does not become worse either: a pass does not become a fail.
        prop_assert!(!(worse.verdict == Verdict::Pass && better.verdict == Verdict::Fail));
    }

    #[test]
    fn negating_twice_is_not_negating(case in case(1, 2)) {
        let (weighting, outcome) = case.outcomes().remove(0);
        let turned = |negate| GraderWeighting { negate, ..weighting };
        let plain = alone(turned(false), outcome.clone(), case.thresholds);
        let once = alone(turned(true), outcome, case.thresholds);
        if let (Some(plain), Some(score)) = (plain.score, once.score) {
            let twice = alone(turned(true), GraderOutcome::Value(unit(score)), case.thresholds);
            prop_assert!(close(twice.score, Some(plain)));
        }
        let back = once.bounds.map(|(low, high)| (1.0 - high, 1.0 - low));
        prop_assert!(inside(back, plain.bounds) && inside(plain.bounds, back));
        prop_assert_eq!(once.coverage, plain.coverage);
    }

    #[test]
    fn negation_turns_pass_and_fail_around_and_leaves_the_rest(case in case(1, 3)) {
        let (weighting, outcome) = case.outcomes().remove(0);
        let turned = |negate| GraderWeighting { negate, min_score: None, ..weighting };
        let plain = alone(turned(false), outcome.clone(), case.thresholds);
        let negated = alone(turned(true), outcome, case.thresholds);
        prop_assert_eq!(negated.verdict, plain.verdict.map(Verdict::negate));
    }

    #[test]
    fn being_required_gates_but_does_not_move_the_score(case in case(5, 2), index in any::<prop::sample::Index>()) {
        let index = index.index(case.graders.len());
        let with = |required| {
            let mut changed = case.clone();
            changed.graders[index].0.required = required;
            changed.score()
        };
        let (free, required) = (with(false), with(true));
        prop_assert_eq!(free.score, required.score);
        prop_assert_eq!(free.bounds, required.bounds);
        prop_assert_eq!(free.coverage, required.coverage);
        let own = case.graders[index].0.min_score.unwrap_or(case.thresholds.pass()).get();
        if free.graders[index].bounds.is_some_and(|(_, high)| high < own - 1e-6) {
            prop_assert_eq!(required.verdict, Verdict::Fail);
        }
    }

    #[test]
    fn graders_that_do_not_apply_might_as_well_be_absent(case in case(5, 2)) {
        let mut without = case.clone();
        without.graders.retain(|(_, work)| !matches!(work, Work::NotApplicable));
        prop_assume!(!without.graders.is_empty());
        let (with, without) = (case.score(), without.score());
        prop_assert!(same(&with, &without));
        prop_assert_eq!(with.score, without.score);
    }

    #[test]
    fn a_weight_that_is_not_written_is_one(case in case(5, 2)) {
        let score_with = |implicit: Weight| {
            let mut changed = case.clone();
            for (weighting, _) in &mut changed.graders {
                weighting.weight = implicit;
            }
            changed.score()
        };
        prop_assert_eq!(score_with(GraderWeighting::default().weight), score_with(weight(1.0)));
    }

    #[test]
    fn an_errored_grader_is_neither_zero_nor_one(case in case(5, 2), index in any::<prop::sample::Index>()) {
        let index = index.index(case.graders.len());
        let mut broken = case.clone();
        broken.graders[index].1 = Work::Errored;
        let score = broken.score();
        let grader = &score.graders[index];
        prop_assert_eq!(grader.score, None);
        prop_assert_eq!(grader.bounds, Some((0.0, 1.0)));
        prop_assert_eq!(grader.verdict, Some(Verdict::Incomplete));
        if broken.graders[index].0.weight.get() > 0.0 {
            prop_assert!(score.coverage.is_some_and(|coverage| coverage < 1.0));
        }
    }
}
