//! SARIF 2.1.0: a rule and a result for each failing criterion, at its line in the eval file.

use std::io::Write;
use std::path::Path;

use assize_diagnostic::render::file_uri;
use serde_json::{Value, json};

use super::criterion_finding::FindingList;
use super::json_list::write_json;
use super::{CriterionFinding, FindingLevel, ReportError, RunReport};
use crate::sanitize::sanitize_text;

/// Longest text, in characters.
const MAX_TEXT: usize = 1_000;
/// Schema of the format.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Writes all runs to one file, as one SARIF run each.
pub(super) fn write_sarif(out: &mut dyn Write, runs: &[RunReport<'_>]) -> Result<Vec<String>, ReportError> {
    let mut logs = Vec::new();
    let mut remarks = Vec::new();
    for run in runs {
        let findings = FindingList::read(run)?;
        logs.push(run_log(run, &findings.found));
        remarks.extend(findings.remark());
    }

    let log = json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": logs });
    write_json(out, &log, true)?;
    out.write_all(b"\n")?;

    Ok(remarks)
}

fn run_log(run: &RunReport<'_>, findings: &[CriterionFinding]) -> Value {
    let mut ids: Vec<String> = findings.iter().map(rule_id).collect();
    ids.sort();
    ids.dedup();

    let rules: Vec<Value> = ids
        .iter()
        .map(|id| {
            let first = findings.iter().find(|finding| rule_id(finding) == *id);
            let text = first.map_or_else(String::new, |finding| sanitize_text(&finding.title(), MAX_TEXT));
            json!({ "id": id, "shortDescription": { "text": text } })
        })
        .collect();
    let results: Vec<Value> = findings.iter().map(|finding| result(finding, &ids)).collect();

    json!({
        "tool": { "driver": { "name": "assize", "version": run.info.assize_version, "rules": rules } },
        // Two reports with the same category would replace each other.
        "automationDetails": { "id": sanitize_text(&format!("assize/{}/", run.suite_names()), MAX_TEXT) },
        "columnKind": "unicodeCodePoints",
        "results": results,
    })
}

fn rule_id(finding: &CriterionFinding) -> String {
    sanitize_text(&finding.rule_id(), MAX_TEXT)
}

fn result(finding: &CriterionFinding, ids: &[String]) -> Value {
    let id = rule_id(finding);
    let mut text = format!("{}: {}.", finding.title(), finding.describe());
    if !finding.reason.trim().is_empty() {
        text.push(' ');
        text.push_str(&finding.reason);
    }

    let mut result = json!({
        "ruleId": id,
        "ruleIndex": ids.binary_search(&id).unwrap_or(0),
        "level": match finding.level {
            FindingLevel::Gate => "error",
            FindingLevel::Failure | FindingLevel::Ungraded => "warning",
            FindingLevel::Remark => "note",
        },
        "message": { "text": sanitize_text(&text, 2 * MAX_TEXT) },
        "partialFingerprints": { "assizeCriterion/v1": finding.fingerprint() },
    });
    if !finding.position.path.is_empty() {
        result["locations"] = json!([{
            "physicalLocation": {
                "artifactLocation": { "uri": file_uri(Path::new(&finding.position.path)) },
                "region": { "startLine": finding.position.line },
            },
        }]);
    }

    result
}
