//! Kinds of documents: editors show all YAML, JSON and Markdown files to a language server.

use std::path::{Path, PathBuf};

use assize_evalfile::{is_scorecard, looks_like_scorecard};

/// Number of parent folders searched for the folder of a scorecard.
const ABOVE: usize = 16;

/// Kind of a document, recognised by its name, its folder and its keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An eval file.
    Suite,
    /// A dataset: one JSON object of a case a line.
    Dataset,
    /// A rubric file.
    Rubric,
    /// A file of a scorecard: the folder or the single file of the scorecard, and the role of this file.
    Card(PathBuf, CardFile),
    /// A file that eval files refer to, with the name of its schema: its diagnostics appear on the eval files
    /// that use it.
    Beside(&'static str),
    /// Any other file.
    Other,
}

/// Role of a file in a scorecard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CardFile {
    Whole,
    Index,
    Rubric,
    Benchmark,
    Cases,
    Labels,
    Prompt,
}

impl Kind {
    /// Determines the kind of a text. A list of criteria without keys is recognised by its name,
    /// `*.rubric.yaml`.
    pub(crate) fn of(path: &Path, text: &str) -> Self {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        let ending = ending.as_deref().unwrap_or_default();
        if let Some(kind) = of_card(path, &name, ending) {
            return kind;
        }
        match ending {
            "jsonl" => of_lines(&name, text),
            "yaml" | "yml" | "json" => of_tree(path, &name, ending == "json", text),
            _ => Self::Other,
        }
    }

    /// Returns the name of the schema of such files.
    pub(crate) fn schema(&self) -> Option<&'static str> {
        match self {
            Self::Suite => Some("suite"),
            Self::Dataset => Some("case"),
            Self::Rubric => Some("rubric-file"),
            Self::Card(_, file) => match file {
                CardFile::Whole => Some("scorecard"),
                CardFile::Index => Some("scorecard-index"),
                CardFile::Rubric => Some("scorecard-rubric"),
                CardFile::Benchmark => Some("scorecard-benchmark"),
                CardFile::Cases => Some("scorecard-cases"),
                CardFile::Labels => Some("scorecard-labels"),
                CardFile::Prompt => None,
            },
            Self::Beside(schema) => Some(schema),
            Self::Other => None,
        }
    }
}

/// Determines the kind of a file inside the folder of a scorecard.
fn of_card(path: &Path, name: &str, ending: &str) -> Option<Kind> {
    let is_tree = matches!(ending, "yaml" | "yml" | "json");
    let is_prompt = name.ends_with("_prompt.md");
    if !is_tree && !is_prompt && ending != "jsonl" {
        return None;
    }
    let mut first = None;
    for above in path.ancestors().skip(1).take(ABOVE) {
        let file = match first {
            _ if is_prompt => Some(CardFile::Prompt),
            None if is_tree && (name.starts_with("index.") || name.contains(".index.")) => {
                Some(CardFile::Index)
            }
            Some("rubrics") if is_tree => Some(CardFile::Rubric),
            Some("benchmarks") if is_tree => Some(CardFile::Benchmark),
            Some("cases") => Some(CardFile::Cases),
            Some("labels") => Some(CardFile::Labels),
            _ => None,
        };
        if let Some(file) = file.filter(|_| is_scorecard(above)) {
            return Some(Kind::Card(above.to_path_buf(), file));
        }
        first = above.file_name().and_then(|name| name.to_str());
    }
    None
}

fn of_lines(name: &str, text: &str) -> Kind {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let case = |key: &str| first.contains(&format!("\"{key}\""));
    let is_case =
        case("id") && ["input", "input_messages", "criteria", "expected_outcome"].iter().any(|key| case(key));
    if name.ends_with(".eval.jsonl") || is_case { Kind::Dataset } else { Kind::Other }
}

fn of_tree(path: &Path, name: &str, json: bool, text: &str) -> Kind {
    let inside = path.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
    let folder = path.parent().and_then(Path::parent).and_then(Path::file_name);
    match (inside, name) {
        (".assize", "config.yaml" | "config.yml") => return Kind::Beside("config"),
        (".assize", "prices.yaml" | "prices.yml") => return Kind::Beside("prices"),
        ("templates", _) if folder.is_some_and(|name| name == ".assize") => return Kind::Beside("template"),
        (_, "targets.yaml" | "targets.yml") => return Kind::Beside("targets"),
        _ => {}
    }
    if looks_like_scorecard(text) {
        return Kind::Card(path.to_path_buf(), CardFile::Whole);
    }
    let has = |keys: &[&str]| {
        text.lines().any(|line| {
            // JSON may be indented freely.
            let line = if json { line.trim_start_matches([' ', '{', '\t']) } else { line };
            let Some((key, _)) = line.split_once(':') else { return false };
            keys.contains(&key.trim_end().trim_matches(['"', '\'']))
        })
    };
    if name.contains(".eval.") || name.starts_with("eval.") || has(&["tests", "evalcases", "eval_cases"]) {
        Kind::Suite
    } else if name.contains(".rubric.") || name.starts_with("rubric.") || has(&["criteria", "rubrics"]) {
        Kind::Rubric
    } else {
        Kind::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_this_program_are_looked_at() {
        let kind = |name: &str, text: &str| Kind::of(Path::new(name), text);
        assert_eq!(kind("a.yaml", "name: x\ntests:\n"), Kind::Suite);
        assert_eq!(kind("a.json", "{\n  \"evalcases\": []\n}"), Kind::Suite);
        assert_eq!(kind("a.eval.yaml", ""), Kind::Suite);
        assert_eq!(kind("a.yaml", "criteria:\n- x\n"), Kind::Rubric);
        assert_eq!(kind("a.rubric.yml", "- x\n"), Kind::Rubric);
        assert_eq!(kind("a.eval.jsonl", ""), Kind::Dataset);
        assert_eq!(kind("a.jsonl", "{\"id\": \"a\", \"input\": \"q\"}"), Kind::Dataset);
        assert_eq!(kind("a.jsonl", "{\"level\": \"info\"}"), Kind::Other);
        assert_eq!(kind("p/.assize/targets.yaml", ""), Kind::Beside("targets"));
        assert_eq!(kind("p/.assize/templates/a.yaml", ""), Kind::Beside("template"));
        assert_eq!(kind("c.yaml", "code: A\nbenchmarks:\n"), Kind::Card("c.yaml".into(), CardFile::Whole));
        assert_eq!(kind("compose.yaml", "services:\n  tests: 1\n"), Kind::Other);
        assert_eq!(kind("a.txt", "tests:\n"), Kind::Other);
        assert_eq!(kind("a.yaml", "testsuite: 1\n"), Kind::Other);
    }

    #[test]
    fn files_of_a_scorecard_are_told_by_their_folder() {
        let card = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scorecard");
        for (file, what) in [
            ("index.yaml", CardFile::Index),
            ("rubrics/A.yaml", CardFile::Rubric),
            ("benchmarks/refusal/A-REF1.yaml", CardFile::Benchmark),
            ("benchmarks/refusal/A-REF1_prompt.md", CardFile::Prompt),
            ("cases/runs.jsonl", CardFile::Cases),
            ("labels/clinicians.jsonl", CardFile::Labels),
        ] {
            assert_eq!(Kind::of(&card.join(file), ""), Kind::Card(card.clone(), what), "{file}");
        }
        assert_eq!(Kind::of(&card.join("README.md"), ""), Kind::Other);
    }
}
