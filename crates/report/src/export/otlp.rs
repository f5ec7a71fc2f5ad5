//! OpenTelemetry log records: an event `gen_ai.evaluation.result` for each criterion.
//!
//! Each line is one OTLP request as JSON, as the file receiver of a collector reads it. The semantic
//! convention is in development; values that it has no attribute for are under `assize.*`. Texts of answers
//! are not written.

use std::io::Write;

use assize_rubric::OutcomeKind;
use assize_store::{CaseRecord, CriterionRow, GraderRow, ResultRow};
use serde_json::{Value, json};

use super::case_index::CaseIndex;
use super::json_list::write_json;
use super::{ReportError, ReportedConclusion, RunReport};
use crate::sanitize::sanitize_text;

/// Longest text, in characters.
const MAX_TEXT: usize = 1_000;
/// Name of the event in the convention.
const EVENT: &str = "gen_ai.evaluation.result";
/// Severity of an ordinary record and of one about an error.
const INFO: u8 = 9;
const ERROR: u8 = 17;

/// Writes a line for each case, and one for the run as a whole.
pub(super) fn write_events(out: &mut dyn Write, runs: &[RunReport<'_>]) -> Result<Vec<String>, ReportError> {
    for run in runs {
        let time = run.info.finished_at.as_ref().unwrap_or(&run.info.started_at);
        let nanoseconds = time.parse::<jiff::Timestamp>().map_or(0, jiff::Timestamp::as_nanosecond);
        let origin = EventOrigin {
            version: &run.info.assize_version,
            attributes: &[("assize.run.id", &run.info.run_id)],
            span: None,
            reasons: true,
            graders: false,
        };
        let index = CaseIndex::read(run)?;
        for read in index.rows(run, |_| true)? {
            let (_, record) = read?;
            write_json(out, &origin.request(origin.events(&record, nanoseconds)), false)?;
            out.write_all(b"\n")?;
        }

        let event = run_event(run, &ReportedConclusion::new(run, &index), &nanoseconds.max(0).to_string());
        write_json(out, &origin.request(vec![event]), false)?;
        out.write_all(b"\n")?;
    }

    Ok(Vec::new())
}

/// The source of a case's events, and the parts they may contain.
#[derive(Debug, Clone, Copy)]
pub struct EventOrigin<'a> {
    /// Version of Assize.
    pub version: &'a str,
    /// Attributes of every event, such as `assize.run.id`.
    pub attributes: &'a [(&'static str, &'a str)],
    /// Trace and span that the events belong to, in hexadecimal digits.
    pub span: Option<(&'a str, &'a str)>,
    /// True if the judges' reasons are included; they may quote the answer.
    pub reasons: bool,
    /// True if graders without criteria, such as the benchmarks of a scorecard, also get events.
    pub graders: bool,
}

