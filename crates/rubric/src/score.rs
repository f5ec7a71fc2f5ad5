//! Scoring one rubric.
//!
//! Design: `docs/design/scoring.md`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sum::{CompensatedSum, weight_scale};
use crate::verdict::{CombinedGateState, decidable_bounds};
use crate::{Criterion, Gate, GateState, Outcome, Rubric, Verdict, VerdictThresholds};

/// Scoring formula, selected by the signs of the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScoringFormula {
    /// No penalty applies: `sum(w v) / sum(w)`.
    WeightedMean,
    /// Points and penalties: `clamp(sum(w v) / sum(positive w))`.
    WithPenalties,
    /// Only penalties: `clamp(1 + sum(w v) / sum(|w|))`, so that "no faults" is 1.
    PenaltiesOnly,
}

/// Score of a rubric, computed from the outcomes of its criteria.
#[derive(Debug, Clone, PartialEq)]
pub struct RubricScore {
    /// The score, 0 to 1; `None` if nothing applies or if an ungraded criterion could change it.
    pub score: Option<f64>,
    /// Lowest and highest score that the outcomes of ungraded criteria could lead to, 0 to 1, low <= high;
    /// `None` if no criterion with weight applies.
    pub bounds: Option<(f64, f64)>,
    /// Share of the applicable weight that was judged, 0 to 1; penalties count with their magnitude. `None`
    /// if no criterion with weight applies.
    pub coverage: Option<f64>,
    /// The formula used; `None` if no criterion with weight applies.
    pub formula: Option<ScoringFormula>,
    /// The gates of the rubric: index of the criterion, the gate, and its state.
    pub gates: Vec<(usize, Gate, GateState)>,
    /// The verdict; `None` if no criterion applies.
    pub verdict: Option<Verdict>,
}

impl RubricScore {
    pub(crate) fn gate_state(&self) -> CombinedGateState {
        self.gates
            .iter()
            .map(|(_, _, state)| match state {
                GateState::Passed | GateState::NotApplicable => CombinedGateState::Hold,
                GateState::Open => CombinedGateState::Open,
                GateState::Failed => CombinedGateState::Failed,
            })
            .max()
            .unwrap_or(CombinedGateState::Hold)
    }
}

/// Why outcomes can't be scored with a rubric.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OutcomeError {
    /// The number of outcomes differs from the number of criteria.
    #[error("{found} outcomes for {expected} criteria")]
    Count {
        /// Number of criteria.
        expected: usize,
        /// Number of outcomes given.
        found: usize,
    },
    /// The outcome does not fit the scale: a number for a checklist criterion, or met or unmet for a
    /// score-range criterion. Holds the index of the criterion.
    #[error("the outcome of criterion {0} does not fit its scale")]
    Scale(usize),
}

/// Sums of weights by sign and by state of the decision. Penalties are stored as magnitudes.
#[derive(Default)]
struct WeightTotals {
    /// Positive weight that was judged.
    points_judged: CompensatedSum,
    /// Positive weight times value.
    points_earned: CompensatedSum,
    /// Positive weight still ungraded.
    points_open: CompensatedSum,
    /// Penalty weight that was judged.
    penalty_judged: CompensatedSum,
    /// Penalty weight times value.
    penalty_incurred: CompensatedSum,
    /// Penalty weight still ungraded.
    penalty_open: CompensatedSum,
}

/// Scores one rubric.
///
/// `outcomes` has one outcome per criterion, in the rubric's order. With v = 1 for met, 0 for unmet, and s/10
/// for a score s, over the criteria that apply:
///
/// - no negative weight: `sum(w v) / sum(w)`
/// - some negative weights: `clamp01(sum(w v) / sum of the positive w)`
/// - only negative weights: `clamp01(1 + sum(w v) / sum |w|)`
///
/// The denominator counts every criterion that applies, judged or not. Ungraded criteria widen the bounds to
/// the worst and the best completion, where a completion gives each of them any outcome, "not applicable"
/// included.
pub fn score_rubric(
    rubric: &Rubric,
    outcomes: &[Outcome],
    thresholds: VerdictThresholds,
) -> Result<RubricScore, OutcomeError> {
    score_criteria(rubric.criteria().iter(), outcomes, thresholds)
}

