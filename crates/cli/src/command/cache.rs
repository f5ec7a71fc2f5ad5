//! `assize cache`.

use std::path::Path;

use assize_engine::{ExitStatus, forget_servers, remedy, replies_file};
use assize_report::grouped;
use assize_store::{CacheStats, ReplyCache, StoreError};
use serde_json::json;

use crate::args::{CacheAction, CacheArgs};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

pub(crate) fn execute(args: &CacheArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let path = replies_file(&context.process);
    let shown = path.strip_prefix(&context.process.working_folder).unwrap_or(&path).display().to_string();
    match args.action {
        CacheAction::Stats { json } => {
            let stats = open(&path).and_then(|cache| cache.map(|cache| cache.stats()).transpose());
            let stats = stats.map_err(|error| told(&error))?;
            if json {
                output::print_json(&stats_json(&shown, stats.as_ref()));
            } else {
                print_stats(&shown, stats, context);
            }
        }
        CacheAction::Prune { older_than, json } => {
            let age = i64::try_from(older_than.as_secs()).unwrap_or(i64::MAX);
            // A reply stored within this very second is zero seconds old.
            let before = context.process.now().as_second().saturating_sub(age).saturating_add(1);
            say_deleted(&shown, pruned(&path, Some(before)).map_err(|error| told(&error))?, json);
        }
        CacheAction::Clear { json } => match pruned(&path, None) {
            Ok(deleted) => {
                forget_servers(&context.process)?;
                say_deleted(&shown, deleted, json);
            }
            Err(error @ StoreError::Busy { .. }) => return Err(told(&error).into()),
            // A cache that can't be read, or is on a full disk, can still be deleted, as the user asked.
            Err(error) => {
                ReplyCache::remove(&path)?;
                if json {
                    output::print_json(&json!({ "path": shown, "deleted": null }));
                } else {
                    output::print(&format!("deleted the damaged cache {shown}: {error}\n"));
                }
            }
        },
    }

    Ok(ExitStatus::Passed)
}

/// Opens the cache, if there is one. Looking at it must not create it.
fn open(path: &Path) -> Result<Option<ReplyCache>, StoreError> {
    if path.exists() { ReplyCache::open(path).map(Some) } else { Ok(None) }
}

/// Deletes replies from before this time, or all of them; returns their number.
fn pruned(path: &Path, before: Option<i64>) -> Result<u64, StoreError> {
    match open(path)? {
        Some(cache) => cache.prune(before),
        // The file may have been deleted by hand. Its replies would return from the files next to it.
        None if before.is_none() => ReplyCache::remove(path).map(|()| 0),
        None => Ok(0),
    }
}

fn told(error: &StoreError) -> String {
    format!("{error}{}", remedy(error))
}

fn say_deleted(path: &str, deleted: u64, json: bool) {
    if json {
        output::print_json(&json!({ "path": path, "deleted": deleted }));
    } else {
        let replies = if deleted == 1 { "reply" } else { "replies" };
        output::print(&format!("deleted {deleted} {replies} from {path}\n"));
    }
}

fn stats_json(path: &str, stats: Option<&CacheStats>) -> serde_json::Value {
    let models: Vec<serde_json::Value> = stats
        .iter()
        .flat_map(|stats| &stats.models)
        .map(|model| json!({ "model": model.model, "replies": model.replies, "bytes": model.bytes }))
        .collect();
    json!({
        "path": path,
        "replies": stats.map_or(0, |stats| stats.replies),
        "bytes": stats.map_or(0, |stats| stats.bytes),
        "file_bytes": stats.map_or(0, |stats| stats.file_bytes),
        "oldest": stats.and_then(|stats| stats.oldest).and_then(day),
        "newest": stats.and_then(|stats| stats.newest).and_then(day),
        "models": models,
    })
}

fn print_stats(path: &str, stats: Option<CacheStats>, context: &CliContext) {
    let Some(stats) = stats.filter(|stats| stats.replies > 0) else {
        output::print_text(&format!("{path} has no replies\n"), context);
        return;
    };
    let mut text = format!("{path}: {} replies, {}", grouped(stats.replies), size(stats.file_bytes));
    if let (Some(oldest), Some(newest)) = (stats.oldest.and_then(minute), stats.newest.and_then(minute)) {
        text.extend([", from ", &oldest, " to ", &newest]);
    }

    text.push('\n');

    for model in &stats.models {
        let name = if model.model.is_empty() { "(no name reported)" } else { &model.model };
        text.extend(["  ", name, ": ", &grouped(model.replies), " replies, ", &size(model.bytes), "\n"]);
    }

    output::print_text(&text, context);
}

/// Formats a time for display, in the time zone of this machine.
fn minute(seconds: i64) -> Option<String> {
    let time = jiff::Timestamp::from_second(seconds).ok()?.to_zoned(jiff::tz::TimeZone::system());
    Some(time.strftime("%Y-%m-%d %H:%M").to_string())
}

/// Formats a time for JSON.
fn day(seconds: i64) -> Option<String> {
    jiff::Timestamp::from_second(seconds).ok().map(|time| time.to_string())
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}
