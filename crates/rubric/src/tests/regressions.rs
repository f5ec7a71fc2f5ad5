//! Known mistakes in rubric scoring, each with a test that this crate does not make it.

use crate::{
    Criterion, Gate, GateState, GraderOutcome, GraderWeighting, Outcome, RawScore, Rubric, RubricError,
    RubricScore, ScoringFormula, Verdict, VerdictThresholds, score_case, score_rubric,
};

use crate::tests::random::{bands, scored, unit, weight};

fn criterion(id: &str, size: f64) -> Criterion {
    Criterion { weight: weight(size), ..Criterion::checklist(id, "does something") }
}

fn required(id: &str, size: f64) -> Criterion {
    Criterion { gate: Some(Gate::Met), ..criterion(id, size) }
}

fn banded(id: &str, size: f64) -> Criterion {
    Criterion { scale: bands(), ..criterion(id, size) }
}

fn lines_at(pass: f64) -> VerdictThresholds {
    VerdictThresholds::new(unit(pass), None).expect("in order")
}

fn score_at(thresholds: VerdictThresholds, criteria: Vec<Criterion>, outcomes: &[Outcome]) -> RubricScore {
    score_rubric(&Rubric::new(criteria).expect("sound"), outcomes, thresholds).expect("outcomes fit")
}

fn score(criteria: Vec<Criterion>, outcomes: &[Outcome]) -> RubricScore {
    score_at(lines_at(0.8), criteria, outcomes)
}

fn grader(outcome: GraderOutcome) -> (GraderWeighting, GraderOutcome) {
    (GraderWeighting::default(), outcome)
}

fn value(value: f64) -> GraderOutcome {
    GraderOutcome::Value(unit(value))
}

#[test]
fn omitted_criteria_do_not_shrink_the_denominator() {
    let five = (0..5).map(|index| criterion(&format!("c{index}"), 1.0)).collect();
    let mut outcomes = [Outcome::Ungraded; 5];
    outcomes[0] = Outcome::Met;
    let score = score(five, &outcomes);
    assert_eq!(score.score, None);
    assert_eq!(score.bounds, Some((0.2, 1.0)));
    assert_eq!(score.coverage, Some(0.2));
    assert_eq!(score.verdict, Some(Verdict::Incomplete));
}

#[test]
fn an_omitted_required_criterion_is_not_a_pass() {
    let score = score(vec![criterion("a", 99.0), required("b", 1.0)], &[Outcome::Met, Outcome::Ungraded]);
    assert_eq!(score.bounds, Some((0.99, 1.0)));
    assert_eq!(score.verdict, Some(Verdict::Incomplete));
    let case = score_case(&[grader(GraderOutcome::Rubric(score))], lines_at(0.8));
    assert_eq!(case.verdict, Verdict::Incomplete);
}

#[test]
fn an_omitted_criterion_that_cannot_change_the_verdict_does_not_hold_it_up() {
    let score = score(vec![criterion("a", 9.0), criterion("b", 1.0)], &[Outcome::Met, Outcome::Ungraded]);
    assert_eq!(score.verdict, Some(Verdict::Pass));
    assert_eq!(score.score, None);
}

#[test]
fn repeated_ids_are_refused() {
    let errors = Rubric::new(vec![criterion("a", 1.0), criterion("a", 2.0)]).expect_err("refused");
    assert!(matches!(errors[..], [RubricError::DuplicateId { first: 0, second: 1, .. }]));
}

#[test]
fn nothing_judged_is_not_the_same_as_everything_failed() {
    let two = || vec![criterion("a", 1.0), criterion("b", 1.0)];
    let unanswered = score(two(), &[Outcome::Ungraded, Outcome::Ungraded]);
    let unmet = score(two(), &[Outcome::Unmet, Outcome::Unmet]);
    assert_eq!((unanswered.score, unanswered.verdict), (None, Some(Verdict::Incomplete)));
    assert_eq!((unmet.score, unmet.verdict), (Some(0.0), Some(Verdict::Fail)));
}

