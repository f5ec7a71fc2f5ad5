//! Findings on benchmarks of a scorecard for a case.

use crate::{
    BenchmarkFinding, BenchmarkState, DecidedBy, GraderFinding, GraderFindingKind, GraderNote, LabelOutcome,
    NormalisationFormula, TOLERANCE, UnitInterval, at_least,
};

/// The scale of a benchmark that is scored and not met or unmet.
#[derive(Debug, Clone, Copy)]
pub struct BenchmarkScale<'a> {
    /// The lowest score.
    pub min: f64,
    /// The highest score.
    pub max: f64,
    /// The formula that normalises a score to 0 to 1.
    pub formula: &'a NormalisationFormula,
}

impl BenchmarkScale<'_> {
    /// The worst and the best score after normalisation, 0 to 1. A formula may reverse the scale.
    fn ends(self) -> (f64, f64) {
        let end = |raw| self.formula.apply(raw, self.min, self.max).map(UnitInterval::get);
        let (low, high) = (end(self.min).unwrap_or(0.0), end(self.max).unwrap_or(1.0));

        (low.min(high), low.max(high))
    }

    /// Normalises a score to 0 to 1; `None` if the result of the formula is outside that range.
    fn normalise(scale: Option<Self>, raw: f64) -> Option<UnitInterval> {
        match scale {
            Some(scale) => scale.formula.apply(raw, scale.min, scale.max),
            None => UnitInterval::new(raw).ok(),
        }
    }
}

impl BenchmarkFinding {
    /// Creates the finding of a benchmark without a decision.
    pub const fn undecided(state: BenchmarkState, scaled: bool) -> Self {
        Self {
            state,
            pass: None,
            raw_score: None,
            scaled,
            decided_by: None,
            seen: None,
            may_not_apply: false,
        }
    }

    /// Returns true if the judge was uncertain.
    pub fn is_uncertain(&self) -> bool {
        self.state == BenchmarkState::Uncertain
    }

    /// Returns a grader finding with this score or error.
    pub const fn with_score(
        self,
        score: Result<Option<UnitInterval>, String>,
        notes: Vec<GraderNote>,
    ) -> GraderFinding {
        GraderFinding { score, notes, details: None, kind: GraderFindingKind::Benchmark(self) }
    }

    /// Creates a judge's finding on a benchmark that applies. `raw` is the judge's score; without one, `pass`
    /// decides.
    pub fn from_judge(
        pass: bool,
        raw: Option<f64>,
        uncertain: bool,
        scale: Option<BenchmarkScale<'_>>,
    ) -> GraderFinding {
        let finding = |state, pass| Self {
            pass,
            raw_score: raw,
            decided_by: Some(DecidedBy::Judge),
            ..Self::undecided(state, scale.is_some())
        };
        if uncertain {
            let uncertain = finding(BenchmarkState::Uncertain, Some(false));
            return uncertain.with_score(Ok(Some(UnitInterval::ZERO)), Vec::new());
        }

        let unit = match raw {
            None => Some(if pass { UnitInterval::ONE } else { UnitInterval::ZERO }),
            Some(raw) => BenchmarkScale::normalise(scale, raw),
        };
        match unit {
            Some(unit) => finding(BenchmarkState::Scored, Some(pass)).with_score(Ok(Some(unit)), Vec::new()),
            None => finding(BenchmarkState::Missing, None)
                .with_score(Err("the formula does not map the score to 0 to 1".to_owned()), Vec::new()),
        }
    }

    /// Creates a judge's finding that the benchmark does not apply.
    pub const fn from_judge_not_applicable(scaled: bool) -> GraderFinding {
        let state = Self::undecided(BenchmarkState::NotApplicable, scaled);
        Self { decided_by: Some(DecidedBy::Judge), ..state }.with_score(Ok(None), Vec::new())
    }
}

/// Lowest score of a passed case on a benchmark without a scale, unless its threshold is lower.
const MIN_PASS_SCORE: f64 = 0.5;

/// Returns the score, 0 to 1, that a failed case of a benchmark must stay below: its threshold, because a failure must
/// not count as a pass. A threshold of 0 limits nothing, so then it is the full score.
pub fn failure_limit(threshold: UnitInterval) -> UnitInterval {
    if threshold > UnitInterval::ZERO { threshold } else { UnitInterval::ONE }
}

/// Returns why a verdict on a case contradicts its score; `None` if both can be true.
///
/// A failed case may have part of the score, and a passed one may lack part of it. But a failed case scores less than
/// `limit` (see [`failure_limit`]) and less than the best score of the scale. A passed case scores more than the worst,
/// and without a scale at least half: a judge that does not know the threshold can't aim at it, but a score near 0 is
/// not a pass.
pub fn find_contradiction(
    pass: bool,
    score: UnitInterval,
    limit: UnitInterval,
    scale: Option<BenchmarkScale<'_>>,
) -> Option<&'static str> {
    let (worst, best) = scale.map_or((0.0, 1.0), BenchmarkScale::ends);
    if pass {
        if score.get() <= worst + TOLERANCE {
            return Some("passes with the lowest score");
        }
        let is_low = scale.is_none() && !at_least(score.get(), MIN_PASS_SCORE.min(limit.get()));
        return is_low.then_some("passes with a score that would fail");
    }
    if at_least(score.get(), best) {
        return Some("fails with the full score");
    }

    at_least(score.get(), limit.get()).then_some("fails with a score that would pass")
}

/// Score that a label gives to a benchmark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LabelScore {
    /// This score.
    Score(UnitInterval),
    /// No score: the benchmark does not apply.
    NotApplicable,
    /// No score: the label decides nothing.
    Undecided,
    /// No score: the label's number is not on the benchmark's scale.
    OffScale(f64),
}

impl LabelScore {
    /// Returns the score of a label on a benchmark with this scale.
    pub fn new(label: LabelOutcome, scale: Option<BenchmarkScale<'_>>) -> Self {
        match label {
            // Met and unmet would become the ends of the scale, next to scores that people have graded by
            // degrees.
            LabelOutcome::Met | LabelOutcome::Unmet if scale.is_some() => Self::Undecided,
            LabelOutcome::Met => Self::Score(UnitInterval::ONE),
            LabelOutcome::Unmet => Self::Score(UnitInterval::ZERO),
            LabelOutcome::NotApplicable => Self::NotApplicable,
            LabelOutcome::Unsure => Self::Undecided,
            LabelOutcome::Score(raw) => {
                BenchmarkScale::normalise(scale, raw).map_or(Self::OffScale(raw), Self::Score)
            }
        }
    }
}
