//! Parts of an explanation: graders, criteria and gates.

use assize_rubric::{
    Combination, CombinedScore, Criterion, Gate, GateState, GraderOutcome, GraderScore, GraderStanding,
    Lines, Outcome, RawScore, RubricScore, Scale, Unit, Verdict,
};
use assize_store::{Aggregator, GateRow, JudgementRow, grader_gates};

use super::because::{GateNames, because};
use super::equations::{Sums, case_equations, extreme_equations};
use super::grader::Grader;
use super::model::{CriterionPart, Equation, Figures, GatePart, GraderPart, PanelPart, VotePart, WholePart};
use crate::number::{beside, plain};

/// Explains one grader, with its score in the case.
pub(crate) fn part(grader: &Grader<'_>, score: &GraderScore, lines: Lines) -> GraderPart {
    let standing = grader.standing;
    let rubric = match &grader.outcome {
        GraderOutcome::Rubric(score) => Some(score),
        _ => None,
    };
    // Sums of extreme weights would overflow; as in scoring, show them in units of the largest.
    let largest = grader.rows.iter().map(|row| row.criterion.weight.get().abs()).fold(0.0, f64::max);
    let weight_unit = if largest > 1e100 || (largest > 0.0 && largest < 1e-100) { largest } else { 1.0 };
    let mut sums = Sums::default();
    for row in &grader.rows {
        sums.add(row.criterion.weight.get() / weight_unit, row.decided());
    }
    let figures = Figures::new(score.score, score.bounds, score.coverage);
    // The gate of the grader as a whole affects the case, not the grader's own verdict.
    let mut inner = score.clone();
    inner.required = None;
    let mut gates = GateNames::default();
    collect_gates(grader, &inner, lines, &mut gates, &mut Vec::new());
    gates.held |= score.required == Some(GateState::Passed);
    let brought = match &grader.outcome {
        GraderOutcome::Combined(combined) => match combined.how {
            Combination::Threshold(line) => Some(Lines::with_room(line, None)),
            Combination::WeightedAverage
            | Combination::Lowest
            | Combination::Highest
            | Combination::Decided(_) => None,
        },
        _ => None,
    };
    let own = match standing.min_score.filter(|_| !standing.negate) {
        Some(line) => Lines::with_room(line, lines.borderline()),
        None => brought.unwrap_or(lines),
    };
    let why = match score.verdict {
        None => "nothing in it applies, so it is left out.".to_owned(),
        Some(verdict) if standing.negate => turned_around(grader, verdict, lines),
        Some(verdict) if grader.problem.is_some() => format!("{verdict}, because it decided nothing."),
        Some(verdict) => because(verdict, figures, own, &gates),
    };
    GraderPart {
        name: grader.name.clone(),
        type_name: grader.type_name.clone(),
        weight: standing.weight.get(),
        required: standing.required,
        min_score: standing.min_score.map(Unit::get),
        negate: standing.negate,
        criteria: grader
            .rows
            .iter()
            .enumerate()
            .map(|(index, row)| criterion(row, index, rubric, lines, &grader.all_rows))
            .collect(),
        whole: grader.whole.and_then(|row| whole(row, &grader.all_rows)),
        members: grader.members.iter().map(|(member, score)| part(member, score, lines)).collect(),
        weight_unit,
        formula: rubric.and_then(|score| score.formula),
        equations: match (rubric.and_then(|score| score.formula), &grader.outcome) {
            (Some(formula), _) => sums.equations(formula),
            (None, GraderOutcome::Combined(combined)) => combined_equations(grader, combined),
            (None, _) => Vec::new(),
        },
        rubric: rubric.map_or(figures, |score| Figures::new(score.score, score.bounds, score.coverage)),
        rubric_verdict: rubric.map_or(score.verdict, |score| score.verdict),
        figures,
        verdict: score.verdict,
        because: why,
        standing: standing_effects(standing, score, rubric, brought.map_or(lines, |own| own)),
        problem: grader.problem.clone(),
    }
}

