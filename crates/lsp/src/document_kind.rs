//! Kinds of documents: editors show all YAML, JSON and Markdown files to a language server.

use std::path::{Path, PathBuf};

use assize_scorecard::{is_scorecard, looks_like_scorecard};

/// Number of parent folders searched for the folder of a scorecard.
const MAX_PARENT_FOLDERS: usize = 16;

/// Kind of a document, recognised by its name, its folder and its keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DocumentKind {
    /// An eval file.
    Suite,
    /// An eval file with prompts, providers and tests.
    Matrix,
    /// A dataset: one case per line, each a JSON object.
    Dataset,
    /// A rubric file.
    Rubric,
    /// A file of a scorecard: the folder or the single file of the scorecard, and the role of this file.
    Card(PathBuf, ScorecardFileRole),
    /// A file that eval files refer to, with the name of its schema: its diagnostics appear on the eval files
    /// that use it.
    Referenced(&'static str),
    /// Any other file.
    Other,
}

/// Role of a file in a scorecard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScorecardFileRole {
    Whole,
    Index,
    Rubric,
    Benchmark,
    Cases,
    Labels,
    Prompt,
}

impl DocumentKind {
    /// Determines the kind of a text. A list of criteria without keys is recognised by its name,
    /// `*.rubric.yaml`.
    pub(crate) fn detect(path: &Path, text: &str) -> Self {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        let ending = ending.as_deref().unwrap_or_default();
        if let Some(kind) = detect_in_scorecard(path, &name, ending) {
            return kind;
        }

        match ending {
            "jsonl" => detect_jsonl(&name, text),
            "yaml" | "yml" | "json" => detect_tree(path, &name, ending == "json", text),
            _ => Self::Other,
        }
    }

    /// Returns the name of the schema of such files.
    pub(crate) fn schema_name(&self) -> Option<&'static str> {
        match self {
            Self::Suite => Some("suite"),
            Self::Matrix => Some("matrix"),
            Self::Dataset => Some("case"),
            Self::Rubric => Some("rubric-file"),
            Self::Card(_, file) => match file {
                ScorecardFileRole::Whole => Some("scorecard"),
                ScorecardFileRole::Index => Some("scorecard-index"),
                ScorecardFileRole::Rubric => Some("scorecard-rubric"),
                ScorecardFileRole::Benchmark => Some("scorecard-benchmark"),
                ScorecardFileRole::Cases => Some("scorecard-cases"),
                ScorecardFileRole::Labels => Some("scorecard-labels"),
                ScorecardFileRole::Prompt => None,
            },
            Self::Referenced(schema) => Some(schema),
            Self::Other => None,
        }
    }
}

/// Determines the kind of a file inside the folder of a scorecard.
fn detect_in_scorecard(path: &Path, name: &str, ending: &str) -> Option<DocumentKind> {
    let is_tree = matches!(ending, "yaml" | "yml" | "json");
    let is_prompt = name.ends_with("_prompt.md");
    if !is_tree && !is_prompt && ending != "jsonl" {
        return None;
    }

    let mut first = None;
    for above in path.ancestors().skip(1).take(MAX_PARENT_FOLDERS) {
        let file = match first {
            _ if is_prompt => Some(ScorecardFileRole::Prompt),
            None if is_tree && (name.starts_with("index.") || name.contains(".index.")) => {
                Some(ScorecardFileRole::Index)
            }
            Some("rubrics") if is_tree => Some(ScorecardFileRole::Rubric),
            Some("benchmarks") if is_tree => Some(ScorecardFileRole::Benchmark),
            Some("cases") => Some(ScorecardFileRole::Cases),
            Some("labels") => Some(ScorecardFileRole::Labels),
            _ => None,
        };
        if let Some(file) = file.filter(|_| is_scorecard(above)) {
            return Some(DocumentKind::Card(above.to_path_buf(), file));
        }

        first = above.file_name().and_then(|name| name.to_str());
    }

    None
}

fn detect_jsonl(name: &str, text: &str) -> DocumentKind {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let case = |key: &str| first.contains(&format!("\"{key}\""));
    let is_case =
        case("id") && ["input", "input_messages", "criteria", "expected_outcome"].iter().any(|key| case(key));
    if name.ends_with(".eval.jsonl") || is_case { DocumentKind::Dataset } else { DocumentKind::Other }
}

