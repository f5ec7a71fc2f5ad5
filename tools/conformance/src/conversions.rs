//! Conversions of other tools' files to suites, rubrics and scorecards.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_convert::{ConvertError, ConvertedFile, ExportFormat, ImportFormat, convert, detect};
use assize_evalfile::LoadOptions;
use assize_load::load_suite;
use assize_model::{Case, GraderKind, Suite};
use assize_rubric::{Outcome, UnitInterval, VerdictThresholds, score_rubric};
use assize_testkit::cli::CliTest;
use serde_json::Value;

use crate::program;
use crate::shared::SharedFolder;

fn options(folder: &Path) -> LoadOptions {
    LoadOptions { environment: Arc::new(|_| Some("a-secret".to_owned())), ..LoadOptions::new(folder) }
}

fn load(path: &Path) -> (Suite, Vec<Case>) {
    let loaded = load_suite(path, &options(path.parent().expect("a folder")));
    let text = std::fs::read_to_string(path).expect("readable");
    assert!(!loaded.has_errors(), "{text}\n{:#?}", loaded.diagnostics);
    let cases = loaded.cases.iter().map(|case| (*case.expect("readable")).clone()).collect();
    (loaded.suite.expect("a suite"), cases)
}

fn lost(converted: &ConvertedFile) -> Vec<String> {
    converted.notes.iter().filter(|note| note.lost).map(ToString::to_string).collect()
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("readable")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|e| e == ending))
        .collect();
    files.sort();

    files
}

/// Files that the configurations refer to and that the collection does not include.
const STAND_INS: [&str; 3] = ["docs/maternity.md", "docs/reimbursement.md", "prompts.txt"];

/// Copies the configurations of another tool to a folder, with placeholders for the files they refer to.
pub(crate) fn copy_configurations(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir(to.join("docs"))?;
    for name in STAND_INS {
        std::fs::write(to.join(name), "About {{topic}}")?;
    }
    for path in files(from, "yaml") {
        std::fs::write(to.join(path.file_name().unwrap_or_default()), std::fs::read(&path)?)?;
    }

    Ok(())
}

/// Configurations of another tool are converted, and all losses are listed.
pub(crate) fn configurations(shared: &SharedFolder) {
    let folder = tempfile::tempdir().expect("a folder");
    copy_configurations(&shared.path("data/promptfoo-configs"), folder.path()).expect("copied");

    let mut rubrics = 0;
    for path in files(folder.path(), "yaml") {
        assert_eq!(detect(&path).expect("known"), ImportFormat::Promptfoo, "{}", path.display());
        for to in [ExportFormat::Format1, ExportFormat::Format2, ExportFormat::Scorecard] {
            let converted = convert(&path, ImportFormat::Promptfoo, to, &options(folder.path()));
            let converted = match converted {
                Ok(converted) => converted,
                Err(ConvertError::Empty(..)) if to == ExportFormat::Scorecard => continue,
                Err(error) => panic!("{}: {error}", path.display()),
            };

            if to == ExportFormat::Scorecard {
                continue;
            }

            let new = folder.path().join("new.eval.yml");
            std::fs::write(&new, &converted.text).expect("written");

            let (_, cases) = load(&new);
            assert_eq!(cases.len(), load(&path).1.len(), "{}", path.display());
            if to == ExportFormat::Format2 {
                rubrics +=
                    cases.iter().flat_map(|case| &case.graders).filter(|g| g.type_name == "rubrics").count();
            }
        }
    }

    // 10 + 1 + 2 `llm-rubric` with a value, 5 `g-eval`, 2 `factuality`.
    assert_eq!(rubrics, 20);
}

/// Score of a graded tree, computed from the weights in it.
fn tree_score(node: &Value) -> f64 {
    let children = node["sub_tasks"].as_array().expect("a list");
    if children.is_empty() {
        return node["score"].as_f64().expect("graded");
    }

    let weight = |child: &Value| child["weight"].as_f64().expect("a number");
    let total: f64 = children.iter().map(weight).sum();
    children.iter().map(|child| weight(child) * tree_score(child)).sum::<f64>() / total
}

fn leaves(node: &Value, out: &mut Vec<Outcome>) {
    let children = node["sub_tasks"].as_array().expect("a list");
    if children.is_empty() {
        out.push(if node["score"].as_f64() == Some(1.0) { Outcome::Met } else { Outcome::Unmet });
    }

    for child in children {
        leaves(child, out);
    }
}

