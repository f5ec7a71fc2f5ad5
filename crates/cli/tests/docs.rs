//! Every command shown in a `console` block of the README, the docs and the skills is run, in a copy of the
//! examples. A line `? N` after a command names the exit code it is documented to end with.

use std::fs;
use std::path::{Path, PathBuf};

use assize_testkit::cli::CliTest;

struct Shown {
    place: String,
    words: Vec<String>,
    code: i32,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    let docs = fs::read_dir(root().join("docs")).expect("docs/ is there");
    pages.extend(
        docs.map(|entry| entry.expect("readable").path())
            .filter(|path| path.extension().is_some_and(|e| e == "md")),
    );
    let skills = fs::read_dir(root().join("skills")).expect("skills/ is there");
    pages.extend(skills.map(|entry| entry.expect("readable").path().join("SKILL.md")));
    pages.sort();
    pages
}

/// Splits at spaces; single quotes hold words together. Documented commands need no more.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in command.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().expect("never empty").push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn commands(page: &Path) -> Vec<Shown> {
    let text = fs::read_to_string(page).expect("readable");
    let mut shown: Vec<Shown> = Vec::new();
    let mut inside = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(info) = line.strip_prefix("```") {
            inside = !inside && info.trim() == "console";
        } else if inside && let Some(command) = line.strip_prefix("$ assize ") {
            let place = format!("{}:{}", page.file_name().unwrap_or_default().to_string_lossy(), index + 1);
            shown.push(Shown { place, words: words(command), code: 0 });
        } else if inside && let Some(code) = line.strip_prefix("? ") {
            shown.last_mut().expect("a code follows a command").code = code.parse().expect("a number");
        }
    }
    shown
}

#[test]
fn every_documented_command_ends_as_documented() {
    let mut run = 0;
    for page in pages() {
        let test = CliTest::new(env!("CARGO_BIN_EXE_assize"));
        test.copy_folder(&root().join("examples"), "examples");
        for shown in commands(&page) {
            let words: Vec<&str> = shown.words.iter().map(String::as_str).collect();
            let output = test.run(&words);
            assert_eq!(
                output.code,
                Some(shown.code),
                "{}: assize {}\n{}\n{}",
                shown.place,
                shown.words.join(" "),
                output.stdout,
                output.stderr
            );
            run += 1;
        }
    }
    assert!(run >= 8, "only {run} documented commands were found");
}

#[test]
fn every_provider_is_documented() {
    let text = fs::read_to_string(root().join("docs/judging.md")).expect("readable");
    for provider in assize_llm::known_providers() {
        assert!(text.contains(&format!("`{provider}`")), "{provider} is missing from docs/judging.md");
    }
}
