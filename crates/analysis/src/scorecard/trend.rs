//! Trend over runs of a scorecard: the index, its parts and its gates.

use std::collections::BTreeSet;

use assize_rubric::MissingPolicy;
use assize_store::{RunInfo, ScorecardInfo, ScorecardPartKind};
use serde::Serialize;

use super::compare::{depth, has_same_rules, score_nodes};
use super::measurement::MeasuredCases;
use super::{MeasurementChange, NodeSide, ScorecardRun, ScorecardTreeError, group_changes};
use crate::conclusion::brief_result;

/// Run of a trend.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScorecardTrendPoint {
    /// Label of the run.
    #[serde(rename = "run")]
    pub label: String,
    /// Start time, as stored in the run.
    pub started_at: String,
    /// Result of the run in one line, with what blocks, limits or weakens it.
    pub result: String,
    /// Number of cases.
    pub cases: usize,
    /// Weight set of the index.
    pub weight_set: Option<String>,
    /// Nodes, in the order of the tree.
    pub nodes: Vec<NodeTrendPoint>,
    /// Changes of the scorecard since the run before; scores before and after are not comparable.
    pub changed: Vec<String>,
}

/// Result of a node in a run of a trend.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeTrendPoint {
    /// Code of the node.
    pub code: String,
    /// Number of levels above it.
    #[serde(skip)]
    pub depth: usize,
    /// Kind of the node.
    pub kind: ScorecardPartKind,
    /// True if missing its threshold blocks every level above.
    pub hard_gate: bool,
    /// Its result.
    #[serde(flatten)]
    pub side: NodeSide,
}

/// Scorecard of a run, kept for the comparison with the next one.
#[derive(Debug, Clone, PartialEq)]
pub struct ScorecardMethod {
    info: ScorecardInfo,
    cases: BTreeSet<String>,
    /// Measurements of the cases of each node of the tree.
    measured: Vec<MeasuredCases>,
}

impl ScorecardMethod {
    /// Keeps the scorecard of a run and the cases it was run on.
    pub fn from_run(run: &ScorecardRun) -> Self {
        let cases = run.parts.iter().flat_map(|part| part.cases.iter().map(|(id, _)| id.to_owned()));
        Self {
            info: run.info.clone(),
            cases: cases.collect(),
            measured: run.parts.iter().map(MeasuredCases::new).collect(),
        }
    }

    /// Describes the changes since an earlier run.
    fn changes(&self, before: &Self) -> Vec<String> {
        let mut found = Vec::new();
        if self.cases != before.cases {
            found.push("different cases".to_owned());
        }
        if self.info.weight_set != before.info.weight_set {
            let name = |info: &ScorecardInfo| info.weight_set.clone().unwrap_or_else(|| "none".to_owned());
            found.push(format!("weight set {} (was {})", name(&self.info), name(&before.info)));
        }

        let codes = |ours: &ScorecardInfo, theirs: &ScorecardInfo| -> Vec<String> {
            let is_new = |code: &str| theirs.nodes.iter().all(|node| node.code != code);
            ours.nodes.iter().filter(|node| is_new(&node.code)).map(|node| node.code.clone()).collect()
        };
        let changed = self.info.nodes.iter().filter(|node| {
            let old = before.info.nodes.iter().find(|old| old.code == node.code);
            old.is_some_and(|old| !has_same_rules(old, node))
        });
        let lists = [
            ("new", codes(&self.info, &before.info)),
            ("gone", codes(&before.info, &self.info)),
            ("with a different weight, threshold or rule", changed.map(|node| node.code.clone()).collect()),
        ];
        for (words, codes) in lists.into_iter().filter(|(_, codes)| !codes.is_empty()) {
            found.push(format!("nodes {words}: {}", codes.join(", ")));
        }

        let measured = self.measurement_changes(before);
        let groups = group_changes(&measured);
        found.extend(groups.into_iter().map(|(says, codes)| format!("{says}: {}", codes.join(", "))));

        found
    }

    /// Finds changes in how benchmarks were measured, over the benchmarks and cases that both runs have.
    fn measurement_changes(&self, before: &Self) -> Vec<MeasurementChange> {
        let is_shared = |id: &str| self.cases.contains(id);
        let mut found = Vec::new();
        for (node, cases) in self.info.nodes.iter().zip(&self.measured) {
            let old = before.info.nodes.iter().position(|old| old.code == node.code);
            let Some(old) = old.and_then(|old| before.measured.get(old)) else { continue };
            for (aspect, says) in cases.changes(old, is_shared) {
                found.push(MeasurementChange {
                    code: node.code.clone(),
                    aspect,
                    says,
                    gates: node.hard_gate,
                });
            }
        }

        found
    }
}

/// Builds the trend point of a run. `info` is its description with its present conclusion.
///
/// # Errors
/// If the stored tree is damaged.
pub fn scorecard_trend_point(
    label: String,
    info: &RunInfo,
    run: &ScorecardRun,
    before: Option<&ScorecardMethod>,
    missing: MissingPolicy,
) -> Result<(ScorecardTrendPoint, ScorecardMethod), ScorecardTreeError> {
    let method = ScorecardMethod::from_run(run);
    let sides = score_nodes(run, missing)?;
    let nodes = run.info.nodes.iter().zip(sides).enumerate().map(|(place, (node, side))| NodeTrendPoint {
        code: node.code.clone(),
        depth: depth(run, place),
        kind: node.kind,
        hard_gate: node.hard_gate,
        side,
    });
    let point = ScorecardTrendPoint {
        label,
        started_at: info.started_at.clone(),
        result: brief_result(info),
        cases: method.cases.len(),
        weight_set: run.info.weight_set.clone(),
        nodes: nodes.collect(),
        changed: before.map(|before| method.changes(before)).unwrap_or_default(),
    };

    Ok((point, method))
}
