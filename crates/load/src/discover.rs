//! Discovery of eval files in folders.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use assize_diagnostic::{did_you_mean, list_first};
use assize_document::near_path;
use assize_evalfile::{LoadOptions, is_rubric_in_place_of_suite};
use assize_scorecard::is_scorecard;

use crate::load::load_suite;

/// Number of bytes of a file that are examined.
const HEAD_BYTES: u64 = 64 * 1024;
/// Maximum depth of the folders that are searched.
const MAX_DEPTH: usize = 32;
/// Folders that hold third-party files.
const SKIPPED_FOLDERS: [&str; 2] = ["node_modules", "target"];

/// Eval files and scorecards found in a search.
#[derive(Debug, Default)]
pub struct DiscoveredFiles {
    /// Eval files in the order of the arguments, without duplicates. Files of one folder are sorted.
    pub files: Vec<PathBuf>,
    /// Scorecards in the order in which they were found: folders, and files that were named explicitly.
    pub scorecards: Vec<PathBuf>,
    /// YAML files of folders that look like eval files, but lack the key with the cases, sorted.
    pub skipped: Vec<PathBuf>,
    /// All other YAML files of the folders, sorted: rubrics, and files of other programs.
    pub other_yaml: Vec<PathBuf>,
    /// Paths that could not be searched, and folders without any eval file or scorecard.
    pub problems: Vec<DiscoveryError>,
}

/// How many skipped files a message names. Any others are only counted.
const MAX_NAMED: usize = 3;

impl DiscoveredFiles {
    /// Takes the rubrics out of [`other_yaml`](Self::other_yaml). Removes the error "no eval files in this folder" if
    /// the folder holds a rubric.
    pub fn take_rubrics(&mut self, options: &LoadOptions) -> Vec<PathBuf> {
        let is_rubric =
            |path: &mut PathBuf| is_rubric_in_place_of_suite(&load_suite(path, options).diagnostics);
        let rubrics: Vec<PathBuf> = self.other_yaml.extract_if(.., is_rubric).collect();
        self.problems.retain(|problem| {
            !matches!(problem, DiscoveryError::Empty(folder) if rubrics.iter().any(|path| path.starts_with(folder)))
        });

        rubrics
    }

    /// Message about the problems; `None` without any.
    pub fn problem_message(&self) -> Option<String> {
        let problems = self.problems.iter().map(ToString::to_string);
        let lines: Vec<String> = problems.chain(self.skipped_message()).collect();
        (!self.problems.is_empty()).then(|| lines.join("\n"))
    }

    /// Message about the skipped files; `None` without any.
    pub fn skipped_message(&self) -> Option<String> {
        let (files, are) = match self.skipped.len() {
            0 => return None,
            1 => ("1 YAML file".to_owned(), "is not an eval file"),
            several => (format!("{several} YAML files"), "are not eval files"),
        };

        Some(format!(
            "skipped {files} that {are}, as no `tests` or `evalcases` was found at the top level: {}",
            list_first(self.skipped.iter().map(|path| path.display()), MAX_NAMED)
        ))
    }
}

/// Failure to find an eval file in a path.
#[derive(Debug, thiserror::Error)]
pub enum DiscoveryError {
    /// The path does not exist.
    #[error("{}: no such file or folder{}", path.display(), near_hint(near.as_deref()))]
    Missing {
        /// The path as given.
        path: PathBuf,
        /// A path of a similar name that exists.
        near: Option<PathBuf>,
    },
    /// The folder cannot be read.
    #[error("{}: can't be read: {reason}", path.display())]
    Unreadable {
        /// Path of the folder.
        path: PathBuf,
        /// Error of the operating system.
        reason: String,
    },
    /// The folder holds no eval file.
    #[error(
        "{}: no eval files in this folder (looked for *.eval.yaml, *.eval.json, *.eval.jsonl, eval.yaml, promptfooconfig.yaml, dataset*.yaml and YAML files with `tests` or `evalcases`); `assize init` writes a first one",
        .0.display()
    )]
    Empty(PathBuf),
}