#[test]
fn nothing_judged_passes_no_line_not_even_zero() {
    let lines = lines_at(0.0);
    let score = score_at(lines, vec![criterion("a", 1.0)], &[Outcome::Ungraded]);
    assert_eq!(score.verdict, Some(Verdict::Incomplete));
    let case = score_case(&[grader(GraderOutcome::Rubric(score)), grader(GraderOutcome::Errored)], lines);
    assert_eq!(case.verdict, Verdict::Incomplete);
    let weighting = GraderWeighting { min_score: Some(unit(0.0)), ..GraderWeighting::default() };
    let case = score_case(&[(weighting, GraderOutcome::Errored), grader(value(1.0))], lines_at(0.5));
    assert_eq!(case.graders[0].verdict, Some(Verdict::Incomplete));
}

#[test]
fn a_required_criterion_fails_a_case_of_nine_tenths() {
    let score = score(vec![criterion("a", 9.0), required("b", 1.0)], &[Outcome::Met, Outcome::Unmet]);
    assert_eq!(score.score, Some(0.9));
    assert_eq!(score.verdict, Some(Verdict::Fail));
    let case = score_case(
        &[grader(GraderOutcome::Rubric(score)), grader(value(1.0)), grader(value(1.0))],
        lines_at(0.8),
    );
    assert!((case.score.expect("known") - 2.9 / 3.0).abs() < 1e-12);
    assert_eq!(case.verdict, Verdict::Fail);
}

#[test]
fn a_banded_criterion_does_not_change_its_neighbours() {
    let checklist = || required("a", 1.0);
    let style =
        Criterion { gate: Some(Gate::MinRaw(RawScore::new(5).expect("in range"))), ..banded("b", 1.0) };
    let score = score(vec![checklist(), style], &[Outcome::Met, scored(7)]);
    // The checklist criterion only has to be met; it needs no 10 out of 10.
    assert!(score.gates.iter().all(|(_, _, state)| *state == GateState::Passed));
    assert_eq!(score.score, Some(0.85));
    assert_eq!(score.verdict, Some(Verdict::Pass));
}

#[test]
fn a_mixed_rubric_takes_no_number_for_a_checklist_criterion() {
    let rubric = Rubric::new(vec![required("a", 1.0), banded("b", 1.0)]).expect("sound");
    assert!(score_rubric(&rubric, &[scored(9), scored(9)], lines_at(0.8)).is_err());
    assert!(score_rubric(&rubric, &[Outcome::Met, Outcome::Met], lines_at(0.8)).is_err());
}

#[test]
fn required_on_a_score_range_asks_for_the_pass_line_not_for_ten() {
    let strict = || vec![Criterion { gate: Some(Gate::PassLine), ..banded("a", 1.0) }, criterion("b", 9.0)];
    assert_eq!(score(strict(), &[scored(8), Outcome::Met]).verdict, Some(Verdict::Pass));
    assert_eq!(score(strict(), &[scored(7), Outcome::Met]).verdict, Some(Verdict::Fail));
    let lower = score_at(lines_at(0.7), strict(), &[scored(7), Outcome::Met]);
    assert_eq!(lower.verdict, Some(Verdict::Pass));
}

#[test]
fn a_required_check_that_broke_is_no_pass_at_a_threshold_of_zero() {
    // A promptfoo configuration has the threshold 0: each assertion decides on its own whether the answer
    // passes.
    let weighting = GraderWeighting { required: true, ..GraderWeighting::default() };
    let passed = GraderOutcome::Checked { score: unit(1.0), passed: true };
    let case = score_case(&[(weighting, passed), (weighting, GraderOutcome::Errored)], lines_at(0.0));
    assert_eq!(case.verdict, Verdict::Incomplete);

    let weighting = GraderWeighting { negate: true, ..weighting };
    let case = score_case(&[(weighting, GraderOutcome::Errored)], lines_at(0.0));
    assert_eq!(case.verdict, Verdict::Incomplete);
}

#[test]
fn a_negated_error_is_not_a_one() {
    let weighting = GraderWeighting { negate: true, ..GraderWeighting::default() };
    let case = score_case(&[(weighting, GraderOutcome::Errored)], lines_at(0.8));
    assert_eq!(case.score, None);
    assert_eq!(case.bounds, Some((0.0, 1.0)));
    assert_eq!(case.verdict, Verdict::Incomplete);
    assert_eq!(case.graders[0].verdict, Some(Verdict::Incomplete));
}

