//! `assize try`.

mod bench;
mod material;
mod watch;

use assize_report::Show;
use assize_report::{case_block, stored_texts};
use assize_rubric::Verdict;
use assize_store::CaseRecord;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use self::bench::{Bench, Judged};
use self::material::Wish;
use super::session::{runtime, watch_for_interrupt};
use crate::args::TryArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::output;

pub(crate) fn execute(args: &TryArgs, context: &Context) -> Result<Exit, String> {
    let wish = Wish::read(args)?;
    let run = args.run();
    let bench = Bench::new(args, &run, wish.folder(), context)?;
    let cancel = CancellationToken::new();
    let runtime = runtime()?;
    let exit = runtime.block_on(async {
        let interrupt = tokio::spawn(watch_for_interrupt(cancel.clone()));
        let exit = if args.watch.is_some() {
            watch::watch(&wish, &bench, args, &cancel, context).await
        } else {
            once(&wish, &bench, args, &cancel, context).await
        };
        interrupt.abort();
        exit
    });
    runtime.shutdown_background();
    if let Err(message) = bench.flush() {
        output::warn(&message, context);
    }
    exit
}

async fn once(
    wish: &Wish,
    bench: &Bench<'_>,
    args: &TryArgs,
    cancel: &CancellationToken,
    context: &Context,
) -> Result<Exit, String> {
    let loaded = wish.load(bench.options(), context);
    loaded.say(args.quiet, context);
    let scene = loaded.scene?;
    for warning in bench.check(&scene)? {
        if !args.quiet {
            output::warn(&warning, context);
        }
    }
    let record = match bench.judge(&scene, cancel).await? {
        Judged::Done(record) => record,
        Judged::Interrupted => return Ok(Exit::Interrupted),
        Judged::OverBudget(why) => {
            output::complain(&why, context);
            return Ok(Exit::OverBudget);
        }
    };
    if args.json {
        output::print_json(&record_json(&record));
    } else {
        let texts = stored_texts(&record.decisions);
        output::print(&case_block(&record.result, &texts, Show::Full, context.stdout));
    }
    Ok(match record.result.verdict {
        Verdict::Pass => Exit::Passed,
        Verdict::Fail | Verdict::Borderline => Exit::Failed,
        Verdict::Incomplete => Exit::Incomplete,
    })
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
