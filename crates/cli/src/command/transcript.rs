//! `assize convert --to cases`: session logs of agents as cases with their answers.

use std::fs::File;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;

use assize_engine::ExitStatus;
use assize_records::UniqueIds;
use assize_report::grouped;
use assize_table::is_table;
use assize_targets::{join_subagents, subagent_logs, take_subagents, traced_answer, traced_output};
use assize_trace::{AgentTrace, LogFormat, TraceLog, TraceLogError, read_log};
use serde_json::{Map, Value, json};

use crate::args::ConvertArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

/// A session log.
struct TranscriptLog {
    name: String,
    stem: String,
    read: TraceLog,
}

pub(super) fn execute(
    args: &ConvertArgs,
    format: Option<LogFormat>,
    context: &CliContext,
) -> Result<ExitStatus, CommandFailure> {
    if !args.root.is_empty() {
        return Err("`--root` is for eval files, not for session logs; remove it".into());
    }

    let mut logs = Vec::new();
    let mut broken = Vec::new();
    let mut subagents = Vec::new();
    for path in &args.from {
        for file in std::iter::once(path.clone()).chain(subagent_logs(path)) {
            let mut log = open(&file, format)?;
            broken.extend(problems(&log));
            subagents.extend(take_subagents(&mut log.read.traces));
            if !log.read.traces.is_empty() {
                logs.push(log);
            }
        }
    }
    join_subagents(subagents, logs.iter_mut().flat_map(|log| &mut log.read.traces).collect());

    if !broken.is_empty() && !args.keep_going {
        return Err(
            format!("{}\nnothing was converted; `--keep-going` skips such lines", broken.join("\n")).into()
        );
    }

    for problem in &broken {
        output::print_warning(problem, context);
    }

    let mut ids = UniqueIds::default();
    let mut lines = String::new();
    let mut summaries = Vec::new();
    let mut left_out = 0;
    for log in &logs {
        for trace in &log.read.traces {
            if let Err(why) = traced_answer(trace) {
                output::print_warning(&format!("{}: a session was skipped: {why}", log.name), context);
                left_out += 1;
                continue;
            }

            let session = trace.session.as_deref().map(as_id).filter(|id| !id.is_empty());
            let id = ids.take(&session.unwrap_or_else(|| as_id(&log.stem)));
            if trace.question().is_none() {
                let message =
                    format!("{}: the log of `{id}` does not contain the question; add `input`", log.name);
                output::print_warning(&message, context);
            }

            summaries.push(summary(&id, trace, log));
            let case = case(&id, trace, &log.name);
            lines.push_str(&case.to_string());

            lines.push('\n');
        }
    }

    if summaries.is_empty() {
        return Err("no session with an answer was found; nothing was converted".into());
    }

    if let Some(out) = &args.out {
        write_lines(out, &lines, args.force)?;
    }

    if args.json {
        let mut value = report(&logs, &summaries, left_out);
        value["text"] = args.out.is_none().then_some(lines).into();
        output::print_json(&value);
    } else {
        if args.out.is_none() {
            output::print_json_text(&lines);
        }
        say(&logs, &summaries, args.out.as_deref());
    }

    Ok(if broken.is_empty() && left_out == 0 { ExitStatus::Passed } else { ExitStatus::Incomplete })
}

fn open(path: &Path, format: Option<LogFormat>) -> Result<TranscriptLog, CommandFailure> {
    let is_stdin = path.as_os_str() == "-";
    let name = if is_stdin { "standard input".to_owned() } else { path.display().to_string() };
    let reader: Box<dyn BufRead> = if is_stdin {
        Box::new(BufReader::new(std::io::stdin()))
    } else {
        Box::new(BufReader::new(
            assize_files::open_file(path).map_err(|error| format!("{name}: can't be read: {error}"))?,
        ))
    };
    let read = read_log(reader, format).map_err(|error| match error {
        TraceLogError::UnknownFormat if is_table(path) => format!(
            "{name}: a table needs no conversion; grade it with `assize grade RUBRIC --answers {name}`, and \
            `--columns answer=COLUMN,metadata=*` if its columns have other names"
        ),
        TraceLogError::UnknownFormat => format!(
            "{name}: neither a session log of an agent nor records of another tool; name its kind with `--kind`"
        ),
        error => format!("{name}: {error}"),
    })?;
    let stem = path.file_stem().filter(|_| !is_stdin).and_then(|stem| stem.to_str()).unwrap_or("session");

    Ok(TranscriptLog { name, stem: stem.to_owned(), read })
}

