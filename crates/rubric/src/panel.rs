//! Combination of several decisions on one criterion into one.
//!
//! A missing vote is never counted as anything. If missing votes could change the result of the panel, it is open, and the
//! bounds give the range of possible values.
//!
//! Design: `docs/design/judging.md`.

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CriterionScale, FractionalScore, Outcome, TOLERANCE};

crate::named_enum! {
    /// Rule that combines the votes of a panel.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    pub enum PanelRule {
        /// Met if more votes are met than unmet. For scores, the most frequent one.
        Majority = "majority",
        /// Mean of the scores. Met if more than half of the votes are met.
        Mean = "mean",
        /// Median of the scores. For met and unmet, the same as `majority`.
        Median = "median",
        /// Met if all votes are met. For scores, the lowest one.
        Unanimous = "unanimous",
        /// Met if any vote is met. For scores, the highest one.
        Any = "any",
        /// Weighted mean of the scores. Met if the met votes have more than half of the weight.
        Weighted = "weighted",
    }
}

impl PanelRule {
    /// Returns the default rule: a majority for met and unmet, the mean for scores.
    pub const fn default_for(scale: &CriterionScale) -> Self {
        match scale {
            CriterionScale::Checklist => Self::Majority,
            CriterionScale::Bands(_) => Self::Mean,
        }
    }
}

crate::named_enum! {
    /// Result of a tie.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
    #[schemars(rename = "Ties")]
    pub enum TiePolicy {
        /// The criterion is ungraded.
        #[default]
        Ungraded = "ungraded",
        /// Unmet, or the lowest of the tied scores.
        Fail = "fail",
        /// Met, or the highest of the tied scores.
        Pass = "pass",
    }
}

/// Value of a vote.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum VoteValue {
    /// A value from 0 to 1; 0 or 1 for unmet and met.
    Value(f64),
    /// The criterion does not apply.
    NotApplicable,
    /// The judge gave no usable decision.
    Missing,
}

impl From<Outcome> for VoteValue {
    fn from(outcome: Outcome) -> Self {
        match (outcome, outcome.value()) {
            (Outcome::NotApplicable, _) => Self::NotApplicable,
            (_, Some(value)) => Self::Value(value),
            (_, None) => Self::Missing,
        }
    }
}

/// One vote.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PanelVote {
    /// Its value.
    pub value: VoteValue,
    /// Weight of its judge, above 0. Only [`PanelRule::Weighted`] uses it.
    pub weight: f64,
}

/// Result of a panel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PanelResult {
    /// A value, 0 to 1; for met and unmet, 0 or 1.
    Value(f64),
    /// The criterion does not apply.
    NotApplicable,
    /// No result: the votes are evenly split.
    Tie,
    /// No result yet: the missing votes could change it.
    Open,
}

/// The decision of a panel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PanelDecision {
    /// Result of the panel.
    pub result: PanelResult,
    /// True if the votes are tied.
    pub tie: bool,
    /// Lowest value that missing votes or a tie could lead to, 0 to 1.
    pub low: f64,
    /// Highest value that missing votes or a tie could lead to, 0 to 1.
    pub high: f64,
}

impl PanelDecision {
    /// Returns the outcome of a criterion on this scale. A tied or open result is ungraded.
    pub fn outcome(self, scale: &CriterionScale) -> Outcome {
        match (self.result, scale) {
            (PanelResult::NotApplicable, _) => Outcome::NotApplicable,
            (PanelResult::Tie | PanelResult::Open, _) => Outcome::Ungraded,
            (PanelResult::Value(value), CriterionScale::Checklist) if value >= 0.5 => Outcome::Met,
            (PanelResult::Value(_), CriterionScale::Checklist) => Outcome::Unmet,
            // A mean of numbers up to 1 may exceed 1 by rounding.
            (PanelResult::Value(value), CriterionScale::Bands(_)) => {
                FractionalScore::new((value * 10.0).min(10.0)).map_or(Outcome::Ungraded, Outcome::from_points)
            }
        }
    }
}

/// Result of complete votes: a value, or the values between which they are tied.
#[derive(Debug, Clone, Copy, PartialEq)]
enum VoteResolution {
    Value(f64),
    Tied(f64, f64),
}

impl VoteResolution {
    /// Applies the rule for ties. Returns the value, if there is one, and the lowest and highest possible
    /// value.
    fn apply_tie_policy(self, ties: TiePolicy) -> (Option<f64>, f64, f64) {
        match (self, ties) {
            (Self::Value(value), _) => (Some(value), value, value),
            (Self::Tied(low, _), TiePolicy::Fail) => (Some(low), low, low),
            (Self::Tied(_, high), TiePolicy::Pass) => (Some(high), high, high),
            (Self::Tied(low, high), TiePolicy::Ungraded) => (None, low, high),
        }
    }
}