fn whole(row: &JudgementRow, all: &[&JudgementRow]) -> Option<WholePart> {
    let result = row.grader_result.as_ref()?;
    let aggregator = result.composite.as_ref().map(|composite| match composite.aggregator {
        Aggregator::WeightedAverage => "weighted mean of the members".to_owned(),
        Aggregator::Threshold(line) => {
            format!("share of members that pass; {} are needed", plain(line.get()))
        }
        Aggregator::Lowest => "the lowest of the members".to_owned(),
        Aggregator::Highest => "the highest of the members".to_owned(),
        Aggregator::Decided => "decided by looking at the members".to_owned(),
    });
    Some(WholePart {
        score: result.score,
        aggregator,
        reason: row.reason.clone(),
        evidence: row.evidence.clone(),
        notes: result.notes.clone(),
        judge: row.judge.clone(),
        attempts: row.attempts,
        truncated: row.truncated,
        panel: panel(row, all),
    })
}

/// Returns the calculations of a composite's score from its members.
fn combined_equations(grader: &Grader<'_>, combined: &CombinedScore) -> Vec<Equation> {
    let shares = grader.members.iter().filter_map(|(member, score)| {
        let bounds = match (combined.how, score.verdict) {
            (Combination::Threshold(_), Some(Verdict::Pass)) => (1.0, 1.0),
            (Combination::Threshold(_), Some(Verdict::Incomplete)) => (0.0, 1.0),
            (Combination::Threshold(_), Some(_)) => (0.0, 0.0),
            _ => score.bounds?,
        };
        score.bounds.map(|_| (member.standing.weight.get(), bounds))
    });
    match combined.how {
        Combination::Decided(_) => Vec::new(),
        Combination::Lowest => extreme_equations("lowest", shares, f64::min),
        Combination::Highest => extreme_equations("highest", shares, f64::max),
        Combination::WeightedAverage | Combination::Threshold(_) => {
            case_equations(&shares.collect::<Vec<_>>())
        }
    }
}

/// Explains the verdict of a negated grader by its own verdict, inner gates included.
fn turned_around(grader: &Grader<'_>, verdict: Verdict, lines: Lines) -> String {
    let GraderOutcome::Rubric(rubric) = &grader.outcome else {
        return format!("{verdict}, turned around from {}.", verdict.negated());
    };
    let mut gates = GateNames::default();
    for (index, _, state) in &rubric.gates {
        let id = grader.rows.get(*index).map_or(grader.name.as_str(), |row| row.criterion.id.as_str());
        gates.note(*state, id);
    }
    let figures = Figures::new(rubric.score, rubric.bounds, rubric.coverage);
    let own = because(rubric.verdict.unwrap_or(verdict.negated()), figures, lines, &gates);
    format!("{verdict}, turned around from {own}")
}

fn standing_effects(
    standing: GraderStanding,
    score: &GraderScore,
    rubric: Option<&RubricScore>,
    lines: Lines,
) -> Vec<String> {
    let mut effects = Vec::new();
    if standing.negate {
        effects.push(match rubric.and_then(|rubric| rubric.score) {
            Some(score) => format!(
                "negated: 1 - {} = {}; pass and fail change places, and its gates no longer speak for the case",
                plain(score),
                plain(1.0 - score)
            ),
            None => "negated: the score is taken from 1, pass and fail change places, and its gates no longer \
                     speak for the case"
                .to_owned(),
        });
    }
    let line = standing.min_score.unwrap_or(lines.pass()).get();
    if let Some(minimum) = standing.min_score.filter(|_| !standing.negate) {
        effects.push(format!("min_score {}: this grader's own pass line", plain(minimum.get())));
    }
    if let Some(state) = score.required {
        effects.push(match (state, score.bounds) {
            (GateState::NotApplicable, _) | (_, None) => {
                "required, but nothing in it applies, so nothing hangs on it".to_owned()
            }
            (GateState::Passed, Some((low, _))) => {
                format!("required: {} >= {}: yes", beside(low, line), plain(line))
            }
            (GateState::Failed, Some((_, high))) => {
                format!("required: {} >= {}: no, so the case fails", beside(high, line), plain(line))
            }
            (GateState::Open, Some((low, high))) => format!(
                "required: {} to {} >= {}: not decided yet",
                beside(low, line),
                beside(high, line),
                plain(line)
            ),
        });
    }
    effects
}

