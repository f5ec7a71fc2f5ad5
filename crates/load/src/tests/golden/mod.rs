//! Broken eval files and their diagnostics: every case under `fixtures/broken` is loaded, and the rendered diagnostics
//! are compared with the expected output beside it.
//!
//! The tests also check all diagnostics: each says what was found and what to do, each suggested change removes its
//! diagnostic, and every code occurs at least once.

mod folder;
mod load;
mod suggestions;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use assize_diagnostic::render::{TextOptions, to_text};
use assize_diagnostic::{Diagnostic, Severity};
use assize_document::codes;
use assize_testkit::golden;

use folder::Folder;
use load::{Loaded, load};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/broken");

/// Codes that no file in the fixtures can raise, with the reason.
const NOT_IN_FIXTURES: &[(&str, &str)] = &[
    ("E0320", "`validate` finds out; see `first_mistakes` of the command line"),
    ("E0421", "columns are named on the command line"),
    ("E0422", "answers of the fixtures are lines of JSON; see `tests/answers.rs`"),
    ("E0426", "programs are not run here; see `tests/programs.rs`"),
    ("E0508", "it takes thousands of files or graders; tests/limits.rs makes them"),
    ("W0404", "it takes hundreds of warnings; tests/limits.rs makes them"),
    ("W0408", "`validate` finds out; see `first_mistakes` of the command line"),
    ("W0412", "it takes several eval files; see `validate` of the command line"),
    ("W0417", "`validate` finds out; see `first_mistakes` of the command line"),
];

/// Fewer cases than this mean that some were lost.
const AT_LEAST: usize = 180;

#[test]
fn every_broken_file_is_told_what_is_wrong_with_it() {
    let seen: RefCell<BTreeSet<String>> = RefCell::default();
    let count = RefCell::new(0_usize);
    golden::run(FIXTURES, "yaml", |case| {
        let folder = Folder::copy_of(&case.input);
        let loaded = load(&folder, &case.name);
        *count.borrow_mut() += 1;
        for diagnostic in &loaded.diagnostics {
            seen.borrow_mut().insert(diagnostic.code.as_str().to_owned());
            well_formed(diagnostic, &loaded);
        }
        suggestions::check(&folder, &case.name, &loaded);
        let drawn = to_text(&loaded.diagnostics, &loaded.sources, TextOptions::default());
        folder.normalise(&format!("{drawn}{}", ending(&loaded)))
    });
    let count = count.into_inner();
    assert!(count >= AT_LEAST, "only {count} cases");
    let seen = seen.into_inner();
    // Scorecards are more than one file; `tests/scorecards.rs` does the same for theirs.
    for page in codes::ALL.iter().filter(|page| !page.code.as_str()[1..].starts_with("07")) {
        let code = page.code.as_str();
        let excused = NOT_IN_FIXTURES.iter().any(|(excused, _)| *excused == code);
        assert!(seen.contains(code) != excused, "{code}: met {}, excused {excused}", seen.contains(code));
    }
}

/// Checks that a diagnostic has a position, a label there, and help.
fn well_formed(diagnostic: &Diagnostic, loaded: &Loaded) {
    let source = loaded.sources.file(diagnostic.primary.span.source);
    assert!(diagnostic.primary.span.end <= source.text().len(), "outside of the text: {diagnostic:?}");
    assert!(!diagnostic.primary.text.is_empty(), "no label: {diagnostic:?}");
    // The title of a wrong type says which type is expected.
    let says_kind = diagnostic.code == codes::WRONG_TYPE && diagnostic.title.contains(" must be ");
    let has_way_out = !diagnostic.help.is_empty() || diagnostic.suggestion.is_some() || says_kind;
    assert!(has_way_out, "no way out: {diagnostic:?}");
    let expected =
        if diagnostic.code.as_str().starts_with('E') { Severity::Error } else { Severity::Warning };
    assert_eq!(diagnostic.severity, expected, "{diagnostic:?}");
}

/// The last line, about the content that was loaded despite the errors.
fn ending(loaded: &Loaded) -> String {
    let errors = loaded.diagnostics.iter().filter(|found| found.severity == Severity::Error).count();
    let warnings = loaded.diagnostics.len() - errors;
    let blank = if loaded.diagnostics.is_empty() { "" } else { "\n" };
    format!("{blank}{errors} errors, {warnings} warnings; {}\n", loaded.rest)
}

#[test]
fn the_fixtures_are_where_they_are_looked_for() {
    assert!(Path::new(FIXTURES).join("README.md").is_file());
}
