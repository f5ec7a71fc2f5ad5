//! What changed between two states of a workspace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use similar::TextDiff;

use crate::Snapshot;
use crate::name::shown;
use crate::render::{Rendered, Side, render};
use crate::walk::Entry;

/// What an agent changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileChanges {
    /// Each changed file, in the order of paths.
    pub changes: Vec<Change>,
    /// All of it as a unified diff; empty when nothing changed.
    pub diff: String,
    /// What of the diff is left out, in words; the diff itself says so at the place.
    pub left_out: Vec<String>,
}

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its path in the workspace, with slashes; for a rename the new one.
    pub path: String,
    /// What happened to it.
    pub kind: ChangeKind,
}

/// What happened to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was not there before.
    Added,
    /// It is no longer there.
    Deleted,
    /// Its contents, its mode or its kind changed.
    Modified,
    /// It stood elsewhere, with these or similar contents.
    Renamed {
        /// Where it stood.
        from: String,
    },
}

/// Share of equal text from which two files count as one that was renamed.
const SIMILAR: f32 = 0.6;
/// Pairs of files compared for similarity at most.
const MAX_PAIRS: usize = 2_000;
/// Largest file compared for similarity, in bytes.
const MAX_SIMILAR: u64 = 256 << 10;

/// Compares. In `now`, an entry is `None` where it is the same as before.
pub(crate) fn compare(
    before: &BTreeMap<PathBuf, Entry>,
    now: &BTreeMap<PathBuf, Option<Entry>>,
    snapshot: &Snapshot,
) -> FileChanges {
    let mut deleted: Vec<&Path> =
        before.keys().filter(|path| !now.contains_key(*path)).map(PathBuf::as_path).collect();
    let added: Vec<(&Path, &Entry)> = now
        .iter()
        .filter(|(path, _)| !before.contains_key(*path))
        .filter_map(|(path, entry)| Some((path.as_path(), entry.as_ref()?)))
        .collect();
    let renames = renames(&mut deleted, &added, before, snapshot);

    // What happens to each path: a rename is told at the new one.
    let mut steps: BTreeMap<&Path, (ChangeKind, Option<Side<'_>>, Option<Side<'_>>)> = BTreeMap::new();
    let old = |path: &Path| before.get_key_value(path).map(|(path, entry)| Side { path, entry });
    for path in deleted {
        steps.insert(path, (ChangeKind::Deleted, old(path), None));
    }
    for (path, entry) in added {
        let side = Some(Side { path, entry });
        match renames.get(path) {
            Some(from) => {
                let kind = ChangeKind::Renamed { from: shown(from) };
                steps.insert(path, (kind, old(from), side));
            }
            None => {
                steps.insert(path, (ChangeKind::Added, None, side));
            }
        }
    }
    for (path, entry) in now {
        if let (Some(side), Some(entry)) = (old(path), entry) {
            steps.insert(path, (ChangeKind::Modified, Some(side), Some(Side { path, entry })));
        }
    }
    let mut plain = Vec::new();
    let mut excluded: BTreeMap<PathBuf, Vec<Sides<'_>>> = BTreeMap::new();
    for (path, (_, before, after)) in &steps {
        match snapshot.excluded(path) {
            None => plain.push((*before, *after)),
            Some(outermost) => excluded.entry(outermost).or_default().push((*before, *after)),
        }
    }
    let mut rendered = render(plain.into_iter(), snapshot, snapshot.limits().max_diff);
    add_excluded(&mut rendered, &excluded, snapshot);
    FileChanges {
        changes: steps.into_iter().map(|(path, (kind, _, _))| Change { path: shown(path), kind }).collect(),
        diff: rendered.diff,
        left_out: rendered.left_out,
    }
}

/// A file before and after.
type Sides<'a> = (Option<Side<'a>>, Option<Side<'a>>);

/// Adds what `.gitignore` files exclude, such as installed packages: after everything else, and of what is large no more
/// than that it changed.
fn add_excluded(rendered: &mut Rendered, excluded: &BTreeMap<PathBuf, Vec<Sides<'_>>>, snapshot: &Snapshot) {
    let size = |side: &Option<Side<'_>>| match side.map(|side| side.entry) {
        Some(Entry::File { size, .. }) => *size,
        _ => 0,
    };
    let mut room = snapshot.limits().max_excluded_diff;
    for (outermost, changes) in excluded {
        let bytes: u64 = changes.iter().map(|(before, after)| size(before).saturating_add(size(after))).sum();
        if usize::try_from(bytes).is_ok_and(|bytes| bytes <= room) {
            let group = render(changes.iter().copied(), snapshot, room);
            room = room.saturating_sub(group.diff.len());
            rendered.diff.push_str(&group.diff);
            rendered.left_out.extend(group.left_out);
            continue;
        }
        let name = shown(outermost);
        let (count, s) = (changes.len(), if changes.len() == 1 { "" } else { "s" });
        let text = format!("{count} changed file{s} in `{name}`, which .gitignore excludes");
        rendered.diff.push_str(&format!("[cut: {text}: not shown]\n"));
        rendered.left_out.push(text);
    }
}

/// From new paths to the deleted ones they come from; those leave `deleted`.
fn renames<'a>(
    deleted: &mut Vec<&'a Path>,
    added: &[(&'a Path, &Entry)],
    before: &BTreeMap<PathBuf, Entry>,
    snapshot: &Snapshot,
) -> BTreeMap<&'a Path, &'a Path> {
    let mut found = BTreeMap::new();
    // The same contents under a new name.
    for (path, entry) in added {
        let Entry::File { hash, size: 1.., .. } = entry else { continue };
        let same = |old: &&Path| matches!(before.get(*old), Some(Entry::File { hash: earlier, .. }) if earlier == hash);
        if let Some(at) = deleted.iter().position(same) {
            found.insert(*path, deleted.remove(at));
        }
    }
    // Similar contents under a new name.
    let mut budget = MAX_PAIRS;
    for (path, entry) in added {
        let Entry::File { hash, size: size @ 1.., is_text: true, .. } = entry else { continue };
        if found.contains_key(path) || *size > MAX_SIMILAR {
            continue;
        }
        let Some(text) = snapshot.text_now(path, hash) else { continue };
        let mut best: Option<(f32, usize)> = None;
        for (at, old) in deleted.iter().enumerate() {
            let Some(Entry::File { hash, size, is_text: true, .. }) = before.get(*old) else { continue };
            if *size > MAX_SIMILAR || budget == 0 {
                continue;
            }
            budget -= 1;
            let Some(earlier) = snapshot.text_before(hash) else { continue };
            let ratio = TextDiff::from_lines(&earlier, &text).ratio();
            if ratio >= SIMILAR && best.is_none_or(|(score, _)| ratio > score) {
                best = Some((ratio, at));
            }
        }
        if let Some((_, at)) = best {
            found.insert(*path, deleted.remove(at));
        }
    }
    found
}