fn detect_tree(path: &Path, name: &str, json: bool, text: &str) -> DocumentKind {
    let inside = path.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
    let folder = path.parent().and_then(Path::parent).and_then(Path::file_name);
    match (inside, name) {
        (".assize", "config.yaml" | "config.yml") => return DocumentKind::Referenced("config"),
        (".assize", "prices.yaml" | "prices.yml") => return DocumentKind::Referenced("prices"),
        ("templates", _) if folder.is_some_and(|name| name == ".assize") => {
            return DocumentKind::Referenced("template");
        }
        (_, "targets.yaml" | "targets.yml") => return DocumentKind::Referenced("targets"),
        _ => {}
    }

    if looks_like_scorecard(text) {
        return DocumentKind::Card(path.to_path_buf(), ScorecardFileRole::Whole);
    }

    let has = |keys: &[&str]| {
        text.lines().any(|line| {
            // JSON may be indented freely.
            let line = if json { line.trim_start_matches([' ', '{', '\t']) } else { line };
            let Some((key, _)) = line.split_once(':') else { return false };
            keys.contains(&key.trim_end().trim_matches(['"', '\'']))
        })
    };
    let is_matrix = name.starts_with("promptfooconfig")
        || has(&["prompts"]) && has(&["providers"])
        || has(&["prompts", "providers"]) && has(&["scenarios"])
        // In JSON, a key of a case looks like a key of the file.
        || !json && has(&["prompts", "providers"]) && has(&["tests"]);
    let has_cases = has(&["tests", "evalcases", "eval_cases"]);
    if is_matrix {
        DocumentKind::Matrix
    } else if name.contains(".eval.") || name.starts_with("eval.") || has_cases {
        DocumentKind::Suite
    } else if name.contains(".rubric.") || name.starts_with("rubric.") || has(&["criteria", "rubrics"]) {
        DocumentKind::Rubric
    } else {
        DocumentKind::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_this_program_are_looked_at() {
        let kind = |name: &str, text: &str| DocumentKind::detect(Path::new(name), text);
        assert_eq!(kind("a.yaml", "name: x\ntests:\n"), DocumentKind::Suite);
        assert_eq!(kind("a.json", "{\n  \"evalcases\": []\n}"), DocumentKind::Suite);
        assert_eq!(kind("a.eval.yaml", ""), DocumentKind::Suite);
        assert_eq!(kind("a.yaml", "prompts: []\nscenarios:\n"), DocumentKind::Matrix);
        assert_eq!(kind("a.eval.yaml", "providers: [a]\ntests:\n"), DocumentKind::Matrix);
        assert_eq!(kind("promptfooconfig.dev.yaml", "targets:\n"), DocumentKind::Matrix);
        assert_eq!(kind("a.yaml", "scenarios:\n"), DocumentKind::Other);
        assert_eq!(kind("a.yaml", "criteria:\n- x\n"), DocumentKind::Rubric);
        assert_eq!(kind("a.rubric.yml", "- x\n"), DocumentKind::Rubric);
        assert_eq!(kind("a.eval.jsonl", ""), DocumentKind::Dataset);
        assert_eq!(kind("a.jsonl", "{\"id\": \"a\", \"input\": \"q\"}"), DocumentKind::Dataset);
        assert_eq!(kind("a.jsonl", "{\"level\": \"info\"}"), DocumentKind::Other);
        assert_eq!(kind("p/.assize/targets.yaml", ""), DocumentKind::Referenced("targets"));
        assert_eq!(kind("p/.assize/templates/a.yaml", ""), DocumentKind::Referenced("template"));
        assert_eq!(
            kind("c.yaml", "code: A\nbenchmarks:\n"),
            DocumentKind::Card("c.yaml".into(), ScorecardFileRole::Whole)
        );
        assert_eq!(kind("compose.yaml", "services:\n  tests: 1\n"), DocumentKind::Other);
        assert_eq!(kind("a.txt", "tests:\n"), DocumentKind::Other);
        assert_eq!(kind("a.yaml", "testsuite: 1\n"), DocumentKind::Other);
    }

    #[test]
    fn files_of_a_scorecard_are_told_by_their_folder() {
        let card = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scorecard");
        for (file, what) in [
            ("index.yaml", ScorecardFileRole::Index),
            ("rubrics/A.yaml", ScorecardFileRole::Rubric),
            ("benchmarks/refusal/A-REF1.yaml", ScorecardFileRole::Benchmark),
            ("benchmarks/refusal/A-REF1_prompt.md", ScorecardFileRole::Prompt),
            ("cases/runs.jsonl", ScorecardFileRole::Cases),
            ("labels/clinicians.jsonl", ScorecardFileRole::Labels),
        ] {
            assert_eq!(
                DocumentKind::detect(&card.join(file), ""),
                DocumentKind::Card(card.clone(), what),
                "{file}"
            );
        }
        assert_eq!(DocumentKind::detect(&card.join("README.md"), ""), DocumentKind::Other);
    }
}
