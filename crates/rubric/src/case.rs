//! Combining the graders of one case.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sum::{CompensatedSum, weight_scale};
use crate::verdict::{CombinedGateState, decidable_bounds};
use crate::{
    CompositeScore, GateState, RubricScore, UnitInterval, Verdict, VerdictThresholds, Weight, at_least,
};

/// A grader's weight and gate, as its author set them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Standing")]
pub struct GraderWeighting {
    /// Weight among the graders of the case.
    pub weight: Weight,
    /// True if the case fails when the grader stays below its line.
    pub required: bool,
    /// The grader's own line, 0 to 1.
    pub min_score: Option<UnitInterval>,
    /// True if the result is inverted.
    pub negate: bool,
}

impl GraderWeighting {
    /// The rule of the gate that `required` makes of a grader, as records and output word it.
    pub fn gate_rule(&self) -> String {
        match self.min_score {
            Some(minimum) => format!("required grader, min_score {}", minimum.get()),
            None => "required grader".to_owned(),
        }
    }
}

impl Default for GraderWeighting {
    fn default() -> Self {
        Self { weight: Weight::ONE, required: false, min_score: None, negate: false }
    }
}

/// Result of a grader before its standing is taken into account.
#[derive(Debug, Clone, PartialEq)]
pub enum GraderOutcome {
    /// A rubric was judged, in whole or in part.
    Rubric(RubricScore),
    /// A number from 0 to 1.
    Value(UnitInterval),
    /// Other graders, combined.
    Combined(Box<CompositeScore>),
    /// The grader has nothing to say about this case.
    NotApplicable,
    /// The grader broke. Neither a zero nor, negated, a one.
    Errored,
}

/// One grader's contribution to its case.
#[derive(Debug, Clone, PartialEq)]
pub struct GraderScore {
    /// The score, 0 to 1, after negation; `None` if it is not known or nothing applies.
    pub score: Option<f64>,
    /// Lowest and highest possible score; `None` if nothing that has weight applies.
    pub bounds: Option<(f64, f64)>,
    /// Share of the weight inside the grader that was judged; `None` if nothing applies.
    pub coverage: Option<f64>,
    /// The grader's verdict; `None` if nothing applies.
    pub verdict: Option<Verdict>,
    /// State of its own gate (`required`); `None` for graders that are not required.
    pub required: Option<GateState>,
    /// Gates inside the grader that bear on the case. A negated grader's inner gates don't.
    gates: CombinedGateState,
}

/// Score and verdict of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseScore {
    /// Weighted mean of the graders' scores, 0 to 1; `None` if it is not known.
    pub score: Option<f64>,
    /// Lowest and highest possible score; `None` if no grader applies.
    pub bounds: Option<(f64, f64)>,
    /// Share of the weight that was judged, 0 to 1; `None` if no grader applies.
    pub coverage: Option<f64>,
    /// Verdict of the case. A case to which nothing applies is incomplete.
    pub verdict: Verdict,
    /// The graders, in the given order.
    pub graders: Vec<GraderScore>,
}

/// Combines graders: the score is the weighted mean over the graders that apply; a failed gate in
/// any of them, or a required grader below its line, fails the case whatever the mean; what could
/// not be judged leaves the case incomplete unless no answer to it could change the verdict.
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

impl GraderScore {
    /// State of its gates for whatever the grader is a part of, its own (`required`) included.
    pub(crate) fn gates_for_case(&self) -> CombinedGateState {
        self.gates.max(match self.required {
            Some(GateState::Failed) => CombinedGateState::Failed,
            Some(GateState::Open) => CombinedGateState::Open,
            Some(GateState::Passed | GateState::NotApplicable) | None => CombinedGateState::Hold,
        })
    }

    pub(crate) fn new(standing: GraderWeighting, outcome: &GraderOutcome, lines: VerdictThresholds) -> Self {
        let (bounds, coverage, verdict, gates) = match outcome {
            GraderOutcome::Rubric(score) => (score.bounds, score.coverage, score.verdict, score.gate_state()),
            GraderOutcome::Value(value) => {
                let value = value.get();
                (Some((value, value)), Some(1.0), Some(lines.verdict(value)), CombinedGateState::Hold)
            }
            GraderOutcome::Combined(score) => {
                (score.bounds, score.coverage, score.verdict, score.combined_gates())
            }
            GraderOutcome::NotApplicable => (None, None, None, CombinedGateState::Hold),
            GraderOutcome::Errored => {
                (Some((0.0, 1.0)), Some(0.0), Some(Verdict::Incomplete), CombinedGateState::Hold)
            }
        };

        let brought = match outcome {
            GraderOutcome::Combined(score) => score.own_threshold(),
            _ => None,
        };
        let own_line = standing.min_score.or(brought).unwrap_or(lines.pass());
        let mut grader = if standing.negate {
            let bounds = bounds.map(|(low, high)| (1.0 - high, 1.0 - low));
            // What a negated grader's gates say is part of the verdict that is turned around; they
            // no longer speak for the case.
            Self::from_bounds(bounds, coverage, verdict.map(Verdict::negate), CombinedGateState::Hold)
        } else {
            let lines = VerdictThresholds::with_optional_borderline(own_line, lines.borderline());
            let verdict = match (standing.min_score, verdict) {
                (Some(_), Some(_)) => Some(lines.verdict_within(decidable_bounds(bounds, coverage), gates)),
                (_, verdict) => verdict,
            };
            Self::from_bounds(bounds, coverage, verdict, gates)
        };
        if standing.required {
            grader.required = Some(match grader.bounds {
                None => GateState::NotApplicable,
                Some((low, _)) if at_least(low, own_line.get()) => GateState::Passed,
                Some((_, high)) if at_least(high, own_line.get()) => GateState::Open,
                Some(_) => GateState::Failed,
            });
        }

        grader
    }

    fn from_bounds(
        bounds: Option<(f64, f64)>,
        coverage: Option<f64>,
        verdict: Option<Verdict>,
        gates: CombinedGateState,
    ) -> Self {
        let score = bounds.filter(|(low, high)| low == high).map(|(low, _)| low);
        Self { score, bounds, coverage, verdict, required: None, gates }
    }
}
