//! The files of a scorecard's folder.

use std::fs;
use std::path::{Path, PathBuf};

use crate::decode::file::ending;

/// Folders deeper than this are not searched.
const MAX_DEPTH: usize = 32;
/// How much of a file is looked at to tell what it is.
const HEAD: usize = 16 * 1024;

/// The files of a scorecard, each list sorted.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) indexes: Vec<PathBuf>,
    pub(super) rubrics: Vec<PathBuf>,
    pub(super) benchmarks: Vec<PathBuf>,
    pub(super) prompts: Vec<PathBuf>,
    pub(super) cases: Vec<PathBuf>,
    pub(super) labels: Vec<PathBuf>,
}

/// Whether a path is a scorecard: a folder whose `rubrics/` holds a file with a `code`, or a file that
/// is a rubric with everything inside, or has a list of those. Looks at the beginnings of files only.
pub fn is_scorecard(path: &Path) -> bool {
    if path.is_dir() {
        let mut files = Vec::new();
        walk(&path.join("rubrics"), MAX_DEPTH, &mut |file| files.push(file));
        return files.iter().any(|file| is_tree_file(file) && has_key(&head(file), "code"));
    }
    if !path.is_file() || !is_tree_file(path) {
        return false;
    }
    looks_like_scorecard(&head(path))
}

/// Whether a text begins like a scorecard in one file.
pub fn looks_like_scorecard(head: &str) -> bool {
    if ["tests", "evalcases", "eval_cases"].iter().any(|key| has_key(head, key)) {
        return false;
    }
    let tree = |key| has_key(head, key);
    (tree("code") && (tree("sub_rubrics") || tree("benchmarks") || tree("components")))
        || (tree("rubrics") && head.contains("aggregation_method"))
}

/// All files of a scorecard's folder. What lies in hidden folders, `node_modules` and `target` is left
/// out, and links to folders are not followed.
pub(super) fn files(root: &Path) -> Files {
    let mut files = Files::default();
    walk(root, MAX_DEPTH, &mut |path| {
        let relative = path.strip_prefix(root).unwrap_or(&path);
        let mut steps = relative.components().map(|step| step.as_os_str().to_string_lossy());
        let first = steps.next().unwrap_or_default().into_owned();
        let nested = steps.next().is_some();
        let name =
            relative.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        let list = if name.ends_with("_prompt.md") {
            &mut files.prompts
        } else if !nested && is_tree_file(&path) && (name.starts_with("index.") || name.contains(".index.")) {
            &mut files.indexes
        } else if nested && is_tree_file(&path) && first == "rubrics" {
            &mut files.rubrics
        } else if nested && is_tree_file(&path) && first == "benchmarks" {
            &mut files.benchmarks
        } else if nested && (is_tree_file(&path) || ending(&path) == "jsonl") && first == "cases" {
            &mut files.cases
        } else if nested && (is_tree_file(&path) || ending(&path) == "jsonl") && first == "labels" {
            &mut files.labels
        } else {
            return;
        };
        list.push(path);
    });
    files
}

fn walk(folder: &Path, depth: usize, found: &mut dyn FnMut(PathBuf)) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut entries: Vec<fs::DirEntry> = entries.filter_map(Result::ok).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || name == "node_modules" || name == "target" {
            continue;
        }
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if depth > 1 {
                walk(&path, depth - 1, found);
            }
        } else if path.is_file() {
            found(path);
        }
    }
}

fn is_tree_file(path: &Path) -> bool {
    matches!(ending(path).as_str(), "yaml" | "yml" | "json")
}

fn head(path: &Path) -> String {
    use std::io::Read;
    let mut bytes = Vec::new();
    if let Ok(file) = fs::File::open(path) {
        // A shorter beginning is looked at as far as it goes.
        let _ = file.take(HEAD as u64).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether a beginning has a key at its top level, in YAML or JSON.
fn has_key(head: &str, key: &str) -> bool {
    head.trim_start_matches('\u{feff}').lines().any(|line| {
        line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':'))
            || line
                .trim_start()
                .trim_start_matches('{')
                .trim_start()
                .strip_prefix('"')
                .and_then(|line| line.strip_prefix(key))
                .is_some_and(|rest| rest.starts_with("\":"))
    })
}