/// Finds the eval files among `paths`: files are accepted with any name, and folders are searched. Scorecards are not
/// searched for eval files. Hidden folders, `node_modules` and `target` are skipped, and links to folders are not
/// followed.
pub fn find_suites(paths: &[PathBuf]) -> DiscoveredFiles {
    let mut found = DiscoveredFiles::default();
    for path in paths {
        if is_scorecard(path) {
            push_once(&mut found.scorecards, path.clone());
        } else if path.is_dir() {
            let mut search = FolderSearch::default();
            search.walk(path, MAX_DEPTH, &mut found.problems);
            search.scorecards.sort();
            search.skipped.sort();
            search.other_yaml.sort();
            for file in std::mem::take(&mut search.other_yaml) {
                push_once(&mut found.other_yaml, file);
            }
            for file in std::mem::take(&mut search.skipped) {
                push_once(&mut found.skipped, file);
            }

            let scorecards = std::mem::take(&mut search.scorecards);
            let files = search.finish();
            if files.is_empty() && scorecards.is_empty() {
                found.problems.push(DiscoveryError::Empty(path.clone()));
            }

            for scorecard in scorecards {
                push_once(&mut found.scorecards, scorecard);
            }

            for file in files {
                push_once(&mut found.files, file);
            }
        } else if path.exists() {
            push_once(&mut found.files, path.clone());
        } else {
            found.problems.push(DiscoveryError::Missing { path: path.clone(), near: near_path(path) });
        }
    }

    found
}

/// Returns a hint that names a similar existing path, for the message that a path does not exist. Empty if there is no
/// such path.
pub fn near_path_hint(path: &Path) -> String {
    near_hint(near_path(path).as_deref())
}

fn near_hint(near: Option<&Path>) -> String {
    near.map_or_else(String::new, |near| format!("; did you mean `{}`?", near.display()))
}

fn push_once(files: &mut Vec<PathBuf>, file: PathBuf) {
    if !files.contains(&file) {
        files.push(file);
    }
}

#[derive(Default)]
struct FolderSearch {
    /// YAML and JSON files that are eval files, with their beginnings.
    suites: Vec<(PathBuf, String)>,
    /// Datasets. A dataset whose cases an eval file reads is not a separate eval file.
    datasets: Vec<PathBuf>,
    /// Folders that are scorecards.
    scorecards: Vec<PathBuf>,
    /// YAML files that were probably meant to be eval files.
    skipped: Vec<PathBuf>,
    /// YAML files that are something else.
    other_yaml: Vec<PathBuf>,
}

impl FolderSearch {
    fn walk(&mut self, folder: &Path, depth: usize, problems: &mut Vec<DiscoveryError>) {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                let path = folder.to_path_buf();
                problems.push(DiscoveryError::Unreadable { path, reason: error.to_string() });
                return;
            }
        };
        for entry in entries.filter_map(Result::ok) {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') || SKIPPED_FOLDERS.contains(&name.as_str()) {
                continue;
            }

            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if path.join("rubrics").is_dir() && is_scorecard(&path) {
                    self.scorecards.push(path);
                } else if depth > 1 {
                    self.walk(&path, depth - 1, problems);
                }
            } else if path.is_file() {
                self.classify_file(path, &name);
            }
        }
    }

    fn classify_file(&mut self, path: PathBuf, name: &str) {
        let lower = name.to_ascii_lowercase();
        let named =
            |stem: &str| stem == "eval" || stem == "promptfooconfig" || stem.strip_suffix(".eval").is_some();
        if let Some(stem) = lower.strip_suffix(".yaml").or_else(|| lower.strip_suffix(".yml")) {
            let head = read_head(&path);
            let dataset = stem.starts_with("dataset") && !stem.contains('.');

            // The settings file of a dataset is read with the dataset.
            let beside = path.with_extension("jsonl").is_file();
            if has_cases(&head) || (!beside && (named(stem) || dataset)) {
                self.suites.push((path, head));
            } else if has_misspelt_cases(&head) {
                self.skipped.push(path);
            } else if !beside {
                self.other_yaml.push(path);
            }
        } else if let Some(stem) = lower.strip_suffix(".json") {
            let is_suite = stem == "promptfooconfig" || stem.strip_suffix(".eval").is_some();
            if is_suite {
                let head = read_head(&path);
                self.suites.push((path, head));
            }
        } else if let Some(stem) = lower.strip_suffix(".jsonl") {
            let dataset = stem.starts_with("dataset") && !stem.contains('.');
            if named(stem) || dataset {
                self.datasets.push(path);
            }
        }
    }

    fn finish(self) -> Vec<PathBuf> {
        let Self { suites, datasets, .. } = self;
        let taken = |dataset: &Path| {
            let name =
                dataset.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            suites.iter().any(|(suite, head)| {
                let near = suite.parent().is_some_and(|folder| dataset.starts_with(folder));
                near && head.lines().any(|line| !line.trim_start().starts_with('#') && line.contains(&name))
            })
        };

        let mut files: Vec<PathBuf> = datasets.into_iter().filter(|dataset| !taken(dataset)).collect();
        files.extend(suites.into_iter().map(|(path, _)| path));
        files.sort();

        files
    }
}

