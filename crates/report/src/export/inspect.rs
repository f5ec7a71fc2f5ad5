//! Log of Inspect as one JSON document (version 2), a sample for each case and a score for each criterion.
//!
//! An ungraded criterion has no score in the log, so that it counts as neither 0 nor 1. The format has no
//! fields for gates, weights and bounds; they are in the metadata.

use std::collections::BTreeMap;
use std::io::Write;

use assize_rubric::OutcomeKind;
use assize_store::{CaseRecord, CriterionRate, CriterionRow, EstimatedMetric, ResultRow, RunInfo};
use serde_json::{Map, Value, json};

use super::case_index::CaseIndex;
use super::json_list::write_json;
use super::run_conclusion::{ReportedConclusion, RunProblem};
use super::{ReportError, RunReport, stored_question};
use crate::case_block::stored_texts;
use crate::sanitize::escape_lines;

/// Name of the score of a case as a whole.
const TOTAL: &str = "assize";

/// Name of a log file in the form that Inspect lists: the start time of the run, the task and the id of the
/// run. Inspect ignores files with other names.
pub fn inspect_log_name(info: &RunInfo) -> String {
    let task: Vec<&str> = info.suites.iter().map(|suite| suite.name.as_str()).collect();
    let time: String = info.started_at.chars().take("2026-01-02T03:04:05".len()).collect();
    // Inspect takes a hyphen for the end of the id.
    let id: String = info.run_id.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("{}+00-00_{}_{}.json", time.replace(':', "-"), name_part(&task.join("-")), name_part(&id))
}

/// Converts a text to a part of a log's name. The parts are separated by `_`.
fn name_part(text: &str) -> String {
    const MAX_LENGTH: usize = 60;

    let plain = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
    let plain: String = plain.take(MAX_LENGTH).collect();
    let trimmed = plain.trim_matches('-');
    if trimmed.is_empty() { "run".to_owned() } else { trimmed.to_owned() }
}

/// Writes a run whose answers all come from one target; a log of Inspect can't hold more.
pub(super) fn write_log(out: &mut dyn Write, runs: &[RunReport<'_>]) -> Result<Vec<String>, ReportError> {
    let [run] = runs else {
        return Err(ReportError::Unsupported("a log of Inspect holds one run; name one".to_owned()));
    };
    let index = CaseIndex::read(run)?;
    let mut targets: Vec<Option<&str>> = index.groups.iter().map(|group| group.target.as_deref()).collect();
    targets.sort_unstable();
    targets.dedup();
    if targets.len() > 1 {
        return Err(ReportError::Unsupported(format!(
            "a log of Inspect holds the answers of one target; name it, such as `{}@{}`",
            run.name,
            targets.iter().flatten().next().unwrap_or(&"TARGET")
        )));
    }

    let model = targets.first().copied().flatten().unwrap_or("none");
    let conclusion = ReportedConclusion::new(run, &index);
    let head = head(run, &index, &conclusion, model);
    out.write_all(b"{")?;
    for (key, value) in head {
        write!(out, "{}:", json!(key))?;
        write_json(out, &without_controls(value), false)?;
        out.write_all(b",\n")?;
    }

    out.write_all(b"\"samples\":[")?;
    let mut questions = run.questions()?;
    for (at, read) in index.rows(run, |_| true)?.enumerate() {
        let (_, record) = read?;
        let question = stored_question(&mut questions, &record.result)?;
        let (question, reference) = question.map_or((None, None), |row| (row.question, row.reference));
        out.write_all(if at == 0 { b"\n" } else { b",\n" })?;
        write_json(out, &without_controls(sample(&record, model, question, reference)), false)?;
    }
    out.write_all(b"\n]}\n")?;

    Ok(vec![])
}

/// Status in Inspect's terms: a run that completed all its cases is a success, with any scores.
fn status(conclusion: &ReportedConclusion) -> &'static str {
    match conclusion {
        ReportedConclusion { ended: false, .. } => "started",
        ReportedConclusion { missing: 0, .. } => "success",
        _ => "cancelled",
    }
}

fn head(
    run: &RunReport<'_>,
    index: &CaseIndex,
    conclusion: &ReportedConclusion,
    model: &str,
) -> Map<String, Value> {
    let info = run.info;
    let task = run.suite_names();
    let judges: Vec<&str> = info.judges.iter().map(|judge| &*judge.identity.name).collect();
    let finished = info.finished_at.as_ref().unwrap_or(&info.started_at);
    let settings = &info.settings;

    let eval = json!({
        "eval_id": info.run_id,
        "run_id": info.run_id,
        "created": info.started_at,
        "task": task,
        "task_id": info.run_id,
        "task_version": 0,
        "task_args": {},
        "dataset": { "name": task, "samples": index.len(), "sample_ids": [], "shuffled": false },
        "model": model,
        "model_args": {},
        "model_generate_config": {},
        "config": {},
        "packages": { "assize": info.assize_version },
        "metadata": {
            "assize": {
                "judges": judges, "judging": settings.judging, "command": info.command, "warnings": info.warnings,
                "exit_code": conclusion.exit_code,
                "problems": conclusion.problems.iter().map(RunProblem::describe).collect::<Vec<_>>(),
            },
        },
    });

    let mut head = Map::new();
    head.insert("version".to_owned(), json!(2));
    head.insert("status".to_owned(), json!(status(conclusion)));
    head.insert("eval".to_owned(), eval);
    head.insert("plan".to_owned(), json!({ "name": "plan", "steps": [], "config": {} }));
    head.insert("results".to_owned(), results(run, index, conclusion));
    head.insert(
        "stats".to_owned(),
        json!({ "started_at": info.started_at, "completed_at": finished, "model_usage": {} }),
    );

    head
}

