//! Runs a suite and records its result and refusals.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use super::plan;
use super::refusals;
use super::sandbox::CorpusSandbox;

/// Result of a suite.
#[derive(Debug, Default)]
pub(super) struct SuiteResult {
    pub(super) name: String,
    /// Number of valid cases.
    pub(super) cases: usize,
    /// Number of case runs by verdict.
    pub(super) verdicts: BTreeMap<String, usize>,
    /// Number of results by grader type, without those that are errors.
    pub(super) graders: BTreeMap<String, usize>,
    /// Messages about parts that were refused.
    pub(super) refused: BTreeSet<String>,
    /// Errors of cases and graders during the run.
    pub(super) broke: BTreeSet<String>,
    /// Whether the run was compared with its plan.
    pub(super) planned: bool,
    /// A defect: an ending that is never acceptable, or a run that does not match its plan.
    pub(super) defect: Option<String>,
}

/// Runs a suite, and plans it with `--dry-run` to compare the two.
pub(super) fn run_suite(sandbox: &CorpusSandbox, suite: &Path, at: usize) -> SuiteResult {
    let mut result = SuiteResult {
        name: sandbox.name_of(suite),
        cases: sandbox.cases_of(suite),
        ..SuiteResult::default()
    };
    let finished = match sandbox.command(suite, at).output() {
        Ok(finished) => finished,
        Err(error) => {
            result.defect = Some(format!("can't start: {error}"));
            return result;
        }
    };

    let planned = sandbox.command(suite, at).arg("--dry-run").output();
    let stderr = String::from_utf8_lossy(&finished.stderr);
    result.refused = refusals::found(&stderr);

    match finished.status.code() {
        Some(0 | 1 | 3) => {}
        Some(2) if !result.refused.is_empty() => {}
        code => result.defect = Some(format!("exit code {code:?}: {}", stderr.trim())),
    }

    let rows = std::fs::read_to_string(sandbox.results(at).join("results.jsonl")).unwrap_or_default();
    for row in rows.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        result.take(&row);
    }

    let whole = result.refused.is_empty() && result.broke.is_empty();
    if let Some(planned) = planned.ok().filter(|planned| planned.status.success() && whole) {
        let json = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap_or_default();
        let broken = plan::broken(&json(&planned.stdout), &json(&finished.stdout));
        result.planned = true;
        result.defect = result.defect.take().or(broken);
    }

    result
}

impl SuiteResult {
    fn take(&mut self, row: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        *self.verdicts.entry(text(&row["verdict"])).or_default() += 1;

        if let Some(message) = row["error"]["message"].as_str() {
            self.broke.insert(format!("{}: {}", text(&row["error"]["stage"]), first_line(message)));
        }

        for grader in row["graders"].as_array().into_iter().flatten() {
            if let Some(message) = grader["error"].as_str() {
                self.broke.insert(format!("grader {}: {}", text(&grader["type"]), first_line(message)));
            } else {
                *self.graders.entry(text(&grader["type"])).or_default() += 1;
            }
        }
    }

    /// Number of case runs.
    pub(super) fn ran(&self) -> usize {
        self.verdicts.values().sum()
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(120).collect()
}
