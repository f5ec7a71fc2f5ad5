//! Criterion rows of decisions, as results have them.

use std::sync::Arc;

use assize_rubric::{CaseDecision, Gate, GateCheck, GateState, OutcomeKind, RawScore, UnitInterval};

use crate::{CriterionRow, GateRow};

impl GateRow {
    /// Returns the row of a gate of `grader`, if the gate failed.
    pub fn for_failed_gate(gate: GateCheck, grader: &str) -> Option<Self> {
        (gate.state == GateState::Failed).then(|| Self {
            grader: grader.to_owned(),
            criterion: gate.criterion.map(|id| id.to_string()),
            rule: gate.rule.into_owned(),
        })
    }
}

/// Returns a grader's rows for the result: its criteria, or its notes. A composite has the rows of its members, with
/// the member's name before the id.
pub fn criterion_rows(decisions: &[&CaseDecision]) -> Vec<CriterionRow> {
    let mut found = Vec::with_capacity(decisions.len());
    for decided in decisions.iter().filter(|decided| !decided.is_vote()) {
        visit_rows(decided, &mut |criterion, _| found.push(criterion));
    }
    found
}

/// Returns the texts of the rows of [`criterion_rows`], by id.
pub fn criterion_texts(decided: &CaseDecision) -> Vec<(Arc<str>, String)> {
    let mut found = Vec::new();
    visit_rows(decided, &mut |criterion, text| found.push((criterion.id, text.to_owned())));
    found
}

/// Calls `see` with each row of a decision and its text.
fn visit_rows(decided: &CaseDecision, see: &mut impl FnMut(CriterionRow, &str)) {
    let decision = &decided.decision;
    let base = |id: Arc<str>, outcome| CriterionRow {
        id: decided.shown_id(id),
        outcome,
        raw_score: None,
        points: None,
        value: None,
        weight: 1.0,
        gate: None,
        reason: String::new(),
        evidence: decision.evidence.clone(),
        judge: decision.judge.clone(),
        panel: decided.panel.clone(),
        truncated: decision.truncated.map(|truncated| truncated.mode),
    };

    if let Some(criterion) = decision.criterion() {
        let outcome = decision.outcome();
        let row = CriterionRow {
            raw_score: outcome.raw_score().map(RawScore::get),
            points: outcome.points().filter(|_| outcome.raw_score().is_none()),
            value: outcome.value(),
            weight: criterion.weight.get(),
            gate: criterion.gate.map(Gate::rule),
            reason: decision.reason.clone(),
            ..base(criterion.id.clone().into(), outcome.kind())
        };
        return see(row, &criterion.text);
    }

    let Some(finding) = decision.grader() else { return };
    if let (Some(error), false) = (finding.error(), decided.member.is_empty()) {
        see(CriterionRow { reason: error.to_owned(), ..base("".into(), OutcomeKind::Ungraded) }, "");
    }

    if let (Some(score), false) = (finding.score(), decision.reason.trim().is_empty()) {
        // A score with its own reason, as judges and programs return it.
        let scored = CriterionRow {
            value: Some(UnitInterval::get(score)),
            reason: decision.reason.clone(),
            ..base("score".into(), OutcomeKind::Scored)
        };
        see(scored, "the answer as a whole");
    }

    for (index, note) in finding.notes.iter().enumerate() {
        // A remark decides nothing, so it gets no row.
        let Some(passed) = note.passed else { continue };
        let row = CriterionRow {
            value: Some(f64::from(u8::from(passed))),
            weight: note.weight.unwrap_or(1.0),
            reason: note.reason.clone(),
            evidence: Vec::new(),
            panel: None,
            ..base(
                format!("check-{}", index + 1).into(),
                if passed { OutcomeKind::Met } else { OutcomeKind::Unmet },
            )
        };
        see(row, &note.text);
    }
}
