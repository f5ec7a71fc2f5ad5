//! Position bias of a judge: preference for the answer shown first, or the one shown second.

use assize_rubric::{AnswerPreference, PairOutcome};
use assize_stats::UndefinedReason;
use assize_stats::compare::fair_coin;

use super::PairwiseMatch;
use crate::MetricEstimate;
use crate::shares::share_metric;

/// Metrics of position bias.
#[derive(Debug, Clone, PartialEq)]
pub struct PositionBiasReport {
    /// Share of decisions for the answer shown first, and share of inconsistent comparisons.
    pub figures: Vec<MetricEstimate>,
    /// Comparisons in which the answer shown first won both times.
    pub first_twice: u64,
    /// Comparisons in which the answer shown second won both times.
    pub second_twice: u64,
    /// Exact two-sided probability that the two counts are at least this uneven without position bias; or the
    /// reason why it is undefined.
    pub p: Result<f64, UndefinedReason>,
    /// Conclusion in one sentence.
    pub says: String,
}

/// Measures position bias. A judge without it picks the answer shown first in half of its decisions,
/// whichever answers are better, because each answer is shown first once.
pub fn measure_position_bias(contests: &[PairwiseMatch]) -> PositionBiasReport {
    let decided = contests.iter().filter(|contest| contest.outcome.is_some());
    let picks: Vec<(usize, bool)> = decided
        .clone()
        .flat_map(|contest| contest.preferences.iter().map(|preference| (contest.cluster, *preference)))
        .filter_map(|(cluster, preference)| match preference {
            Some(AnswerPreference::First) => Some((cluster, true)),
            Some(AnswerPreference::Second) => Some((cluster, false)),
            Some(AnswerPreference::Tie) | None => None,
        })
        .collect();

    let disagree: Vec<(usize, bool)> = decided
        .clone()
        .map(|contest| (contest.cluster, contest.outcome == Some(PairOutcome::Inconsistent)))
        .collect();
    let twice = |place: AnswerPreference| {
        decided.clone().filter(|contest| contest.preferences == [Some(place), Some(place)]).count() as u64
    };
    let (first_twice, second_twice) = (twice(AnswerPreference::First), twice(AnswerPreference::Second));
    let p = match first_twice + second_twice {
        0 => Err(UndefinedReason::NothingDiffers),
        _ => Ok(fair_coin(first_twice, second_twice).p),
    };
    let first = share_metric(
        ("first_place", "decisions for the first answer", "decisions"),
        "0.5 without position bias, because each answer is shown first once. Ties are excluded.",
        &picks,
    );
    let says = match (first.value, first.interval) {
        (Err(why), _) => format!("Position bias: unknown, because {why}."),
        (Ok(_), Ok(interval)) if interval.low > 0.5 => {
            "Position bias: the judge prefers the answer shown first.".to_owned()
        }
        (Ok(_), Ok(interval)) if interval.high < 0.5 => {
            "Position bias: the judge prefers the answer shown second.".to_owned()
        }
        _ => "No significant position bias.".to_owned(),
    };

    let inconsistent = share_metric(
        ("inconsistent", "inconsistent comparisons", "comparisons"),
        "Comparisons whose outcome depends on the order; they count for neither side.",
        &disagree,
    );
    PositionBiasReport { figures: vec![first, inconsistent], first_twice, second_twice, p, says }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contest(
        cluster: usize,
        candidate_first: AnswerPreference,
        baseline_first: AnswerPreference,
    ) -> PairwiseMatch {
        PairwiseMatch {
            first: 0,
            second: 1,
            cluster,
            outcome: Some(PairOutcome::from_orders(candidate_first, baseline_first)),
            preferences: [Some(candidate_first), Some(baseline_first)],
        }
    }

    #[test]
    fn a_judge_that_looks_at_answers_picks_each_place_half_of_the_time() {
        let fair: Vec<PairwiseMatch> =
            (0..20).map(|n| contest(n, AnswerPreference::First, AnswerPreference::Second)).collect();
        let found = measure_position_bias(&fair);
        assert_eq!((found.figures[0].value, found.figures[0].n), (Ok(0.5), 40));
        assert_eq!((found.figures[1].value, found.p), (Ok(0.0), Err(UndefinedReason::NothingDiffers)));
        assert!(found.says.starts_with("No significant"));
    }

    #[test]
    fn a_judge_that_takes_the_first_is_found_out() {
        let biased: Vec<PairwiseMatch> =
            (0..12).map(|n| contest(n, AnswerPreference::First, AnswerPreference::First)).collect();
        let found = measure_position_bias(&biased);
        assert_eq!((found.figures[0].value, found.first_twice), (Ok(1.0), 12));
        // Twelve heads in twelve tosses of a fair coin, two-sided: 2 / 2^12.
        assert!((found.p.unwrap() - 2.0 / 4096.0).abs() < 1e-15);
        assert!(found.says.contains("shown first"));
    }

    #[test]
    fn nothing_decided_is_undefined() {
        let ties: Vec<PairwiseMatch> =
            (0..3).map(|n| contest(n, AnswerPreference::Tie, AnswerPreference::Tie)).collect();
        assert!(measure_position_bias(&ties).figures[0].value.is_err());
        assert!(measure_position_bias(&ties).says.contains("unknown"));
        assert!(measure_position_bias(&[]).figures.iter().all(|figure| figure.value.is_err()));
        let unjudged =
            PairwiseMatch { outcome: None, ..contest(0, AnswerPreference::First, AnswerPreference::First) };
        assert_eq!(measure_position_bias(&[unjudged]).first_twice, 0);
    }
}
