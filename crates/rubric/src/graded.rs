//! Outcomes of graders, computed from their decisions.
//!
//! The decisions of a composite's members are in the same flat list as its own; each has the path of names
//! from the composite to the member. The functions recurse along that path, and `depth` is the number of
//! names already consumed.

use std::borrow::Cow;
use std::sync::Arc;

use crate::{
    CaseDecision, CompositeMember, Criterion, GateState, GraderFinding, GraderOutcome, GraderScore,
    GraderWeighting, Outcome, Rubric, Verdict, VerdictThresholds, combine_members, score_criteria,
};

/// Computes the outcome of one grader from its decisions. The error is the reason why there is none; the grader then
/// counts as one that failed to run.
pub fn grader_outcome(
    decisions: &[&CaseDecision],
    thresholds: VerdictThresholds,
) -> Result<GraderOutcome, String> {
    member_outcome(decisions, 0, thresholds)
}

/// Computes the outcome of a member from its decisions. `depth` is the number of names on the path to it.
pub fn member_outcome(
    decisions: &[&CaseDecision],
    depth: usize,
    thresholds: VerdictThresholds,
) -> Result<GraderOutcome, String> {
    let own = own_decisions(decisions, depth);
    let Some(first) = own.first() else {
        return Err("the run has no decisions of this grader".to_owned());
    };
    let Some(finding) = first.finding() else { return rubric_outcome(&own, thresholds) };

    if let Some(composition) = finding.composition() {
        let members: Vec<(GraderWeighting, GraderOutcome)> = composition
            .members
            .iter()
            .map(|member| {
                let decisions = decisions_of_member(decisions, depth, &member.name);
                let outcome =
                    member_outcome(&decisions, depth + 1, thresholds).unwrap_or(GraderOutcome::Errored);
                (member.weighting, outcome)
            })
            .collect();

        let how = composition.aggregator.combination(finding.score());
        let mut combined = combine_members(&members, how, thresholds);
        if let Some(passed) = composition.passed.filter(|_| finding.score().is_some()) {
            combined.passed = Some(passed);
            combined.verdict = Some(if passed { Verdict::Pass } else { Verdict::Fail });
        }
        return Ok(GraderOutcome::Combined(Box::new(combined)));
    }

    Ok(match finding.score {
        Err(_) => GraderOutcome::Errored,
        Ok(Some(score)) => match finding.passed() {
            Some(passed) => GraderOutcome::Checked { score, passed },
            None => GraderOutcome::Value(score),
        },
        Ok(None) => GraderOutcome::NotApplicable,
    })
}

/// Returns the score of a grader, or of the member at the path `members`, and its weight: the product of all
/// weights on that path. `depth` is the number of names on the path to the grader itself. A weight of 0 only
/// keeps a score from counting for its case, so it is taken as 1 here. `None` if the decisions have no such
/// member.
pub fn member_score(
    decisions: &[&CaseDecision],
    depth: usize,
    weighting: GraderWeighting,
    members: &[String],
    thresholds: VerdictThresholds,
) -> Option<(GraderScore, f64)> {
    let own_weight = |weighting: GraderWeighting| match weighting.weight.get() {
        0.0 => 1.0,
        weight => weight,
    };

    let mut outcome = member_outcome(decisions, depth, thresholds).ok()?;
    let mut score = GraderScore::new(weighting, &outcome, thresholds);
    let mut weight = own_weight(weighting);
    let mut decisions = decisions.to_vec();
    for (depth, name) in (depth..).zip(members) {
        let GraderOutcome::Combined(combined) = &outcome else { return None };
        let all = composite_members(&decisions, depth);
        let at = all.iter().position(|member| member.name == *name)?;
        score = combined.members.get(at)?.clone();
        weight *= own_weight(all[at].weighting);
        decisions = decisions_of_member(&decisions, depth, name);
        outcome = member_outcome(&decisions, depth + 1, thresholds).unwrap_or(GraderOutcome::Errored);
    }

    Some((score, weight))
}

/// The outcome of a rubric from the decisions on its criteria.
fn rubric_outcome(own: &[&CaseDecision], thresholds: VerdictThresholds) -> Result<GraderOutcome, String> {
    let outcomes: Vec<Outcome> = own.iter().map(|decided| decided.decision.outcome()).collect();
    let criteria: Option<Vec<&Criterion>> = own.iter().map(|decided| decided.criterion()).collect();
    let criteria = criteria.ok_or("the run has decisions both on criteria and on the whole grader")?;

    Rubric::check(criteria.iter().copied())
        .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
        .and_then(|()| {
            score_criteria(criteria.iter().copied(), &outcomes, thresholds).map_err(|error| error.to_string())
        })
        .map(GraderOutcome::Rubric)
        .map_err(|problem| format!("the stored criteria are not a valid rubric: {problem}"))
}

