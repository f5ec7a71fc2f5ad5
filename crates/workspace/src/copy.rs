//! Copies a folder without ever leaving it.

use std::fs::FileTimes;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use cap_std::fs::{Dir, Metadata, OpenOptions};

use crate::WorkspaceError;
use crate::folder_handle::{FolderHandle, open_file, sorted_names};

/// What to do with links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkPolicy {
    /// A link that leads out of the folder is an error: changes in the copy would affect the original.
    InsideOnly,
    /// Links are copied unchanged. For folders that were prepared by commands of the user.
    Verbatim,
}

/// Copies the contents of `from` into the folder `to`. Stops early when `open` becomes false.
pub(crate) fn copy_folder(
    from: &FolderHandle,
    to: &FolderHandle,
    links: LinkPolicy,
    open: &AtomicBool,
) -> Result<(), WorkspaceError> {
    let failed = |path: &Path| {
        let path = from.path().join(path);
        move |error: io::Error| WorkspaceError::io("copy", &path, &error)
    };

    if to.path().starts_with(from.path()) {
        return Err(WorkspaceError::new(
            "template",
            format!(
                "`{}` can't be copied into itself; the folder of temporary files lies in it",
                from.path().display()
            ),
        ));
    }

    let (source, target) = (from.dir(), to.dir());
    let mut levels = vec![PathBuf::new()];
    // Folders without write permission get their permissions last.
    let mut finished: Vec<(PathBuf, Metadata)> = Vec::new();
    while let Some(folder) = levels.pop() {
        for name in sorted_names(source, &folder).map_err(failed(&folder))? {
            if !open.load(Ordering::Relaxed) {
                return Err(WorkspaceError::new("cancelled", "given up"));
            }

            let path = folder.join(name);
            let found = source.symlink_metadata(&path).map_err(failed(&path))?;
            if found.is_dir() {
                target.create_dir(&path).map_err(failed(&path))?;
                finished.push((path.clone(), found));
                levels.push(path);
            } else if found.is_symlink() {
                let leads = source.read_link_contents(&path).map_err(failed(&path))?;
                if links == LinkPolicy::InsideOnly && !stays_inside(from.path(), &path, &leads) {
                    return Err(link_error(from.path(), &path, &leads));
                }
                create_link(&leads, target, &path).map_err(failed(&path))?;
            } else if links == LinkPolicy::InsideOnly && path.file_name().is_some_and(|name| name == ".git") {
                return Err(WorkspaceError::new(
                    "template",
                    format!(
                        "`{}` belongs to a repository elsewhere, which an agent would change; name that repository \
                         under `repos` instead of copying its working folder",
                        from.path().join(path).display()
                    ),
                ));
            } else if found.is_file() {
                copy_file(source, target, &path, &found).map_err(failed(&path))?;
            } else if links == LinkPolicy::InsideOnly {
                return Err(WorkspaceError::new(
                    "template",
                    format!(
                        "`{}` is neither a file nor a folder nor a link",
                        from.path().join(path).display()
                    ),
                ));
            }
        }
    }

    for (folder, found) in finished.iter().rev() {
        target.set_permissions(folder, found.permissions()).map_err(failed(folder))?;
    }

    Ok(())
}

/// Copies one file with its permissions and its modification time, which build tools depend on.
pub(crate) fn copy_file(from: &Dir, to: &Dir, path: &Path, found: &Metadata) -> io::Result<()> {
    let mut source = open_file(from, path)?;
    let copied = to.open_with(path, OpenOptions::new().write(true).create_new(true))?;
    copied.set_permissions(found.permissions())?;

    let mut copied = copied.into_std();
    io::copy(&mut source, &mut copied)?;
    if let Ok(modified) = found.modified() {
        // Some file systems keep no times; then there is nothing to copy.
        drop(copied.set_times(FileTimes::new().set_modified(modified.into_std())));
    }

    Ok(())
}

#[cfg(unix)]
pub(crate) fn create_link(leads: &Path, dir: &Dir, at: &Path) -> io::Result<()> {
    dir.symlink_contents(leads, at)
}

#[cfg(not(unix))]
pub(crate) fn create_link(leads: &Path, dir: &Dir, at: &Path) -> io::Result<()> {
    dir.symlink_file(leads, at)
}

/// Whether the link at `path` stays below `root`, judged by its target path and by its resolved target. These may
/// differ if the path contains links.
fn stays_inside(root: &Path, path: &Path, leads: &Path) -> bool {
    let mut depth = path.components().count().saturating_sub(1);
    for part in leads.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            _ => return false,
        }
    }

    root.join(path).canonicalize().map_or(true, |real| real.starts_with(root))
}

fn link_error(from: &Path, path: &Path, leads: &Path) -> WorkspaceError {
    WorkspaceError::new(
        "template",
        format!(
            "the link `{}` of the template `{}` leads outside, to `{}`; copy its target into the template, or remove the link",
            path.display(),
            from.display(),
            leads.display()
        ),
    )
}
