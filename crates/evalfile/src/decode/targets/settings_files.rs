//! Finding and reading of the settings files of eval files.

use std::fs;
use std::path::{Path, PathBuf};

use assize_diagnostic::{Diagnostic, SourceId, SourceMap, Span};

use crate::codes;
use crate::decode::DiagnosticCollector;

/// Maximum size of a settings file.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Returns the folders to search, nearest first: `start`, its parents up to the root of its repository, then
/// the working folder. Outside a repository, parents are included up to the working folder if `start` is
/// inside it, and otherwise not at all: files above belong to other projects.
pub(crate) fn search_folders(start: &Path, working: &Path) -> Vec<PathBuf> {
    let start = working.join(start);
    let top = start
        .ancestors()
        .find(|folder| folder.join(".git").exists())
        .or_else(|| start.starts_with(working).then_some(working))
        .unwrap_or(&start);
    let mut folders: Vec<PathBuf> =
        start.ancestors().take_while(|folder| folder.starts_with(top)).map(Path::to_path_buf).collect();
    if !folders.iter().any(|folder| folder == working) {
        folders.push(working.to_path_buf());
    }

    folders
}

/// Returns the first of `names` that is a file, in the first folder that has any.
pub(crate) fn find_first_file(folders: &[PathBuf], names: &[&str]) -> Option<PathBuf> {
    folders.iter().flat_map(|folder| names.iter().map(|name| folder.join(name))).find(|path| path.is_file())
}

/// Reads a file into `sources` under the path that users would write. Returns `None` after adding a
/// diagnostic.
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
            problems.add(
                Diagnostic::error(
                    codes::FILE_NOT_FOUND,
                    format!("`{}` does not exist", shown.display()),
                    Span::new(source, 0, 0),
                    "no such file",
                )
                .with_help("check the path; it is relative to the working folder"),
            );

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
    problems.add(
        Diagnostic::error(
            codes::FILE_UNREADABLE,
            format!("`{}` can't be read", shown.display()),
            Span::new(source, 0, 0),
            reason,
        )
        .with_help("check the path and the file's permissions"),
    );

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
