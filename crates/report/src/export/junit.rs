//! JUnit XML: a test suite for each suite and target, a test case for each case.
//!
//! Readers use different parts of the format. GitLab shows only the content of a failure, and only one test
//! per name; Jenkins shows the message as well. So the content repeats the message, and names are unique.
//! Jenkins' xUnit plugin rejects files with attributes that its schema doesn't have, such as the file of a
//! test case, so only attributes of that schema are written.

use std::collections::HashMap;
use std::io::Write;

use assize_rubric::Verdict;
use assize_store::{CaseRecord, GraderRow, ResultRow};

use super::case_index::{CaseIndex, CaseState, ReportedCase};
use super::criterion_finding::is_against;
use super::run_conclusion::{ProblemLevel, allowance};
use super::xml::XmlWriter;
use super::{ReportError, ReportedConclusion, RunReport};
use crate::case_block::{gate_sentence, has_failed_gate, main_reason, stored_texts};
use crate::criterion::{CriterionLine, NEGATION_PREFIX};
use crate::mark::VerdictMark;
use crate::number;
use crate::sanitize::cut_text;

/// Longest reason or quote, in characters.
const MAX_TEXT: usize = 1_000;
/// Longest content of a failure, in characters.
const MAX_CONTENT: usize = 20_000;
/// Largest file that GitLab reads, in bytes.
const GITLAB_BYTES: u64 = 30_000_000;
/// Maximum number of elements, attributes and texts that GitLab reads.
const GITLAB_OBJECTS: u64 = 250_000;

