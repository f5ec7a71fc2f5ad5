//! `assize convert --to cases`: records of other tools as cases with their answers.

use std::path::Path;

use assize_engine::ExitStatus;
use assize_records::{RecordFormat, RecordProblem, UniqueIds, detect_records, read_records};
use assize_report::grouped;
use serde_json::{Value, json};

use super::transcript::write_lines;
use crate::args::ConvertArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

/// Writes the records of all files as cases. `format` is the format of the first file, or the one given for all files.
pub(super) fn execute(
    args: &ConvertArgs,
    format: RecordFormat,
    context: &CliContext,
) -> Result<ExitStatus, CommandFailure> {
    if !args.root.is_empty() {
        return Err("`--root` is for eval files, not for records of other tools; remove it".into());
    }

    let mut ids = UniqueIds::default();
    let (mut lines, mut files) = (String::new(), Vec::new());
    let (mut cases, mut left_out) = (0usize, 0usize);
    let mut broken = Vec::new();
    for path in &args.from {
        let failed = |why: String| format!("{}: {why}; nothing was converted", path.display());
        let format = match args.kind {
            Some(_) => Some(format),
            None => detect_records(path).map_err(|error| failed(error.to_string()))?,
        };
        let format = format.ok_or_else(|| failed("it holds no records of another tool".to_owned()))?;
        let file = read_records(path, format).map_err(|error| failed(error.to_string()))?;
        for remark in &file.remarks {
            output::print_warning(&format!("{}: {remark}", path.display()), context);
        }
        for problem in &file.problems {
            let message = format!("{}: skipped what can't be read: {problem}", path.display());
            if args.keep_going {
                output::print_warning(&message, context);
            }
        }
        if !file.problems.is_empty() && !args.keep_going {
            broken.push(broken_records(path, &file.problems));
        }
        for (record, why) in file.unanswered() {
            output::print_warning(
                &format!("{}: `{}` was skipped: {why}", path.display(), record.id),
                context,
            );
        }

        let unanswered = file.unanswered().count();
        left_out += unanswered + file.problems.len();
        cases += file.records.len() - unanswered;
        for mut case in file.records.iter().filter_map(assize_records::Record::to_answer) {
            let id = case["id"].as_str().map(|id| ids.take(id)).unwrap_or_default();
            case["id"] = json!(id);
            escape_question(&mut case);
            lines.push_str(&case.to_string());
            lines.push('\n');
        }
        files.push(json!({
            "file": path.display().to_string(), "format": format.name(),
            "records": file.records.len(), "unanswered": unanswered, "remarks": file.remarks,
            "unreadable": file.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
        }));
    }
    if !broken.is_empty() {
        return Err(format!("{}\n{KEEP_GOING}", broken.join("\n")).into());
    }
    if files.iter().all(|file| file["records"] == 0) {
        return Err("there are no records, so there is nothing to convert".into());
    }
    if cases == 0 {
        return Err("no record has an answer; for cases without answers use `--to tests`".into());
    }

    if let Some(out) = &args.out {
        write_lines(out, &lines, args.force)?;
    }
    if args.json {
        let text = args.out.is_none().then_some(lines);
        output::print_json(&json!({"cases": cases, "skipped": left_out, "files": files, "text": text}));
    } else if let Some(out) = &args.out {
        let noun = if cases == 1 { "case" } else { "cases" };
        output::print_message(&format!("{} {noun} written to {}\n", grouped(cases as u64), out.display()));
    } else {
        output::print_json_text(&lines);
    }

    Ok(if left_out == 0 { ExitStatus::Passed } else { ExitStatus::Incomplete })
}

/// Advice for records that can't be read.
pub(super) const KEEP_GOING: &str = "nothing was converted; `--keep-going` skips them, and exits with 3";

/// Message with the unreadable records of a file.
pub(super) fn broken_records(path: &Path, problems: &[RecordProblem]) -> String {
    /// Most records that are named; more are counted.
    const MAX_SHOWN: usize = 200;

    let mut lines = match problems.len() {
        1 => vec![format!("{}: 1 record can't be read", path.display())],
        count => vec![format!("{}: {count} records can't be read", path.display())],
    };
    lines.extend(problems.iter().take(MAX_SHOWN).map(|problem| format!("  {problem}")));
    if problems.len() > MAX_SHOWN {
        lines.push(format!("  and {} more", problems.len() - MAX_SHOWN));
    }

    lines.join("\n")
}

/// Escapes texts that an eval file would take for environment variables.
fn escape_question(case: &mut Value) {
    for key in ["input", "expected_output", "criteria"] {
        match case.get_mut(key) {
            Some(Value::String(text)) => *text = text.replace("${{", "$${{"),
            Some(Value::Array(messages)) => {
                for message in messages {
                    if let Some(Value::String(text)) = message.get_mut("content") {
                        *text = text.replace("${{", "$${{");
                    }
                }
            }
            _ => {}
        }
    }
}
