//! Reason of a verdict in one sentence.

use assize_rubric::{GateState, UnitInterval, Verdict, VerdictThresholds, at_least};

use super::model::ScoreRange;
use crate::case_block::failed_gates;
use crate::number::format_beside;

/// Names of the gates that affect a verdict.
#[derive(Debug, Clone, Default)]
pub(crate) struct GateNames {
    pub(crate) failed: Vec<String>,
    pub(crate) open: Vec<String>,
    /// True if at least one gate passed.
    pub(crate) held: bool,
}

impl GateNames {
    /// Adds a gate.
    pub(crate) fn add(&mut self, state: GateState, name: &str) {
        match state {
            GateState::Failed => self.failed.push(name.to_owned()),
            GateState::Open => self.open.push(name.to_owned()),
            GateState::Passed => self.held = true,
            GateState::NotApplicable => {}
        }
    }
}

/// Formats the reason of a verdict, starting with the verdict.
pub(crate) fn verdict_reason(
    verdict: Verdict,
    figures: ScoreRange,
    thresholds: VerdictThresholds,
    gates: &GateNames,
) -> String {
    let pass = thresholds.pass().get();
    // Threshold below which a case fails.
    let floor = thresholds.borderline().map_or(pass, UnitInterval::get);
    let floor_name =
        if thresholds.borderline().is_some() { "borderline threshold" } else { "pass threshold" };
    let reason = match (verdict, figures.bounds()) {
        (Verdict::Fail, bounds) if !gates.failed.is_empty() => {
            let article = if gates.failed.len() == 1 { "a " } else { "" };
            let failed = article.to_owned() + &failed_gates(&quoted(&gates.failed));
            match bounds {
                // Every score reaches 0.
                Some((low, _)) if pass > 0.0 && at_least(low, pass) => {
                    format!(
                        "{failed}, although {} reaches the pass threshold {pass}",
                        format_beside(low, pass)
                    )
                }
                Some((_, high)) if !at_least(high, floor) => {
                    format!(
                        "{failed}, and {} is below the {floor_name} {floor} too",
                        format_beside(high, floor)
                    )
                }
                _ => failed,
            }
        }
        (Verdict::Fail, Some((low, high))) if low == high => {
            format!("{} is below the {floor_name} {floor}", format_beside(high, floor))
        }
        (Verdict::Fail, Some((_, high))) => {
            format!("at most {} is below the {floor_name} {floor}", format_beside(high, floor))
        }
        (Verdict::Borderline, Some((low, high))) if low == high => format!(
            "{} reaches the borderline threshold {floor} but not the pass threshold {pass}{}",
            format_beside(low, floor),
            gates_hold_text(gates)
        ),
        (Verdict::Borderline, Some((low, high))) => format!(
            "at least {} reaches the borderline threshold {floor}, at most {} does not reach the pass threshold {pass}{}",
            format_beside(low, floor),
            format_beside(high, pass),
            gates_hold_text(gates)
        ),
        (Verdict::Pass, Some((low, high))) if low == high => {
            format!(
                "{} reaches the pass threshold {pass}{}",
                format_beside(low, pass),
                gates_hold_text(gates)
            )
        }
        (Verdict::Pass, Some((low, _))) => {
            format!(
                "at least {} reaches the pass threshold {pass}{}",
                format_beside(low, pass),
                gates_hold_text(gates)
            )
        }
        (Verdict::Incomplete, None) => "no criterion applies, so there is no score".to_owned(),
        (Verdict::Incomplete, Some(_)) if figures.coverage == Some(0.0) => {
            "no criterion was graded".to_owned()
        }
        (Verdict::Incomplete, Some((low, high))) => {
            let (at_worst, at_best) = (thresholds.verdict(low), thresholds.verdict(high));
            if at_worst == at_best {
                format!("{} could still fail", quote_names("ungraded gate", &gates.open))
            } else {
                format!(
                    "ungraded criteria decide between {at_worst} ({}) and {at_best} ({})",
                    format_beside(low, pass),
                    format_beside(high, pass)
                )
            }
        }
        (Verdict::Fail | Verdict::Borderline | Verdict::Pass, None) => "of its gates".to_owned(),
    };

    format!("{verdict}, because {reason}.")
}

fn gates_hold_text(gates: &GateNames) -> &'static str {
    if gates.held { " and every gate passes" } else { "" }
}

fn quoted(names: &[String]) -> Vec<String> {
    names.iter().map(|name| format!("`{}`", crate::sanitize::sanitize_name(name))).collect()
}

/// Formats ``the gate `a` `` or ``the gates `a` and `b` ``.
fn quote_names(word: &str, names: &[String]) -> String {
    match quoted(names).as_slice() {
        [] => format!("a {word}"),
        [one] => format!("the {word} {one}"),
        [most @ .., last] => format!("the {word}s {} and {last}", most.join(", ")),
    }
}
