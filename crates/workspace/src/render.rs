//! Renders changes as a unified diff with git's headers.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use similar::{Algorithm, TextDiff};

use crate::WorkspaceSnapshot;
use crate::path_text::{display_path, quote_path};
use crate::walk::WorkspaceEntry;

/// A file on one side of a change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DiffSide<'a> {
    pub(crate) path: &'a Path,
    pub(crate) entry: &'a WorkspaceEntry,
}

pub(crate) struct RenderedDiff {
    pub(crate) diff: String,
    pub(crate) left_out: Vec<String>,
}

/// Number of unchanged lines around a change.
const CONTEXT: usize = 3;
/// Time limit for finding the shortest diff of one file. A longer diff is also correct.
const DIFF_TIMEOUT: Duration = Duration::from_secs(2);

/// Renders the changes in their order, in at most `room` bytes.
pub(crate) fn render_diff<'a>(
    changes: impl Iterator<Item = (Option<DiffSide<'a>>, Option<DiffSide<'a>>)>,
    snapshot: &WorkspaceSnapshot,
    room: usize,
) -> RenderedDiff {
    let limits = snapshot.limits;
    let mut rendered = RenderedDiff { diff: String::new(), left_out: Vec::new() };
    for (before, after) in changes {
        let Some(name) = after.or(before).map(|side| display_path(side.path)) else { continue };
        let kind = |side: Option<DiffSide<'_>>| side.map(|side| std::mem::discriminant(side.entry));
        let mut text = if before.is_some() && after.is_some() && kind(before) != kind(after) {
            // A file that became a link is shown as two changes.
            render_file(before, None, snapshot) + &render_file(None, after, snapshot)
        } else {
            render_file(before, after, snapshot)
        };

        let whole = text.len();
        if truncate_at_line(&mut text, limits.max_file_diff) {
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
fn truncate_at_line(text: &mut String, limit: usize) -> bool {
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
fn render_file(
    before: Option<DiffSide<'_>>,
    after: Option<DiffSide<'_>>,
    snapshot: &WorkspaceSnapshot,
) -> String {
    let Some(any) = after.or(before) else { return String::new() };
    let old_name = display_path(before.unwrap_or(any).path);
    let new_name = display_path(after.unwrap_or(any).path);
    let mut text = format!("diff --git {} {}\n", quote_path("a/", &old_name), quote_path("b/", &new_name));
    let (old_mode, new_mode) = (before.map(file_mode), after.map(file_mode));
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
        line(format!("rename from {}", quote_path("", &old_name)));
        line(format!("rename to {}", quote_path("", &new_name)));
    }

    let old = before.map(|side| side_contents(side, |hash, _| snapshot.text_before(hash)));
    let new = after.map(|side| side_contents(side, |hash, path| snapshot.text_now(path, hash)));
    match (old.unwrap_or_default(), new.unwrap_or_default()) {
        (SideContents::Text(old), SideContents::Text(new)) => {
            if old == new {
                return text;
            }

            let names = [
                before.map_or_else(|| "/dev/null".to_owned(), |_| quote_path("a/", &old_name)),
                after.map_or_else(|| "/dev/null".to_owned(), |_| quote_path("b/", &new_name)),
            ];
            let diff = TextDiff::configure()
                .algorithm(Algorithm::Myers)
                .timeout(DIFF_TIMEOUT)
                .diff_lines(old.as_str(), new.as_str());
            text.push_str(
                &diff.unified_diff().context_radius(CONTEXT).header(&names[0], &names[1]).to_string(),
            );
        }
        (old, new) => {
            let names = [quote_path("a/", &old_name), quote_path("b/", &new_name)];
            line(format!("Binary files {} and {} differ ({old} to {new})", names[0], names[1]));
        }
    }

    text
}

/// Contents of one side of a change.
enum SideContents {
    Text(String),
    /// Contents that are not shown, described in words.
    Words(String),
}

impl Default for SideContents {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl std::fmt::Display for SideContents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) if text.is_empty() => f.write_str("nothing"),
            Self::Text(text) => write!(f, "{} bytes of text", text.len()),
            Self::Words(words) => f.write_str(words),
        }
    }
}

fn side_contents(side: DiffSide<'_>, text: impl Fn(&blake3::Hash, &Path) -> Option<String>) -> SideContents {
    match side.entry {
        WorkspaceEntry::Link { to } => SideContents::Text(to.to_string_lossy().into_owned()),
        WorkspaceEntry::Other { why } => SideContents::Words(why.clone()),
        WorkspaceEntry::File { hash, size, is_text, .. } => {
            match text(hash, side.path).filter(|_| *is_text) {
                Some(text) => SideContents::Text(text),
                None => SideContents::Words(format!("{size} bytes, blake3 {}", &hash.to_hex()[..16])),
            }
        }
    }
}

/// Returns the file's mode in git's notation.
fn file_mode(side: DiffSide<'_>) -> &'static str {
    match side.entry {
        WorkspaceEntry::Link { .. } => "120000",
        WorkspaceEntry::File { executable: true, .. } => "100755",
        WorkspaceEntry::File { .. } | WorkspaceEntry::Other { .. } => "100644",
    }
}
