//! Files of a scorecard's folder.

use std::fs;
use std::path::{Path, PathBuf};

use assize_document::file_extension;
use assize_files::MAX_FILE_BYTES;

/// Maximum depth of the folders that are searched.
const MAX_DEPTH: usize = 32;
/// Number of bytes of a file that are examined to detect its type.
const HEAD_BYTES: usize = 16 * 1024;

/// Files of a scorecard. Each list is sorted.
#[derive(Debug, Default)]
pub(super) struct ScorecardFiles {
    pub(super) indexes: Vec<PathBuf>,
    pub(super) rubrics: Vec<PathBuf>,
    pub(super) benchmarks: Vec<PathBuf>,
    pub(super) prompts: Vec<PathBuf>,
    pub(super) cases: Vec<PathBuf>,
    pub(super) labels: Vec<PathBuf>,
    /// Other files in `labels/`, which are not read.
    pub(super) unread_labels: Vec<PathBuf>,
}

/// Keys that only the files of scorecards have. A file with one of them is a scorecard even if a required key
/// is missing; then the error names the missing key.
const SCORECARD_KEYS: [&str; 4] =
    ["aggregation_method", "passing_threshold", "evaluation_guidelines", "sub_rubrics"];

/// Returns true if a path is a scorecard: a folder whose `rubrics/` contains a file with a `code` or another
/// key of scorecards; or a file that is a rubric or a list of rubrics. Only the outermost keys of files are
/// examined.
pub fn is_scorecard(path: &Path) -> bool {
    if path.is_dir() {
        let mut files = Vec::new();
        walk(&path.join("rubrics"), MAX_DEPTH, &mut |file| files.push(file));
        return files.iter().any(|file| {
            let head = read_head(file);
            is_tree_file(file)
                && outer_keys(&head).iter().any(|key| *key == "code" || SCORECARD_KEYS.contains(key))
        });
    }

    if !path.is_file() || !is_tree_file(path) {
        return false;
    }

    let beginning = read_head(path);
    looks_like_scorecard(&beginning)
        || (beginning.len() >= HEAD_BYTES && looks_like_scorecard(&read_beginning(path, MAX_FILE_BYTES)))
}

/// Returns true if a text begins like a single-file scorecard.
pub fn looks_like_scorecard(text: &str) -> bool {
    let keys = outer_keys(text);
    let has = |key| keys.contains(&key);
    if ["tests", "evalcases", "eval_cases"].into_iter().any(has) {
        return false;
    }

    let parts = has("sub_rubrics") || has("benchmarks") || has("components");
    (has("code") && parts)
        || SCORECARD_KEYS.into_iter().any(has)
        || (has("rubrics") && (has("index") || has("benchmarks") || text.contains("aggregation_method")))
}

/// Returns all files of a scorecard's folder. Hidden folders, `node_modules` and `target` are skipped, and
/// links to folders are not followed.
pub(super) fn list_files(root: &Path) -> ScorecardFiles {
    let mut files = ScorecardFiles::default();
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
        } else if nested && (is_tree_file(&path) || file_extension(&path) == "jsonl") && first == "cases" {
            &mut files.cases
        } else if nested && (is_tree_file(&path) || file_extension(&path) == "jsonl") && first == "labels" {
            &mut files.labels
        } else if nested && first == "labels" && is_no_label_file(&path) {
            &mut files.unread_labels
        } else {
            return;
        };

        list.push(path);
    });

    files
}

/// Returns the label files in a folder of labels, and the other files in it, which are not read.
pub(super) fn list_labels(folder: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut labels, mut unread) = (Vec::new(), Vec::new());
    walk(folder, MAX_DEPTH, &mut |path| {
        if is_tree_file(&path) || file_extension(&path) == "jsonl" {
            labels.push(path);
        } else if is_no_label_file(&path) {
            unread.push(path);
        }
    });

    (labels, unread)
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

/// Returns true for a file among labels that is neither a label file nor a description of one.
fn is_no_label_file(path: &Path) -> bool {
    file_extension(path) != "md"
}

fn is_tree_file(path: &Path) -> bool {
    matches!(file_extension(path).as_str(), "yaml" | "yml" | "json")
}

fn read_head(path: &Path) -> String {
    read_beginning(path, HEAD_BYTES as u64)
}

fn read_beginning(path: &Path, length: u64) -> String {
    use std::io::Read;
    let mut bytes = Vec::new();
    if let Ok(file) = assize_files::open_file(path) {
        // If reading fails, the bytes read so far are examined.
        let _ = file.take(length).read_to_end(&mut bytes);
    }

    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the keys of the outermost map at the beginning of a text, in YAML or JSON, by a heuristic scan.
fn outer_keys(text: &str) -> Vec<&str> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with('{') {
        return flow_keys(text);
    }

    let keys = text.lines().filter_map(|line| {
        let (key, _) = line.split_once(':').filter(|_| !line.starts_with([' ', '\t', '#', '-']))?;
        Some(key.trim_end().trim_matches(['"', '\'']))
    });
    keys.collect()
}

/// Returns the keys of the outermost map in braces: quoted or unquoted strings before a colon.
fn flow_keys(text: &str) -> Vec<&str> {
    let (mut keys, mut depth, mut begin) = (Vec::new(), 0usize, None);
    let mut quoted: Option<u8> = None;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if let Some(quote) = quoted {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if quote == b'"' => escaped = true,
                _ if byte == quote => quoted = None,
                _ => {}
            }
            continue;
        }
        match byte {
            b'{' | b'[' => {
                depth += 1;
                begin = (depth == 1).then_some(at + 1);
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                begin = None;
            }
            b',' if depth == 1 => begin = Some(at + 1),
            b':' if depth == 1 => {
                let key = begin.take().and_then(|begin| text.get(begin..at));
                keys.extend(key.map(|key| key.trim().trim_matches(['"', '\''])));
            }
            // An apostrophe is a quotation mark only at the beginning of a string, or doubled inside of one.
            // Elsewhere, in plain YAML, it is a letter.
            b'"' => quoted = Some(byte),
            b'\'' if text[..at].trim_end().ends_with(['{', '[', ',', ':', '\'']) => quoted = Some(byte),
            _ => {}
        }
    }

    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scorecards_are_known_however_they_are_laid_out() {
        for text in [
            "code: A\nbenchmarks: [A1]\n",
            "\u{feff}\"code\" : A\n'sub_rubrics': []\n",
            "{code: A, label: 'it''s: {a', benchmarks: [{code: A1}]}",
            "{\"cases\":[{\"tests\":1}],\"index\":{\"code\":\"TOP\"},\"rubrics\":[]}",
            "cases: []\nrubrics:\n- code: A\n  aggregation_method: MINIMUM\n",
            "label: A\nweight: 0.5\naggregation_method: MINIMUM\nbenchmarks: [A1]\n",
            "code: A\nlabel: A\npassing_threshold: 0.9\n",
        ] {
            assert!(looks_like_scorecard(text), "{text}");
        }
        for text in [
            "tests: []\ncode: A\nbenchmarks: []\n",
            "{\"tests\": [], \"rubrics\": [], \"index\": 1}",
            "rubrics: [polite]\n",
            "name: x\nmetadata:\n  code: A\n  benchmarks: []\n",
            "{\"metadata\": {\"code\": 1, \"benchmarks\": \"} code: \\\" benchmarks:\"}}",
            "",
            "{[}]:",
        ] {
            assert!(!looks_like_scorecard(text), "{text}");
        }
    }
}
