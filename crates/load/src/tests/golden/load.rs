//! Chooses the function that reads a case by the files in its folder.

use std::path::Path;
use std::sync::Arc;

use crate::load_suite;
use assize_diagnostic::{Diagnostic, SourceMap};
use assize_evalfile::{
    AnswerColumns, LoadOptions, LoadedSuite, load_answers, load_config, load_prices, load_rubric,
    load_targets,
};

use super::folder::Folder;

/// What came of a case.
pub(crate) struct Loaded {
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) sources: SourceMap,
    /// A description of the content that was loaded despite the errors.
    pub(crate) rest: String,
}

/// Names of eval files in the folder of a case. The first one that exists is loaded.
const SUITES: [&str; 8] = [
    "suite.jsonl", "suite.eval.jsonl", "suite.yaml", "suite.yml", "suite.json", "suite.py", "suite.csv",
    "inside/suite.yaml",
];

/// Loads a case. Cases under `rubric/`, `targets/`, `config/`, `prices/` and `answers/` are files of those kinds,
/// all others eval files. The environment holds `GOLDEN` only, with the value `twelve`.
pub(crate) fn load(folder: &Folder, name: &str) -> Loaded {
    let root = folder.path();
    let file = SUITES.iter().map(|name| root.join(name)).find(|path| path.exists());
    let file = file.unwrap_or_else(|| root.join("suite.yaml"));
    let home = file.parent().expect("inside").to_path_buf();
    let options = LoadOptions {
        environment: Arc::new(|name| (name == "GOLDEN").then(|| "twelve".to_owned())),
        ..LoadOptions::new(&home)
    };
    match name.split('/').next().unwrap_or_default() {
        "rubric" => {
            let loaded = load_rubric(&file, &options);
            let rest = match &loaded.rubric {
                Some(rubric) => format!("a rubric of {} criteria", rubric.rubric.criteria().len()),
                None => "no rubric".to_owned(),
            };
            Loaded { diagnostics: loaded.diagnostics, sources: loaded.sources, rest }
        }
        "targets" => {
            let loaded = load_targets(&home, Some(&file), &options);
            let rest = format!("{} targets", loaded.targets.len());
            Loaded { diagnostics: loaded.diagnostics, sources: loaded.sources, rest }
        }
        "config" => {
            let loaded = load_config(&home, &options);
            let rest = if loaded.path.is_some() { "a config file" } else { "no config file" };
            Loaded { diagnostics: loaded.diagnostics, sources: loaded.sources, rest: rest.to_owned() }
        }
        "prices" => {
            let loaded = load_prices(&home, &options, &model_name);
            let rest = format!("{} rows", loaded.rows.len());
            Loaded { diagnostics: loaded.diagnostics, sources: loaded.sources, rest }
        }
        "answers" => answers(root, &options),
        _ => suite(load_suite(&file, &options)),
    }
}

/// Two spellings of one provider, and no other.
fn model_name(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some(("openai" | "gpt", model)) => Ok(("openai".to_owned(), model.to_owned())),
        Some((provider, _)) => Err(format!("unknown provider `{provider}`")),
        None => Err(format!("`{text}` does not say which provider serves the model")),
    }
}

fn answers(root: &Path, options: &LoadOptions) -> Loaded {
    let rubric = load_rubric(&root.join("rubric.yaml"), options);
    assert!(!rubric.has_errors(), "{:?}", rubric.diagnostics);
    suite(load_answers(&root.join("answers.jsonl"), &AnswerColumns::default(), &rubric, options))
}

fn suite(loaded: LoadedSuite) -> Loaded {
    let rest = match &loaded.suite {
        Some(_) => format!("{} sound cases", loaded.cases.len()),
        None => "no suite".to_owned(),
    };
    Loaded { diagnostics: loaded.diagnostics, sources: loaded.sources, rest }
}
