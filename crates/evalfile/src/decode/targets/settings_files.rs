//! Finds and reads settings files.

use std::fs;
use std::path::{Component, Path, PathBuf};

use assize_diagnostic::{Diagnostic, SourceId, SourceMap, Span};
use assize_document::{DiagnosticCollector, codes};
use assize_limits::SETTINGS_FILE_BYTES as MAX_BYTES;

/// Returns the folders to search, nearest first: the folders of `start`'s project, then the folders of the
/// working folder's project.
///
/// The folders of a project are the folder itself and its parents up to the root of its repository. Outside of a
/// repository, a parent is searched if it belongs to the same user and no other user can write to it. Without this
/// check, another user could place settings with commands there.
pub(crate) fn search_folders(start: &Path, working: &Path) -> Vec<PathBuf> {
    let mut folders = project_folders(&absolute(start, working), working);
    for folder in project_folders(working, working) {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }

    folders
}

/// Returns the folder as an absolute path whose parents are the real ones.
fn absolute(folder: &Path, working: &Path) -> PathBuf {
    let joined = working.join(folder);
    if joined.components().any(|part| part == Component::ParentDir) {
        return joined.canonicalize().unwrap_or(joined);
    }

    // Drops `.` components, so that they don't count as folders.
    joined.components().collect()
}

/// Returns the folder and the folders above it that belong to its project, nearest first.
fn project_folders(start: &Path, working: &Path) -> Vec<PathBuf> {
    let repository = start.ancestors().find(|folder| folder.join(".git").exists());
    let top = repository.or_else(|| start.starts_with(working).then_some(working));
    let ancestors = start.ancestors().map(Path::to_path_buf);

    match top {
        Some(top) if repository.is_some() => ancestors.take_while(|folder| folder.starts_with(top)).collect(),
        _ => {
            let owner = owner_of_private_folder(start);
            let is_own = |folder: &PathBuf| {
                folder == start
                    || top.is_some_and(|top| folder.starts_with(top))
                    || (owner.is_some() && owner_of_private_folder(folder) == owner)
            };
            ancestors.take_while(is_own).collect()
        }
    }
}

/// Returns the owner of a folder. `None` if other users can write to it, or if the owner is unknown.
#[cfg(unix)]
fn owner_of_private_folder(folder: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;

    const WRITABLE_BY_OTHERS: u32 = 0o002;
    let found = fs::metadata(folder).ok()?;
    (found.mode() & WRITABLE_BY_OTHERS == 0).then(|| found.uid())
}

/// The owner is unknown on this system.
#[cfg(not(unix))]
fn owner_of_private_folder(_: &Path) -> Option<u32> {
    None
}

/// Returns the first of `names` that is a file, in the first folder that has any.
pub(crate) fn find_first_file(folders: &[PathBuf], names: &[&str]) -> Option<PathBuf> {
    folders.iter().flat_map(|folder| names.iter().map(|name| folder.join(name))).find(|path| path.is_file())
}

/// Reads a file into `sources` under the path that users would write. Returns `None` after adding a diagnostic.
pub(crate) fn read_settings_file(
    path: &Path,
    working: &Path,
    sources: &mut SourceMap,
    problems: &mut DiagnosticCollector,
) -> Option<SourceId> {
    let shown = path.strip_prefix(working).unwrap_or(path);
    let reason = match fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let source = sources.add(shown, "");
            Diagnostic::error(codes::FILE_NOT_FOUND, format!("`{}` does not exist", shown.display()))
                .at(Span::new(source, 0, 0), "no such file")
                .with_help("check the path; it is relative to the working folder")
                .add_to(problems);

            return None;
        }
        Err(error) => error.to_string(),
        Ok(found) if found.is_dir() => "it is a folder".to_owned(),
        Ok(found) if found.len() > MAX_BYTES => {
            format!("it is larger than {} MiB", MAX_BYTES / 1024 / 1024)
        }
        Ok(_) => match assize_files::read_bytes(path, MAX_BYTES).map(String::from_utf8) {
            Ok(Ok(text)) => return Some(sources.add(shown, text)),
            Ok(Err(_)) => "it is not UTF-8 text".to_owned(),
            Err(error) => error.to_string(),
        },
    };

    let source = sources.add(shown, "");
    Diagnostic::error(codes::FILE_UNREADABLE, format!("`{}` can't be read", shown.display()))
        .at(Span::new(source, 0, 0), reason)
        .with_help("check the path and the file's permissions")
        .add_to(problems);

    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_repository_the_search_stays_below_the_working_folder() {
        let paths = |start: &str, working: &str| -> Vec<String> {
            search_folders(Path::new(start), Path::new(working))
                .iter()
                .map(|folder| folder.display().to_string())
                .collect()
        };
        assert_eq!(paths("/nowhere/p/a/b", "/nowhere/p"), ["/nowhere/p/a/b", "/nowhere/p/a", "/nowhere/p"]);
        assert_eq!(paths("a", "/nowhere/p"), ["/nowhere/p/a", "/nowhere/p"]);
        assert_eq!(paths("/nowhere/q/a", "/nowhere/p"), ["/nowhere/q/a", "/nowhere/p"]);
    }
}
