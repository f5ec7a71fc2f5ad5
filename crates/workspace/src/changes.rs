//! Differences between two states of a workspace.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use similar::TextDiff;

use crate::WorkspaceSnapshot;
use crate::path_text::display_path;
use crate::render::{DiffSide, RenderedDiff, render_diff};
use crate::walk::{WalkError, WorkspaceEntry, walk};

/// File changes made by an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileChanges {
    /// Changed files, ordered by path.
    pub changes: Vec<FileChange>,
    /// Unified diff of all changes; empty if nothing changed.
    pub diff: String,
    /// Omitted parts of the diff, in words; the diff marks them as well.
    pub left_out: Vec<String>,
}

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Path in the workspace, with slashes; for a rename the new one.
    pub path: String,
    /// Kind of change.
    pub kind: ChangeKind,
}

/// Kind of change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    /// The file is new.
    Added,
    /// The file was removed.
    Deleted,
    /// The contents, mode or file type changed.
    Modified,
    /// The file was moved, with equal or similar contents.
    Renamed {
        /// Former path.
        from: String,
    },
}

/// Two files count as a rename if at least this share of their texts is equal.
const MIN_SIMILARITY: f32 = 0.6;
/// Maximum number of file pairs compared for similarity.
const MAX_PAIRS: usize = 2_000;
/// Maximum size of a file compared for similarity, in bytes.
const MAX_SIMILAR: u64 = 256 << 10;

impl WorkspaceSnapshot {
    /// Returns the changes in the workspace since the snapshot.
    pub fn changes(&self) -> Result<FileChanges, WalkError> {
        let mut now = BTreeMap::new();
        walk(&self.root, self.limits, |found| {
            let before = self.entries.get(&found.path);
            let same = before == Some(&found.entry);
            // Texts of unchanged files are not needed. Texts of changed files are read again for the diff.
            now.insert(found.path, if same { None } else { Some(found.entry) });
            Ok(())
        })?;

        Ok(compare_states(&self.entries, &now, self))
    }
}

/// Compares two states. In `now`, an entry is `None` if it is unchanged.
fn compare_states(
    before: &BTreeMap<PathBuf, WorkspaceEntry>,
    now: &BTreeMap<PathBuf, Option<WorkspaceEntry>>,
    snapshot: &WorkspaceSnapshot,
) -> FileChanges {
    let mut deleted: Vec<&Path> =
        before.keys().filter(|path| !now.contains_key(*path)).map(PathBuf::as_path).collect();
    let added: Vec<(&Path, &WorkspaceEntry)> = now
        .iter()
        .filter(|(path, _)| !before.contains_key(*path))
        .filter_map(|(path, entry)| Some((path.as_path(), entry.as_ref()?)))
        .collect();
    let renames = find_renames(&mut deleted, &added, before, snapshot);

    // Both sides of each change: a rename is listed at the new path.
    let mut steps: BTreeMap<&Path, (ChangeKind, Option<DiffSide<'_>>, Option<DiffSide<'_>>)> =
        BTreeMap::new();
    let old = |path: &Path| before.get_key_value(path).map(|(path, entry)| DiffSide { path, entry });
    for path in deleted {
        steps.insert(path, (ChangeKind::Deleted, old(path), None));
    }

    for (path, entry) in added {
        let side = Some(DiffSide { path, entry });
        match renames.get(path) {
            Some(from) => {
                let kind = ChangeKind::Renamed { from: display_path(from) };
                steps.insert(path, (kind, old(from), side));
            }
            None => {
                steps.insert(path, (ChangeKind::Added, None, side));
            }
        }
    }

    for (path, entry) in now {
        if let (Some(side), Some(entry)) = (old(path), entry) {
            steps.insert(path, (ChangeKind::Modified, Some(side), Some(DiffSide { path, entry })));
        }
    }

    let mut plain = Vec::new();
    let mut excluded: BTreeMap<PathBuf, Vec<SidePair<'_>>> = BTreeMap::new();
    for (path, (_, before, after)) in &steps {
        match snapshot.ignored.find_excluded(path, false) {
            None => plain.push((*before, *after)),
            Some(outermost) => excluded.entry(outermost).or_default().push((*before, *after)),
        }
    }

    let mut rendered = render_diff(plain.into_iter(), snapshot, snapshot.limits.max_diff);
    add_excluded(&mut rendered, &excluded, snapshot);

    FileChanges {
        changes: steps
            .into_iter()
            .map(|(path, (kind, _, _))| FileChange { path: display_path(path), kind })
            .collect(),
        diff: rendered.diff,
        left_out: rendered.left_out,
    }
}