/// Scores criteria that are not stored in a [`Rubric`] but would make a valid one ([`Rubric::check`]).
pub fn score_criteria<'a>(
    criteria: impl ExactSizeIterator<Item = &'a Criterion> + Clone,
    outcomes: &[Outcome],
    thresholds: VerdictThresholds,
) -> Result<RubricScore, OutcomeError> {
    if criteria.len() != outcomes.len() {
        return Err(OutcomeError::Count { expected: criteria.len(), found: outcomes.len() });
    }

    let unit = weight_scale(criteria.clone().map(|criterion| criterion.weight.get()));
    let mut totals = WeightTotals::default();
    let mut gates = Vec::new();
    let mut applicable = false;
    for (index, (criterion, &outcome)) in criteria.zip(outcomes).enumerate() {
        if !outcome.fits_scale(&criterion.scale) {
            return Err(OutcomeError::Scale(index));
        }
        if let Some(gate) = criterion.gate {
            gates.push((index, gate, gate.evaluate(outcome, thresholds.pass())));
        }
        if outcome == Outcome::NotApplicable {
            continue;
        }

        applicable = true;
        let weight = criterion.weight.get() / unit;
        match (criterion.weight.is_penalty(), outcome.value()) {
            (false, Some(value)) => {
                totals.points_judged.add(weight);
                totals.points_earned.add(weight * value);
            }
            (false, None) => totals.points_open.add(weight),
            (true, Some(value)) => {
                totals.penalty_judged.add(-weight);
                totals.penalty_incurred.add(-weight * value);
            }
            (true, None) => totals.penalty_open.add(-weight),
        }
    }

    let (formula, bounds) = totals.bounds().unzip();
    let mut score = RubricScore {
        score: bounds.filter(|(low, high)| low == high).map(|(low, _)| low),
        bounds,
        coverage: totals.coverage(),
        formula,
        gates,
        verdict: None,
    };
    if applicable {
        score.verdict = Some(
            thresholds.verdict_within(decidable_bounds(score.bounds, score.coverage), score.gate_state()),
        );
    }

    Ok(score)
}

impl WeightTotals {
    fn coverage(&self) -> Option<f64> {
        let judged = self.points_judged.get() + self.penalty_judged.get();
        let all = judged + self.points_open.get() + self.penalty_open.get();
        (all > 0.0).then(|| clamp01(judged / all))
    }

    fn bounds(&self) -> Option<(ScoringFormula, (f64, f64))> {
        let earned = self.points_earned.get();
        let open = self.points_open.get();
        let points = self.points_judged.get() + open;
        let incurred = self.penalty_incurred.get();
        let penalty_open = self.penalty_open.get();
        let penalties = self.penalty_judged.get() + penalty_open;

        let penalties_only = || {
            let low = clamp01(1.0 - (incurred + penalty_open) / penalties);
            (low, clamp01(1.0 - incurred / penalties).max(low))
        };
        if points > 0.0 {
            let low = clamp01((earned - incurred - penalty_open) / points);
            let high = clamp01((earned + open - incurred) / points).max(low);
            if penalties > 0.0 {
                // If no criterion with points applies in the end, the formula for penalties alone is used, and its
                // result must be within the bounds too.
                let (low, high) = if self.points_judged.get() > 0.0 {
                    (low, high)
                } else {
                    let (other_low, other_high) = penalties_only();
                    (low.min(other_low), high.max(other_high))
                };
                Some((ScoringFormula::WithPenalties, (low, high)))
            } else {
                Some((ScoringFormula::WeightedMean, (low, high)))
            }
        } else if penalties > 0.0 {
            Some((ScoringFormula::PenaltiesOnly, penalties_only()))
        } else {
            None
        }
    }
}

fn clamp01(value: f64) -> f64 {
    value.clamp(0.0, 1.0)
}
