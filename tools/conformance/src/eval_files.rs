//! Eval files and targets files written by other people: they load, and edits preserve them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_diagnostic::Severity;
use assize_evalfile::{LoadOptions, load_targets};
use assize_load::{find_suites, load_suite};
use assize_model::TargetSpecKind;

use crate::output;
use crate::shared::SharedFolder;

#[path = "../../../crates/load/src/tests/edit/probe.rs"]
mod probe;

/// Appends a line to a text.
macro_rules! line {
    ($text:expr, $($part:tt)*) => { writeln!($text, $($part)*).expect("a string takes everything") };
}

/// An error that is right about a file of the corpus: part of the path, code, part of the message, reason.
const TRUE_COMPLAINTS: &[(&str, &str, &str, &str)] = &[
    ("legacy/evals/architecture/dataset", "E0501", "`../AGENTS.md`", "attachment left out of the copy"),
    ("v4/evals/self/skills/", "E0501", "`fixtures/", "attachments left out of the copy"),
    (
        "agent-skills-evals/csv-analyzer", "E0501", "`evals/files/sales.csv`",
        "attachment left out of the copy",
    ),
    ("input-files-shorthand/", "E0501", "`../fixtures/sales.csv`", "attachment left out of the copy"),
    ("local-cli/evals/", "E0501", "`example.txt`", "attachment left out of the copy"),
    (
        "workspace-setup-script/", "E0501", "`../plugins/my-plugin/AGENTS.md`",
        "attachment left out of the copy",
    ),
    ("workspace-artifact/", "E0501", "workspace-template`", "its template was left out of the copy"),
    ("functional-grading/", "E0501", "workspace-template`", "its template was left out of the copy"),
    ("file-changes-graders/", "E0501", "workspace-template`", "its template was left out of the copy"),
    ("workspace-shared-config/", "E0501", "workspace-template`", "its template was left out of the copy"),
    ("agent-plugin-review", "E0501", "workspace-template`", "its template was left out of the copy"),
    ("autoresearch/EVAL.yaml", "E0103", "`defaults`", "no field of the format: it only holds an anchor"),
    (
        "sdk-custom-assertion/",
        "E0302",
        "`word-count`",
        "its program `.agentv/assertions/word-count.ts` was left out",
    ),
    ("tool-trajectory-advanced/", "E0414", "`input` is not part", "an expected call has `args`, no `input`"),
    ("tool-trajectory-advanced/", "E0414", "`output` is not part", "what a tool answered is not compared"),
];

/// Every file loads, or gets a diagnostic that is right.
pub(crate) fn diagnostics(shared: &SharedFolder) {
    let corpus = shared.path("corpus");
    let options = LoadOptions {
        environment: Arc::new(|name| Some(format!("value-of-{name}"))),
        working_folder: corpus.clone(),
        extra_roots: vec![corpus.clone()],
        ..LoadOptions::new(&corpus)
    };

    let found = find_suites(std::slice::from_ref(&corpus));
    assert!(found.problems.is_empty(), "{:?}", found.problems);

    let text = &mut String::new();
    let mut unexpected = Vec::new();
    let mut cases = 0;
    line!(text, "{:<80} {:>6} {:>5} {:>7} {:>8}", "file", "format", "cases", "errors", "warnings");

    for file in &found.files {
        let loaded = load_suite(file, &options);
        let name = file.strip_prefix(&corpus).expect("inside").to_string_lossy().into_owned();
        let format = loaded.suite.as_ref().map_or("-".to_owned(), |suite| suite.format.number().to_string());
        let count = |severity| loaded.diagnostics.iter().filter(|d| d.severity == severity).count();
        let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
        line!(text, "{name:<80} {format:>6} {:>5} {errors:>7} {warnings:>8}", loaded.cases.len());
        assert_eq!(loaded.cases.iter().flatten().count(), loaded.cases.len(), "{name}");
        cases += loaded.cases.len();

        let mut summary: BTreeMap<String, usize> = BTreeMap::new();
        for diagnostic in &loaded.diagnostics {
            let at = loaded.sources.position(diagnostic.primary.span);
            let message = format!("{}: {}", diagnostic.title, diagnostic.primary.text);
            *summary.entry(format!("{} {message}", diagnostic.code)).or_default() += 1;

            if diagnostic.severity == Severity::Error
                && !TRUE_COMPLAINTS.iter().any(|(file, code, part, _)| {
                    name.contains(file) && *code == diagnostic.code.as_str() && message.contains(part)
                })
            {
                let path = loaded.sources.file(diagnostic.primary.span.source).path().display();
                unexpected.push(format!("{path}:{}:{} {} {message}", at.line, at.column, diagnostic.code));
            }
        }

        for (message, times) in summary {
            line!(text, "      {times:>3} x {message}");
        }
    }

    line!(text, "{} files, {cases} cases", found.files.len());
    output::print(text);

    assert!(unexpected.is_empty(), "unexpected:\n{}", unexpected.join("\n"));
}

/// An edit changes no other byte of a file, and nothing else in its loaded content.
pub(crate) fn edits(shared: &SharedFolder) {
    let mut files = Vec::new();
    probe::files_below(&shared.path("corpus"), &mut files);
    files.sort();
    assert!(!files.is_empty());

    for path in &files {
        probe::check(path);
    }
}

/// Every targets file loads and its targets can be used.
pub(crate) fn targets(shared: &SharedFolder) {
    let corpus = shared.path("corpus");
    let mut files = Vec::new();
    collect_targets(&corpus, &mut files);
    assert!(files.len() > 5);

    for file in files {
        let folder = file.parent().expect("sound");
        let loaded = load_targets(folder, Some(&file), &options(folder));
        let errors: Vec<_> =
            loaded.diagnostics.iter().filter(|found| found.severity == Severity::Error).collect();
        assert!(errors.is_empty(), "{}: {errors:?}", file.display());
        assert!(!loaded.targets.is_empty());

        for spec in &loaded.targets {
            assert_ne!(spec.kind, TargetSpecKind::Undetermined, "{}", file.display());
            assert_eq!(spec.obstacles(), Vec::<String>::new(), "{}", file.display());
        }
    }
}

fn collect_targets(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("sound") {
        let path = entry.expect("sound").path();
        if path.is_dir() {
            collect_targets(&path, files);
        } else if path.file_stem().is_some_and(|stem| stem == "targets")
            && path.extension().is_some_and(|end| end == "yaml" || end == "yml")
        {
            files.push(path);
        }
    }
}

fn options(folder: &Path) -> LoadOptions {
    LoadOptions { environment: Arc::new(|_| None), ..LoadOptions::new(folder) }
}
