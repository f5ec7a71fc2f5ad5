//! `assize cache`.

use std::path::Path;

use assize_store::{CacheStats, ReplyCache};
use serde_json::json;

use crate::access::replies_file;
use crate::args::{CacheAction, CacheArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::output;

const SECONDS_OF_A_DAY: i64 = 24 * 60 * 60;

pub(crate) fn execute(args: &CacheArgs, context: &Context) -> Result<Exit, String> {
    let path = replies_file(context);
    let shown = path.strip_prefix(&context.working_folder).unwrap_or(&path).display().to_string();
    match args.action {
        CacheAction::Stats { json } => {
            let stats = match open(&path)? {
                Some(cache) => Some(cache.stats().map_err(|error| error.to_string())?),
                None => None,
            };
            if json {
                output::print_json(&stats_json(&shown, stats.as_ref()));
            } else {
                print_stats(&shown, stats);
            }
        }
        CacheAction::Prune { older_than, json } => {
            let before = Context::now().as_second() - i64::from(older_than) * SECONDS_OF_A_DAY;
            let deleted = match open(&path)? {
                Some(cache) => cache.prune(Some(before)).map_err(|error| error.to_string())?,
                None => 0,
            };
            say_deleted(&shown, deleted, json);
        }
        CacheAction::Clear { json } => {
            let deleted = match open(&path) {
                Ok(Some(cache)) => cache.prune(None).map_err(|error| error.to_string())?,
                Ok(None) => 0,
                // A file that can't be read can still be deleted, which is what the user wants.
                Err(_) => {
                    ReplyCache::remove(&path).map_err(|error| error.to_string())?;
                    0
                }
            };
            say_deleted(&shown, deleted, json);
        }
    }
    Ok(Exit::Passed)
}

/// The cache, if there is one: looking at it does not make it.
fn open(path: &Path) -> Result<Option<ReplyCache>, String> {
    if !path.exists() {
        return Ok(None);
    }
    ReplyCache::open(path).map(Some).map_err(|error| format!("{error}. `assize cache clear` makes it anew"))
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

fn print_stats(path: &str, stats: Option<CacheStats>) {
    let Some(stats) = stats.filter(|stats| stats.replies > 0) else {
        output::print(&format!("{path} holds no replies\n"));
        return;
    };
    let mut text = format!("{path} holds {} replies, {}", stats.replies, size(stats.file_bytes));
    if let (Some(oldest), Some(newest)) = (stats.oldest.and_then(day), stats.newest.and_then(day)) {
        text.extend([", bought from ", &oldest, " to ", &newest]);
    }
    text.push('\n');
    for model in &stats.models {
        let name = if model.model.is_empty() { "(no name reported)" } else { &model.model };
        text.extend(["  ", name, "  ", &model.replies.to_string(), " replies, ", &size(model.bytes), "\n"]);
    }
    output::print(&text);
}

/// A time as people and programs read it.
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
