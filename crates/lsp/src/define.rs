//! Definitions of names: files, templates, targets, parts of a scorecard.

use std::path::{Path, PathBuf};

use assize_evalfile::{LoadOptions, load_targets};
use lsp_types::{Location, Position, Range};

use crate::kind::Kind;
use crate::open::Open;
use crate::spot::{At, plain, spot};
use crate::yaml_place::Line;
use crate::{file_uri, text};

/// Folder of templates, relative to a project folder.
const TEMPLATES: &str = ".assize/templates";
/// Maximum length of a code in bytes.
const LONGEST_CODE: usize = 200;
/// Maximum depth of the folders of a scorecard that are searched.
const DEEPEST: usize = 16;

/// Returns the definition of the value under the cursor.
pub(crate) fn define(document: &Open, position: Position, options: &LoadOptions) -> Option<Location> {
    let kind = Kind::of(&document.path, &document.text);
    if kind == Kind::Other {
        return None;
    }
    let spot = spot(document, position, false);
    let (key, value) = match &spot.at {
        At::Value { key, text } => (key.as_str(), text.as_str()),
        // The weights of an index have codes for keys.
        At::Key(code) => ("", code.as_str()),
        At::Nothing => return None,
    };
    if value.is_empty() {
        return None;
    }
    let folder = document.path.parent()?;
    if let Kind::Card(root, _) = &kind
        && let Some(place) = code(value, root, document)
    {
        return Some(place);
    }
    match key {
        "target" | "use_target" | "judge" => target(value, folder, options),
        "include" => {
            let template = format!("{TEMPLATES}/{value}.yaml");
            file(&template, folder, options).or_else(|| file(value, folder, options))
        }
        _ => {
            let card = match &kind {
                // Paths of a scorecard are relative to its folder.
                Kind::Card(root, _) if root.is_dir() => file(value, root, options),
                _ => None,
            };
            card.or_else(|| file(value, folder, options))
        }
    }
}

/// Finds the definition of a scorecard code: in this text, or in the file that is named after it.
fn code(code: &str, root: &Path, document: &Open) -> Option<Location> {
    let defines =
        |line: &str| Line::of(line).key().is_some_and(|(key, value)| key == "code" && plain(value) == code);
    let row = |text: &str| text.lines().position(defines).and_then(|row| u32::try_from(row).ok());
    let at = |row: u32| Range { start: Position::new(row, 0), end: Position::new(row, 0) };
    if let Some(row) = row(&document.text) {
        return Some(Location { uri: document.uri.clone(), range: at(row) });
    }
    let usable = !code.contains(['/', '\\']) && code.len() < LONGEST_CODE;
    let path = named(code, root, DEEPEST).filter(|_| usable)?;
    let text = std::fs::read_to_string(&path).ok()?;
    Some(Location { uri: file_uri::uri(&path)?, range: at(row(&text).unwrap_or(0)) })
}

/// Finds the file in a scorecard's folder that is named after a code. Links to folders are not followed.
fn named(code: &str, folder: &Path, depth: usize) -> Option<PathBuf> {
    let mut entries: Vec<_> = std::fs::read_dir(folder).ok()?.filter_map(Result::ok).collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    let is_it = |path: &Path| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        path.file_stem().is_some_and(|stem| stem == code) && matches!(ending, Some("yaml" | "yml" | "json"))
    };
    let file = entries.iter().map(std::fs::DirEntry::path).find(|path| is_it(path) && path.is_file());
    file.or_else(|| {
        let folders = entries.iter().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders.filter(|_| depth > 1).find_map(|entry| named(code, &entry.path(), depth - 1))
    })
}

/// Finds a file in the folder, in a parent folder up to the top of the repository, or in the working folder.
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

/// Finds the definition of a target in its file.
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
