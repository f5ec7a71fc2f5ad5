//! `assize try`.

use std::io::Read as _;

use assize_engine::{
    AttemptJudge, AttemptSubject, AttemptWatch, Engine, EngineError, EngineErrorKind, ExitStatus, TryOutcome,
    WatchEvent,
};
use assize_report::{CaseDetailLevel, escape_unsafe, render_case, render_criterion_change, stored_texts};
use assize_rubric::Verdict;
use assize_store::CaseRecord;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::args::TryArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;
use crate::runtime::block_on;

pub(crate) fn execute(args: &TryArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let subject = AttemptSubject::new(args.request(), standard_input)?;
    let engine = context.engine(args.quiet);
    let judge =
        AttemptJudge::new(&engine, args.options(), subject.folder(), &args.root, args.targets.as_deref())?;

    let exit = block_on(async {
        let cancel = CancellationToken::new();
        let stopped = context.process.stopped();
        let interrupt = tokio::spawn({
            let cancel = cancel.clone();
            async move {
                stopped.await;
                cancel.cancel();
            }
        });
        let exit = if args.watch.is_some() {
            let observe = |event: WatchEvent<'_>| show(&event, args, context);
            let watch = AttemptWatch::new(&engine, &subject, &judge, args.quiet, &cancel, &observe);
            watch.run().await.map_err(CommandFailure::from)
        } else {
            once(&engine, &subject, &judge, args, &cancel, context).await
        };

        interrupt.abort();
        exit
    });

    if let Err(error) = judge.flush() {
        output::print_warning(&error.message, context);
    }

    exit
}

async fn once(
    engine: &Engine,
    subject: &AttemptSubject,
    judge: &AttemptJudge<'_>,
    args: &TryArgs,
    cancel: &CancellationToken,
    context: &CliContext,
) -> Result<ExitStatus, CommandFailure> {
    let loaded = subject.load(judge.load_options(), engine);
    loaded.report(args.quiet, engine);

    let attempt = loaded.attempt?;
    for warning in judge.check(&attempt)? {
        if !args.quiet {
            output::print_warning(&warning, context);
        }
    }

    let record = match judge.judge(&attempt, cancel).await? {
        TryOutcome::Judged(record) => record,
        TryOutcome::Interrupted => return Ok(ExitStatus::Interrupted),
        TryOutcome::Stopped(stop) => {
            output::print_error(stop.reason(), context);
            return Ok(stop.exit());
        }
    };
    if args.json {
        output::print_json(&record_json(&record));
    } else {
        let texts = stored_texts(&record.decisions);
        output::print(&render_case(&record.result, &texts, CaseDetailLevel::Full, context.stdout));
    }

    Ok(match record.result.verdict {
        Verdict::Pass => ExitStatus::Passed,
        Verdict::Fail | Verdict::Borderline => ExitStatus::Failed,
        Verdict::Incomplete => ExitStatus::Incomplete,
    })
}

/// Prints an event of a criterion, as one line with `--json`.
fn show(event: &WatchEvent<'_>, args: &TryArgs, context: &CliContext) {
    match *event {
        WatchEvent::Watching if !args.quiet => output::print_message("watching; stop with Ctrl-C\n"),
        WatchEvent::Removed { grader, criterion } if args.json => {
            let line = json!({ "grader": grader, "criterion": criterion, "removed": true });
            output::print(&format!("{line}\n"));
        }
        WatchEvent::Removed { criterion, .. } if !args.quiet => {
            output::print_message(&format!("{} was removed\n", escape_unsafe(criterion)));
        }
        WatchEvent::Watching | WatchEvent::Removed { .. } => {}
        WatchEvent::Judged { grader, before, after, record } => {
            let text = stored_texts(&record.decisions)(grader, &after.id);
            if args.json {
                let line = json!({
                    "grader": grader, "criterion": after.id, "text": text, "before": before, "after": after,
                });
                output::print(&format!("{line}\n"));
            } else {
                output::print(&render_criterion_change(before, after, text.as_deref(), context.stdout));
            }
        }
    }
}

/// Reads the answer from standard input.
fn standard_input() -> Result<String, EngineError> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|error| {
        EngineError::new(
            EngineErrorKind::Unreadable,
            format!("can't read the answer from standard input: {error}"),
        )
    })?;

    if text.trim().is_empty() {
        return Err(EngineError::usage(
            "no answer given: use `--answer`, `--answer-file` or standard input (`--answer ''` for an empty one)",
        ));
    }

    Ok(text)
}

/// The object that `--json` prints.
fn record_json(record: &CaseRecord) -> Value {
    let row = &record.result;
    let texts = stored_texts(&record.decisions);
    let criteria: Vec<Value> = row
        .graders
        .iter()
        .flat_map(|grader| grader.criteria.iter().map(move |criterion| (grader, criterion)))
        .map(|(grader, criterion)| {
            json!({
                "grader": grader.name,
                "text": texts(&grader.name, &criterion.id),
                "decision": criterion,
            })
        })
        .collect();
    json!({
        "case_id": row.case_id,
        "verdict": row.verdict,
        "score": row.score,
        "score_low": row.score_low,
        "score_high": row.score_high,
        "gates_failed": row.gates_failed,
        "criteria": criteria,
        "error": row.error,
        "tokens": row.tokens,
        "cost_usd": row.cost_usd,
        "duration_ms": row.duration_ms,
    })
}
