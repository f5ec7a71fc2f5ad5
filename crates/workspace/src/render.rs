//! Changes as a unified diff with git's headers.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use similar::{Algorithm, TextDiff};

use crate::Snapshot;
use crate::name::{quoted, shown};
use crate::walk::Entry;

/// A file on one side of a change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) path: &'a Path,
    pub(crate) entry: &'a Entry,
}

pub(crate) struct Rendered {
    pub(crate) diff: String,
    pub(crate) left_out: Vec<String>,
}

/// Number of unchanged lines around a change.
const CONTEXT: usize = 3;
/// Time limit for finding the shortest diff of one file; a longer diff is still correct.
const PATIENCE: Duration = Duration::from_secs(2);

/// Renders the changes in their order, in at most `room` bytes.
pub(crate) fn render<'a>(
    changes: impl Iterator<Item = (Option<Side<'a>>, Option<Side<'a>>)>,
    snapshot: &Snapshot,
    room: usize,
) -> Rendered {
    let limits = snapshot.limits();
    let mut rendered = Rendered { diff: String::new(), left_out: Vec::new() };
    for (before, after) in changes {
        let Some(name) = after.or(before).map(|side| shown(side.path)) else { continue };
        let kind = |side: Option<Side<'_>>| side.map(|side| std::mem::discriminant(side.entry));
        let mut text = if before.is_some() && after.is_some() && kind(before) != kind(after) {
            // A file that became a link is two changes.
            one(before, None, snapshot) + &one(None, after, snapshot)
        } else {
            one(before, after, snapshot)
        };
        let whole = text.len();
        if cut(&mut text, limits.max_file_diff) {
            let left = whole - limits.max_file_diff;
            rendered.left_out.push(format!("{name}: {left} of {whole} bytes of its diff"));
        }
        if rendered.diff.len() + text.len() > room {
            text = format!("[cut: {name} changed too; the diff of all files is too long to be shown]\n");
            rendered.left_out.push(format!("{name}: all of its diff"));
        }
        rendered.diff.push_str(&text);
    }
    rendered
}

/// Cuts a text at a line break, and marks the cut.
fn cut(text: &mut String, limit: usize) -> bool {
    if text.len() <= limit {
        return false;
    }
    let end = text.floor_char_boundary(limit);
    let end = text[..end].rfind('\n').map_or(0, |newline| newline + 1);
    let lines = text[end..].lines().count();
    text.truncate(end);
    // Writing to a string can't fail.
    let _ = writeln!(text, "[cut: {lines} more lines of this file's diff are not shown]");
    true
}

/// Renders the diff of one file.
fn one(before: Option<Side<'_>>, after: Option<Side<'_>>, snapshot: &Snapshot) -> String {
    let Some(any) = after.or(before) else { return String::new() };
    let old_name = shown(before.unwrap_or(any).path);
    let new_name = shown(after.unwrap_or(any).path);
    let mut text = format!("diff --git {} {}\n", quoted("a/", &old_name), quoted("b/", &new_name));
    let (old_mode, new_mode) = (before.map(mode), after.map(mode));
    let mut line = |content: String| {
        text.push_str(&content);
        text.push('\n');
    };
    match (old_mode, new_mode) {
        (None, Some(mode)) => line(format!("new file mode {mode}")),
        (Some(mode), None) => line(format!("deleted file mode {mode}")),
        (Some(old), Some(new)) if old != new => {
            line(format!("old mode {old}"));
            line(format!("new mode {new}"));
        }
        _ => {}
    }
    if old_name != new_name {
        line(format!("rename from {}", quoted("", &old_name)));
        line(format!("rename to {}", quoted("", &new_name)));
    }
    let old = before.map(|side| contents(side, |hash, _| snapshot.text_before(hash)));
    let new = after.map(|side| contents(side, |hash, path| snapshot.text_now(path, hash)));
    match (old.unwrap_or_default(), new.unwrap_or_default()) {
        (Contents::Text(old), Contents::Text(new)) => {
            if old == new {
                return text;
            }
            let names = [
                before.map_or_else(|| "/dev/null".to_owned(), |_| quoted("a/", &old_name)),
                after.map_or_else(|| "/dev/null".to_owned(), |_| quoted("b/", &new_name)),
            ];
            let diff = TextDiff::configure()
                .algorithm(Algorithm::Myers)
                .timeout(PATIENCE)
                .diff_lines(old.as_str(), new.as_str());
            text.push_str(
                &diff.unified_diff().context_radius(CONTEXT).header(&names[0], &names[1]).to_string(),
            );
        }
        (old, new) => {
            let names = [quoted("a/", &old_name), quoted("b/", &new_name)];
            line(format!("Binary files {} and {} differ ({old} to {new})", names[0], names[1]));
        }
    }
    text
}

/// Contents of one side of a change.
enum Contents {
    Text(String),
    /// Contents that are not shown, described in words.
    Words(String),
}

impl Default for Contents {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl std::fmt::Display for Contents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) if text.is_empty() => f.write_str("nothing"),
            Self::Text(text) => write!(f, "{} bytes of text", text.len()),
            Self::Words(words) => f.write_str(words),
        }
    }
}

fn contents(side: Side<'_>, text: impl Fn(&blake3::Hash, &Path) -> Option<String>) -> Contents {
    match side.entry {
        Entry::Link { to } => Contents::Text(to.to_string_lossy().into_owned()),
        Entry::Other { why } => Contents::Words(why.clone()),
        Entry::File { hash, size, is_text, .. } => match text(hash, side.path).filter(|_| *is_text) {
            Some(text) => Contents::Text(text),
            None => Contents::Words(format!("{size} bytes, blake3 {}", &hash.to_hex()[..16])),
        },
    }
}

/// Returns the file's mode in git's notation.
fn mode(side: Side<'_>) -> &'static str {
    match side.entry {
        Entry::Link { .. } => "120000",
        Entry::File { executable: true, .. } => "100755",
        Entry::File { .. } | Entry::Other { .. } => "100644",
    }
}
