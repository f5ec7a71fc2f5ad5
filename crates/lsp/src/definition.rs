//! Definitions of names: files, templates, targets, parts of a scorecard.

use std::path::{Path, PathBuf};

use assize_evalfile::{LoadOptions, load_targets};
use lsp_types::{Location, Position, Range};

use crate::cursor::{cursor_context, unquote};
use crate::cursor_context::CursorItem;
use crate::document_kind::DocumentKind;
use crate::open::Open;
use crate::yaml_cursor::YamlLine;
use crate::{file_uri, positions};

/// Folder of templates, relative to a project folder.
const TEMPLATES_FOLDER: &str = ".assize/templates";
/// Maximum length of a code in bytes.
const MAX_CODE_LENGTH: usize = 200;
/// Maximum depth of the folders of a scorecard that are searched.
const MAX_FOLDER_DEPTH: usize = 16;

/// Returns the definition of the value under the cursor.
pub(crate) fn find_definition(
    document: &Open,
    position: Position,
    options: &LoadOptions,
) -> Option<Location> {
    let kind = DocumentKind::detect(&document.path, &document.text);
    if kind == DocumentKind::Other {
        return None;
    }

    let spot = cursor_context(document, position, false);
    let (key, value) = match &spot.at {
        CursorItem::Value { key, text } => (key.as_str(), text.as_str()),
        // The keys of an index's weights are codes.
        CursorItem::Key(code) => ("", code.as_str()),
        CursorItem::Nothing => return None,
    };
    if value.is_empty() {
        return None;
    }

    let folder = document.path.parent()?;

    if let DocumentKind::Card(root, _) = &kind
        && let Some(place) = find_code(value, root, document)
    {
        return Some(place);
    }

    match key {
        "target" | "use_target" | "judge" => find_target(value, folder, options),
        "include" => {
            let template = format!("{TEMPLATES_FOLDER}/{value}.yaml");
            find_file(&template, folder, options).or_else(|| find_file(value, folder, options))
        }
        _ => {
            let card = match &kind {
                // Paths of a scorecard are relative to its folder.
                DocumentKind::Card(root, _) if root.is_dir() => find_file(value, root, options),
                _ => None,
            };
            card.or_else(|| find_file(value, folder, options))
        }
    }
}

/// Finds the definition of a scorecard code: in this text, or in the file with the code as its name.
fn find_code(code: &str, root: &Path, document: &Open) -> Option<Location> {
    let defines = |line: &str| {
        YamlLine::parse(line)
            .key_and_value()
            .is_some_and(|(key, value)| key == "code" && unquote(value) == code)
    };
    let row = |text: &str| text.lines().position(defines).and_then(|row| u32::try_from(row).ok());
    let at = |row: u32| Range { start: Position::new(row, 0), end: Position::new(row, 0) };
    if let Some(row) = row(&document.text) {
        return Some(Location { uri: document.uri.clone(), range: at(row) });
    }

    let usable = !code.contains(['/', '\\']) && code.len() < MAX_CODE_LENGTH;
    let path = find_file_named(code, root, MAX_FOLDER_DEPTH).filter(|_| usable)?;
    let text = assize_files::read_text(&path).ok()?;
    Some(Location { uri: file_uri::to_uri(&path)?, range: at(row(&text).unwrap_or(0)) })
}

/// Finds the file in a scorecard's folder that has a code as its name. Links to folders are not followed.
fn find_file_named(code: &str, folder: &Path, depth: usize) -> Option<PathBuf> {
    let mut entries: Vec<_> = std::fs::read_dir(folder).ok()?.filter_map(Result::ok).collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);

    let is_it = |path: &Path| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        path.file_stem().is_some_and(|stem| stem == code) && matches!(ending, Some("yaml" | "yml" | "json"))
    };
    let file = entries.iter().map(std::fs::DirEntry::path).find(|path| is_it(path) && path.is_file());
    file.or_else(|| {
        let folders = entries.iter().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders.filter(|_| depth > 1).find_map(|entry| find_file_named(code, &entry.path(), depth - 1))
    })
}

/// Finds a file in the folder, in a parent folder up to the top of the repository, or in the working folder.
fn find_file(written: &str, folder: &Path, options: &LoadOptions) -> Option<Location> {
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
    Some(Location { uri: file_uri::to_uri(&found)?, range: Range::default() })
}

/// Finds the definition of a target in its file.
fn find_target(name: &str, folder: &Path, options: &LoadOptions) -> Option<Location> {
    let loaded = load_targets(folder, None, options);
    let path = options.working_folder.join(loaded.path?);
    let content = assize_files::read_text(&path).ok()?;
    let row = content.lines().position(|line| {
        let line = YamlLine::parse(line);
        line.key_and_value().is_some_and(|(key, value)| key == "name" && unquote(value) == name)
    })?;
    let line = content.lines().nth(row)?;
    let end = positions::position(line, line.len()).character;
    let row = u32::try_from(row).ok()?;
    let range = Range { start: Position::new(row, 0), end: Position::new(row, end) };

    Some(Location { uri: file_uri::to_uri(&path)?, range })
}
