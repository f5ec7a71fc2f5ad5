//! Gates of a comparison of two scorecard runs: conditions for releasing the second one.

use std::collections::BTreeSet;

use assize_diagnostic::list_first;
use assize_rubric::NodeStatus;

use super::{MeasurementChange, NodeDifference, ScorecardComparison};
use crate::compare::{ComparisonAspect, ComparisonGateResult, ComparisonGateStatus, Conclusion};

/// Maximum number of parts that a gate names; the rest is counted.
const MAX_NAMED: usize = 8;

/// Change that fails a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScorecardFailOn {
    /// The second run is blocked by a hard gate.
    Blocked,
    /// A part that passed no longer passes, a score is significantly lower, or a hard gate is gone.
    Regression,
}

/// Checks the gates against a comparison. `candidate` is the name of the second run.
///
/// No gate holds if the measurement changed, because a weaker check or a lower threshold may hide the failure
/// that the gate is about. Changes in the `allowed` aspects are ignored; `None` in the list means all
/// aspects. Cases that a benchmark no longer counts can't be allowed.
pub fn check_scorecard_gates(
    found: &ScorecardComparison,
    gates: &[ScorecardFailOn],
    allowed: &[Option<ComparisonAspect>],
    candidate: &str,
) -> Vec<ComparisonGateResult> {
    let is_allowed = |change: &MeasurementChange| {
        change.aspect.is_some() && (allowed.contains(&None) || allowed.contains(&change.aspect))
    };
    let changes: Vec<&MeasurementChange> =
        found.measured.iter().filter(|change| !is_allowed(change)).collect();

    let results = gates.iter().map(|gate| {
        let (gate, (hold, says)) = match gate {
            ScorecardFailOn::Blocked => {
                let gating = changes.iter().copied().filter(|change| change.gates);
                ("--fail-on blocked", undecided_if_changed(check_blocked(found), gating))
            }
            ScorecardFailOn::Regression => {
                let all = changes.iter().copied();
                ("--fail-on regression", undecided_if_changed(check_regression(found), all))
            }
        };
        ComparisonGateResult { gate, candidate: candidate.to_owned(), hold, says }
    });
    results.collect()
}

/// Makes a gate undecided if the measurement changed, unless it failed.
fn undecided_if_changed<'c>(
    result: (ComparisonGateStatus, String),
    changes: impl Iterator<Item = &'c MeasurementChange>,
) -> (ComparisonGateStatus, String) {
    let (hold, says) = result;
    let changes: Vec<&MeasurementChange> = changes.collect();
    if changes.is_empty() || hold == ComparisonGateStatus::Failed {
        return (hold, says);
    }

    let mut reasons = Vec::new();
    if hold != ComparisonGateStatus::Held {
        reasons.push(says);
    }

    let uncounted = changes.iter().filter(|change| change.aspect.is_none());
    if let Some(list) = name_parts(uncounted.map(|change| change.code.clone())) {
        reasons.push(format!("cases that counted in the base no longer do: {list}"));
    }

    let named = changes.iter().filter_map(|change| Some((&change.code, change.aspect?.name())));
    if let Some(list) = name_parts(named.map(|(code, aspect)| format!("{code} ({aspect})"))) {
        let aspects: BTreeSet<&str> =
            changes.iter().filter_map(|change| change.aspect.map(ComparisonAspect::name)).collect();
        let aspects = aspects.into_iter().collect::<Vec<_>>().join(",");
        reasons.push(format!(
            "unknown, because parts were measured differently: {list}; run the base again, or compare anyway with \
             `--allow {aspects}`"
        ));
    }

    (ComparisonGateStatus::Undecided, reasons.join("; "))
}

/// Lists parts, each once; `None` if there are none.
fn name_parts(parts: impl Iterator<Item = String>) -> Option<String> {
    let mut parts: Vec<String> = parts.collect();
    parts.dedup();

    (!parts.is_empty()).then(|| list_first(parts, MAX_NAMED))
}

/// Checks all cases of the second run, shared or not: a hard gate that fails on a new case blocks as well.
fn check_blocked(found: &ScorecardComparison) -> (ComparisonGateStatus, String) {
    let with = |status: NodeStatus| {
        let tops = found.tops.iter().filter(move |(_, side)| side.status == status);
        tops.map(|(code, _)| code.as_str()).collect::<Vec<_>>().join(", ")
    };
    let (blocked, open) = (with(NodeStatus::Blocked), with(NodeStatus::Incomplete));

    match (blocked.is_empty(), open.is_empty()) {
        (false, _) => (ComparisonGateStatus::Failed, format!("blocked by a hard gate: {blocked}")),
        (true, false) => {
            (ComparisonGateStatus::Undecided, format!("incomplete hard gates could still block: {open}"))
        }
        (true, true) if found.only_base > 0 => {
            let gone = if found.only_base == 1 {
                "1 case of the base is gone".to_owned()
            } else {
                format!("{} cases of the base are gone", found.only_base)
            };
            (ComparisonGateStatus::Undecided, format!("{gone}, which a hard gate could have failed on"))
        }
        (true, true) => (ComparisonGateStatus::Held, "no hard gate failed".to_owned()),
    }
}

fn check_regression(found: &ScorecardComparison) -> (ComparisonGateStatus, String) {
    let named = |nodes: &mut dyn Iterator<Item = &NodeDifference>| -> Vec<String> {
        nodes.map(|node| node.code.clone()).collect()
    };
    let passed = || found.nodes.iter().filter(|node| node.base.status == NodeStatus::Pass);
    let now = |node: &NodeDifference| node.candidate.status;
    let is_worse = |node: &&NodeDifference| {
        let is_lower = node.compared.call == Conclusion::Worse;
        node.is_top && node.difference.is_some() && is_lower
    };

    let mut lost_gates = named(&mut found.nodes.iter().filter(|node| node.lost_gate));
    lost_gates.extend(found.gates_gone.iter().cloned());
    let failures = [
        (
            "passed before and fails now",
            named(&mut passed().filter(|node| matches!(now(node), NodeStatus::Fail | NodeStatus::Blocked))),
        ),
        ("significantly lower score", named(&mut found.nodes.iter().filter(is_worse))),
        ("no longer a hard gate", lost_gates),
    ];
    let failures: Vec<String> = failures
        .into_iter()
        .filter(|(_, codes)| !codes.is_empty())
        .map(|(words, codes)| format!("{words}: {}", codes.join(", ")))
        .collect();
    if !failures.is_empty() {
        return (ComparisonGateStatus::Failed, failures.join("; "));
    }

    let open = named(
        &mut passed().filter(|node| matches!(now(node), NodeStatus::Incomplete | NodeStatus::NotApplicable)),
    );
    if !open.is_empty() {
        let says = format!("passed before and incomplete now: {}", open.join(", "));
        return (ComparisonGateStatus::Undecided, says);
    }
    if found.only_base > 0 {
        let says = match found.only_base {
            1 => "1 case of the base is missing".to_owned(),
            n => format!("{n} cases of the base are missing"),
        };
        return (ComparisonGateStatus::Undecided, says);
    }

    (ComparisonGateStatus::Held, "every node that passed before still passes".to_owned())
}
