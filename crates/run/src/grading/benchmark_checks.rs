//! Checks of a benchmark, and findings if nothing is decided.

use assize_model::BenchmarkGrader;
use assize_rubric::{BenchmarkFinding, BenchmarkState, CaseDecision, GraderNote, UnitInterval};

use super::grade_at;
use super::path::GraderPath;

/// The results of a benchmark's checks.
pub(super) struct CheckSummary {
    /// The share that passes, or the mean of their scores; `None` if there are none.
    pub(super) score: Option<f64>,
    /// True if all pass.
    pub(super) pass: bool,
    pub(super) notes: Vec<GraderNote>,
    /// The error of the first check that broke.
    pub(super) error: Option<String>,
    pub(super) reason: String,
}

pub(super) async fn run_checks(path: &GraderPath<'_>, benchmark: &BenchmarkGrader) -> CheckSummary {
    let mut found =
        CheckSummary { score: None, pass: true, notes: Vec::new(), error: None, reason: String::new() };
    let mut scores = Vec::new();
    for check in &benchmark.checks {
        for decided in grade_at(path.to_member(check, check.weighting)).await {
            let Some(result) = decided.finding() else { continue };
            let score = match &result.score {
                Err(error) => {
                    found.error.get_or_insert(format!("check `{}`: {error}", check.name));
                    continue;
                }
                // A check that does not apply has no result.
                Ok(None) => continue,
                Ok(Some(score)) => score.get(),
            };

            let score = if check.weighting.negate { 1.0 - score } else { score };
            let line = check.weighting.min_score.unwrap_or(UnitInterval::ONE);
            let pass = assize_rubric::at_least(score, line.get());
            found.pass &= pass;
            scores.push(score);

            let notes_text: Vec<String> = result
                .notes
                .iter()
                .filter(|note| note.passed != Some(true))
                .map(|note| if note.reason.is_empty() { note.text.clone() } else { note.reason.clone() })
                .collect();

            let own = &decided.decision.reason;
            let reason = if own.is_empty() { notes_text.join("; ") } else { own.clone() };
            if !pass && found.reason.is_empty() {
                found.reason =
                    if reason.is_empty() { format!("check `{}` failed", check.name) } else { reason.clone() };
            }

            found.notes.push(GraderNote {
                text: check.name.clone(),
                passed: Some(pass),
                reason,
                weight: None,
            });
        }
    }

    if !scores.is_empty() {
        found.score = Some(if benchmark.all_must_pass {
            f64::from(u8::from(found.pass))
        } else {
            (scores.iter().sum::<f64>() / scores.len() as f64).clamp(0.0, 1.0)
        });
    }

    found
}

pub(super) fn undecided_finding(
    path: &GraderPath<'_>,
    benchmark: &BenchmarkGrader,
    state: BenchmarkState,
    message: String,
    notes: Vec<GraderNote>,
) -> CaseDecision {
    let finding = BenchmarkFinding::undecided(state, benchmark.scale.is_some());
    path.own_decision(finding.with_score(Err(message), notes), String::new())
}
