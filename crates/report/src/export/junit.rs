//! JUnit XML: a test suite for each suite and target, a test case for each case.
//!
//! Readers differ in what they read of it. GitLab shows the content of a failure only and one test of each name; Jenkins
//! shows the message as well. So the message is repeated in the content, and names are unique. Everything keeps to the
//! schema of Jenkins, whose xUnit plugin refuses files with other attributes, such as the file of a test case.

use std::io::Write;

use assize_rubric::Verdict;
use assize_store::{CaseRecord, GraderRow, ResultRow};

use super::case_index::{CaseIndex, CaseState};
use super::criterion_finding::{has_failed_gate, is_against};
use super::xml::XmlWriter;
use super::{ReportError, RunReport};
use crate::case_block::{gate_sentence, main_reason, stored_texts};
use crate::criterion::CriterionLine;
use crate::mark::VerdictMark;
use crate::number;
use crate::sanitize::cut_text;

/// Longest reason or quote, in characters.
const MAX_TEXT: usize = 1_000;
/// Longest content of a failure, in characters.
const MAX_CONTENT: usize = 20_000;
/// Largest file that GitLab reads, in bytes.
const GITLAB_BYTES: u64 = 30_000_000;
/// Most elements, attributes and texts that GitLab reads.
const GITLAB_OBJECTS: u64 = 250_000;

