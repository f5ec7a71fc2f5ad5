//! Measurement of benchmarks: all settings that affect their results apart from the answers, and their
//! changes between runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use assize_rubric::BenchmarkState;
use assize_store::{ScorecardInfo, ScorecardPartKind};
use serde::Serialize;

use super::{BenchmarkCases, BenchmarkMeasurement, ScorecardRun};
use crate::compare::ComparisonAspect;

/// Change in how a part was measured between two runs. Its scores may differ for this reason alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MeasurementChange {
    /// Code of the part.
    pub code: String,
    /// Aspect that changed; null if cases that a benchmark applied to are no longer counted.
    #[serde(rename = "respect")]
    pub aspect: Option<ComparisonAspect>,
    /// Description for messages.
    pub says: String,
    /// True if the part is, or is below, a hard gate.
    pub gates: bool,
}

/// Measurements of the cases of a benchmark, ordered by id.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct MeasuredCases(Vec<MeasuredCase>);

#[derive(Debug, Clone, PartialEq)]
struct MeasuredCase {
    id: Arc<str>,
    applies: bool,
    measurement: BenchmarkMeasurement,
}

impl MeasuredCases {
    pub(super) fn new(part: &BenchmarkCases) -> Self {
        let cases = part.cases.iter().map(|(id, case)| MeasuredCase {
            id: Arc::from(id),
            applies: case.finding.state != BenchmarkState::NotApplicable,
            measurement: case.measurement.clone(),
        });
        Self(cases.collect())
    }

    fn get(&self, id: &str) -> Option<&MeasuredCase> {
        let at = self.0.binary_search_by(|case| (*case.id).cmp(id)).ok()?;
        self.0.get(at)
    }

    /// Finds the changes since an earlier run, over the cases that `is_shared` accepts.
    pub(super) fn changes(
        &self,
        before: &Self,
        is_shared: impl Fn(&str) -> bool,
    ) -> Vec<(Option<ComparisonAspect>, String)> {
        let mut found: BTreeMap<Option<ComparisonAspect>, String> = BTreeMap::new();
        let mut note = |aspect, says: &dyn Fn() -> String| {
            found.entry(aspect).or_insert_with(says);
        };

        for old in before.0.iter().filter(|old| is_shared(&old.id)) {
            let new = self.get(&old.id);
            if old.applies && new.is_none_or(|new| !new.applies) {
                note(None, &|| format!("cases no longer count, such as `{}`", old.id));
            }

            let Some(new) = new else { continue };
            let (was, is) = (&old.measurement, &new.measurement);
            let differs = |was: &Option<Arc<str>>, is: &Option<Arc<str>>| {
                was.as_ref().zip(is.as_ref()).is_some_and(|(was, is)| was != is)
            };
            let words = |what: &str, was: &Option<Arc<str>>, is: &Option<Arc<str>>| {
                let text = |side: &Option<Arc<str>>| side.as_deref().unwrap_or_default().to_owned();
                format!("{what} {} instead of {}", text(is), text(was))
            };
            if differs(&was.inputs, &is.inputs) {
                let says = || format!("cases ask or expect something else, such as `{}`", old.id);
                note(Some(ComparisonAspect::Question), &says);
            }
            if differs(&was.settings, &is.settings) {
                note(Some(ComparisonAspect::Rubric), &|| "other checks, prompt or scale".to_owned());
            }
            if differs(&was.judge, &is.judge) {
                note(Some(ComparisonAspect::Judge), &|| words("judged by", &was.judge, &is.judge));
            }
            if differs(&was.prompt, &is.prompt) {
                note(Some(ComparisonAspect::Prompt), &|| words("instructions", &was.prompt, &is.prompt));
            }
        }

        found.into_iter().collect()
    }
}

/// Finds the changes of measurement of all parts that either run has, over the cases that both have.
pub(super) fn measurement_changes(before: &ScorecardRun, after: &ScorecardRun) -> Vec<MeasurementChange> {
    let mut found = Vec::new();
    for (place, node) in after.info.nodes.iter().enumerate() {
        let mut add = |aspect, says: String, gates| {
            found.push(MeasurementChange { code: node.code.clone(), aspect, says, gates });
        };

        let is_below_gate = is_below_gate(&after.info, place);
        let old = before.index_of(&node.code).filter(|old| before.info.nodes[*old].kind == node.kind);
        let Some(old) = old else {
            add(Some(ComparisonAspect::Rubric), "new".to_owned(), is_below_gate);
            continue;
        };

        let was = &before.info.nodes[old];
        let is_below_gate = is_below_gate || self::is_below_gate(&before.info, old);
        let gates = is_below_gate || node.hard_gate || was.hard_gate;
        if was.threshold != node.threshold {
            let says = format!("threshold {} instead of {}", node.threshold.get(), was.threshold.get());
            add(Some(ComparisonAspect::Thresholds), says, gates);
        }
        if (was.criticality, was.hard_gate) != (node.criticality, node.hard_gate) {
            add(Some(ComparisonAspect::Rubric), "another criticality or gate".to_owned(), gates);
        }
        if (was.weight, was.aggregation) != (node.weight, node.aggregation) {
            let says = "another weight or aggregation".to_owned();
            add(Some(ComparisonAspect::Rubric), says, is_below_gate);
        }

        if node.kind == ScorecardPartKind::Benchmark {
            let sides = (MeasuredCases::new(&before.parts[old]), MeasuredCases::new(&after.parts[place]));
            for (aspect, says) in sides.1.changes(&sides.0, |_| true) {
                add(aspect, says, gates);
            }
        }
    }

    for (place, node) in before.info.nodes.iter().enumerate() {
        let is_gone = after.index_of(&node.code).is_none_or(|at| after.info.nodes[at].kind != node.kind);
        if is_gone {
            found.push(MeasurementChange {
                code: node.code.clone(),
                aspect: Some(ComparisonAspect::Rubric),
                says: "gone".to_owned(),
                gates: node.hard_gate || is_below_gate(&before.info, place),
            });
        }
    }

    found
}

/// Returns true if a node above is a hard gate.
fn is_below_gate(info: &ScorecardInfo, place: usize) -> bool {
    let mut above = std::iter::successors(info.nodes[place].parent, |above| info.nodes[*above].parent);
    above.any(|above| info.nodes[above].hard_gate)
}

/// Groups changes with the same description, with the codes of their parts, in the order in which they were
/// found.
pub fn group_changes(changes: &[MeasurementChange]) -> Vec<(&str, Vec<&str>)> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for change in changes {
        match groups.iter_mut().find(|(says, _)| *says == change.says) {
            Some((_, codes)) => codes.push(&change.code),
            None => groups.push((&change.says, vec![&change.code])),
        }
    }

    groups
}
