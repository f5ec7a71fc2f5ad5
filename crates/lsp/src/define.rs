//! From a name to what it names: a file, a template, a target.

use std::path::{Path, PathBuf};

use assize_spec::{LoadOptions, load_targets};
use lsp_types::{Location, Position, Range};

use crate::check::Kind;
use crate::place::Line;
use crate::server::Open;
use crate::{file_uri, text};

/// Where the folder of templates is, seen from a folder.
const TEMPLATES: &str = ".assize/templates";

/// What the value under the cursor leads to.
pub(crate) fn define(document: &Open, position: Position, options: &LoadOptions) -> Option<Location> {
    if Kind::of(&document.path, &document.text) == Kind::Other {
        return None;
    }
    let line = document.text.lines().nth(position.line as usize)?;
    let line = Line::of(line);
    let (key, value) = line.key().map_or(("", line.content), |(key, value)| (key, value));
    let value = plain(value);
    if value.is_empty() {
        return None;
    }
    let folder = document.path.parent()?;
    match key {
        "target" | "use_target" | "judge" => target(value, folder, options),
        "include" => {
            let template = format!("{TEMPLATES}/{value}.yaml");
            file(&template, folder, options).or_else(|| file(value, folder, options))
        }
        _ => file(value, folder, options),
    }
}

/// A scalar without quotation marks and the comment behind it.
fn plain(value: &str) -> &str {
    let value = value.trim();
    for mark in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(mark) {
            return inner.split(mark).next().unwrap_or_default();
        }
    }
    value.split(" #").next().unwrap_or_default().trim_end()
}

/// A file of that name in the folder, above it up to the top of the repository, or in the working folder.
fn file(written: &str, folder: &Path, options: &LoadOptions) -> Option<Location> {
    let written = written.strip_prefix("file://").unwrap_or(written);
    let relative = written.strip_prefix('/').unwrap_or(written);
    let top = folder.ancestors().find(|above| above.join(".git").exists()).unwrap_or(folder);
    let mut folders: Vec<&Path> = folder.ancestors().take_while(|above| above.starts_with(top)).collect();
    folders.push(&options.working_folder);
    let allowed: Vec<PathBuf> = [top, &options.working_folder]
        .into_iter()
        .chain(options.extra_roots.iter().map(PathBuf::as_path))
        .filter_map(|root| root.canonicalize().ok())
        .collect();
    let found = folders.iter().map(|folder| folder.join(relative)).find(|path| {
        let real = path.canonicalize().ok().filter(|real| real.is_file());
        real.is_some_and(|real| allowed.iter().any(|root| real.starts_with(root)))
    })?;
    Some(Location { uri: file_uri::uri(&found)?, range: Range::default() })
}

/// The place of a target in its file.
fn target(name: &str, folder: &Path, options: &LoadOptions) -> Option<Location> {
    let loaded = load_targets(folder, None, options);
    let path = options.working_folder.join(loaded.path?);
    let content = std::fs::read_to_string(&path).ok()?;
    let row = content.lines().position(|line| {
        let line = Line::of(line);
        line.key().is_some_and(|(key, value)| key == "name" && plain(value) == name)
    })?;
    let line = content.lines().nth(row)?;
    let end = text::position(line, line.len()).character;
    let row = u32::try_from(row).ok()?;
    let range = Range { start: Position::new(row, 0), end: Position::new(row, end) };
    Some(Location { uri: file_uri::uri(&path)?, range })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_lose_quotes_and_comments() {
        for (written, value) in
            [("a.md", "a.md"), (" 'a b' # c", "a b"), ("\"x", "x"), ("a # b", "a"), ("a#b", "a#b"), ("", "")]
        {
            assert_eq!(plain(written), value, "{written}");
        }
    }
}
