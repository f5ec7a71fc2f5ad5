//! Pairwise comparisons in the summary of a run.

use assize_rubric::PairOutcome;
use assize_store::PairwiseMetrics;

use super::{PairwiseMatches, measure_position_bias};
use crate::MetricEstimate;
use crate::shares::share_metric;

/// Summarises the comparisons; `None` if there are none. The answers of the run are the candidates.
pub(crate) fn summarize_matches(contests: &PairwiseMatches) -> Option<PairwiseMetrics> {
    if contests.all.is_empty() {
        return None;
    }

    let share = |outcome: PairOutcome, says: &'static str| {
        let judged = contests.all.iter().filter_map(|contest| Some((contest.cluster, contest.outcome?)));
        let hits: Vec<(usize, bool)> = judged.map(|(cluster, found)| (cluster, found == outcome)).collect();
        to_stored_metric(&share_metric((outcome.name(), outcome.name(), "comparisons"), says, &hits))
    };

    let place = measure_position_bias(&contests.all);
    Some(PairwiseMetrics {
        win: share(PairOutcome::Win, "Better than the other answer in both orders."),
        loss: share(PairOutcome::Loss, "Worse than the other answer in both orders."),
        tie: share(PairOutcome::Tie, "A tie in both orders."),
        inconsistent: share(PairOutcome::Inconsistent, "The two orders disagree; counts for neither."),
        first_place: to_stored_metric(&place.figures[0]),
        ungraded: contests.all.iter().filter(|contest| contest.outcome.is_none()).count() as u64,
        says: place.says,
    })
}

/// Converts a metric into its stored form.
pub(crate) fn to_stored_metric(figure: &MetricEstimate) -> assize_store::EstimatedMetric {
    let interval = figure.interval.ok();
    assize_store::EstimatedMetric {
        value: figure.value.ok(),
        n: figure.n,
        clusters: None,
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
        level: interval.map_or(0.95, |interval| interval.level.get()),
        method: interval.map(|interval| interval.method.name().to_owned()),
        undefined: figure.value.err().or_else(|| figure.interval.err()).map(|why| why.to_string()),
        says: figure.says.to_owned(),
    }
}