#[test]
fn an_errored_grader_neither_zeroes_the_case_nor_drops_out() {
    let case = score_case(&[grader(value(0.9)), grader(GraderOutcome::Errored)], lines_at(0.8));
    assert_eq!(case.score, None);
    assert_eq!(case.bounds, Some((0.45, 0.95)));
    assert_eq!(case.coverage, Some(0.5));
    assert_eq!(case.graders[0].score, Some(0.9));
    assert_eq!(case.verdict, Verdict::Incomplete);
    // If no result of the failed grader could save the case, it has failed.
    let hopeless = score_case(&[grader(value(0.1)), grader(GraderOutcome::Errored)], lines_at(0.8));
    assert_eq!(hopeless.verdict, Verdict::Fail);
}

#[test]
fn one_tenth_and_seven_tenths_of_one_reach_eight_tenths() {
    let score = score(
        vec![criterion("a", 0.1), criterion("b", 0.2), criterion("c", 0.7)],
        &[Outcome::Met, Outcome::Unmet, Outcome::Met],
    );
    assert_eq!(score.verdict, Some(Verdict::Pass));
    let case = score_case(&[grader(GraderOutcome::Rubric(score))], lines_at(0.8));
    assert_eq!(case.verdict, Verdict::Pass);
}

#[test]
fn a_weight_of_zero_still_gates() {
    let gated = || vec![criterion("a", 1.0), required("b", 0.0)];
    let failed = score(gated(), &[Outcome::Met, Outcome::Unmet]);
    assert_eq!((failed.score, failed.verdict), (Some(1.0), Some(Verdict::Fail)));
    let open = score(gated(), &[Outcome::Met, Outcome::Ungraded]);
    assert_eq!((open.score, open.verdict), (Some(1.0), Some(Verdict::Incomplete)));
}

#[test]
fn weights_that_are_all_zero_are_refused() {
    assert_eq!(Rubric::new(vec![criterion("a", 0.0), required("b", -0.0)]), Err(vec![RubricError::NoWeight]));
}

#[test]
fn the_largest_and_the_smallest_weights_neither_overflow_nor_vanish() {
    for size in [f64::MAX, 1e308, 1e-308, f64::MIN_POSITIVE * f64::EPSILON] {
        let four =
            || vec![criterion("a", size), criterion("b", size), criterion("c", size), criterion("d", size)];
        let outcomes = [Outcome::Met, Outcome::Met, Outcome::Met, Outcome::Unmet];
        assert_eq!(score(four(), &outcomes).score, Some(0.75), "{size}");
        let weighting = GraderWeighting { weight: weight(size), ..GraderWeighting::default() };
        let case = score_case(&[(weighting, value(1.0)), (weighting, value(0.5))], lines_at(0.8));
        assert_eq!(case.score, Some(0.75), "{size}");
    }
    let tiny = score(vec![Criterion { weight: weight(1e-320), ..banded("a", 1.0) }], &[scored(7)]);
    assert!((tiny.score.expect("known") - 0.7).abs() < 1e-12);
}

#[test]
fn small_weights_are_not_lost_beside_large_ones() {
    let mut criteria = vec![criterion("large", 1e16), criterion("fault", -1e16)];
    criteria.extend((0..1_000).map(|index| criterion(&format!("c{index}"), 1.0)));
    let outcomes = vec![Outcome::Met; criteria.len()];
    assert_eq!(score(criteria, &outcomes).score, Some(1_000.0 / (1e16 + 1_000.0)));
}

#[test]
fn a_negative_weight_is_a_penalty_and_not_merely_clamped_away() {
    let penalised = score(vec![criterion("a", 4.0), criterion("b", -1.0)], &[Outcome::Met, Outcome::Met]);
    assert_eq!((penalised.score, penalised.formula), (Some(0.75), Some(ScoringFormula::WithPenalties)));
    let spared = score(vec![criterion("a", 4.0), criterion("b", -1.0)], &[Outcome::Met, Outcome::Unmet]);
    assert_eq!(spared.score, Some(1.0));
    let faults = || vec![criterion("a", -3.0), criterion("b", -1.0)];
    assert_eq!(score(faults(), &[Outcome::Unmet, Outcome::Unmet]).score, Some(1.0));
    assert_eq!(score(faults(), &[Outcome::Unmet, Outcome::Met]).score, Some(0.75));
    assert_eq!(score(faults(), &[Outcome::Met, Outcome::Met]).score, Some(0.0));
}