impl EventOrigin<'_> {
    /// Returns the log records of a case: one `gen_ai.evaluation.result` event for the case and one for each
    /// criterion. `time` is in nanoseconds since 1970. Texts of answers are not included.
    pub fn events(&self, record: &CaseRecord, time: i128) -> Vec<Value> {
        let row = &record.result;
        let time = time.max(0).to_string();
        let mut events = vec![self.case_event(row, &time)];
        for grader in &row.graders {
            if let (true, [], Some(score)) = (self.graders, &*grader.criteria, grader.score) {
                events.push(self.grader_event(row, grader, score, &time));
            }
            events.extend(grader.criteria.iter().map(|criterion| self.event(row, grader, criterion, &time)));
        }

        events
    }

    /// Returns a request for OTLP over HTTP, as JSON, with these log records.
    pub fn request(&self, events: Vec<Value>) -> Value {
        json!({ "resourceLogs": [{
            "resource": { "attributes": [text("service.name", "assize"), text("service.version", self.version)] },
            "scopeLogs": [{ "scope": { "name": "assize", "version": self.version }, "logRecords": events }],
        }] })
    }

    /// The event of the case as a whole.
    fn case_event(&self, row: &ResultRow, time: &str) -> Value {
        let verdict = if row.is_skipped() { "skipped" } else { row.verdict.name() };
        let mut attributes = self.case_attributes(row);
        attributes.push(text("gen_ai.evaluation.name", &row.suite));
        attributes.push(text("gen_ai.evaluation.score.label", verdict));
        attributes.extend(row.score.map(|score| number("gen_ai.evaluation.score.value", score)));
        if let Some(error) = &row.error {
            attributes.push(text("error.type", error.kind.name()));
        }

        self.log_record(attributes, row.error.is_some(), time)
    }

    /// The event of a grader without criteria.
    fn grader_event(&self, row: &ResultRow, grader: &GraderRow, score: f64, time: &str) -> Value {
        let mut attributes = self.case_attributes(row);
        attributes.extend([
            text("gen_ai.evaluation.name", &format!("{}/{}", row.suite, grader.name)),
            number("gen_ai.evaluation.score.value", score),
            text("assize.grader.name", &grader.name),
        ]);

        self.log_record(attributes, false, time)
    }

    fn event(&self, row: &ResultRow, grader: &GraderRow, criterion: &CriterionRow, time: &str) -> Value {
        let ungraded = criterion.outcome == OutcomeKind::Ungraded;
        let mut attributes = self.case_attributes(row);
        attributes.extend([
            text("gen_ai.evaluation.name", &format!("{}/{}/{}", row.suite, grader.name, criterion.id)),
            text("gen_ai.evaluation.score.label", criterion.outcome.name()),
        ]);
        attributes.extend(criterion.value.map(|value| number("gen_ai.evaluation.score.value", value)));
        if self.reasons && !criterion.reason.trim().is_empty() {
            attributes.push(text("gen_ai.evaluation.explanation", &criterion.reason));
        }
        if ungraded {
            attributes.push(text("error.type", "ungraded"));
        }

        attributes.extend([
            text("assize.grader.name", &grader.name),
            text("assize.criterion.id", &criterion.id),
            number("assize.criterion.weight", criterion.weight),
            text("assize.judge.name", &criterion.judge.name),
        ]);
        attributes.extend(criterion.gate.as_deref().map(|gate| text("assize.criterion.gate", gate)));
        attributes.extend(criterion.judge.model.as_deref().map(|model| text("assize.judge.model", model)));
        attributes
            .extend(criterion.judge.version.as_deref().map(|version| text("assize.judge.version", version)));

        self.log_record(attributes, ungraded, time)
    }

    fn case_attributes(&self, row: &ResultRow) -> Vec<Value> {
        let mut attributes: Vec<Value> =
            self.attributes.iter().map(|(key, value)| text(key, value)).collect();
        attributes.extend([
            text("assize.suite.name", &row.suite),
            text("assize.case.id", &row.case_id),
            json!({ "key": "assize.case.repeat", "value": { "intValue": row.trial.to_string() } }),
        ]);
        attributes.extend(row.test.as_deref().map(|test| text("assize.test.id", test)));
        attributes.extend(row.prompt.as_deref().map(|prompt| text("assize.prompt.name", prompt)));
        attributes.extend(row.target.as_deref().map(|target| text("assize.target.name", target)));

        attributes
    }

    fn log_record(&self, attributes: Vec<Value>, is_error: bool, time: &str) -> Value {
        let mut record = log_record(attributes, is_error, time);
        if let Some((trace, span)) = self.span {
            record["traceId"] = trace.into();
            record["spanId"] = span.into();
        }

        record
    }
}

/// The event of the run as a whole: it passed only if its exit code is 0.
fn run_event(run: &RunReport<'_>, conclusion: &ReportedConclusion, time: &str) -> Value {
    let label = match conclusion.exit_code {
        0 => "pass",
        1 => "fail",
        _ => "incomplete",
    };
    let mut attributes = vec![
        text("assize.run.id", &run.info.run_id),
        json!({ "key": "assize.run.exit_code", "value": { "intValue": conclusion.exit_code.to_string() } }),
        text("gen_ai.evaluation.name", &run.suite_names()),
        text("gen_ai.evaluation.score.label", label),
    ];
    if conclusion.exit_code != 0 || !conclusion.problems.is_empty() {
        let reason = run.info.summary.as_ref().map(|summary| summary.exit_reason.clone());
        let problems = conclusion.problems.iter().map(super::run_conclusion::RunProblem::describe);
        let explanations: Vec<String> = reason.into_iter().chain(problems).collect();
        attributes.push(text("gen_ai.evaluation.explanation", &explanations.join("; ")));
    }
    if conclusion.exit_code != 0 {
        attributes.push(text("error.type", label));
    }

    log_record(attributes, conclusion.exit_code != 0, time)
}

fn log_record(attributes: Vec<Value>, is_error: bool, time: &str) -> Value {
    json!({
        "timeUnixNano": time,
        "severityNumber": if is_error { ERROR } else { INFO },
        "severityText": if is_error { "ERROR" } else { "INFO" },
        "eventName": EVENT,
        "attributes": attributes,
    })
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": sanitize_text(value, MAX_TEXT) } })
}

fn number(key: &str, value: f64) -> Value {
    json!({ "key": key, "value": { "doubleValue": value } })
}