/// Combines votes into one decision. `binary` means that values are 0 or 1 and that the decision must be one
/// of them. `may_not_apply` means that a missing vote could have been "not applicable".
///
/// The criterion does not apply if more than half of all votes say so. Otherwise such votes are excluded and the others
/// decide. There is a value only if the missing votes could not change it. The order of votes does not matter.
pub fn combine_votes(
    votes: &[PanelVote],
    binary: bool,
    may_not_apply: bool,
    rule: PanelRule,
    ties: TiePolicy,
) -> PanelDecision {
    let weight = |vote: &PanelVote| if rule == PanelRule::Weighted { vote.weight } else { 1.0 };
    let mut values: Vec<(f64, f64)> = Vec::new();
    let mut missing: Vec<f64> = Vec::new();
    let mut not_applicable: Vec<f64> = Vec::new();
    for vote in votes {
        match vote.value {
            VoteValue::Value(value) => values.push((value, weight(vote))),
            VoteValue::NotApplicable => not_applicable.push(weight(vote)),
            VoteValue::Missing => missing.push(weight(vote)),
        }
    }

    // Sorted, because sums of floats depend on their order and decisions must not.
    values.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    missing.sort_by(f64::total_cmp);
    not_applicable.sort_by(f64::total_cmp);

    let (absent, left_out): (f64, f64) = (missing.iter().sum(), not_applicable.iter().sum());
    let half = (values.iter().map(|(_, weight)| weight).sum::<f64>() + absent + left_out) / 2.0;

    if votes.is_empty() {
        return PanelDecision { result: PanelResult::Open, tie: false, low: 0.0, high: 1.0 };
    }
    if left_out > half + TOLERANCE {
        return PanelDecision { result: PanelResult::NotApplicable, tie: false, low: 0.0, high: 1.0 };
    }

    let could_not_apply = may_not_apply && left_out + absent > half + TOLERANCE;
    if rule == PanelRule::Majority && !binary {
        return most_frequent(&values, missing.len(), could_not_apply, ties);
    }

    // All other rules are monotonic: a higher vote never lowers the result. So setting all missing votes to 0
    // and to 1 gives the bounds; a missing vote that does not apply leads to a result between them.
    let completed = |value: f64| {
        let mut all = values.clone();
        all.extend(missing.iter().map(|&weight| (value, weight)));
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        resolve_votes(&all, binary, rule)
    };

    let (worst, best) = (completed(0.0), completed(1.0));
    let ((value, low, _), (other, _, high)) = (worst.apply_tie_policy(ties), best.apply_tie_policy(ties));
    let same = value == other && (value.is_some() || worst == best);
    let tie = matches!(worst, VoteResolution::Tied(..)) && matches!(best, VoteResolution::Tied(..));
    let result = match value {
        _ if could_not_apply || !same => PanelResult::Open,
        Some(value) => PanelResult::Value(value),
        None => PanelResult::Tie,
    };

    PanelDecision { result, tie: tie && result != PanelResult::Open, low, high }
}

/// Resolves complete votes by a monotonic rule. `votes` are pairs of value and weight, in ascending order.
fn resolve_votes(votes: &[(f64, f64)], binary: bool, rule: PanelRule) -> VoteResolution {
    let (first, last) = match (votes.first(), votes.last()) {
        (Some(first), Some(last)) => (first.0, last.0),
        // No vote has a value, so any result is possible.
        _ => return VoteResolution::Tied(0.0, 1.0),
    };
    match rule {
        PanelRule::Unanimous => return VoteResolution::Value(first),
        PanelRule::Any => return VoteResolution::Value(last),
        _ => {}
    }

    let total: f64 = votes.iter().map(|(_, weight)| weight).sum();
    let mean = votes.iter().map(|(value, weight)| value * weight).sum::<f64>() / total;
    if binary {
        return if (mean - 0.5).abs() <= TOLERANCE {
            VoteResolution::Tied(0.0, 1.0)
        } else {
            VoteResolution::Value(if mean > 0.5 { 1.0 } else { 0.0 })
        };
    }

    if rule == PanelRule::Median {
        let middle = votes.len() / 2;
        let value = if votes.len() % 2 == 1 {
            votes[middle].0
        } else {
            f64::midpoint(votes[middle - 1].0, votes[middle].0)
        };
        return VoteResolution::Value(value);
    }

    // A mean is between its terms; rounding must not move it beyond them.
    VoteResolution::Value(mean.clamp(first, last))
}

