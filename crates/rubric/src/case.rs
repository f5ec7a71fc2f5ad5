//! Combination of the graders of one case.

use crate::sum::{CompensatedSum, weight_scale};
use crate::verdict::{CombinedGateState, decidable_bounds};
use crate::{GraderOutcome, GraderScore, GraderWeighting, Verdict, VerdictThresholds};

/// Score and verdict of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseScore {
    /// Weighted mean of the graders' scores, 0 to 1; `None` if it is unknown.
    pub score: Option<f64>,
    /// Lowest and highest possible score; `None` if no grader with weight applies.
    pub bounds: Option<(f64, f64)>,
    /// Share of the weight that was judged, 0 to 1; `None` if no grader applies.
    pub coverage: Option<f64>,
    /// Verdict of the case. A case to which nothing applies is incomplete.
    pub verdict: Verdict,
    /// The graders, in the given order.
    pub graders: Vec<GraderScore>,
}

/// Combines graders. The score is the weighted mean over the graders that apply. A failed gate in any of
/// them, or a required grader below its threshold, fails the case, whatever the mean. Ungraded criteria make
/// the case incomplete unless no outcome of theirs could change the verdict.
pub fn score_case(graders: &[(GraderWeighting, GraderOutcome)], lines: VerdictThresholds) -> CaseScore {
    let unit = weight_scale(graders.iter().map(|(standing, _)| standing.weight.get()));
    let (mut weights, mut lows, mut highs, mut covered) = (
        CompensatedSum::default(),
        CompensatedSum::default(),
        CompensatedSum::default(),
        CompensatedSum::default(),
    );

    let mut gates = CombinedGateState::Hold;
    let mut scores = Vec::with_capacity(graders.len());
    for (standing, outcome) in graders {
        let score = GraderScore::new(*standing, outcome, lines);
        gates = gates.max(score.gates_for_case());

        if let Some((low, high)) = score.bounds {
            let weight = standing.weight.get() / unit;
            weights.add(weight);
            lows.add(weight * low);
            highs.add(weight * high);
            covered.add(weight * score.coverage.unwrap_or(1.0));
        }

        scores.push(score);
    }

    let total = weights.get();
    let share = |sum: CompensatedSum| (sum.get() / total).clamp(0.0, 1.0);
    let bounds = (total > 0.0).then(|| {
        let low = share(lows);
        (low, share(highs).max(low))
    });
    let coverage = (total > 0.0).then(|| share(covered));

    CaseScore {
        score: bounds.filter(|(low, high)| low == high).map(|(low, _)| low),
        bounds,
        coverage,
        verdict: lines.verdict_within(decidable_bounds(bounds, coverage), gates),
        graders: scores,
    }
}
