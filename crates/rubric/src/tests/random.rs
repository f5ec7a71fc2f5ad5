//! Random rubrics, outcomes and cases.

use crate::{
    Criterion, CriterionScale, Gate, GraderOutcome, GraderWeighting, Outcome, RawScore, Rubric, RubricScore,
    ScoreBand, ScoreBands, UnitInterval, VerdictThresholds, Weight, score_rubric,
};
use proptest::prelude::*;

/// Maximum difference between two ways of summing the same numbers.
pub(crate) const ROUNDING: f64 = 1e-12;

/// A rubric, its outcomes, and its thresholds.
#[derive(Debug, Clone)]
pub(crate) struct Judged {
    pub(crate) rubric: Rubric,
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) thresholds: VerdictThresholds,
}

impl Judged {
    pub(crate) fn score(&self) -> RubricScore {
        score_rubric(&self.rubric, &self.outcomes, self.thresholds).expect("outcomes fit")
    }

    pub(crate) fn pairs(&self) -> Vec<(Criterion, Outcome)> {
        self.rubric.criteria().iter().cloned().zip(self.outcomes.iter().copied()).collect()
    }

    /// The same with other criteria and outcomes; `None` if these are not a valid rubric.
    pub(crate) fn with_pairs(&self, pairs: Vec<(Criterion, Outcome)>) -> Option<Self> {
        let (criteria, outcomes) = pairs.into_iter().unzip();
        Some(Self { rubric: Rubric::new(criteria).ok()?, outcomes, thresholds: self.thresholds })
    }

    pub(crate) fn with_outcome(&self, index: usize, outcome: Outcome) -> Self {
        let mut changed = self.clone();
        changed.outcomes[index] = outcome;
        changed
    }

    pub(crate) fn with_scaled_weights(&self, factor: f64) -> Self {
        let mut criteria = self.rubric.criteria().to_vec();
        for criterion in &mut criteria {
            criterion.weight = weight(criterion.weight.get() * factor);
        }
        Self { rubric: Rubric::new(criteria).expect("weights stay usable"), ..self.clone() }
    }

    pub(crate) fn ungraded(&self) -> Vec<usize> {
        (0..self.outcomes.len()).filter(|&index| self.outcomes[index] == Outcome::Ungraded).collect()
    }

    /// Gives each ungraded criterion an outcome: the answer at its own index, modulo the number of outcomes
    /// on its scale.
    pub(crate) fn completed(&self, answers: &[usize]) -> Self {
        let mut completed = self.clone();
        for index in self.ungraded() {
            let possible = real_outcomes(&self.rubric.criteria()[index].scale);
            completed.outcomes[index] = possible[answers[index % answers.len()] % possible.len()];
        }
        completed
    }
}

pub(crate) fn weight(value: f64) -> Weight {
    Weight::new(value).expect("finite")
}

pub(crate) fn unit(value: f64) -> UnitInterval {
    UnitInterval::new(value).expect("in range")
}

pub(crate) fn scored(raw: u8) -> Outcome {
    Outcome::Scored(RawScore::new(raw).expect("in range"))
}

pub(crate) fn bands() -> CriterionScale {
    let band = |low, high, text: &str| ScoreBand {
        low: RawScore::new(low).expect("in range"),
        high: RawScore::new(high).expect("in range"),
        text: text.into(),
    };
    CriterionScale::Bands(
        ScoreBands::new(vec![band(0, 4, "poor"), band(5, 7, "fair"), band(8, 10, "good")]).expect("sound"),
    )
}

/// All outcomes that a criterion on this scale can have once it is decided.
pub(crate) fn real_outcomes(scale: &CriterionScale) -> Vec<Outcome> {
    match scale {
        CriterionScale::Checklist => vec![Outcome::Unmet, Outcome::Met, Outcome::NotApplicable],
        CriterionScale::Bands(_) => (0..=10).map(scored).chain([Outcome::NotApplicable]).collect(),
    }
}

fn size() -> impl Strategy<Value = f64> {
    prop_oneof![
        1 => Just(0.0),
        2 => Just(1.0),
        4 => (1u8..=30).prop_map(|tenths| f64::from(tenths) / 10.0),
        2 => 0.01..50.0,
    ]
}

/// A scale with every gate that it can have.
fn gated_scale() -> impl Strategy<Value = (CriterionScale, Option<Gate>)> {
    let value = prop_oneof![Just(0.0), Just(0.7), Just(1.0), 0.0..=1.0];
    prop_oneof![
        3 => Just((CriterionScale::Checklist, None)),
        2 => Just((CriterionScale::Checklist, Some(Gate::Met))),
        1 => value.clone().prop_map(|value| (CriterionScale::Checklist, Some(Gate::MinValue(unit(value))))),
        3 => Just((bands(), None)),
        1 => Just((bands(), Some(Gate::PassLine))),
        1 => value.prop_map(|value| (bands(), Some(Gate::MinValue(unit(value))))),
        1 => (0u8..=10).prop_map(|raw| {
            (bands(), Some(Gate::MinRaw(RawScore::new(raw).expect("in range"))))
        }),
    ]
}