/// Returns the most frequent score. This rule is not monotonic, because a vote for one score is not a vote for another,
/// so the extremes are not bounds here. A leader is certain if all missing votes together can't bring another score
/// ahead of it, or to a tie that the other score would win.
fn most_frequent(
    values: &[(f64, f64)],
    missing: usize,
    could_not_apply: bool,
    ties: TiePolicy,
) -> PanelDecision {
    let counts: Vec<(f64, usize)> =
        values.chunk_by(|a, b| (a.0 - b.0).abs() <= TOLERANCE).map(|same| (same[0].0, same.len())).collect();
    let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let leaders: Vec<f64> =
        counts.iter().filter(|(_, count)| *count == most).map(|(value, _)| *value).collect();
    if let ([leader], false) = (leaders.as_slice(), could_not_apply) {
        // Scores without a vote yet may be on either side of the leader.
        let unseen = [(0.0, 0), (1.0, 0)].into_iter().filter(|(value, _)| value != leader);
        let others = counts.iter().copied().filter(|(value, _)| value != leader).chain(unseen);
        let mut rivals = others.filter(|&(value, count)| match (count + missing).cmp(&most) {
            Ordering::Less => false,
            Ordering::Greater => true,
            Ordering::Equal => match ties {
                TiePolicy::Ungraded => true,
                TiePolicy::Fail => value < *leader,
                TiePolicy::Pass => value > *leader,
            },
        });
        if rivals.next().is_none() {
            return PanelDecision {
                result: PanelResult::Value(*leader),
                tie: false,
                low: *leader,
                high: *leader,
            };
        }
    }

    if missing > 0 || could_not_apply {
        // Every score that can still draw level with the leader can still be the decision.
        let reachable = |count: usize| count + missing >= most;
        let (mut low, mut high) = (1.0f64, 0.0f64);
        for (value, _) in counts.iter().filter(|(_, count)| reachable(*count)) {
            (low, high) = (low.min(*value), high.max(*value));
        }

        if reachable(0) {
            (low, high) = (0.0, 1.0);
        }

        return PanelDecision { result: PanelResult::Open, tie: false, low, high };
    }

    let (low, high) = (leaders.first().copied().unwrap_or(0.0), leaders.last().copied().unwrap_or(1.0));
    let (value, low, high) = VoteResolution::Tied(low, high).apply_tie_policy(ties);
    PanelDecision { result: value.map_or(PanelResult::Tie, PanelResult::Value), tie: true, low, high }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn votes(casts: &[VoteValue]) -> Vec<PanelVote> {
        casts.iter().map(|&cast| PanelVote { value: cast, weight: 1.0 }).collect()
    }

    const MET: VoteValue = VoteValue::Value(1.0);
    const UNMET: VoteValue = VoteValue::Value(0.0);

    fn checklist(casts: &[VoteValue], rule: PanelRule, ties: TiePolicy) -> PanelResult {
        combine_votes(&votes(casts), true, true, rule, ties).result
    }

    fn scores(raw: &[u8], rule: PanelRule, ties: TiePolicy) -> PanelDecision {
        let casts: Vec<VoteValue> = raw.iter().map(|&raw| VoteValue::Value(f64::from(raw) / 10.0)).collect();
        combine_votes(&votes(&casts), false, false, rule, ties)
    }

    #[test]
    fn met_and_unmet_by_every_rule() {
        use PanelResult::{Tie, Value};
        for (casts, majority, unanimous, any) in [
            ([MET, MET, MET], Value(1.0), Value(1.0), Value(1.0)),
            ([MET, UNMET, MET], Value(1.0), Value(0.0), Value(1.0)),
            ([UNMET, UNMET, MET], Value(0.0), Value(0.0), Value(1.0)),
            ([MET, UNMET, VoteValue::NotApplicable], Tie, Value(0.0), Value(1.0)),
        ] {
            for rule in [PanelRule::Majority, PanelRule::Mean, PanelRule::Median, PanelRule::Weighted] {
                assert_eq!(checklist(&casts, rule, TiePolicy::Ungraded), majority, "{casts:?} {rule:?}");
            }
            assert_eq!(checklist(&casts, PanelRule::Unanimous, TiePolicy::Ungraded), unanimous);
            assert_eq!(checklist(&casts, PanelRule::Any, TiePolicy::Ungraded), any);
        }
        assert_eq!(checklist(&[MET, UNMET], PanelRule::Majority, TiePolicy::Fail), Value(0.0));
        assert_eq!(checklist(&[MET, UNMET], PanelRule::Majority, TiePolicy::Pass), Value(1.0));
    }

    #[test]
    fn weights_decide_where_they_are_asked_for() {
        let mut panel = votes(&[MET, UNMET, UNMET]);
        panel[0].weight = 3.0;
        let by = |rule| combine_votes(&panel, true, false, rule, TiePolicy::Ungraded).result;
        assert_eq!(by(PanelRule::Weighted), PanelResult::Value(1.0));
        assert_eq!(by(PanelRule::Majority), PanelResult::Value(0.0));
        panel[0].weight = 2.0;
        let tie = combine_votes(&panel, true, false, PanelRule::Weighted, TiePolicy::Ungraded);
        assert_eq!((tie.result, tie.tie, tie.low, tie.high), (PanelResult::Tie, true, 0.0, 1.0));
    }

    #[test]
    fn scores_by_every_rule() {
        let value = |raw: &[u8], rule| match scores(raw, rule, TiePolicy::Ungraded).result {
            PanelResult::Value(value) => (value * 1e6).round() / 1e5,
            other => panic!("{other:?}"),
        };
        assert_eq!(value(&[7, 8, 8], PanelRule::Mean), 7.66667);
        assert_eq!(value(&[2, 8, 8], PanelRule::Median), 8.0);
        assert_eq!(value(&[7, 8, 2, 9], PanelRule::Median), 7.5);
        assert_eq!(value(&[7, 8, 8], PanelRule::Majority), 8.0);
        assert_eq!(value(&[7, 8, 3], PanelRule::Unanimous), 3.0);
        assert_eq!(value(&[7, 8, 3], PanelRule::Any), 8.0);
        let tie = scores(&[7, 8, 3, 8, 3], PanelRule::Majority, TiePolicy::Ungraded);
        assert_eq!((tie.result, tie.low, tie.high), (PanelResult::Tie, 0.3, 0.8));
        assert_eq!(scores(&[8, 3], PanelRule::Majority, TiePolicy::Fail).result, PanelResult::Value(0.3));
        assert!(scores(&[8, 3], PanelRule::Majority, TiePolicy::Pass).tie);
    }

    #[test]
    fn a_missing_vote_that_could_change_something_leaves_all_open() {
        let panel =
            |casts: &[VoteValue], rule| combine_votes(&votes(casts), true, false, rule, TiePolicy::Ungraded);
        let two = panel(&[MET, MET, VoteValue::Missing], PanelRule::Majority);
        assert_eq!(two.result, PanelResult::Value(1.0), "one vote can't turn two");
        let one = panel(&[MET, UNMET, VoteValue::Missing], PanelRule::Majority);
        assert_eq!((one.result, one.low, one.high), (PanelResult::Open, 0.0, 1.0));
        assert_eq!(panel(&[UNMET, VoteValue::Missing], PanelRule::Unanimous).result, PanelResult::Value(0.0));
        assert_eq!(panel(&[MET, VoteValue::Missing], PanelRule::Unanimous).result, PanelResult::Open);
        assert_eq!(panel(&[MET, VoteValue::Missing], PanelRule::Any).result, PanelResult::Value(1.0));
        assert_eq!(panel(&[VoteValue::Missing], PanelRule::Any).result, PanelResult::Open);
        let mean = combine_votes(
            &votes(&[VoteValue::Value(0.6), VoteValue::Missing]),
            false,
            false,
            PanelRule::Mean,
            TiePolicy::Ungraded,
        );
        assert_eq!((mean.result, mean.low, mean.high), (PanelResult::Open, 0.3, 0.8));
    }

    #[test]
    fn what_most_say_does_not_apply_does_not_apply() {
        let none = VoteValue::NotApplicable;
        assert_eq!(
            checklist(&[none, none, MET], PanelRule::Any, TiePolicy::Pass),
            PanelResult::NotApplicable
        );
        assert_eq!(checklist(&[none, MET], PanelRule::Majority, TiePolicy::Fail), PanelResult::Value(1.0));
        assert_eq!(
            checklist(&[none, MET, VoteValue::Missing], PanelRule::Any, TiePolicy::Fail),
            PanelResult::Open
        );
    }

    #[test]
    fn a_panel_of_whole_scores_stays_whole() {
        let bands = crate::CriterionScale::Bands(
            crate::ScoreBands::new(vec![crate::ScoreBand {
                low: crate::RawScore::MIN,
                high: crate::RawScore::MAX,
                text: "all".into(),
            }])
            .expect("all scores"),
        );
        let outcome = |raw: &[u8]| scores(raw, PanelRule::Mean, TiePolicy::Ungraded).outcome(&bands);
        assert_eq!(outcome(&[7, 7, 7]), Outcome::Scored(crate::RawScore::new(7).expect("in range")));
        assert!(
            matches!(outcome(&[7, 8, 8]), Outcome::Averaged(points) if (points.get() - 23.0 / 3.0).abs() < 1e-12)
        );
    }
}