/// Graded trees get the published scores.
pub(crate) fn graded_trees(shared: &SharedFolder) {
    let folder = shared.path("data/paperbench");
    for path in files(&folder.join("judge_eval"), "json") {
        let text = std::fs::read_to_string(&path).expect("readable");
        let tree: Value = serde_json::from_str(&text).expect("JSON");
        let converted = convert(&path, ImportFormat::PaperBench, ExportFormat::Format2, &options(&folder))
            .expect("converted");
        let out = tempfile::tempdir().expect("a folder");
        let new = out.path().join("new.yaml");
        std::fs::write(&new, &converted.text).expect("written");

        let (_, cases) = load(&new);
        let GraderKind::Rubric(rubric) = &cases[0].graders[0].kind else { panic!("a rubric") };
        let mut outcomes = Vec::new();
        leaves(&tree, &mut outcomes);

        let score = score_rubric(
            &rubric.rubric,
            &outcomes,
            VerdictThresholds::with_optional_borderline(UnitInterval::ONE, None),
        )
        .expect("fits");

        let score = score.score.expect("judged");
        assert!((score - tree["score"].as_f64().expect("a score")).abs() < 1e-9, "{}", path.display());

        assert!((score - tree_score(&tree)).abs() < 1e-9);
    }

    for path in files(&folder.join("rubrics"), "json") {
        let converted = convert(&path, ImportFormat::PaperBench, ExportFormat::Scorecard, &options(&folder))
            .expect("converted");
        let twice = lost(&converted).iter().filter(|note| note.contains("its id is also on line")).count();
        let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let expected = if matches!(stem.as_str(), "bbox" | "bridging-data-gaps") { 3 } else { 0 };

        assert_eq!(twice, expected, "{stem}");
    }
}

/// Panics if two trees differ in their requirements, weights or order.
fn same_tree(a: &Value, b: &Value, way: &str) {
    for key in ["id", "requirements", "task_category"] {
        assert_eq!(a.get(key).unwrap_or(&Value::Null), b.get(key).unwrap_or(&Value::Null), "{way}: {key}");
    }

    assert_eq!(a["weight"].as_f64(), b["weight"].as_f64(), "{way}");
    let parts = |node: &Value| node["sub_tasks"].as_array().cloned().unwrap_or_default();
    assert_eq!(parts(a).len(), parts(b).len(), "{way}");

    for (index, (a, b)) in parts(a).iter().zip(&parts(b)).enumerate() {
        same_tree(a, b, &format!("{way}/{index}"));
    }
}

/// Trees do not change when they are converted to their own format.
pub(crate) fn unchanged_trees(shared: &SharedFolder) {
    let folder = shared.path("data/paperbench");
    for path in files(&folder.join("rubrics"), "json").iter().filter(|path| !path.ends_with("lbcs.json")) {
        let converted = convert(path, ImportFormat::PaperBench, ExportFormat::PaperBench, &options(&folder))
            .expect("converted");
        let old: Value =
            serde_json::from_str(&std::fs::read_to_string(path).expect("readable")).expect("JSON");
        let new: Value = serde_json::from_str(&converted.text).expect("JSON");
        same_tree(&old, &new, "");
    }
}

/// Requirements of tasks become scorecards that load.
pub(crate) fn tasks(shared: &SharedFolder) -> Result<(), String> {
    converted_files_load(&shared.path("data/devai-agent-judge"), "scorecard")
}

/// Labelled examples become suites that load.
pub(crate) fn examples(shared: &SharedFolder) -> Result<(), String> {
    converted_files_load(&shared.path("data/healthbench-meta-120"), "tests")
}

fn converted_files_load(folder: &Path, to: &str) -> Result<(), String> {
    let cli = CliTest::new(program::built()?);
    for path in files(folder, "jsonl") {
        let text = path.to_str().expect("a path");
        let output = cli.run(&["convert", text, "--to", to, "-o", "new.yaml", "--force"]);

        // Tables of verdicts are not rubrics and are refused. Whatever is written must load.
        if output.code == Some(2) {
            assert!(output.stderr.contains("error"), "{}", output.stderr);
        } else {
            cli.run(&["validate", "new.yaml"]).expect_code(0);
        }
    }

    Ok(())
}
