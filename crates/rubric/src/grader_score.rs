//! Outcome of a grader, its weight in a case or composite, and its score.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verdict::{CombinedGateState, decidable_bounds};
use crate::{GateState, RubricScore, UnitInterval, Verdict, VerdictThresholds, Weight, at_least};

/// Weight, gate and threshold of a grader, as set in the eval file.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Standing")]
pub struct GraderWeighting {
    /// Weight among the graders of the case.
    pub weight: Weight,
    /// True if the case fails if the grader's score is below its threshold.
    pub required: bool,
    /// Pass threshold of the grader, 0 to 1.
    pub min_score: Option<UnitInterval>,
    /// True if the result is inverted.
    pub negate: bool,
}

impl GraderWeighting {
    /// Returns the text of the rule of the gate set by `required`, as in records and output.
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

/// Result of a grader before its weight, gate and negation are applied.
#[derive(Debug, Clone, PartialEq)]
pub enum GraderOutcome {
    /// A rubric, judged completely or in part.
    Rubric(RubricScore),
    /// A score from 0 to 1.
    Value(UnitInterval),
    /// A score from 0 to 1, with a decision whether the answer passes, whatever the score.
    Checked {
        /// The score.
        score: UnitInterval,
        /// True if the answer passes.
        passed: bool,
    },
    /// A combination of other graders.
    Combined(Box<CompositeScore>),
    /// The grader does not apply to this case.
    NotApplicable,
    /// The grader failed. This counts neither as 0 nor, if it is negated, as 1.
    Errored,
}

/// One grader's contribution to its case.
#[derive(Debug, Clone, PartialEq)]
pub struct GraderScore {
    /// The score, 0 to 1, after negation; `None` if it is unknown or nothing applies.
    pub score: Option<f64>,
    /// Lowest and highest possible score; `None` if no part that has weight applies.
    pub bounds: Option<(f64, f64)>,
    /// Share of the weight inside the grader that was judged; `None` if nothing applies.
    pub coverage: Option<f64>,
    /// The grader's verdict; `None` if nothing applies.
    pub verdict: Option<Verdict>,
    /// State of its own gate (`required`); `None` for graders that are not required.
    pub required: Option<GateState>,
    /// State of the gates inside the grader that affect the case. The inner gates of a negated grader don't.
    gates: CombinedGateState,
}

impl GraderScore {
    /// State of all gates with which the grader affects its case or composite, including its own
    /// (`required`).
    pub(crate) fn gates_for_case(&self) -> CombinedGateState {
        self.gates.max(match self.required {
            Some(GateState::Failed) => CombinedGateState::Failed,
            Some(GateState::Open) => CombinedGateState::Open,
            Some(GateState::Passed | GateState::NotApplicable) | None => CombinedGateState::Hold,
        })
    }

