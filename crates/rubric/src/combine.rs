//! Combination of graders into one grader: composites.

use crate::sum::{CompensatedSum, weight_scale};
use crate::verdict::{CombinedGateState, decidable_bounds};
use crate::{
    CompositeFormula, CompositeScore, GraderOutcome, GraderScore, GraderWeighting, Verdict, VerdictThresholds,
};

/// Combines members. `weight`, `required`, `min_score` and `negate` of a member work as for a grader of a
/// case. A failed gate of a member fails the composite, whatever the formula. A member that failed to run
/// could have any score, which widens the bounds.
pub fn combine_members(
    members: &[(GraderWeighting, GraderOutcome)],
    how: CompositeFormula,
    thresholds: VerdictThresholds,
) -> CompositeScore {
    let scores: Vec<GraderScore> = members
        .iter()
        .map(|(weighting, outcome)| GraderScore::new(*weighting, outcome, thresholds))
        .collect();
    let gates = scores.iter().fold(CombinedGateState::Hold, |gates, score| gates.max(score.gates_for_case()));
    let unit = weight_scale(members.iter().map(|(weighting, _)| weighting.weight.get()));
    let (mut weights, mut lows, mut highs, mut covered) = (
        CompensatedSum::default(),
        CompensatedSum::default(),
        CompensatedSum::default(),
        CompensatedSum::default(),
    );

    let mut extreme: Option<(f64, f64)> = None;
    for ((weighting, _), score) in members.iter().zip(&scores) {
        let Some((low, high)) = score.bounds else { continue };
        let weight = weighting.weight.get() / unit;
        let (low, high, judged) = match how {
            CompositeFormula::Threshold(_) => match score.verdict {
                Some(Verdict::Pass) => (1.0, 1.0, 1.0),
                Some(Verdict::Incomplete) => (0.0, 1.0, 0.0),
                _ => (0.0, 0.0, 1.0),
            },
            _ => (low, high, score.coverage.unwrap_or(1.0)),
        };

        weights.add(weight);
        lows.add(weight * low);
        highs.add(weight * high);
        covered.add(weight * judged);

        if weight > 0.0 {
            extreme = Some(match (how, extreme) {
                (_, None) => (low, high),
                (CompositeFormula::Highest, Some((lows, highs))) => (low.max(lows), high.max(highs)),
                (_, Some((lows, highs))) => (low.min(lows), high.min(highs)),
            });
        }
    }

    let total = weights.get();
    let share = |sum: CompensatedSum| (sum.get() / total).clamp(0.0, 1.0);
    let (bounds, coverage) = match how {
        CompositeFormula::Decided(Some(score)) => (Some((score.get(), score.get())), Some(1.0)),
        CompositeFormula::Decided(None) => (Some((0.0, 1.0)), Some(0.0)),
        CompositeFormula::Lowest | CompositeFormula::Highest if total > 0.0 => {
            (extreme, Some(share(covered)))
        }
        _ if total > 0.0 => {
            let low = share(lows);
            (Some((low, share(highs).max(low))), Some(share(covered)))
        }
        _ => (None, None),
    };

    let line = match how {
        CompositeFormula::Threshold(line) => VerdictThresholds::with_optional_borderline(line, None),
        _ => thresholds,
    };
    let verdict = (bounds.is_some() || gates != CombinedGateState::Hold)
        .then(|| line.verdict_within(decidable_bounds(bounds, coverage), gates));
    CompositeScore { how, bounds, coverage, verdict, members: scores, passed: None, gates }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GateState, UnitInterval};
    use crate::{Weight, score_case};

    fn thresholds() -> VerdictThresholds {
        VerdictThresholds::with_optional_borderline(UnitInterval::new(0.8).expect("a unit"), None)
    }

    fn member(weight: f64, value: f64) -> (GraderWeighting, GraderOutcome) {
        let weighting =
            GraderWeighting { weight: Weight::new(weight).expect("finite"), ..Default::default() };
        (weighting, GraderOutcome::Value(UnitInterval::new(value).expect("a unit")))
    }

    #[test]
    fn members_keep_weight_negation_and_gate() {
        let mut members = vec![member(3.0, 1.0), member(1.0, 0.0)];
        let mean = |members: &[_]| combine_members(members, CompositeFormula::WeightedAverage, thresholds());
        assert_eq!(mean(&members).bounds, Some((0.75, 0.75)));
        members[1].0.negate = true;
        assert_eq!(mean(&members).bounds, Some((1.0, 1.0)));
        members[1].0 =
            GraderWeighting { required: true, weight: Weight::new(0.0).expect("finite"), ..members[1].0 };
        members[1].0.negate = false;
        let score = mean(&members);
        assert_eq!((score.bounds, score.verdict), (Some((1.0, 1.0)), Some(Verdict::Fail)));
        let case = score_case(
            &[(GraderWeighting::default(), GraderOutcome::Combined(Box::new(score)))],
            thresholds(),
        );
        assert_eq!(case.verdict, Verdict::Fail, "a gate inside a composite is a gate of the case");
    }

    #[test]
    fn a_required_composite_that_fails_fails_the_case_at_a_threshold_of_zero() {
        let thresholds = VerdictThresholds::with_optional_borderline(UnitInterval::ZERO, None);
        let required = GraderWeighting { required: true, ..Default::default() };
        let negated = GraderWeighting { negate: true, ..required };
        let gated = |value| {
            let (_, outcome) = member(1.0, value);
            let minimum = Some(UnitInterval::ONE);
            vec![(GraderWeighting { min_score: minimum, ..required }, outcome), member(1.0, 1.0)]
        };
        let broken = vec![(GraderWeighting::default(), GraderOutcome::Errored)];
        for (weighting, members, verdict) in [
            (required, gated(0.0), Verdict::Fail),
            (required, gated(1.0), Verdict::Pass),
            (required, vec![member(1.0, 0.0)], Verdict::Fail),
            (required, vec![member(1.0, 0.1)], Verdict::Pass),
            (negated, gated(1.0), Verdict::Fail),
            (negated, gated(0.0), Verdict::Pass),
            (negated, vec![member(1.0, 0.5)], Verdict::Fail),
            (negated, broken, Verdict::Incomplete),
        ] {
            let combined = combine_members(&members, CompositeFormula::WeightedAverage, thresholds);
            let outcome = GraderOutcome::Combined(Box::new(combined));
            let case = score_case(&[(weighting, outcome), member(1.0, 1.0)], thresholds);
            assert_eq!(
                (case.verdict, case.graders[0].verdict),
                (verdict, Some(verdict)),
                "{weighting:?} {members:?}"
            );
        }
    }

    #[test]
    fn a_threshold_counts_members_that_pass() {
        let members = [member(1.0, 1.0), member(1.0, 0.9), member(1.0, 0.1)];
        let at = |line| {
            combine_members(
                &members,
                CompositeFormula::Threshold(UnitInterval::new(line).expect("a unit")),
                thresholds(),
            )
        };
        assert_eq!(at(0.6).verdict, Some(Verdict::Pass));
        assert_eq!(at(0.7).verdict, Some(Verdict::Fail));
        let required = GraderWeighting { required: true, ..Default::default() };
        let case = score_case(&[(required, GraderOutcome::Combined(Box::new(at(0.6))))], thresholds());
        assert_eq!(case.graders[0].required, Some(GateState::Passed), "its own line is the threshold");
    }

    #[test]
    fn the_lowest_and_the_highest_stay_within_what_is_known() {
        let members = [member(1.0, 0.9), member(1.0, 0.4), member(0.0, 0.1), member(2.0, 0.6)];
        let combined = |members: &[_], how| combine_members(members, how, thresholds());
        assert_eq!(combined(&members, CompositeFormula::Lowest).bounds, Some((0.4, 0.4)));
        assert_eq!(combined(&members, CompositeFormula::Highest).bounds, Some((0.9, 0.9)));
        let broken = [member(1.0, 0.9), (GraderWeighting::default(), GraderOutcome::Errored)];
        let lowest = combined(&broken, CompositeFormula::Lowest);
        assert_eq!((lowest.bounds, lowest.verdict), (Some((0.0, 0.9)), Some(Verdict::Incomplete)));
        let highest = combined(&broken, CompositeFormula::Highest);
        assert_eq!((highest.bounds, highest.verdict), (Some((0.9, 1.0)), Some(Verdict::Pass)));
        let left_out = [(GraderWeighting::default(), GraderOutcome::NotApplicable), member(1.0, 0.9)];
        assert_eq!(combined(&left_out, CompositeFormula::Lowest).bounds, Some((0.9, 0.9)));
        assert_eq!(combined(&left_out[..1], CompositeFormula::Highest).bounds, None);
    }

    #[test]
    fn a_broken_member_is_neither_a_zero_nor_left_out() {
        let members = [member(1.0, 1.0), (GraderWeighting::default(), GraderOutcome::Errored)];
        let score = combine_members(&members, CompositeFormula::WeightedAverage, thresholds());
        assert_eq!((score.bounds, score.verdict), (Some((0.5, 1.0)), Some(Verdict::Incomplete)));
        let share = combine_members(
            &members,
            CompositeFormula::Threshold(UnitInterval::new(0.5).expect("a unit")),
            thresholds(),
        );
        assert_eq!((share.bounds, share.verdict), (Some((0.5, 1.0)), Some(Verdict::Pass)));
        let decided = combine_members(&members, CompositeFormula::Decided(None), thresholds());
        assert_eq!(decided.verdict, Some(Verdict::Incomplete));
    }
}