/// A file before and after a change.
type SidePair<'a> = (Option<DiffSide<'a>>, Option<DiffSide<'a>>);

/// Adds the changes of files that `.gitignore` excludes, such as installed packages. They come after everything
/// else, and for large groups only the fact that they changed is shown.
fn add_excluded(
    rendered: &mut RenderedDiff,
    excluded: &BTreeMap<PathBuf, Vec<SidePair<'_>>>,
    snapshot: &WorkspaceSnapshot,
) {
    let size = |side: &Option<DiffSide<'_>>| match side.map(|side| side.entry) {
        Some(WorkspaceEntry::File { size, .. }) => *size,
        _ => 0,
    };
    let mut room = snapshot.limits.max_excluded_diff;
    for (outermost, changes) in excluded {
        let bytes: u64 = changes.iter().map(|(before, after)| size(before).saturating_add(size(after))).sum();
        if usize::try_from(bytes).is_ok_and(|bytes| bytes <= room) {
            let group = render_diff(changes.iter().copied(), snapshot, room);
            room = room.saturating_sub(group.diff.len());
            rendered.diff.push_str(&group.diff);
            rendered.left_out.extend(group.left_out);
            continue;
        }

        let name = display_path(outermost);
        let (count, s) = (changes.len(), if changes.len() == 1 { "" } else { "s" });
        let text = format!("{count} changed file{s} in `{name}`, which .gitignore excludes");

        // Writing to a string can't fail.
        let _ = writeln!(rendered.diff, "[cut: {text}: not shown]");
        rendered.left_out.push(text);
    }
}

/// Matches new paths with the deleted ones they were renamed from, which are removed from `deleted`.
fn find_renames<'a>(
    deleted: &mut Vec<&'a Path>,
    added: &[(&'a Path, &WorkspaceEntry)],
    before: &BTreeMap<PathBuf, WorkspaceEntry>,
    snapshot: &WorkspaceSnapshot,
) -> BTreeMap<&'a Path, &'a Path> {
    let mut found = BTreeMap::new();

    // Equal contents under a new name.
    for (path, entry) in added {
        let WorkspaceEntry::File { hash, size: 1.., .. } = entry else { continue };
        let same = |old: &&Path| matches!(before.get(*old), Some(WorkspaceEntry::File { hash: earlier, .. }) if earlier == hash);
        if let Some(at) = deleted.iter().position(same) {
            found.insert(*path, deleted.remove(at));
        }
    }

    // Similar contents under a new name.
    let mut budget = MAX_PAIRS;
    for (path, entry) in added {
        let WorkspaceEntry::File { hash, size: size @ 1.., is_text: true, .. } = entry else { continue };
        if found.contains_key(path) || *size > MAX_SIMILAR {
            continue;
        }

        let Some(text) = snapshot.text_now(path, hash) else { continue };
        let mut best: Option<(f32, usize)> = None;
        for (at, old) in deleted.iter().enumerate() {
            let Some(WorkspaceEntry::File { hash, size, is_text: true, .. }) = before.get(*old) else {
                continue;
            };
            if *size > MAX_SIMILAR || budget == 0 {
                continue;
            }

            budget -= 1;
            let Some(earlier) = snapshot.text_before(hash) else { continue };
            let ratio = TextDiff::from_lines(&earlier, &text).ratio();
            if ratio >= MIN_SIMILARITY && best.is_none_or(|(score, _)| ratio > score) {
                best = Some((ratio, at));
            }
        }

        if let Some((_, at)) = best {
            found.insert(*path, deleted.remove(at));
        }
    }

    found
}
