//! Providers that are programs of the project: the name of the file is the provider.

use std::fs;
use std::path::{Path, PathBuf};

use assize_model::CommandText;

use super::settings_files::search_folders;

/// Folders with such programs. They may be in any folder of the project, from the targets file upwards.
const PROVIDER_FOLDERS: [&str; 2] = [".assize/providers", ".agentv/providers"];
/// File extensions of such programs, with the command that runs them, in order of precedence.
const INTERPRETERS: [(&str, &[&str]); 6] = [
    ("ts", &["bun", "run"]),
    ("mts", &["bun", "run"]),
    ("js", &["node"]),
    ("mjs", &["node"]),
    ("py", &["python3"]),
    ("sh", &["sh"]),
];

/// Returns the command of the nearest program for the provider `name`. It receives the prompt as its argument.
/// Names that could lead to another folder are not looked up.
pub(super) fn find_provider_program(name: &str, folder: &Path) -> Option<CommandText> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    if name.is_empty() || !name.chars().all(is_plain) {
        return None;
    }

    let folders = search_folders(folder, folder);
    let (words, file) = folders
        .iter()
        .flat_map(|folder| PROVIDER_FOLDERS.map(|kept| folder.join(kept)))
        .find_map(|folder| program_in(&folder, name))?;
    let mut command: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    command.push(file.to_str()?.to_owned());
    command.push("{PROMPT}".to_owned());

    Some(CommandText::Argv(command))
}

fn program_in(folder: &Path, name: &str) -> Option<(&'static [&'static str], PathBuf)> {
    // A link could lead out of the project.
    let is_inside = |file: &PathBuf| {
        let real = fs::canonicalize(file).ok().zip(fs::canonicalize(folder).ok());
        real.is_some_and(|(file, folder)| file.is_file() && file.starts_with(folder))
    };

    INTERPRETERS.iter().find_map(|(ending, words)| {
        let file = folder.join(format!("{name}.{ending}"));
        is_inside(&file).then_some((*words, file))
    })
}
