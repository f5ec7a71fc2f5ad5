//! A suggested change must solve its problem: once it is applied, the diagnostic is gone.

use std::fs;
use std::path::PathBuf;

use assize_diagnostic::{Diagnostic, DiagnosticCode};
use assize_document::codes;

use super::folder::Folder;
use super::load::{Loaded, load};

/// What a change must not bring about.
const SPOILED: [DiagnosticCode; 3] = [codes::YAML_SYNTAX, codes::JSON_SYNTAX, codes::DUPLICATE_KEY];

/// Applies each suggested change by itself, loads again, and checks that the diagnostic is gone from its position and
/// that no less of the file can be read than before. A change may reveal other problems that were hidden before.
pub(crate) fn check(folder: &Folder, name: &str, loaded: &Loaded) {
    // Targets and config files are named relative to the working folder.
    let home = folder.path();
    for diagnostic in &loaded.diagnostics {
        let Some(suggestion) = &diagnostic.suggestion else { continue };
        let source = loaded.sources.file(suggestion.span.source);
        let path = home.join(source.path());
        let before = fs::read_to_string(&path).expect("text");
        let skipped: usize = before.split_inclusive('\n').take(source.first_line() - 1).map(str::len).sum();
        let start = skipped + suggestion.span.start;
        let end = skipped + suggestion.span.end;
        let after = format!("{}{}{}", &before[..start], suggestion.replacement, &before[end..]);
        fs::write(&path, &after).expect("written");
        let again = load(folder, name);
        fs::write(&path, &before).expect("written");
        let stays = again.diagnostics.iter().any(|found| place(found, &again) == place(diagnostic, loaded));
        assert!(
            !stays && spoiled(&again) <= spoiled(loaded),
            "{}: `{}` does not help:\n{after}\n{:?}",
            diagnostic.code,
            suggestion.title,
            again.diagnostics
        );
    }
}

fn place(diagnostic: &Diagnostic, loaded: &Loaded) -> (DiagnosticCode, PathBuf, usize, usize) {
    let span = diagnostic.primary.span;
    let position = loaded.sources.position(span);
    let path = loaded.sources.file(span.source).path().to_owned();
    (diagnostic.code, path, position.line, position.column)
}

fn spoiled(loaded: &Loaded) -> usize {
    loaded.diagnostics.iter().filter(|found| SPOILED.contains(&found.code)).count()
}