fn criterion(
    row: &JudgementRow,
    index: usize,
    score: Option<&RubricScore>,
    lines: Lines,
    all: &[&JudgementRow],
) -> CriterionPart {
    let outcome = row.decided();
    let criterion = &row.criterion;
    let state = score
        .and_then(|score| score.gates.iter().find(|(place, ..)| *place == index))
        .map(|(_, _, state)| *state);
    CriterionPart {
        id: criterion.id.to_string(),
        text: criterion.text.clone(),
        outcome: outcome.name().to_owned(),
        raw_score: outcome.raw_score().map(RawScore::get),
        of_ten: outcome.points(),
        value: outcome.value(),
        weight: criterion.weight.get(),
        points: outcome.value().map(|value| criterion.weight.get() * value),
        band: band(criterion, outcome),
        gate: criterion.gate.map(|gate| {
            let state = state.unwrap_or_else(|| gate.state(outcome, lines.pass()));
            GatePart { rule: gate.to_string(), comparison: comparison(gate, outcome, state, lines), state }
        }),
        reason: row.reason.clone(),
        evidence: row.evidence.clone(),
        confidence: row.confidence,
        judge: row.judge.clone(),
        attempts: row.attempts,
        ungraded: row.ungraded.clone(),
        probability: row.probability,
        truncated: row.truncated,
        panel: panel(row, all),
    }
}

fn band(criterion: &Criterion, outcome: Outcome) -> Option<String> {
    match (&criterion.scale, outcome.raw_score()) {
        (Scale::Bands(bands), Some(raw)) => {
            let band = bands.band(raw);
            Some(format!("{}-{}: {}", band.low.get(), band.high.get(), band.text))
        }
        _ => None,
    }
}

/// Returns the votes behind a decision, in full.
fn panel(row: &JudgementRow, all: &[&JudgementRow]) -> Option<PanelPart> {
    let panel = row.panel.clone()?;
    let votes = all.iter().filter_map(|vote| {
        let of = vote.vote.filter(|_| vote.member == row.member && vote.criterion.id == row.criterion.id)?;
        let result = vote.grader_result.as_ref();
        let score = result.and_then(|result| result.score);
        Some(VotePart {
            judge: vote.judge.clone(),
            repeat: of.repeat,
            escalated: of.is_escalation(),
            weight: of.weight,
            outcome: match (result, score) {
                (None, _) => vote.decided().name().to_owned(),
                (Some(_), Some(_)) => "scored".to_owned(),
                (Some(_), None) => "ungraded".to_owned(),
            },
            of_ten: vote.decided().points().filter(|_| result.is_none()),
            score,
            reason: vote.reason.clone(),
            probability: vote.probability,
            truncated: vote.truncated,
        })
    });
    Some(PanelPart { votes_in_full: votes.collect(), panel })
}

fn comparison(gate: Gate, outcome: Outcome, state: GateState, lines: Lines) -> String {
    let says = match state {
        GateState::NotApplicable => return "does not apply, so nothing hangs on it".to_owned(),
        GateState::Open => "not decided",
        GateState::Passed => "yes",
        GateState::Failed => "no",
    };
    let (left, minimum) = match (gate, outcome.raw_score(), outcome.value()) {
        (_, None, None) => ("ungraded".to_owned(), None),
        (Gate::MinRaw(minimum), Some(raw), _) => {
            (format!("raw {}", raw.get()), Some(minimum.get().to_string()))
        }
        (_, _, value) => (format!("value {}", plain(value.unwrap_or_default())), None),
    };
    let minimum = minimum.unwrap_or_else(|| match gate {
        Gate::Met => "1".to_owned(),
        Gate::PassLine => format!("the pass line {}", plain(lines.pass().get())),
        Gate::MinRaw(minimum) => plain(minimum.value()),
        Gate::MinValue(minimum) => plain(minimum.get()),
    });
    match (gate, outcome) {
        (Gate::Met, Outcome::Met | Outcome::Unmet) => format!("must be met: {says}"),
        _ => format!("{left} >= {minimum}: {says}"),
    }
}

/// Collects the state of the gates that affect the case, and the rows of those that failed.
pub(crate) fn collect_gates(
    grader: &Grader<'_>,
    score: &GraderScore,
    lines: Lines,
    names: &mut GateNames,
    failed: &mut Vec<GateRow>,
) {
    for gate in grader_gates(&grader.all_rows, grader.depth, grader.standing, &grader.outcome, score, lines) {
        names.note(gate.state, gate.criterion.as_deref().unwrap_or(&grader.name));
        failed.extend(gate.failed(&grader.name));
    }
}
