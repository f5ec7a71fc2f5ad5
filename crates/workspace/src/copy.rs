//! Copying of a folder that never leaves it.

use std::ffi::OsString;
use std::fs::{self, File, FileTimes, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::WorkspaceError;

/// Treatment of links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkPolicy {
    /// A link that leads out of the folder is an error: changes in the copy would affect the original.
    InsideOnly,
    /// Links are copied unchanged. For folders that were prepared by commands of the user.
    Verbatim,
}

/// Copies the contents of `from` into the folder `to`, creating it if necessary. Stops early when `open`
/// becomes false.
pub(crate) fn copy_folder(
    from: &Path,
    to: &Path,
    links: LinkPolicy,
    open: &AtomicBool,
) -> Result<(), WorkspaceError> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |error: io::Error| WorkspaceError::io("copy", &path, &error)
    };
    let root = from.canonicalize().map_err(failed(from))?;

    fs::create_dir_all(to).map_err(failed(to))?;

    if to.canonicalize().map_err(failed(to))?.starts_with(&root) {
        return Err(WorkspaceError::new(
            "template",
            format!(
                "`{}` can't be copied into itself; the folder of temporary files lies in it",
                from.display()
            ),
        ));
    }

    let mut levels = vec![PathBuf::new()];
    // Folders that may not be written into get their permissions last.
    let mut finished: Vec<(PathBuf, Metadata)> = Vec::new();
    while let Some(folder) = levels.pop() {
        for name in sorted_names(&root.join(&folder)).map_err(failed(&root.join(&folder)))? {
            if !open.load(Ordering::Relaxed) {
                return Err(WorkspaceError::new("cancelled", "given up"));
            }

            let path = folder.join(name);
            let (source, target) = (root.join(&path), to.join(&path));
            let found = fs::symlink_metadata(&source).map_err(failed(&source))?;
            if found.is_dir() {
                fs::create_dir(&target).map_err(failed(&target))?;
                finished.push((target, found));
                levels.push(path);
            } else if found.is_symlink() {
                let leads = fs::read_link(&source).map_err(failed(&source))?;
                if links == LinkPolicy::InsideOnly && !stays_inside(&root, &path, &leads) {
                    return Err(link_error(from, &path, &leads));
                }
                link(&leads, &target).map_err(failed(&target))?;
            } else if links == LinkPolicy::InsideOnly && path.file_name().is_some_and(|name| name == ".git") {
                return Err(WorkspaceError::new(
                    "template",
                    format!(
                        "`{}` belongs to a repository elsewhere, which an agent would change; name that repository \
                         under `repos` instead of copying its working folder",
                        source.display()
                    ),
                ));
            } else if found.is_file() {
                copy_file(&source, &target, &found).map_err(failed(&source))?;
            } else if links == LinkPolicy::InsideOnly {
                return Err(WorkspaceError::new(
                    "template",
                    format!("`{}` is neither a file nor a folder nor a link", source.display()),
                ));
            }
        }
    }

    for (folder, found) in finished.iter().rev() {
        fs::set_permissions(folder, found.permissions()).map_err(failed(folder))?;
    }

    Ok(())
}

/// Copies one file with its permissions and its modification time, which build tools depend on.
pub(crate) fn copy_file(from: &Path, to: &Path, found: &Metadata) -> io::Result<()> {
    fs::copy(from, to)?;

    if let Ok(modified) = found.modified() {
        // A read-only file keeps the time of its copy.
        if let Ok(copied) = File::options().append(true).open(to) {
            drop(copied.set_times(FileTimes::new().set_modified(modified)));
        }
    }

    Ok(())
}

#[cfg(unix)]
pub(crate) fn link(leads: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(leads, at)
}

#[cfg(not(unix))]
pub(crate) fn link(leads: &Path, at: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_file(leads, at)
}

/// Returns the names in a folder, sorted.
pub(crate) fn sorted_names(folder: &Path) -> io::Result<Vec<OsString>> {
    let mut names =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<OsString>>>()?;
    names.sort();
    Ok(names)
}

/// Returns true if the link at `path` leads to a place below `root`: by its target path, and by its resolved
/// target, which may differ if there are links on the way.
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
            "the link `{}` of the template `{}` leads out of it, to `{}`; put what it leads to into the template, or \
             remove the link",
            path.display(),
            from.display(),
            leads.display()
        ),
    )
}
