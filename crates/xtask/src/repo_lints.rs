//! `cargo xtask lints`: rules of this repository that no other tool looks after: first lines, leftover
//! markers, machine paths, links between pages, paths in pages, models in examples, crate pages, dependencies that
//! nothing uses, descriptions of packages.

mod descriptions;
mod example_models;
mod page_links;
mod page_paths;

use std::path::Path;

use page_links::is_kind;

use xtask::metadata::{self, Dependency, Kind, Package};
use xtask::shell;

/// Words that mark unfinished work. They are split so that this file does not match itself.
const MARKERS: &[&str] =
    &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("to", "do!"), concat!("unimpl", "emented!")];

/// Folders that exist on one machine only.
const MACHINE_PATHS: &[&str] = &[concat!("/wo", "rk/"), concat!("/ro", "ot/")];

/// Parts of paths of files that may open files for reading directly, with the reason.
const MAY_OPEN_FILES: &[(&str, &str)] = &[
    ("crates/files/", "does it for all others"),
    ("tools/", "does not ship"),
    ("crates/testkit/", "does not ship"),
    ("crates/xtask/", "does not ship"),
    ("crates/process/src/guard.rs", "reads what the system tells of processes"),
    ("crates/store/src/disk.rs", "opens folders, to force names to the disk"),
    ("crates/workspace/", "opens what it has found to be a regular file"),
];

/// Fails with all violations of the rules.
pub(crate) fn run() -> Result<(), String> {
    let root = shell::root();
    let files = shell::files()?;
    let mut found = Vec::new();
    let mut links = page_links::PageLinks::default();
    let models = example_models::read(&root)?;
    for name in &files {
        let Ok(bytes) = std::fs::read(root.join(name)) else { continue };
        // Test data can be anything. Files that are not text have no lines to check.
        let Ok(text) = String::from_utf8(bytes) else { continue };
        found.extend(lint_text(name, &text));
        found.extend(example_models::unlisted(name, &text, &models));

        if is_kind(name, "md") {
            links.add(name, &text);
            found.extend(page_paths::dead_paths(&files, name, &text));
        }
    }
    found.extend(links.problems(&files));
    found.extend(descriptions::lint(&root));

    for package in metadata::packages()? {
        let page = format!("{}/README.md", package.folder);
        if !files.contains(&page) {
            found.push(format!("{page} is missing: what the crate owns and what it does not do"));
        }
        found.extend(unused(&root, &files, &package)?);
    }

    if found.is_empty() {
        println!("lints: {} files, all in order", files.len());
        return Ok(());
    }

    Err(format!("lints: {} not in order\n  {}", found.len(), found.join("\n  ")))
}

/// Returns the problems of one file's text.
fn lint_text(name: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let is_code = is_kind(name, "rs");
    if is_code && !text.starts_with("//!") {
        found.push(format!("{name}: does not begin with a `//!` line that says what it owns"));
    }

    // Split so that this file does not match itself.
    let writes_identities = has_word(text, concat!("Identity", "Writer"));
    let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
    if is_code && writes_identities && shipped.contains(concat!(":", "?}")) {
        found.push(format!("{name}: writes identities, and those must not depend on what `Debug` prints"));
    }

    if is_code && opens_files(name, shipped) {
        found.push(format!(
            "{name}: opens a file that may be a pipe or a device; `assize_files` opens files for reading"
        ));
    }

    if is_code && reads_tables(name, shipped) {
        found.push(format!("{name}: reads a table by rules of its own; `assize_table` reads all tables"));
    }

    for (index, line) in text.lines().enumerate() {
        let place = format!("{name}:{}", index + 1);
        if is_code && let Some(marker) = MARKERS.iter().find(|marker| has_word(line, marker)) {
            found.push(format!("{place}: `{marker}` marks unfinished work"));
        }
        if let Some(path) = MACHINE_PATHS.iter().find(|path| has_path(line, path)) {
            found.push(format!("{place}: `{path}` exists on one machine only"));
        }
    }

    found
}

/// Whether a file is part of a library or program, and not of its tests.
fn ships(name: &str) -> bool {
    let is_test = name.contains("/src/tests/") || name.ends_with("/tests.rs") || name.ends_with("_tests.rs");
    name.contains("/src/") && !is_test
}

/// Whether code that ships opens files for reading directly instead of through `assize_files`.
fn opens_files(name: &str, shipped: &str) -> bool {
    let opens = ["fs::read(", "fs::read_to_string(", " File::open(", "(File::open(", "fs::File::open("];
    let is_exempt = MAY_OPEN_FILES.iter().any(|(place, _)| name.contains(place));

    !is_exempt && ships(name) && opens.iter().any(|open| shipped.contains(open))
}

/// Whether code that ships splits the text of a table into rows or cells without the crate for that.
fn reads_tables(name: &str, shipped: &str) -> bool {
    // Split so that this file does not match itself.
    let readers = [concat!("csv::", "Reader"), concat!("csv::", "StringRecord"), concat!("csv_", "core")];
    let is_exempt = name.starts_with("crates/table/") || name.starts_with("tools/");

    !is_exempt && ships(name) && readers.iter().any(|reader| shipped.contains(reader))
}