/// A gate with its state.
#[derive(Debug, Clone, PartialEq)]
pub struct GateCheck {
    /// The criterion, preceded by the members that contain it; `None` for the gate of the whole grader.
    pub criterion: Option<Arc<str>>,
    /// The rule, such as `required`.
    pub rule: Cow<'static, str>,
    /// The state of the gate.
    pub state: GateState,
}

/// Returns the gates that count for the case, of a grader or of the member whose path has `depth` names.
/// Gates inside a negated grader do not count.
pub fn grader_gates(
    decisions: &[&CaseDecision],
    depth: usize,
    weighting: GraderWeighting,
    outcome: &GraderOutcome,
    score: &GraderScore,
    thresholds: VerdictThresholds,
) -> Vec<GateCheck> {
    let mut found = Vec::new();
    match outcome {
        GraderOutcome::Rubric(rubric) if !weighting.negate && !rubric.gates.is_empty() => {
            let own = own_decisions(decisions, depth);
            for (index, gate, state) in &rubric.gates {
                let criterion = own.get(*index).map(|decided| decided.shown_criterion());
                found.push(GateCheck { criterion, rule: gate.rule(), state: *state });
            }
        }
        GraderOutcome::Combined(combined) if !weighting.negate => {
            for (member, score) in composite_members(decisions, depth).iter().zip(&combined.members) {
                let decisions = decisions_of_member(decisions, depth, &member.name);
                let outcome =
                    member_outcome(&decisions, depth + 1, thresholds).unwrap_or(GraderOutcome::Errored);
                let inner =
                    grader_gates(&decisions, depth + 1, member.weighting, &outcome, score, thresholds);
                found.extend(inner);
            }
        }
        _ => {}
    }

    if let Some(state) = score.required {
        let path = |decided: &&CaseDecision| -> Arc<str> {
            decided.member.iter().take(depth).cloned().collect::<Vec<_>>().join("/").into()
        };
        let criterion = decisions.first().filter(|_| depth > 0).map(path);
        found.push(GateCheck { criterion, rule: weighting.gate_rule().into(), state });
    }

    found
}

/// Returns true if a grader and every member of a composite have decisions, and panels have all their votes.
pub fn is_complete(decisions: &[&CaseDecision]) -> bool {
    is_complete_at(decisions, 0)
}

fn is_complete_at(decisions: &[&CaseDecision], depth: usize) -> bool {
    let has_votes = |decided: &CaseDecision| {
        decided.panel.as_ref().is_none_or(|panel| {
            let votes = decisions.iter().filter(|vote| vote.is_vote() && vote.is_about_same(decided));
            votes.count() == panel.votes.len()
        })
    };

    let own = own_decisions(decisions, depth);

    !own.is_empty()
        && own.iter().all(|decided| has_votes(decided))
        && composite_members(decisions, depth)
            .iter()
            .all(|member| is_complete_at(&decisions_of_member(decisions, depth, &member.name), depth + 1))
}

/// Returns the decisions of the member `name` of the composite at `depth`.
fn decisions_of_member<'a>(
    decisions: &[&'a CaseDecision],
    depth: usize,
    name: &str,
) -> Vec<&'a CaseDecision> {
    let is_of = |decided: &CaseDecision| decided.member.get(depth).is_some_and(|member| member == name);
    decisions.iter().filter(|decided| is_of(decided)).copied().collect()
}

fn own_decisions<'a>(decisions: &[&'a CaseDecision], depth: usize) -> Vec<&'a CaseDecision> {
    let is_own = |decided: &CaseDecision| decided.member.len() == depth && !decided.is_vote();
    decisions.iter().filter(|decided| is_own(decided)).copied().collect()
}

fn composite_members<'a>(decisions: &[&'a CaseDecision], depth: usize) -> &'a [CompositeMember] {
    let first = own_decisions(decisions, depth).first().copied();
    let composition = first.and_then(CaseDecision::finding).and_then(GraderFinding::composition);
    composition.map(|composition| composition.members.as_slice()).unwrap_or_default()
}