fn problems(log: &TranscriptLog) -> Vec<String> {
    let mut all: Vec<String> = log
        .read
        .problems
        .iter()
        .map(|problem| format!("{}:{}: {}", log.name, problem.line, problem.message))
        .collect();
    if log.read.more_problems > 0 {
        all.push(format!("{}: {} more lines can't be read", log.name, log.read.more_problems));
    }

    all
}

/// Turns a name into a valid case id: without control characters and surrounding blanks.
fn as_id(name: &str) -> String {
    let clean: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    clean.trim().to_owned()
}

fn case(id: &str, trace: &AgentTrace, source: &str) -> Value {
    let mut case = Map::new();
    case.insert("id".to_owned(), id.into());

    // An eval file would replace text that looks like a reference to an environment variable.
    if let Some(question) = trace.question() {
        case.insert("input".to_owned(), question.replace("${{", "$${{").into());
    }

    case.insert("output".to_owned(), traced_output(trace));
    let mut metadata = json!({ "source": source, "format": trace.format.name() });
    for (key, value) in [
        ("session", trace.session.clone()),
        ("model", trace.model.clone()),
        ("started", trace.started.map(|at| at.to_string())),
    ] {
        if let Some(value) = value {
            metadata[key] = value.into();
        }
    }

    case.insert("metadata".to_owned(), metadata);
    Value::Object(case)
}

pub(super) fn write_lines(out: &Path, lines: &str, force: bool) -> Result<(), CommandFailure> {
    let failed = |error: std::io::Error| format!("{}: can't be written: {error}", out.display());
    if !force && out.try_exists().map_err(failed)? {
        return Err(format!("`{}` exists; overwrite it with `--force`", out.display()).into());
    }

    let mut file = File::create(out).map_err(failed)?;
    file.write_all(lines.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;

    Ok(())
}

/// Summary of a converted session.
fn summary(id: &str, trace: &AgentTrace, log: &TranscriptLog) -> Value {
    json!({
        "id": id,
        "file": log.name,
        "format": trace.format.name(),
        "messages": trace.messages.len(),
        "tool_calls": trace.calls().count(),
        "failed_tool_calls": trace.calls().filter(|call| call.failed == Some(true)).count(),
        "tokens": { "input": trace.tokens.input, "cached": trace.tokens.cached, "output": trace.tokens.output },
        "cost_usd": trace.cost_usd,
        "duration_ms": trace.duration.map(|duration| duration.as_secs_f64() * 1000.0),
        "model": trace.model,
    })
}

fn report(logs: &[TranscriptLog], told: &[Value], left_out: usize) -> Value {
    let files: Vec<Value> = logs
        .iter()
        .map(|log| {
            json!({
                "file": log.name,
                "records": log.read.records,
                "unknown_records": log.read.unknown,
                "unreadable_lines": log.read.problems.len() + log.read.more_problems,
            })
        })
        .collect();
    json!({ "sessions": told, "skipped": left_out, "files": files })
}

fn say(logs: &[TranscriptLog], told: &[Value], out: Option<&Path>) {
    let count = |count: usize, noun: &str| {
        format!("{} {noun}{}", grouped(count as u64), if count == 1 { "" } else { "s" })
    };
    for session in told {
        let number = |key: &str| session[key].as_u64().unwrap_or(0) as usize;
        output::print_message(&format!(
            "{}: {} of {}, {}, {}\n",
            session["id"].as_str().unwrap_or_default(),
            session["format"].as_str().unwrap_or_default(),
            session["file"].as_str().unwrap_or_default(),
            count(number("messages"), "message"),
            count(number("tool_calls"), "tool call"),
        ));
    }

    for log in logs.iter().filter(|log| !log.read.unknown.is_empty()) {
        let kinds: Vec<String> = log.read.unknown.iter().map(|(kind, n)| format!("{kind} ({n})")).collect();
        let total: usize = log.read.unknown.values().sum();
        output::print_message(&format!(
            "{}: {} of {} of unknown kinds skipped: {}\n",
            log.name,
            grouped(total as u64),
            count(log.read.records, "record"),
            kinds.join(", ")
        ));
    }

    if let Some(out) = out {
        output::print_message(&format!("{} written to {}\n", count(told.len(), "case"), out.display()));
    }
}
