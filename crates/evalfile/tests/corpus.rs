//! Loads every eval file of a corpus that may lie beside the checkout, and compares what is said
//! about them with what is true of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_diagnostic::Severity;
use assize_evalfile::{LoadOptions, find_suites, load_suite};

/// A complaint that is true of a file of the corpus: file, code, a part of its text, why.
const TRUE_COMPLAINTS: &[(&str, &str, &str, &str)] = &[
    ("legacy/evals/architecture/dataset", "E0501", "`../AGENTS.md`", "attachment left out of the copy"),
    ("v4/evals/self/skills/", "E0501", "`fixtures/", "attachments left out of the copy"),
    (
        "agent-skills-evals/csv-analyzer",
        "E0501",
        "`evals/files/sales.csv`",
        "attachment left out of the copy",
    ),
    ("input-files-shorthand/", "E0501", "`../fixtures/sales.csv`", "attachment left out of the copy"),
    ("local-cli/evals/", "E0501", "`example.txt`", "attachment left out of the copy"),
    (
        "workspace-setup-script/",
        "E0501",
        "`../plugins/my-plugin/AGENTS.md`",
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

fn corpus() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    folder.canonicalize().ok().filter(|folder| folder.is_dir())
}

#[test]
fn every_file_loads_or_gets_a_true_complaint() {
    let Some(corpus) = corpus() else { return };
    let options = LoadOptions {
        environment: Arc::new(|name| Some(format!("value-of-{name}"))),
        working_folder: corpus.clone(),
        extra_roots: vec![corpus.clone()],
    };
    let found = find_suites(std::slice::from_ref(&corpus));
    assert!(found.problems.is_empty(), "{:?}", found.problems);
    let mut unexpected = Vec::new();
    let mut cases = 0;
    println!("{:<80} {:>6} {:>5} {:>7} {:>8}", "file", "format", "cases", "errors", "warnings");
    for file in &found.files {
        let loaded = load_suite(file, &options);
        let name = file.strip_prefix(&corpus).expect("inside").to_string_lossy().into_owned();
        let format = loaded.suite.as_ref().map_or("-".to_owned(), |suite| suite.format.number().to_string());
        let count = |severity| loaded.diagnostics.iter().filter(|d| d.severity == severity).count();
        let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
        println!("{name:<80} {format:>6} {:>5} {errors:>7} {warnings:>8}", loaded.cases.len());
        assert_eq!(loaded.cases.iter().flatten().count(), loaded.cases.len(), "{name}");
        cases += loaded.cases.len();
        let mut summary: BTreeMap<String, usize> = BTreeMap::new();
        for diagnostic in &loaded.diagnostics {
            let at = loaded.sources.position(diagnostic.primary.span);
            let text = format!("{}: {}", diagnostic.title, diagnostic.primary.text);
            *summary.entry(format!("{} {text}", diagnostic.code)).or_default() += 1;
            if diagnostic.severity == Severity::Error
                && !TRUE_COMPLAINTS.iter().any(|(of, code, part, _)| {
                    name.contains(of) && *code == diagnostic.code.as_str() && text.contains(part)
                })
            {
                let path = loaded.sources.file(diagnostic.primary.span.source).path().display();
                unexpected.push(format!("{path}:{}:{} {} {text}", at.line, at.column, diagnostic.code));
            }
        }
        for (text, times) in summary {
            println!("      {times:>3} x {text}");
        }
    }
    println!("{} files, {cases} cases", found.files.len());
    assert!(unexpected.is_empty(), "unexpected:\n{}", unexpected.join("\n"));
}
