//! Runs every command in a `console` block of the README, the docs and the skills, in a copy of the examples. A line `?
//! N` after a command gives its documented exit code. Other lines after a command are its output on a terminal of 80
//! columns; `...` matches any lines.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use assize_testkit::cli::CliTest;

struct Shown {
    place: String,
    words: Vec<String>,
    code: i32,
    output: Vec<String>,
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

/// Splits at spaces; single quotes group words. Documented commands need no more.
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
    // Blocks of list items are indented.
    let mut indent = 0;
    for (index, line) in text.lines().enumerate() {
        let line = line.get(indent..).unwrap_or_default().trim_end();
        if let Some(info) = line.trim_start().strip_prefix("```") {
            inside = !inside && info.trim() == "console";
            indent = if inside { line.len() - line.trim_start().len() } else { 0 };
        } else if inside && let Some(command) = line.strip_prefix("$ assize ") {
            let place = format!("{}:{}", page.file_name().unwrap_or_default().to_string_lossy(), index + 1);
            shown.push(Shown { place, words: words(command), code: 0, output: Vec::new() });
        } else if inside {
            let last =
                shown.last_mut().unwrap_or_else(|| panic!("{}: `{line}` follows no command", page.display()));
            match line.strip_prefix("? ") {
                Some(code) => last.code = code.parse().expect("a number"),
                None => last.output.push(line.to_owned()),
            }
        }
    }
    shown
}

/// The first documented line that was not printed in its place, or the first printed line that is not
/// documented.
fn difference(documented: &[String], printed: &str) -> Option<String> {
    let mut printed = printed.lines().map(str::trim_end);
    let mut may_skip = documented.is_empty();
    for line in documented {
        if line == "..." {
            may_skip = true;
            continue;
        }

        let is_printed =
            if may_skip { printed.any(|other| other == line) } else { printed.next() == Some(line.as_str()) };
        if !is_printed {
            return Some(format!("not printed here: `{line}`"));
        }
        may_skip = false;
    }

    let rest = if may_skip { None } else { printed.next() };
    rest.map(|line| format!("printed and not documented: `{line}`"))
}

#[test]
fn documented_output_is_held_against_what_is_printed() {
    let differs = |documented: &str| {
        let lines: Vec<String> = documented.lines().map(str::to_owned).collect();
        difference(&lines, "one\n two  \nthree\n").is_some()
    };
    assert!(!differs("") && !differs("one\n two\nthree") && !differs("one\n...") && !differs("...\nthree"));
    assert!(
        differs("two\n...") && differs("one") && differs("one\nthree") && differs("...\nthree\n two\n...")
    );
}

/// Runs the commands of a page in its own folder, and counts them. Records commands with different output.
fn run_page(page: &Path, differences: &Mutex<Vec<String>>) -> usize {
    let mut test = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    test.env("COLUMNS", "80");
    test.without_consent();
    test.copy_folder(&root().join("examples"), "examples");

    let commands = commands(page);
    for shown in &commands {
        let words: Vec<&str> = shown.words.iter().map(String::as_str).collect();
        let output = test.run(&words);
        let command = format!("{}: assize {}", shown.place, shown.words.join(" "));

        assert_eq!(output.code, Some(shown.code), "{command}\n{}\n{}", output.stdout, output.stderr);
        if let Some(difference) = difference(&shown.output, &output.stdout) {
            let text = format!("{command}\n{difference}\n{}", output.stdout);
            differences.lock().expect("no page panics here").push(text);
        }
    }
    commands.len()
}

#[test]
fn every_documented_command_ends_as_documented() {
    let pages = Mutex::new(pages());
    let (count, differences) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);

    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let Some(page) = pages.lock().expect("no page panics while it is held").pop() else {
                        break;
                    };
                    count.fetch_add(run_page(&page, &differences), Ordering::Relaxed);
                }
            });
        }
    });

    let (count, differences) = (count.into_inner(), differences.into_inner().expect("no page panicked"));
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(count >= 100, "only {count} documented commands were found");
}

