//! `schemas/`: the JSON Schemas of the program's files, as the program writes them.

use std::path::Path;

use super::commands::printed;
use super::mode::Mode;
use xtask::shell;

/// Folder of the schemas. It holds nothing else.
const FOLDER: &str = "schemas";

/// The schemas, each as path in the checkout and text.
pub(super) fn files(program: &Path) -> Result<Vec<(String, String)>, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("can't make a folder for schemas: {error}"))?;
    let path =
        folder.path().to_str().ok_or("the folder for temporary files has a name that is not Unicode")?;
    printed(program, &["schema", "--out", path])?;

    names_in(folder.path())?
        .into_iter()
        .map(|name| {
            let schema = std::fs::read_to_string(folder.path().join(&name))
                .map_err(|error| format!("can't read the schema `{name}`: {error}"))?;
            Ok((format!("{FOLDER}/{name}"), schema))
        })
        .collect()
}

/// Handles schemas of kinds of files that no longer exist: removes them, or returns them as stale, depending on
/// `mode`.
pub(super) fn left_over(pages: &[(String, String)], mode: Mode) -> Result<Vec<String>, String> {
    let mut stale = Vec::new();
    let present = shell::root().join(FOLDER);
    for name in if present.is_dir() { names_in(&present)? } else { Vec::new() } {
        let path = format!("{FOLDER}/{name}");
        if pages.iter().any(|(page, _)| *page == path) {
            continue;
        }

        match mode {
            Mode::Check => stale.push(format!("{path} is made by nothing any more")),
            Mode::Write => {
                std::fs::remove_file(present.join(&name))
                    .map_err(|error| format!("can't remove {path}: {error}"))?;
                println!("removed {path}");
            }
        }
    }

    Ok(stale)
}

/// Names of the files in a folder, sorted.
fn names_in(folder: &Path) -> Result<Vec<String>, String> {
    let failed = |error: std::io::Error| format!("can't read {}: {error}", folder.display());
    let mut names = std::fs::read_dir(folder)
        .map_err(failed)?
        .map(|entry| Ok(entry.map_err(failed)?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<Vec<String>, String>>()?;
    names.sort();

    Ok(names)
}