/// The stored metrics of the run.
fn results(run: &RunReport<'_>, index: &CaseIndex, conclusion: &ReportedConclusion) -> Value {
    let mut scores = Vec::new();
    if let Some(summary) = &run.info.summary {
        if let Some(figures) = &summary.figures {
            let metrics = [("pass_rate", &figures.pass_rate), ("mean_score", &figures.mean_score)];
            scores.push(eval_score(TOTAL, &metrics));
        }
        for rate in &summary.criterion_rates {
            let name = if rate.scored { "mean" } else { "rate" };
            scores.push(eval_score(&score_name(&rate.grader, &rate.criterion), &[(name, &rate.rate)]));
        }
        scores.dedup_by(|later, earlier| later["name"] == earlier["name"]);
    }

    let rates: Vec<&CriterionRate> =
        run.info.summary.iter().flat_map(|summary| &summary.criterion_rates).collect();
    let texts: BTreeMap<String, &str> =
        rates.iter().map(|rate| (score_name(&rate.grader, &rate.criterion), rate.text.as_str())).collect();
    json!({
        "total_samples": index.row_count() + conclusion.missing,
        "completed_samples": index.row_count(),
        "scores": scores,
        "metadata": { "criteria": texts },
    })
}

fn eval_score(name: &str, metrics: &[(&str, &EstimatedMetric)]) -> Value {
    let mut shown = Map::new();
    for (name, metric) in metrics {
        let Some(value) = metric.value else { continue };
        let interval = json!({ "low": metric.low, "high": metric.high, "n": metric.n });
        shown.insert(
            (*name).to_owned(),
            json!({ "name": name, "value": value, "params": {}, "metadata": interval }),
        );
    }

    json!({ "name": name, "scorer": name, "params": {}, "metrics": shown })
}

fn sample(record: &CaseRecord, model: &str, question: Option<String>, reference: Option<String>) -> Value {
    let row = &record.result;
    let question = question.unwrap_or_default();
    let answer = row.answer.clone().unwrap_or_default();
    let usage = |count: Option<u64>| count.unwrap_or(0);
    let tokens = row.tokens;
    let has_tokens = tokens.input.is_some() || tokens.output.is_some();
    let usage = json!({
        "input_tokens": usage(tokens.input),
        "output_tokens": usage(tokens.output),
        "total_tokens": usage(tokens.input) + usage(tokens.output),
    });

    let mut sample = json!({
        "id": sample_id(row),
        "epoch": row.trial,
        "input": question,
        "target": reference.unwrap_or_default(),
        "messages": [
            { "role": "user", "content": question },
            { "role": "assistant", "content": answer, "source": "generate" },
        ],
        "output": {
            "model": model,
            "choices": [{ "message": { "role": "assistant", "content": answer }, "stop_reason": "stop" }],
            "completion": answer,
        },
        "scores": scores(record),
        "metadata": {
            "suite": row.suite, "tags": row.tags, "verdict": row.verdict, "gates_failed": row.gates_failed,
            "score_low": row.score_low, "score_high": row.score_high, "cost_usd": row.cost_usd,
        },
        "store": {},
        "events": [],
        "model_usage": {},
        "attachments": {},
    });
    if has_tokens {
        sample["model_usage"][model] = usage;
    }
    if let Some(error) = &row.error {
        let message = &error.message;
        sample["error"] = json!({ "message": message, "traceback": message, "traceback_ansi": message });
    }

    sample
}

/// Escapes characters that would reorder or hide text, in all strings of a value.
fn without_controls(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(escape_lines(&text)),
        Value::Array(items) => items.into_iter().map(without_controls).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(key, value)| (escape_lines(&key), without_controls(value))).collect()
        }
        other => other,
    }
}

/// Returns an id with the suite, because case ids are unique only within a suite.
fn sample_id(row: &ResultRow) -> String {
    format!("{}/{}", row.suite, row.case_id)
}

fn scores(record: &CaseRecord) -> Value {
    let row = &record.result;
    let texts = stored_texts(&record.decisions);
    let mut scores = Map::new();
    if let Some(score) = row.score {
        let why = crate::case_block::main_reason(row).unwrap_or_default();
        scores.insert(
            TOTAL.to_owned(),
            json!({ "value": score, "answer": row.verdict.name(), "explanation": why }),
        );
    }

    for grader in &row.graders {
        for criterion in &grader.criteria {
            let text = texts(&grader.name, &criterion.id);
            if let Some(score) = criterion_score(criterion, text) {
                scores.insert(score_name(&grader.name, &criterion.id), score);
            }
        }
    }

    Value::Object(scores)
}

fn criterion_score(criterion: &CriterionRow, text: Option<String>) -> Option<Value> {
    let value = criterion.value.filter(|_| criterion.outcome != OutcomeKind::Ungraded)?;
    Some(json!({
        "value": value,
        "answer": criterion.outcome.name(),
        "explanation": criterion.reason,
        "metadata": {
            "criterion": text,
            "weight": criterion.weight,
            "gate": criterion.gate,
            "judge": criterion.judge.name,
            "evidence": criterion.evidence,
        },
    }))
}

fn score_name(grader: &str, criterion: &str) -> String {
    format!("{grader}/{criterion}")
}
