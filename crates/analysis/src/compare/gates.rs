//! Gates of a comparison: conditions under which a change is accepted.

use serde::Serialize;

use super::contrast::{Call, Contrast};
use super::many::Many;
use super::pairing::Comparison;

/// Regressions that fail the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailOn {
    /// A pass rate or mean score that is worse.
    Worse,
    /// Also a suite, tag, grader or criterion that is worse after adjusting.
    AnyWorse,
}

/// Conditions checked against a comparison.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Gates {
    /// Fails if a metric is worse.
    pub fail_on: Option<FailOn>,
    /// Largest accepted drop of pass rate or mean score, as measured.
    pub max_drop: Option<f64>,
    /// Every case that passed must still pass.
    pub no_regression: bool,
    /// An inconclusive result fails.
    pub strict: bool,
}

/// Status of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    /// The condition holds.
    Held,
    /// The condition does not hold.
    Failed,
    /// The result depends on incomplete or removed cases.
    Undecided,
    /// The cases do not show enough to decide.
    Inconclusive,
}

/// Gate with its status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GateResult {
    /// The gate, as on the command line.
    pub gate: &'static str,
    /// Candidate it was checked against.
    pub candidate: String,
    /// Status of the gate.
    pub hold: Hold,
    /// Reason in a sentence.
    pub says: String,
}

/// Checks the gates against each candidate.
pub fn check(many: &Many, gates: &Gates) -> Vec<GateResult> {
    let mut results = Vec::new();
    for comparison in &many.comparisons {
        let mut push = |gate, (hold, says): (Hold, String)| {
            results.push(GateResult { gate, candidate: comparison.candidate.clone(), hold, says });
        };
        if let Some(which) = gates.fail_on {
            push("--fail-on", worse(comparison, which));
        }
        if let Some(most) = gates.max_drop {
            push("--max-drop", drop_within(comparison, most, gates.strict));
        }
        if gates.no_regression {
            push("--fail-on-regression", regression(comparison));
        }
        if gates.strict {
            push(
                "--strict",
                match comparison.verdict {
                    Call::Inconclusive => (Hold::Inconclusive, comparison.main().says.clone()),
                    call => (Hold::Held, format!("the verdict is: {}", call.words())),
                },
            );
        }
    }
    results
}

fn figures(comparison: &Comparison) -> [(&'static str, &Contrast); 2] {
    [("pass rate", &comparison.pass_rate), ("mean score", &comparison.score)]
}

fn worse(comparison: &Comparison, which: FailOn) -> (Hold, String) {
    let is_worse = |contrast: &Contrast| contrast.call == Call::Worse;
    let mut found: Vec<String> = figures(comparison)
        .into_iter()
        .filter(|(_, contrast)| is_worse(contrast))
        .map(|(name, _)| name.to_owned())
        .collect();
    if which == FailOn::AnyWorse {
        for table in &comparison.tables {
            let rows = table.rows.iter().filter(|row| is_worse(&row.contrast));
            found.extend(rows.map(|row| format!("{} {}", table.by, row.name)));
        }
    }
    if found.is_empty() {
        return (Hold::Held, "nothing is worse beyond chance".to_owned());
    }
    (Hold::Failed, format!("worse: {}", found.join(", ")))
}

fn drop_within(comparison: &Comparison, most: f64, strict: bool) -> (Hold, String) {
    let (mut hold, mut said) = (Hold::Held, Vec::new());
    for (name, contrast) in figures(comparison) {
        let Some(difference) = contrast.difference else {
            said.push(format!("{name}: undefined"));
            // A pass rate may be undefined while scores are known; one of the two is enough.
            continue;
        };
        let drop = 0.0 - difference;
        said.push(format!("{name}: {}", super::contrast::signed(difference)));
        if drop > most + 1e-9 {
            hold = Hold::Failed;
        } else if strict && hold == Hold::Held && contrast.low.is_none_or(|low| -low > most + 1e-9) {
            hold = Hold::Inconclusive;
        }
    }
    if figures(comparison).iter().all(|(_, contrast)| contrast.difference.is_none()) {
        hold = Hold::Undecided;
    }
    (hold, said.join(", "))
}

fn regression(comparison: &Comparison) -> (Hold, String) {
    let lost = comparison.regressions.len();
    if lost > 0 {
        return (Hold::Failed, format!("{lost} cases passed and no longer do"));
    }
    let open = comparison
        .undecided
        .iter()
        .filter(|case| case.base_passed == Some(true) && case.candidate_passed.is_none())
        .count();
    if open + comparison.gone_passed > 0 {
        let gone = comparison.gone_passed;
        return (
            Hold::Undecided,
            format!("of the cases that passed, {open} are undecided now and {gone} are gone"),
        );
    }
    (Hold::Held, "every case that passed still does".to_owned())
}
