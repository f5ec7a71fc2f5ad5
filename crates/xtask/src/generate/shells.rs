//! What shells and manuals know of the program: `completions/` and `man/`, as the program itself writes them.

use std::path::Path;

use super::Mode;
use super::commands::printed;
use crate::shell;

/// Each shell with the name its completion script is looked up by.
const SHELLS: [(&str, &str); 5] = [
    ("bash", "assize.bash"),
    ("elvish", "assize.elv"),
    ("fish", "assize.fish"),
    ("powershell", "_assize.ps1"),
    ("zsh", "_assize"),
];

/// The folders whose files are all made here.
const FOLDERS: [&str; 3] = ["completions", "man", "schemas"];

/// The completion scripts: path in the checkout and text.
pub(super) fn completions(program: &Path) -> Result<Vec<(String, String)>, String> {
    SHELLS
        .iter()
        .map(|(shell, file)| Ok((format!("completions/{file}"), printed(program, &["completions", shell])?)))
        .collect()
}

/// The man pages: path in the checkout and text.
pub(super) fn man_pages(program: &Path) -> Result<Vec<(String, String)>, String> {
    let folder =
        tempfile::tempdir().map_err(|error| format!("can't make a folder for man pages: {error}"))?;
    let path =
        folder.path().to_str().ok_or("the folder for temporary files has a name that is not Unicode")?;
    printed(program, &["man", "--out", path])?;
    names_in(folder.path())?
        .into_iter()
        .map(|name| {
            let page = std::fs::read_to_string(folder.path().join(&name))
                .map_err(|error| format!("can't read the page `{name}`: {error}"))?;
            Ok((format!("man/{name}"), page))
        })
        .collect()
}

/// Files of commands that are no more: removed, or said to be stale.
pub(super) fn left_over(pages: &[(String, String)], mode: Mode) -> Result<Vec<String>, String> {
    let mut stale = Vec::new();
    for folder in FOLDERS {
        let present = shell::root().join(folder);
        for name in if present.is_dir() { names_in(&present)? } else { Vec::new() } {
            let path = format!("{folder}/{name}");
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
    }
    Ok(stale)
}

/// Names of the files in a folder, sorted.
pub(super) fn names_in(folder: &Path) -> Result<Vec<String>, String> {
    let trouble = |error: std::io::Error| format!("can't read {}: {error}", folder.display());
    let mut names = std::fs::read_dir(folder)
        .map_err(trouble)?
        .map(|entry| Ok(entry.map_err(trouble)?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<Vec<String>, String>>()?;
    names.sort();
    Ok(names)
}