/// A criterion's weight, with a sign that its rubric allows, its scale, its gate and an outcome.
fn entry(
    signs: &'static [f64],
    ungraded: u32,
) -> impl Strategy<Value = (f64, CriterionScale, Option<Gate>, Outcome)> {
    (size(), prop::sample::select(signs), gated_scale()).prop_flat_map(move |(size, sign, (scale, gate))| {
        let decided: Vec<Outcome> =
            real_outcomes(&scale).into_iter().filter(|outcome| *outcome != Outcome::NotApplicable).collect();
        let outcome = prop_oneof![
            6 => prop::sample::select(decided),
            1 => Just(Outcome::NotApplicable),
            ungraded => Just(Outcome::Ungraded),
        ];
        (Just(size * sign), Just(scale), Just(gate), outcome)
    })
}

pub(crate) fn thresholds() -> impl Strategy<Value = VerdictThresholds> {
    let line = || prop_oneof![Just(0.8), Just(0.6), Just(0.0), Just(1.0), Just(0.5), 0.0..=1.0];
    (line(), prop::option::of(line())).prop_map(|(pass, borderline)| {
        VerdictThresholds::with_optional_borderline(unit(pass), borderline.map(unit))
    })
}

/// Rubrics of every kind: without penalties, with some, with nothing else. `ungraded` is the relative
/// frequency of ungraded criteria (0 for none; decided ones have 6).
pub(crate) fn judged(most: usize, ungraded: u32) -> impl Strategy<Value = Judged> {
    let signs: &[&'static [f64]] = &[&[1.0], &[1.0, 1.0, -1.0], &[-1.0]];
    let entries = prop::sample::select(signs.to_vec())
        .prop_flat_map(move |signs| prop::collection::vec(entry(signs, ungraded), 1..=most));
    (entries, thresholds()).prop_filter_map("all weights are zero", |(entries, thresholds)| {
        let mut outcomes = Vec::new();
        let mut criteria = Vec::new();
        for (index, (size, scale, gate, outcome)) in entries.into_iter().enumerate() {
            let mut criterion = Criterion::checklist(format!("c{index}"), "does something");
            criterion.weight = weight(size);
            criterion.scale = scale;
            criterion.gate = gate;
            criteria.push(criterion);
            outcomes.push(outcome);
        }
        Some(Judged { rubric: Rubric::new(criteria).ok()?, outcomes, thresholds })
    })
}

/// Result of a grader in a random case.
#[derive(Debug, Clone)]
pub(crate) enum Work {
    Rubric(Judged),
    Value(f64),
    NotApplicable,
    Errored,
}

/// A random case.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) graders: Vec<(GraderWeighting, Work)>,
    pub(crate) thresholds: VerdictThresholds,
}

impl Case {
    pub(crate) fn outcomes(&self) -> Vec<(GraderWeighting, GraderOutcome)> {
        let outcome = |work: &Work| match work {
            Work::Rubric(judged) => GraderOutcome::Rubric(
                score_rubric(&judged.rubric, &judged.outcomes, self.thresholds).expect("outcomes fit"),
            ),
            Work::Value(value) => GraderOutcome::Value(unit(*value)),
            Work::NotApplicable => GraderOutcome::NotApplicable,
            Work::Errored => GraderOutcome::Errored,
        };
        self.graders.iter().map(|(weighting, work)| (*weighting, outcome(work))).collect()
    }

    pub(crate) fn score(&self) -> crate::CaseScore {
        crate::score_case(&self.outcomes(), self.thresholds)
    }

    /// Gives every ungraded criterion an outcome and every failed grader a result.
    pub(crate) fn completed(&self, answers: &[usize], values: &[Option<f64>]) -> Self {
        let mut completed = self.clone();
        for (index, (_, work)) in completed.graders.iter_mut().enumerate() {
            *work = match &*work {
                Work::Rubric(judged) => Work::Rubric(judged.completed(answers)),
                Work::Errored => values[index % values.len()].map_or(Work::NotApplicable, Work::Value),
                other => other.clone(),
            };
        }
        completed
    }
}

pub(crate) fn case(most: usize, ungraded: u32) -> impl Strategy<Value = Case> {
    let work = prop_oneof![
        4 => judged(4, ungraded).prop_map(Work::Rubric),
        3 => prop_oneof![Just(0.0), Just(1.0), Just(0.8), 0.0..=1.0].prop_map(Work::Value),
        1 => Just(Work::NotApplicable),
        ungraded => Just(Work::Errored),
    ];
    let weighting = (
        size(),
        any::<bool>(),
        prop::option::of(prop_oneof![Just(0.0), Just(0.5), 0.0..=1.0]),
        any::<bool>(),
    )
        .prop_map(|(size, required, min_score, negate)| GraderWeighting {
            weight: weight(size),
            required,
            min_score: min_score.map(unit),
            negate,
        });
    (prop::collection::vec((weighting, work), 1..=most), thresholds())
        .prop_map(|(graders, thresholds)| Case { graders, thresholds })
}