type XmlAttributes = Vec<(&'static str, Option<String>)>;

/// Writes runs as one file.
pub(super) fn write_junit(out: &mut dyn Write, runs: &[RunReport<'_>]) -> Result<Vec<String>, ReportError> {
    let indexes: Vec<CaseIndex> = runs.iter().map(CaseIndex::read).collect::<Result<_, _>>()?;
    let sum = |state: CaseState| indexes.iter().map(|index| index.count(state)).sum::<usize>();
    let duration = indexes.iter().flat_map(|index| &index.groups).map(|group| group.duration_ms).sum();

    let mut xml = XmlWriter::new(out)?;
    let total = indexes.iter().map(CaseIndex::len).sum::<usize>();
    let mut attributes = vec![("name", Some("assize".to_owned())), ("tests", Some(total.to_string()))];
    attributes.extend([
        ("failures", Some(sum(CaseState::Failed).to_string())),
        ("errors", Some(sum(CaseState::Ungraded).to_string())),
        ("time", Some(seconds(duration))),
    ]);
    xml.begin("testsuites", &attributes)?;

    for (run, index) in runs.iter().zip(&indexes) {
        write_run(&mut xml, run, index)?;
    }
    xml.end()?;

    let mut remarks = Vec::new();
    if xml.bytes > GITLAB_BYTES || xml.objects > GITLAB_OBJECTS {
        remarks.push(format!(
            "the JUnit file has {:.1} MB and {} elements, attributes and texts; GitLab reads up to 30 MB and 250,000",
            xml.bytes as f64 / 1e6,
            number::grouped(xml.objects)
        ));
    }

    Ok(remarks)
}

fn write_run(xml: &mut XmlWriter<'_>, run: &RunReport<'_>, index: &CaseIndex) -> Result<(), ReportError> {
    let mut open: Option<u32> = None;
    for read in index.cases(run, |_| true)? {
        let (entry, record) = read?;
        if open != Some(entry.group) {
            if open.is_some() {
                xml.end()?;
            }
            begin_suite(xml, run, index, entry.group)?;
            open = Some(entry.group);
        }

        let group = &index.groups[entry.group as usize];
        write_case(xml, &group.name(), &record)?;
    }

    if open.is_some() {
        xml.end()?;
    }
    Ok(())
}

fn begin_suite(
    xml: &mut XmlWriter<'_>,
    run: &RunReport<'_>,
    index: &CaseIndex,
    group: u32,
) -> Result<(), ReportError> {
    let group = &index.groups[group as usize];
    // The schema of Jenkins knows no time zone.
    let started = run.info.started_at.get(..19).map(str::to_owned);
    xml.begin(
        "testsuite",
        &[
            ("name", Some(group.name())),
            ("tests", Some(group.total().to_string())),
            ("failures", Some(group.count(CaseState::Failed).to_string())),
            ("errors", Some(group.count(CaseState::Ungraded).to_string())),
            ("skipped", Some(group.count(CaseState::Skipped).to_string())),
            ("time", Some(seconds(group.duration_ms))),
            ("timestamp", started),
            ("file", Some(run.suite_path(&group.suite).to_owned()).filter(|path| !path.is_empty())),
        ],
    )?;

    let mut properties =
        vec![("assize.run", run.info.run_id.clone()), ("assize.version", run.info.assize_version.clone())];
    properties.extend(run.info.judges.iter().map(|judge| ("assize.judge", judge.identity.name.to_string())));
    xml.begin("properties", &[])?;
    for (name, value) in properties {
        xml.empty("property", &[("name", Some(name.to_owned())), ("value", Some(value))])?;
    }
    xml.end()?;

    Ok(())
}

fn write_case(xml: &mut XmlWriter<'_>, class: &str, record: &CaseRecord) -> Result<(), ReportError> {
    let row = &record.result;
    let name = match row.repeats {
        _ if row.repeat > 1 => format!("{} [{}]", row.case_id, row.repeat),
        Some(_) => format!("{} [1]", row.case_id),
        None => row.case_id.to_string(),
    };
    let attributes: XmlAttributes = vec![
        ("name", Some(name)),
        ("classname", Some(class.to_owned())),
        ("time", Some(seconds(row.duration_ms))),
    ];

    let (element, kind) = match CaseState::from_row(row) {
        CaseState::Passed => return Ok(xml.empty("testcase", &attributes)?),
        CaseState::Skipped => ("skipped", None),
        CaseState::Ungraded => ("error", Some("ungraded")),
        CaseState::Failed if !row.gates_failed.is_empty() => ("failure", Some("gate")),
        CaseState::Failed if row.verdict == Verdict::Borderline => ("failure", Some("borderline")),
        CaseState::Failed => ("failure", Some("fail")),
    };

    let message = message(row);
    xml.begin("testcase", &attributes)?;
    let mut attributes: XmlAttributes = vec![("message", Some(message.clone()))];
    if let Some(kind) = kind {
        attributes.insert(0, ("type", Some(kind.to_owned())));
        xml.text(element, &attributes, &content(record, &message))?;
    } else {
        xml.empty(element, &attributes)?;
    }
    xml.end()?;

    Ok(())
}

/// Score and main reason in a line.
fn message(row: &ResultRow) -> String {
    let score = number::format_score_or_range(row.score, row.score_low, row.score_high);
    let reason = main_reason(row).unwrap_or_default();
    let score = score.map_or_else(|| "no score".to_owned(), |score| format!("score {score}"));

    let text = if reason.is_empty() { score } else { format!("{score}; {reason}") };
    cut_text(&text, MAX_TEXT)
}

/// The message, then each failed gate and each criterion that speaks against the answer or is ungraded.
fn content(record: &CaseRecord, message: &str) -> String {
    let row = &record.result;
    let texts = stored_texts(&record.decisions);
    let mut lines = vec![message.to_owned()];

    for gate in &row.gates_failed {
        lines.push(format!("gate failed: {}", gate_sentence(row, gate)));
    }
    for grader in &row.graders {
        if let Some(error) = &grader.error {
            lines.push(format!("grader {} broke: {}", grader.name, cut_text(error, MAX_TEXT)));
        }
        describe_criteria(&mut lines, row, grader, &texts);
    }

    cut_text(&lines.join("\n"), MAX_CONTENT)
}

fn describe_criteria(
    lines: &mut Vec<String>,
    row: &ResultRow,
    grader: &GraderRow,
    texts: &dyn Fn(&str, &str) -> Option<String>,
) {
    for criterion in &grader.criteria {
        let is_gate = has_failed_gate(row, &grader.name, &criterion.id);
        let is_open = criterion.outcome == assize_rubric::OutcomeKind::Ungraded;
        if !is_open && !is_against(criterion, is_gate) {
            continue;
        }

        let text = texts(&grader.name, &criterion.id).filter(|text| !text.trim().is_empty());
        let text = text.unwrap_or_else(|| format!("{}/{}", grader.name, criterion.id));
        let mark =
            VerdictMark::for_outcome(criterion.outcome, criterion.score_out_of_ten(), criterion.weight);
        lines.push(format!("{} {}: {}", mark.sign, mark.word, cut_text(text.trim(), MAX_TEXT)));
        if !criterion.reason.trim().is_empty() {
            lines.push(format!("    {}", cut_text(criterion.reason.trim(), MAX_TEXT)));
        }

        for quote in &criterion.evidence {
            let note = if quote.verified { "" } else { " (not found in what the judge was shown)" };
            lines.push(format!("    \"{}\"{note}", cut_text(quote.quote.trim(), MAX_TEXT)));
        }
        lines.extend(CriterionLine::notes(criterion).into_iter().map(|note| format!("    {note}")));
    }
}

fn seconds(milliseconds: u64) -> String {
    format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000)
}