type XmlAttributes = Vec<(&'static str, Option<String>)>;

/// Writes runs as one file.
pub(super) fn write_junit(out: &mut dyn Write, runs: &[RunReport<'_>]) -> Result<Vec<String>, ReportError> {
    let indexes: Vec<CaseIndex> = runs.iter().map(CaseIndex::read).collect::<Result<_, _>>()?;
    let conclusions: Vec<ReportedConclusion> =
        runs.iter().zip(&indexes).map(|(run, index)| ReportedConclusion::new(run, index)).collect();
    let problems = |level: ProblemLevel| {
        let all = conclusions.iter().flat_map(|conclusion| &conclusion.problems);
        all.filter(|problem| problem.level == level).count()
    };
    let sum = |state: CaseState| indexes.iter().map(|index| index.count(state)).sum::<usize>();
    let duration = indexes.iter().flat_map(|index| &index.groups).map(|group| group.duration_ms).sum();

    let mut xml = XmlWriter::new(out)?;
    let (failures, errors) = (problems(ProblemLevel::Failed), problems(ProblemLevel::Missing));
    let total =
        indexes.iter().map(CaseIndex::len).sum::<usize>() + failures + errors + problems(ProblemLevel::Note);
    let mut attributes = vec![("name", Some("assize".to_owned())), ("tests", Some(total.to_string()))];
    attributes.extend([
        ("failures", Some((sum(CaseState::Failed) + failures).to_string())),
        ("errors", Some((sum(CaseState::Ungraded) + errors).to_string())),
        ("time", Some(seconds(duration))),
    ]);
    xml.begin("testsuites", &attributes)?;

    for ((run, index), conclusion) in runs.iter().zip(&indexes).zip(&conclusions) {
        write_run(&mut xml, run, index)?;
        write_problems(&mut xml, run, conclusion)?;
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
        let reported = read?;
        let number = reported.case.group;
        if open != Some(number) {
            if open.is_some() {
                xml.end()?;
            }
            begin_suite(xml, run, index, number)?;
            open = Some(number);
        }

        write_case(xml, run, &index.groups[number as usize].name(), &reported)?;
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
    // The schema of Jenkins has no time zone.
    let started = run.info.started_at.get(..19).map(str::to_owned);
    xml.begin(
        "testsuite",
        &[
            ("name", Some(group.name())),
            ("tests", Some(group.total().to_string())),
            ("failures", Some(group.count(CaseState::Failed).to_string())),
            ("errors", Some(group.count(CaseState::Ungraded).to_string())),
            (
                "skipped",
                Some((group.count(CaseState::Skipped) + group.count(CaseState::Allowed)).to_string()),
            ),
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

/// Writes the problems of the whole run as tests of a separate suite.
fn write_problems(
    xml: &mut XmlWriter<'_>,
    run: &RunReport<'_>,
    conclusion: &ReportedConclusion,
) -> Result<(), ReportError> {
    if conclusion.problems.is_empty() {
        return Ok(());
    }

    let name = format!("{}.run", run.suite_names());
    let count = |level| conclusion.problems.iter().filter(|problem| problem.level == level).count();
    xml.begin(
        "testsuite",
        &[
            ("name", Some(name.clone())),
            ("tests", Some(conclusion.problems.len().to_string())),
            ("failures", Some(count(ProblemLevel::Failed).to_string())),
            ("errors", Some(count(ProblemLevel::Missing).to_string())),
        ],
    )?;
    // GitLab shows only one test of each name.
    let mut ids: HashMap<&str, usize> = HashMap::new();
    for problem in &conclusion.problems {
        let count = ids.entry(problem.id).or_default();
        let at = std::mem::replace(count, *count + 1);
        let message = cut_text(&problem.describe(), MAX_TEXT);
        xml.begin(
            "testcase",
            &[
                (
                    "name",
                    Some(if at == 0 { problem.id.to_owned() } else { format!("{}-{}", problem.id, at + 1) }),
                ),
                ("classname", Some(name.clone())),
                ("time", Some(seconds(0))),
            ],
        )?;
        let element = match problem.level {
            ProblemLevel::Failed => "failure",
            ProblemLevel::Missing => "error",
            ProblemLevel::Note => {
                xml.text("system-out", &[], &message)?;
                xml.end()?;
                continue;
            }
        };
        let attributes = [("type", Some("run".to_owned())), ("message", Some(message.clone()))];
        xml.text(element, &attributes, &message)?;
        xml.end()?;
    }
    xml.end()?;

    Ok(())
}

fn write_case(
    xml: &mut XmlWriter<'_>,
    run: &RunReport<'_>,
    class: &str,
    reported: &ReportedCase<'_>,
) -> Result<(), ReportError> {
    let duration = reported.records.iter().map(|record| record.result.duration_ms);
    let attributes: XmlAttributes = vec![
        ("name", Some(reported.row().name().into_owned())),
        ("classname", Some(class.to_owned())),
        ("time", Some(seconds(duration.fold(0, u64::saturating_add)))),
    ];

    let gated = reported.records.iter().any(|record| !record.result.gates_failed.is_empty());
    let (element, kind) = match reported.case.state {
        CaseState::Passed => return Ok(xml.empty("testcase", &attributes)?),
        CaseState::Skipped | CaseState::Allowed => ("skipped", None),
        CaseState::Measured => ("system-out", None),
        CaseState::Ungraded => ("error", Some("ungraded")),
        CaseState::Failed if gated => ("failure", Some("gate")),
        CaseState::Failed if reported.verdict() == Verdict::Borderline => ("failure", Some("borderline")),
        CaseState::Failed => ("failure", Some("fail")),
    };

    let message = match &reported.case.trials {
        Some(trials) => cut_text(&trials.describe(), MAX_TEXT),
        None => message(reported.row()),
    };
    let message = if reported.case.state == CaseState::Allowed {
        format!("{}, but allowed ({}): {message}", reported.verdict().name(), allowance(run.info))
    } else {
        message
    };
    xml.begin("testcase", &attributes)?;
    if let Some(kind) = kind {
        let attributes: XmlAttributes =
            vec![("type", Some(kind.to_owned())), ("message", Some(message.clone()))];
        xml.text(element, &attributes, &case_content(reported, &message))?;
    } else if reported.case.state == CaseState::Measured {
        let text =
            format!("{}: {message} (does not affect the result of the run)", reported.verdict().name());
        xml.text(element, &[], &text)?;
    } else {
        xml.empty(element, &[("message", Some(message))])?;
    }
    xml.end()?;

    Ok(())
}

/// The message and everything that counts against the answer; for several trials, of those that did not pass.
fn case_content(reported: &ReportedCase<'_>, message: &str) -> String {
    if reported.case.trials.is_none() {
        return content(&reported.records[0], message);
    }

    let mut parts = vec![message.to_owned()];
    for record in reported.records.iter().filter(|record| record.result.verdict != Verdict::Pass) {
        let row = &record.result;
        let head = format!("trial {}: {}; {}", row.trial, row.verdict.name(), self::message(row));
        parts.push(content(record, &head));
    }

    cut_text(&parts.join("\n\n"), MAX_CONTENT)
}

/// Score and main reason in one line.
fn message(row: &ResultRow) -> String {
    let score = number::format_score_or_range(row.score, row.score_low, row.score_high);
    let reason = main_reason(row).unwrap_or_default();
    let score = score.map_or_else(|| "no score".to_owned(), |score| format!("score {score}"));

    let text = if reason.is_empty() { score } else { format!("{score}; {reason}") };
    cut_text(&text, MAX_TEXT)
}

/// The message, then each failed gate and each criterion that counts against the answer or is ungraded.
fn content(record: &CaseRecord, message: &str) -> String {
    let row = &record.result;
    let texts = stored_texts(&record.decisions);
    let mut lines = vec![message.to_owned()];

    for gate in &row.gates_failed {
        lines.push(format!("gate failed: {}", gate_sentence(row, gate)));
    }
    for grader in &row.graders {
        if let Some(error) = &grader.error {
            lines.push(format!("grader {} failed to run: {}", grader.name, cut_text(error, MAX_TEXT)));
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
        if !is_open && !is_against(grader, criterion, is_gate) {
            continue;
        }

        let text = texts(&grader.name, &criterion.id).filter(|text| !text.trim().is_empty());
        let text = text.unwrap_or_else(|| format!("{}/{}", grader.name, criterion.id));
        let mark = VerdictMark::for_criterion(criterion, grader.negate);
        let not = if grader.negate { NEGATION_PREFIX } else { "" };
        lines.push(format!("{} {}: {not}{}", mark.sign, mark.word, cut_text(text.trim(), MAX_TEXT)));
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
