//! Annotations in the log of GitHub Actions: workflow commands at the lines of failing criteria.
//!
//! GitHub shows ten annotations of each kind per step and drops the others, so the last one contains the total.

use std::io::Write;

use assize_diagnostic::render::github_command;
use assize_limits::ANNOTATIONS as MAX_SHOWN;

use super::criterion_finding::FindingList;
use super::{CriterionFinding, FindingLevel, ReportError, RunReport};
use crate::sanitize::sanitize_text;

/// Longest part of a message, in characters.
const MAX_TEXT: usize = 1_000;

/// Writes one workflow command per line.
pub(super) fn write_annotations(
    out: &mut dyn Write,
    runs: &[RunReport<'_>],
) -> Result<Vec<String>, ReportError> {
    let mut findings = Vec::new();
    let mut more = 0;
    for run in runs {
        let list = FindingList::read(run)?;
        findings.extend(list.found);
        more += list.more;
    }

    for (levels, command) in [
        (&[FindingLevel::Gate][..], "error"),
        (&[FindingLevel::Failure, FindingLevel::Ungraded], "warning"),
        (&[FindingLevel::Remark], "notice"),
    ] {
        let all: Vec<&CriterionFinding> = findings.iter().filter(|one| levels.contains(&one.level)).collect();
        let fits = all.len() <= MAX_SHOWN;
        let shown = if fits { all.len() } else { MAX_SHOWN - 1 };
        for finding in &all[..shown] {
            out.write_all(annotation(finding, command).as_bytes())?;
        }

        if !fits {
            let text = format!("and {} more; a report file has them all", all.len() - shown);
            out.write_all(github_command(command, None, "assize", &text).as_bytes())?;
        }
    }

    let remark = format!("{more} further findings were not kept");
    Ok((more > 0).then_some(remark).into_iter().collect())
}

fn annotation(finding: &CriterionFinding, command: &'static str) -> String {
    let path = finding.relative_path();
    let place = (!path.is_empty()).then_some((path.as_str(), finding.position.line));
    let mut text = format!(
        "{}\n{}",
        sanitize_text(&finding.title(), MAX_TEXT),
        sanitize_text(&finding.describe(), MAX_TEXT)
    );
    if !finding.reason.trim().is_empty() {
        text.push('\n');
        text.push_str(&sanitize_text(&finding.reason, MAX_TEXT));
    }

    github_command(command, place, &sanitize_text(&finding.rule_id(), MAX_TEXT), &text)
}
