//! Code quality report of GitLab: an entry for each failing criterion, at its line.

use std::io::Write;

use serde::Serialize;

use super::criterion_finding::FindingList;
use super::json_list::write_json;
use super::{CriterionFinding, FindingLevel, ReportError, RunReport};
use crate::sanitize::sanitize_text;

/// Longest description, in characters.
const MAX_TEXT: usize = 1_000;

#[derive(Serialize)]
struct QualityEntry {
    engine_name: &'static str,
    description: String,
    check_name: String,
    fingerprint: String,
    severity: &'static str,
    location: QualityLocation,
}

#[derive(Serialize)]
struct QualityLocation {
    path: String,
    lines: QualityLines,
}

#[derive(Serialize)]
struct QualityLines {
    begin: usize,
}

/// Writes the findings of all runs as one list.
pub(super) fn write_code_quality(
    out: &mut dyn Write,
    runs: &[RunReport<'_>],
) -> Result<Vec<String>, ReportError> {
    let mut entries = Vec::new();
    let mut remarks = Vec::new();
    for run in runs {
        let findings = FindingList::read(run)?;
        entries.extend(findings.found.iter().map(entry));
        remarks.extend(findings.remark());
    }

    write_json(out, &entries, true)?;
    out.write_all(b"\n")?;

    Ok(remarks)
}

fn entry(finding: &CriterionFinding) -> QualityEntry {
    QualityEntry {
        engine_name: "assize",
        description: sanitize_text(&format!("{}: {}", finding.title(), finding.describe()), MAX_TEXT),
        check_name: sanitize_text(&finding.rule_id(), MAX_TEXT),
        fingerprint: finding.fingerprint(),
        severity: match finding.level {
            FindingLevel::Gate => "critical",
            FindingLevel::Failure => "major",
            FindingLevel::Ungraded => "minor",
            FindingLevel::Remark => "info",
        },
        location: QualityLocation {
            path: finding.relative_path(),
            lines: QualityLines { begin: finding.position.line },
        },
    }
}