#[test]
fn the_tutorial_shows_the_files_of_its_example() {
    let read = |path: &str| fs::read_to_string(root().join(path)).expect("readable");
    let (page, table) = (read("docs/tutorial.md"), read("examples/tutorial/before.csv"));
    assert!(page.contains(&format!("```yaml\n{}```", read("examples/tutorial/rubric.yaml"))), "the rubric");
    let rows: Vec<&str> = table.lines().collect();
    assert!(page.contains(&rows[..3].join("\n")), "the first rows of the table");
}

/// Options of other programs that messages and pages name.
const FOREIGN_OPTIONS: &[&str] = &[
    // agents and their logs
    "--allow-all-tools", "--approval-mode", "--mode", "--output-format", "--sandbox",
    // cargo, pip, pytest, trainers, scripts of the repository
    "--assize", "--assize-args", "--assize-judge", "--features", "--omit", "--quick", "--record", "--reward",
    "--rm-type",
];

/// Other names of options, which completions don't offer. The help of the option names them.
const OTHER_NAMES: &[&str] = &["--judge-calls", "--report", "--test-id"];

/// Every `--option` of a message or a page is one of the program, wherever the message is written: in the code, or in a
/// table, template or script that is compiled into it. The page about AgentV names its options.
#[test]
fn options_that_messages_and_pages_name_exist() {
    let script = CliTest::new(env!("CARGO_BIN_EXE_assize")).run(&["completions", "bash"]).expect_code(0);
    let known: std::collections::BTreeSet<&str> = named_options(&script.stdout, &[' ', '"']).collect();
    assert!(known.len() > 100, "{known:?}");

    let mut folders = vec![root().join("docs"), root().join("crates")];
    let mut unknown = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("readable") {
            let path = entry.expect("readable").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_skipped = matches!(
                &*name,
                "tests" | "xtask" | "testkit" | "design" | "compatibility.md" | "usage_error.rs"
            );
            if path.is_dir() && !is_skipped {
                folders.push(path);
            } else if !is_skipped && let Ok(text) = fs::read_to_string(&path) {
                let named = named_options(&text, &['`', '\'']).chain(options_of_commands(&text));
                let named = named.filter(|option| {
                    !known.contains(option)
                        && !FOREIGN_OPTIONS.contains(option)
                        && !OTHER_NAMES.contains(option)
                });
                unknown.extend(named.map(|option| format!("{}: {option}", path.display())));
            }
        }
    }
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}

/// The long options of the commands of the program that a text names.
fn options_of_commands(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.split(['\n', '`']).filter(|line| !line.contains("cargo"));
    lines.filter_map(|line| line.split_once("assize ")).flat_map(|(_, command)| {
        // The end of a line ends an option.
        let command = command.split_inclusive(' ');
        command.filter_map(|word| {
            let word = word.trim_end_matches(|c: char| c != '-' && !c.is_ascii_alphanumeric());
            let word = word.split(['=', '<', '"']).next()?;
            let is_option = word.strip_prefix("--").is_some_and(|name| {
                name.len() > 1 && name.bytes().all(|c| c.is_ascii_lowercase() || c == b'-')
            });
            is_option.then_some(word)
        })
    })
}

/// The long options that a text names after one of these characters.
fn named_options<'t>(text: &'t str, after: &'t [char]) -> impl Iterator<Item = &'t str> {
    text.match_indices("--").filter_map(move |(at, _)| {
        let end =
            text[at + 2..].find(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit() && c != '-')?;
        let option = &text[at..at + 2 + end];
        let is_whole = end > 1 && !option.ends_with('-') && option.as_bytes()[2] != b'-';
        (is_whole && text[..at].ends_with(after)).then_some(option)
    })
}

#[test]
fn every_provider_is_documented() {
    let text = fs::read_to_string(root().join("docs/judging.md")).expect("readable");
    for provider in assize_llm::known_providers() {
        assert!(text.contains(&format!("`{provider}`")), "{provider} is missing from docs/judging.md");
    }
}