#[test]
fn a_minimum_score_on_a_checklist_criterion_counts() {
    let gated = || {
        vec![criterion("a", 9.0), Criterion { gate: Some(Gate::MinValue(unit(0.5))), ..criterion("b", 1.0) }]
    };
    assert_eq!(score(gated(), &[Outcome::Met, Outcome::Met]).verdict, Some(Verdict::Pass));
    assert_eq!(score(gated(), &[Outcome::Met, Outcome::Unmet]).verdict, Some(Verdict::Fail));
}

#[test]
fn a_grader_is_measured_by_the_lines_that_were_set() {
    let half = score_at(
        lines_at(0.5),
        vec![criterion("a", 0.6), criterion("b", 0.4)],
        &[Outcome::Met, Outcome::Unmet],
    );
    assert_eq!(half.verdict, Some(Verdict::Pass));
    let case = score_case(&[grader(GraderOutcome::Rubric(half)), grader(value(0.6))], lines_at(0.5));
    assert!(case.graders.iter().all(|grader| grader.verdict == Some(Verdict::Pass)));
    let strict = score_case(&[grader(value(0.85))], lines_at(0.9));
    assert_eq!(strict.graders[0].verdict, Some(Verdict::Fail));
    let own = GraderWeighting { min_score: Some(unit(0.4)), ..GraderWeighting::default() };
    assert_eq!(score_case(&[(own, value(0.45))], lines_at(0.9)).graders[0].verdict, Some(Verdict::Pass));
}

#[test]
fn a_raw_seven_reaches_a_minimum_of_seven_tenths() {
    let gated = |gate| vec![Criterion { gate: Some(gate), ..banded("a", 1.0) }];
    let by_value = Gate::MinValue(unit(0.7));
    let by_raw = Gate::MinRaw(RawScore::new(7).expect("in range"));
    for gate in [by_value, by_raw] {
        assert_eq!(score_at(lines_at(0.7), gated(gate), &[scored(7)]).verdict, Some(Verdict::Pass));
        assert_eq!(score_at(lines_at(0.5), gated(gate), &[scored(6)]).verdict, Some(Verdict::Fail));
    }
}

#[test]
fn every_raw_score_reaches_its_own_tenth_and_none_above() {
    for raw in 0..=10u8 {
        let gate = Gate::MinValue(unit((f64::from(raw) * 0.1).min(1.0)));
        assert_eq!(gate.evaluate(scored(raw), unit(0.8)), GateState::Passed, "raw {raw}");
        if let Some(less) = raw.checked_sub(1) {
            assert_eq!(gate.evaluate(scored(less), unit(0.8)), GateState::Failed, "raw {less}");
        }
    }
}

#[test]
fn a_required_grader_below_its_minimum_fails_the_case_and_leaves_the_score() {
    let required = |min_score: Option<f64>| GraderWeighting {
        required: true,
        min_score: min_score.map(unit),
        ..GraderWeighting::default()
    };
    let score = |weighting| score_case(&[(weighting, value(0.7)), grader(value(1.0))], lines_at(0.8));
    for failing in [required(Some(0.75)), required(None)] {
        let case = score(failing);
        assert_eq!(case.score, Some(0.85));
        assert_eq!(case.graders[0].required, Some(GateState::Failed));
        assert_eq!(case.verdict, Verdict::Fail);
    }
    let case = score(required(Some(0.7)));
    assert_eq!((case.score, case.verdict), (Some(0.85), Verdict::Pass));
    // A minimum alone is a threshold for the grader, not a gate for the case.
    let free = GraderWeighting { required: false, ..required(Some(0.75)) };
    assert_eq!(score(free).verdict, Verdict::Pass);
    assert_eq!(score(free).graders[0].verdict, Some(Verdict::Fail));
}

#[test]
fn graders_that_all_weigh_nothing_give_no_score() {
    let weighting = GraderWeighting { weight: weight(0.0), ..GraderWeighting::default() };
    let case = score_case(&[(weighting, value(1.0))], lines_at(0.8));
    assert_eq!((case.score, case.bounds, case.verdict), (None, None, Verdict::Incomplete));
    assert_eq!(score_case(&[], lines_at(0.8)).verdict, Verdict::Incomplete);
}
