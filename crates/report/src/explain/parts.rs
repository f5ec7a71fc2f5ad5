//! Parts of an explanation: graders, criteria and gates.

use assize_rubric::{
    CaseDecision, CompositeFormula, CompositeScore, Criterion, CriterionScale, Gate, GateState,
    GraderFinding, GraderOutcome, GraderScore, GraderWeighting, MemberAggregator, Outcome, OutcomeKind,
    RawScore, RubricScore, UnitInterval, Verdict, VerdictThresholds, grader_gates,
};
use assize_store::GateRow;

use super::equations::{WeightSums, case_equations, extreme_equations};
use super::grader::GraderRecord;
use super::model::{
    CriterionPart, GatePart, GraderPart, PanelPart, ScoreEquation, ScoreRange, VotePart, WholePart,
};
use super::verdict_reason::{GateNames, verdict_reason};
use crate::number::{format_beside, format_plain};

/// Explains one grader, with its score in the case.
pub(crate) fn grader_part(
    grader: &GraderRecord<'_>,
    score: &GraderScore,
    thresholds: VerdictThresholds,
) -> GraderPart {
    let weighting = grader.weighting;
    let rubric = match &grader.outcome {
        GraderOutcome::Rubric(score) => Some(score),
        _ => None,
    };

    // Sums of extreme weights would overflow; like the scoring, show them in units of the largest.
    let weights = || grader.rows.iter().filter_map(|row| Some((row.criterion()?.weight.get(), row)));
    let largest = weights().map(|(weight, _)| weight.abs()).fold(0.0, f64::max);
    let weight_unit = if largest > 1e100 || (largest > 0.0 && largest < 1e-100) { largest } else { 1.0 };
    let mut sums = WeightSums::default();
    for (weight, row) in weights() {
        sums.add(weight / weight_unit, row.decision.outcome());
    }

    let figures = ScoreRange::new(score.score, score.bounds, score.coverage);
    // The gate of the grader as a whole affects the case, not the grader's own verdict.
    let mut inner = score.clone();
    inner.required = None;

    let mut gates = GateNames::default();
    collect_gates(grader, &inner, thresholds, &mut gates, &mut Vec::new());
    gates.held |= score.required == Some(GateState::Passed);

    let brought = match &grader.outcome {
        GraderOutcome::Combined(combined) => match combined.how {
            CompositeFormula::Threshold(line) => {
                Some(VerdictThresholds::with_optional_borderline(line, None))
            }
            CompositeFormula::WeightedAverage
            | CompositeFormula::Lowest
            | CompositeFormula::Highest
            | CompositeFormula::Decided(_) => None,
        },
        _ => None,
    };

    let own = match weighting.min_score.filter(|_| !weighting.negate) {
        Some(line) => VerdictThresholds::with_optional_borderline(line, thresholds.borderline()),
        None => brought.unwrap_or(thresholds),
    };
    let decider = decider_of(&grader.outcome);
    let why = match score.verdict {
        None => "not applicable, because none of its criteria applies; not counted.".to_owned(),
        Some(verdict) if decider.is_some() => {
            format!("{verdict}: the {} decides that, whatever the score.", decider.unwrap_or_default())
        }
        Some(verdict) if weighting.negate => negated_reason(grader, verdict, thresholds),
        Some(verdict) if grader.problem.is_some() => format!("{verdict}: no criterion was graded."),
        Some(verdict) => verdict_reason(verdict, figures, own, &gates),
    };
    GraderPart {
        name: grader.name.clone(),
        type_name: grader.type_name.clone(),
        weight: weighting.weight.get(),
        required: weighting.required,
        min_score: weighting.min_score.map(UnitInterval::get),
        negate: weighting.negate,
        criteria: grader
            .rows
            .iter()
            .enumerate()
            .filter_map(|(index, row)| criterion_part(row, index, rubric, thresholds, &grader.all_rows))
            .collect(),
        whole: grader.whole.and_then(|row| whole_part(row, &grader.all_rows)),
        members: grader
            .members
            .iter()
            .map(|(member, score)| grader_part(member, score, thresholds))
            .collect(),
        weight_unit,
        formula: rubric.and_then(|score| score.formula),
        equations: match (rubric.and_then(|score| score.formula), &grader.outcome) {
            (Some(formula), _) => sums.equations(formula),
            (None, GraderOutcome::Combined(combined)) => combined_equations(grader, combined),
            (None, _) => Vec::new(),
        },
        rubric: rubric.map_or(figures, |score| ScoreRange::new(score.score, score.bounds, score.coverage)),
        rubric_verdict: rubric.map_or(score.verdict, |score| score.verdict),
        figures,
        verdict: score.verdict,
        because: why,
        weighting_effects: weighting_effects(
            weighting,
            score,
            rubric,
            decider,
            brought.unwrap_or(thresholds),
        ),
        problem: grader.problem.clone(),
    }
}

/// Name of the rule that decides about a grader regardless of its score; `None` if the score decides.
const fn decider_of(outcome: &GraderOutcome) -> Option<&'static str> {
    match outcome {
        GraderOutcome::Checked { .. } => Some("grader"),
        GraderOutcome::Combined(combined) if combined.passed.is_some() => Some("scoring function"),
        _ => None,
    }
}