/// Dependencies of a crate that its code never mentions.
fn unused(root: &Path, files: &[String], package: &Package) -> Result<Vec<String>, String> {
    let mut shipped = String::new();
    let mut tests = String::new();
    for name in files {
        let Some(inside) = name.strip_prefix(&format!("{}/", package.folder)) else { continue };
        if !is_kind(inside, "rs") {
            continue;
        }

        let text = std::fs::read_to_string(root.join(name)).map_err(|error| format!("{name}: {error}"))?;
        let is_shipped = ships(name) || inside == "build.rs";
        code_only(&text, if is_shipped { &mut shipped } else { &mut tests });
    }

    let is_used = |dependency: &Dependency| {
        let name = dependency.rename.as_ref().unwrap_or(&dependency.name).replace('-', "_");
        has_word(&shipped, &name) || (dependency.kind == Kind::Dev && has_word(&tests, &name))
    };
    let lines = package.dependencies.iter().filter(|dependency| !is_used(dependency));
    Ok(lines.map(|line| format!("{}/Cargo.toml: nothing uses {}", package.folder, line.name)).collect())
}

/// Appends a file without its line comments, since a crate that is only mentioned in prose is unused.
fn code_only(text: &str, out: &mut String) {
    for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
        out.push_str(line);
        out.push('\n');
    }
}

/// Whether a word occurs as a whole word.
fn has_word(text: &str, word: &str) -> bool {
    let continues = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(continues) && !text[at + word.len()..].starts_with(continues))
}

/// Whether a path occurs that starts at the root of the file system. The end of a longer path does not count.
fn has_path(text: &str, path: &str) -> bool {
    let continues = |c: char| c.is_alphanumeric() || "_-.}>*~$".contains(c);
    text.match_indices(path).any(|(at, _)| !text[..at].ends_with(continues))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_is_found_where_identities_are_written() {
        let file = |before: &str, after: &str| {
            format!("//! a\n{before}\nuse Identity{};\n#[cfg(test)]\n{after}", "Writer")
        };
        assert_eq!(lint_text("a.rs", &file("format!(\"{a:?}\")", "")).len(), 1);
        assert_eq!(lint_text("a.rs", &file("", "format!(\"{a:?}\")")), Vec::<String>::new());
        assert_eq!(lint_text("a.rs", "//! a\nformat!(\"{a:?}\")"), Vec::<String>::new());
    }

    #[test]
    fn files_are_opened_in_one_place() {
        let opens = "//! a\nlet text = std::fs::read_to_string(path)?;";
        assert_eq!(lint_text("crates/a/src/b.rs", opens).len(), 1);
        assert_eq!(lint_text("crates/files/src/lib.rs", opens), Vec::<String>::new());
        assert_eq!(lint_text("crates/a/src/tests/b.rs", opens), Vec::<String>::new());
        let tested = opens.replace('\n', "\n#[cfg(test)]\n");
        assert_eq!(lint_text("crates/a/src/b.rs", &tested), Vec::<String>::new());
    }

    #[test]
    fn tables_are_read_in_one_place() {
        let reads = concat!("//! a\nlet reader = csv::", "ReaderBuilder::new();");
        assert_eq!(lint_text("crates/a/src/b.rs", reads).len(), 1);
        assert_eq!(lint_text("crates/table/src/b.rs", reads), Vec::<String>::new());
        assert_eq!(lint_text("crates/a/src/tests/b.rs", reads), Vec::<String>::new());
        let writes = "//! a\nlet table = csv::Writer::from_writer(out);";
        assert_eq!(lint_text("crates/a/src/b.rs", writes), Vec::<String>::new());
    }

    #[test]
    fn markers_are_found_as_words() {
        for marker in MARKERS {
            let found = lint_text("a.rs", &format!("//! a\n// {marker} later"));
            assert_eq!(found.len(), 1, "{marker}");
            assert!(found[0].starts_with("a.rs:2: "), "{found:?}");
        }
        assert_eq!(lint_text("a.rs", "//! mastodons, in Spanish: todos"), Vec::<String>::new());
    }

    #[test]
    fn machine_paths_are_found_in_any_file() {
        for path in MACHINE_PATHS {
            assert_eq!(lint_text("notes.md", &format!("see {path}x")).len(), 1);
            assert_eq!(lint_text("notes.md", &format!("see a{path}x")), Vec::<String>::new());
        }
    }

    #[test]
    fn files_of_code_say_what_they_own() {
        assert_eq!(lint_text("a.rs", "//! What it owns.\n"), Vec::<String>::new());
        assert_eq!(lint_text("a.rs", "use std::fmt;\n").len(), 1);
    }

    #[test]
    fn words_end_where_names_end() {
        assert!(has_word("use serde::Serialize;", "serde"));
        assert!(!has_word("use serde_json::Value;", "serde"));
        assert!(has_word("serde_json::from_str serde", "serde"));
    }

    #[test]
    fn a_crate_named_only_in_a_comment_is_unused() {
        let mut code = String::new();
        code_only("//! tokio\n    // tokio\nlet a = 1; // x\n", &mut code);
        assert!(!has_word(&code, "tokio"));
        assert!(has_word(&code, "let"));
    }
}
