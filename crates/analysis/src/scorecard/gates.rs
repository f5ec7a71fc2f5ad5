//! Gates of a comparison of two scorecard runs: conditions under which the second may be released.

use assize_rubric::NodeStatus;

use super::{NodeDifference, ScorecardComparison};
use crate::compare::{ComparisonGateResult, ComparisonGateStatus};

/// Change that fails a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScorecardFailOn {
    /// The second run is blocked by a hard gate.
    Blocked,
    /// A part that passed does not pass any more, a score is lower beyond chance, or a hard gate is gone.
    Regression,
}

/// Checks the gates against a comparison. `candidate` is the name of the second run.
pub fn check_scorecard_gates(
    found: &ScorecardComparison,
    gates: &[ScorecardFailOn],
    candidate: &str,
) -> Vec<ComparisonGateResult> {
    let results = gates.iter().map(|gate| {
        let (gate, (hold, says)) = match gate {
            ScorecardFailOn::Blocked => ("--fail-on blocked", check_blocked(found)),
            ScorecardFailOn::Regression => ("--fail-on regression", check_regression(found)),
        };
        ComparisonGateResult { gate, candidate: candidate.to_owned(), hold, says }
    });
    results.collect()
}

/// Looks at all cases of the second run: a gate that fails on a new case blocks as well.
fn check_blocked(found: &ScorecardComparison) -> (ComparisonGateStatus, String) {
    let with = |status: NodeStatus| {
        let tops = found.tops.iter().filter(move |(_, side)| side.standing == status);
        tops.map(|(code, _)| code.as_str()).collect::<Vec<_>>().join(", ")
    };
    let (blocked, open) = (with(NodeStatus::Blocked), with(NodeStatus::Incomplete));

    match (blocked.is_empty(), open.is_empty()) {
        (false, _) => (ComparisonGateStatus::Failed, format!("blocked by a hard gate: {blocked}")),
        (true, false) => {
            (ComparisonGateStatus::Undecided, format!("incomplete hard gates could still block: {open}"))
        }
        (true, true) => (ComparisonGateStatus::Held, "no hard gate failed".to_owned()),
    }
}

fn check_regression(found: &ScorecardComparison) -> (ComparisonGateStatus, String) {
    let named = |nodes: &mut dyn Iterator<Item = &NodeDifference>| -> Vec<String> {
        nodes.map(|node| node.code.clone()).collect()
    };
    let passed = || found.nodes.iter().filter(|node| node.base.standing == NodeStatus::Pass);
    let now = |node: &NodeDifference| node.candidate.standing;
    let is_worse = |node: &&NodeDifference| {
        let is_lower = node.interval.as_ref().is_ok_and(|interval| interval.high < 0.0);
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
        let says = format!("{} cases of the base are missing", found.only_base);
        return (ComparisonGateStatus::Undecided, says);
    }

    (ComparisonGateStatus::Held, "every node that passed before still passes".to_owned())
}