    pub(crate) fn new(
        weighting: GraderWeighting,
        outcome: &GraderOutcome,
        thresholds: VerdictThresholds,
    ) -> Self {
        let (bounds, coverage, verdict, gates) = match outcome {
            GraderOutcome::Rubric(score) => (score.bounds, score.coverage, score.verdict, score.gate_state()),
            GraderOutcome::Value(value) => {
                let value = value.get();
                (Some((value, value)), Some(1.0), Some(thresholds.verdict(value)), CombinedGateState::Hold)
            }
            GraderOutcome::Checked { score, passed } => {
                let (score, verdict) = (score.get(), if *passed { Verdict::Pass } else { Verdict::Fail });
                (Some((score, score)), Some(1.0), Some(verdict), CombinedGateState::Hold)
            }
            GraderOutcome::Combined(score) => (score.bounds, score.coverage, score.verdict, score.gates),
            GraderOutcome::NotApplicable => (None, None, None, CombinedGateState::Hold),
            GraderOutcome::Errored => {
                (Some((0.0, 1.0)), Some(0.0), Some(Verdict::Incomplete), CombinedGateState::Hold)
            }
        };

        let brought = match outcome {
            // The threshold of the composite's own aggregator, if it has one.
            GraderOutcome::Combined(score) => match score.how {
                CompositeFormula::Threshold(line) => Some(line),
                _ => None,
            },
            _ => None,
        };
        let own_line = weighting.min_score.or(brought).unwrap_or(thresholds.pass());
        let own_lines = VerdictThresholds::with_optional_borderline(own_line, thresholds.borderline());
        let own_word = match outcome {
            GraderOutcome::Checked { passed, .. } => Some(*passed),
            GraderOutcome::Combined(combined) => combined.passed,
            _ => None,
        };
        // Any score reaches a threshold of 0, but a gate that can't fail would be useless: a required grader
        // also fails with a score of 0.
        let with_floor = |verdict: Option<Verdict>, bounds: Option<(f64, f64)>| match (verdict, bounds) {
            (Some(verdict), Some((low, high)))
                if weighting.required && own_word.is_none() && low <= 0.0 && verdict != Verdict::Fail =>
            {
                Some(if high <= 0.0 { Verdict::Fail } else { Verdict::Incomplete })
            }
            _ => verdict,
        };

        let mut grader = if weighting.negate {
            let plain_bounds = bounds;
            let bounds = bounds.map(|(low, high)| (1.0 - high, 1.0 - low));
            // The inner gates of a negated grader are part of the verdict that is inverted, and no longer
            // affect the case. Its own minimum applies to the inverted score.
            let verdict = match (weighting.min_score, verdict) {
                (Some(_), Some(_)) if !matches!(outcome, GraderOutcome::Checked { .. }) => with_floor(
                    Some(
                        own_lines.verdict_within(decidable_bounds(bounds, coverage), CombinedGateState::Hold),
                    ),
                    bounds,
                ),
                (_, verdict) => with_floor(verdict, plain_bounds).map(Verdict::negate),
            };
            Self::from_bounds(bounds, coverage, verdict, CombinedGateState::Hold)
        } else {
            let verdict = match (weighting.min_score, verdict) {
                (Some(_), Some(_)) if !matches!(outcome, GraderOutcome::Checked { .. }) => {
                    Some(own_lines.verdict_within(decidable_bounds(bounds, coverage), gates))
                }
                (_, verdict) => verdict,
            };
            let verdict = with_floor(verdict, bounds);
            Self::from_bounds(bounds, coverage, verdict, gates)
        };
        if weighting.required {
            let own_word = own_word.map(|passed| passed != weighting.negate);
            grader.required = Some(match (grader.bounds, own_word) {
                (_, Some(true)) => GateState::Passed,
                // A check that failed to run might have decided that the answer fails, at any threshold.
                (Some(_), None) if matches!(outcome, GraderOutcome::Errored) => GateState::Open,
                (None, None) => GateState::NotApplicable,
                (Some((low, _)), None) if at_least(low, own_line.get()) => GateState::Passed,
                (Some((_, high)), None) if at_least(high, own_line.get()) => GateState::Open,
                (Some(_), None) | (_, Some(false)) => GateState::Failed,
            });
            // The verdict may depend on more than the score, such as on gates inside a negated grader, or on a failed gate of a
            // rubric in which nothing that has a weight applies.
            grader.required = match (grader.required, grader.verdict) {
                (Some(_), Some(Verdict::Fail)) => Some(GateState::Failed),
                (Some(GateState::Passed), Some(Verdict::Incomplete)) => Some(GateState::Open),
                (state, _) => state,
            };
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

/// Formula that computes a composite's score from its members' scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CompositeFormula {
    /// The weighted mean of the members' scores.
    WeightedAverage,
    /// The weighted share of members that pass; the composite passes when the share reaches the threshold.
    Threshold(UnitInterval),
    /// The lowest score among members with weight.
    Lowest,
    /// The highest score among members with weight.
    Highest,
    /// A score from 0 to 1 that a judge or a program gave after reading the members' results; `None` if that
    /// failed.
    Decided(Option<UnitInterval>),
}

/// Result of a composite grader.
#[derive(Debug, Clone, PartialEq)]
pub struct CompositeScore {
    /// The formula that combined the members.
    pub how: CompositeFormula,
    /// Lowest and highest possible score; `None` if no member applies.
    pub bounds: Option<(f64, f64)>,
    /// Share of the weight that was graded, 0 to 1; `None` if no member applies.
    pub coverage: Option<f64>,
    /// The verdict; `None` if no member applies.
    pub verdict: Option<Verdict>,
    /// The members, in the given order.
    pub members: Vec<GraderScore>,
    /// Pass or fail as decided by the function that combined the members, whatever the score.
    pub passed: Option<bool>,
    pub(crate) gates: CombinedGateState,
}

impl CompositeScore {
    /// Returns the combined state of the gates of all members, which is the worst one.
    pub fn gate_state(&self) -> GateState {
        match self.gates {
            CombinedGateState::Hold => GateState::Passed,
            CombinedGateState::Open => GateState::Open,
            CombinedGateState::Failed => GateState::Failed,
        }
    }
}