/// Returns the beginning of a file. Empty if the file can't be read: loading it will report the error.
fn read_head(path: &Path) -> String {
    let mut bytes = Vec::new();
    if let Ok(file) = assize_files::open_file(path) {
        // If reading fails, the bytes read so far are examined.
        let _ = file.take(HEAD_BYTES).read_to_end(&mut bytes);
    }

    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns true if a line starts with a key that cases have.
fn is_of_case(line: &str) -> bool {
    let of_case = ["id", "vars", "assert", "assertions", "criteria", "input", "expected_output"];
    let line = line.trim_start_matches([' ', '-', '{', '"', '\'']);
    of_case.iter().any(|key| {
        line.strip_prefix(key).is_some_and(|rest| rest.trim_start_matches(['"', '\'']).starts_with(':'))
    })
}

/// Returns true if the beginning of a file has a list of cases at its top level. `tests` and `cases` are common
/// words, so another key of a case is required as well.
fn has_cases(head: &str) -> bool {
    let head = head.trim_start_matches('\u{feff}');
    let key = |name: &str| {
        head.lines().find_map(|line| line.strip_prefix(name)?.trim_end().strip_prefix(':').map(str::trim))
    };
    if key("evalcases").is_some() || key("eval_cases").is_some() {
        return true;
    }

    let Some(value) = key("tests").or_else(|| key("cases")) else { return false };
    let refers = |text: &str| {
        let text = text.trim_matches(['"', '\'']);
        text.ends_with('/') || [".yaml", ".yml", ".jsonl"].iter().any(|ending| text.ends_with(ending))
    };
    refers(value)
        || head.lines().any(|line| is_of_case(line) || line.contains("id:") || line.contains("file://"))
}

/// Returns true if the beginning of a file has a key at its top level that is probably a misspelt list of cases.
fn has_misspelt_cases(head: &str) -> bool {
    let head = head.trim_start_matches('\u{feff}');
    let is_misspelt = |line: &str| {
        let Some((key, _)) = line.split_once(':') else { return false };
        let key = key.trim_matches(['"', '\'']);
        let is_word = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_- ".contains(c));
        is_word
            && !["tests", "cases"].contains(&key)
            && did_you_mean(key, ["tests", "evalcases", "eval_cases"]).is_some()
    };

    head.lines().any(is_misspelt) && head.lines().any(is_of_case)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_lists_of_cases_are_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        for (name, text) in [
            ("a.yaml", "name: a\ntets:\n  - id: one\n    input: q\n"),
            ("b.yaml", "evalcase:\n  - id: one\n    criteria: c\n"),
            ("good.yaml", "tests:\n  - id: one\n    input: q\n"),
            ("rubric.yaml", "name: r\ncriteria:\n  - id: one\n    outcome: Text\n"),
            ("workflow.yaml", "test:\n  run: make\n"),
        ] {
            fs::write(root.join(name), text).expect("written");
        }
        let found = find_suites(&[root.to_path_buf()]);
        assert_eq!(found.files, [root.join("good.yaml")]);
        assert_eq!(found.skipped, [root.join("a.yaml"), root.join("b.yaml")]);
        assert_eq!(found.other_yaml, [root.join("rubric.yaml"), root.join("workflow.yaml")]);
        let message = found.skipped_message().expect("a message");
        assert!(message.starts_with("skipped 2 YAML files that are not eval files"), "{message}");
        assert!(message.ends_with("b.yaml"), "{message}");
        assert_eq!(DiscoveredFiles::default().skipped_message(), None);
    }

    #[test]
    fn scorecards_are_found_and_not_searched_for_suites() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        for (name, text) in [
            ("cards/ems/rubrics/A.yaml", "code: A\nbenchmarks: [A1]\n"),
            ("cards/ems/cases/a.yaml", "cases:\n  - id: c1\n"),
            ("plain/rubrics/criteria.yaml", "criteria: [a]\n"),
            ("one.yaml", "code: A\nsub_rubrics: []\n"),
        ] {
            let path = root.join(name);
            fs::create_dir_all(path.parent().expect("inside")).expect("a folder");
            fs::write(path, text).expect("written");
        }
        let found = find_suites(&[root.to_path_buf(), root.join("one.yaml")]);
        assert_eq!(found.scorecards, [root.join("cards/ems"), root.join("one.yaml")]);
        assert!(found.files.is_empty() && found.problems.is_empty());
    }

    #[test]
    fn folders_are_searched_and_files_taken_as_given() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        for (name, text) in [
            ("a/dataset.yaml", "description: settings\n"),
            ("a/dataset.jsonl", "{}\n"),
            ("b/x.eval.yaml", "tests: ./dataset.jsonl\n"),
            ("b/dataset.jsonl", "{}\n"),
            ("c/EVAL.yaml", "broken: ["),
            ("c/named-otherwise.yml", "# comment\nevalcases:\n  - id: a\n"),
            ("c/workflow.yaml", "tests:\n  - unit\n"),
            ("c/promptfooconfig.yaml", "providers: [echo]\ntests:\n  - vars: {topic: tea}\n"),
            ("c/without-ids.yaml", "tests:\n- input: a\n  output: b\n"),
            ("c/dataset.scores.yaml", "- a\n"),
            ("c/run.baseline.jsonl", "{}\n"),
            ("d/dataset-two.yaml", "evalcase: []\n"),
            ("d/cases.eval.json", "{\"tests\": []}\n"),
            ("d/package.json", "{\"tests\": []}\n"),
            ("d/.hidden/eval.yaml", "tests: []\n"),
            ("node_modules/eval.yaml", "tests: []\n"),
            ("e/readme.md", "tests:\n"),
        ] {
            let path = root.join(name);
            fs::create_dir_all(path.parent().expect("inside")).expect("a folder");
            fs::write(path, text).expect("written");
        }
        let found = find_suites(&[root.to_path_buf()]);
        let names: Vec<String> = found
            .files
            .iter()
            .map(|path| path.strip_prefix(root).expect("inside").to_string_lossy().into_owned())
            .collect();
        assert_eq!(
            names,
            [
                "a/dataset.jsonl", "b/x.eval.yaml", "c/EVAL.yaml", "c/named-otherwise.yml",
                "c/promptfooconfig.yaml", "c/without-ids.yaml", "d/cases.eval.json", "d/dataset-two.yaml"
            ]
        );
        assert!(found.problems.is_empty());
        let found = find_suites(&[
            root.join("e/readme.md"),
            root.join("e"),
            root.join("gone"),
            root.join("e/readme.md"),
        ]);
        assert_eq!(found.files, [root.join("e/readme.md")]);
        assert!(matches!(&found.problems[..], [DiscoveryError::Empty(_), DiscoveryError::Missing { .. }]));
    }
}