fn whole_part(row: &CaseDecision, all: &[&CaseDecision]) -> Option<WholePart> {
    let finding = row.finding()?;
    let decision = &row.decision;
    let aggregator = finding.composition().map(|composite| match composite.aggregator {
        MemberAggregator::WeightedAverage => "weighted mean of the members".to_owned(),
        MemberAggregator::Threshold(line) => {
            format!("share of members that pass; {} required", format_plain(line.get()))
        }
        MemberAggregator::Lowest => "lowest score of the members".to_owned(),
        MemberAggregator::Highest => "highest score of the members".to_owned(),
        MemberAggregator::Decided => "computed from the members by a program or judge".to_owned(),
    });
    Some(WholePart {
        score: finding.score().map(UnitInterval::get),
        aggregator,
        reason: decision.reason.clone(),
        evidence: decision.evidence.clone(),
        evidence_places: Vec::new(),
        notes: finding.notes.clone(),
        judge: decision.judge.clone(),
        attempts: decision.spent.attempts,
        truncated: decision.truncated,
        panel: panel_part(row, all),
    })
}

/// Returns the calculations of a composite's score from its members.
fn combined_equations(grader: &GraderRecord<'_>, combined: &CompositeScore) -> Vec<ScoreEquation> {
    let shares = grader.members.iter().filter_map(|(member, score)| {
        let bounds = match (combined.how, score.verdict) {
            (CompositeFormula::Threshold(_), Some(Verdict::Pass)) => (1.0, 1.0),
            (CompositeFormula::Threshold(_), Some(Verdict::Incomplete)) => (0.0, 1.0),
            (CompositeFormula::Threshold(_), Some(_)) => (0.0, 0.0),
            _ => score.bounds?,
        };
        score.bounds.map(|_| (member.weighting.weight.get(), bounds))
    });
    match combined.how {
        CompositeFormula::Decided(_) => Vec::new(),
        CompositeFormula::Lowest => extreme_equations("lowest", shares, f64::min),
        CompositeFormula::Highest => extreme_equations("highest", shares, f64::max),
        CompositeFormula::WeightedAverage | CompositeFormula::Threshold(_) => {
            case_equations(&shares.collect::<Vec<_>>())
        }
    }
}

/// Explains the verdict of a negated grader by its own verdict, inner gates included.
fn negated_reason(grader: &GraderRecord<'_>, verdict: Verdict, thresholds: VerdictThresholds) -> String {
    let GraderOutcome::Rubric(rubric) = &grader.outcome else {
        return format!("{verdict}, negated from {}.", verdict.negate());
    };
    let mut gates = GateNames::default();
    for (index, _, state) in &rubric.gates {
        let criterion = grader.rows.get(*index).and_then(|row| row.criterion());
        let id = criterion.map_or(grader.name.as_str(), |criterion| criterion.id.as_str());
        gates.add(*state, id);
    }

    let figures = ScoreRange::new(rubric.score, rubric.bounds, rubric.coverage);
    let own = verdict_reason(rubric.verdict.unwrap_or(verdict.negate()), figures, thresholds, &gates);
    format!("{verdict}, negated from {own}")
}

fn weighting_effects(
    weighting: GraderWeighting,
    score: &GraderScore,
    rubric: Option<&RubricScore>,
    decider: Option<&str>,
    thresholds: VerdictThresholds,
) -> Vec<String> {
    let mut effects = Vec::new();
    if weighting.negate {
        effects.push(match rubric.and_then(|rubric| rubric.score) {
            Some(score) => format!(
                "negated: 1 - {} = {}; pass and fail are swapped, and its gates do not apply to the case",
                format_plain(score),
                format_plain(1.0 - score)
            ),
            None => "negated: the score is taken from 1, pass and fail are swapped, and its gates do not apply to the case"
                .to_owned(),
        });
    }

    let line = weighting.min_score.unwrap_or(thresholds.pass()).get();
    if let Some(minimum) = weighting.min_score.filter(|_| !weighting.negate) {
        effects.push(format!("min_score {}: pass threshold of this grader", format_plain(minimum.get())));
    }

    if let Some(state) = score.required {
        effects.push(match (state, score.bounds) {
            (GateState::Passed, _) if decider.is_some() => {
                format!("required: the {} passes it: yes", decider.unwrap_or_default())
            }
            (GateState::Failed, _) if decider.is_some() => {
                format!("required: the {} passes it: no, so the case fails", decider.unwrap_or_default())
            }
            (GateState::NotApplicable, _) | (_, None) => "required, but not applicable: no effect".to_owned(),
            (GateState::Passed, Some((low, _))) => {
                format!("required: {} >= {}: yes", format_beside(low, line), format_plain(line))
            }
            (GateState::Failed, Some((_, high))) => {
                format!(
                    "required: {} >= {}: no, so the case fails",
                    format_beside(high, line),
                    format_plain(line)
                )
            }
            (GateState::Open, Some((low, high))) => format!(
                "required: {} to {} >= {}: not decided",
                format_beside(low, line),
                format_beside(high, line),
                format_plain(line)
            ),
        });
    }

    effects
}

fn criterion_part(
    row: &CaseDecision,
    index: usize,
    score: Option<&RubricScore>,
    thresholds: VerdictThresholds,
    all: &[&CaseDecision],
) -> Option<CriterionPart> {
    let decision = &row.decision;
    let criterion = decision.criterion()?;
    let outcome = decision.outcome();
    let state = score
        .and_then(|score| score.gates.iter().find(|(place, ..)| *place == index))
        .map(|(_, _, state)| *state);

    Some(CriterionPart {
        id: criterion.id.to_string(),
        text: criterion.text.clone(),
        outcome: outcome.kind(),
        raw_score: outcome.raw_score().map(RawScore::get),
        of_ten: outcome.points(),
        value: outcome.value(),
        weight: criterion.weight.get(),
        points: outcome.value().map(|value| criterion.weight.get() * value),
        band: band_text(criterion, outcome),
        gate: criterion.gate.map(|gate| {
            let state = state.unwrap_or_else(|| gate.evaluate(outcome, thresholds.pass()));
            GatePart {
                rule: gate.to_string(),
                comparison: gate_comparison(gate, outcome, state, thresholds),
                state,
            }
        }),
        reason: decision.reason.clone(),
        evidence: decision.evidence.clone(),
        evidence_places: Vec::new(),
        confidence: decision.confidence,
        judge: decision.judge.clone(),
        attempts: decision.spent.attempts,
        has_slips: decision.spent.has_slips,
        ungraded: decision.ungraded.clone(),
        probability: decision.probability,
        truncated: decision.truncated,
        panel: panel_part(row, all),
    })
}

fn band_text(criterion: &Criterion, outcome: Outcome) -> Option<String> {
    match (&criterion.scale, outcome.raw_score()) {
        (CriterionScale::Bands(bands), Some(raw)) => {
            let band = bands.band_for(raw);
            Some(format!("{}-{}: {}", band.low.get(), band.high.get(), band.text))
        }
        _ => None,
    }
}

/// The votes behind a decision, in full.
fn panel_part(row: &CaseDecision, all: &[&CaseDecision]) -> Option<PanelPart> {
    let panel = row.panel.clone()?;
    let votes = all.iter().filter_map(|vote| {
        let of = vote.vote.filter(|_| vote.is_about_same(row))?;
        let decision = &vote.decision;
        let score = vote.finding().and_then(GraderFinding::score).map(UnitInterval::get);
        Some(VotePart {
            judge: decision.judge.clone(),
            repeat: of.repeat,
            escalated: of.is_escalation(),
            weight: of.weight,
            outcome: if score.is_some() { OutcomeKind::Scored } else { decision.outcome().kind() },
            of_ten: decision.outcome().points(),
            score,
            reason: decision.reason.clone(),
            probability: decision.probability,
            truncated: decision.truncated,
        })
    });
    Some(PanelPart { votes_in_full: votes.collect(), panel })
}

fn gate_comparison(gate: Gate, outcome: Outcome, state: GateState, thresholds: VerdictThresholds) -> String {
    let says = match state {
        GateState::NotApplicable => return "not applicable: no effect".to_owned(),
        GateState::Open => "not decided",
        GateState::Passed => "yes",
        GateState::Failed => "no",
    };

    let (left, minimum) = match (gate, outcome.raw_score(), outcome.value()) {
        (_, None, None) => ("ungraded".to_owned(), None),
        (Gate::MinRaw(minimum), Some(raw), _) => {
            (format!("raw {}", raw.get()), Some(minimum.get().to_string()))
        }
        (_, _, value) => (format!("value {}", format_plain(value.unwrap_or_default())), None),
    };

    let minimum = minimum.unwrap_or_else(|| match gate {
        Gate::Met => "1".to_owned(),
        Gate::PassLine => format!("the pass threshold {}", format_plain(thresholds.pass().get())),
        Gate::MinRaw(minimum) => format_plain(minimum.value()),
        Gate::MinValue(minimum) => format_plain(minimum.get()),
    });
    match (gate, outcome) {
        (Gate::Met, Outcome::Met) => "met".to_owned(),
        (Gate::Met, Outcome::Unmet) => "not met, failed".to_owned(),
        _ => format!("{left} >= {minimum}: {says}"),
    }
}

/// Collects the state of the gates that affect the case, and the rows of the gates that failed.
pub(crate) fn collect_gates(
    grader: &GraderRecord<'_>,
    score: &GraderScore,
    thresholds: VerdictThresholds,
    names: &mut GateNames,
    failed: &mut Vec<GateRow>,
) {
    for gate in
        grader_gates(&grader.all_rows, grader.depth, grader.weighting, &grader.outcome, score, thresholds)
    {
        names.add(gate.state, gate.criterion.as_deref().unwrap_or(&grader.name));
        failed.extend(GateRow::for_failed_gate(gate, &grader.name));
    }
}
