//! Eval files and targets files written by other people match the published schemas.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_document::ParsedDocument;
use assize_evalfile::{LoadOptions, load_targets};
use assize_load::{find_suites, load_suite};
use assize_schema::schemas;
use jsonschema::Validator;
use serde_json::Value;

use crate::shared::SharedFolder;

/// Every file that loads matches its schema.
pub(crate) fn keep_to_schemas(shared: &SharedFolder) {
    let corpus = shared.path("corpus");
    let options = LoadOptions {
        environment: Arc::new(|name| Some(format!("value-of-{name}"))),
        working_folder: corpus.clone(),
        extra_roots: vec![corpus.clone()],
        ..LoadOptions::new(&corpus)
    };

    let (suite, settings, case) = (validator("suite"), validator("suite-settings"), validator("case"));
    let (targets, config) = (validator("targets"), validator("config"));
    let mut wrong = Vec::new();

    for path in find_suites(std::slice::from_ref(&corpus)).files {
        if load_suite(&path, &options).has_errors() {
            continue;
        }

        let is_lines = path.extension().is_some_and(|ending| ending == "jsonl");
        compare(&path, if is_lines { &case } else { &suite }, &mut wrong);

        let beside = path.with_extension("yaml");
        if is_lines && beside.is_file() {
            compare(&beside, &settings, &mut wrong);
        }
    }

    for path in files(&corpus) {
        let folder = path.parent().expect("inside");
        let is_targets = path.to_string_lossy().ends_with("targets.yaml");
        if is_targets && !load_targets(folder, Some(&path), &options).has_errors() {
            compare(&path, &targets, &mut wrong);
        }
        if path.ends_with(".assize/config.yaml") {
            compare(&path, &config, &mut wrong);
        }
    }

    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn validator(name: &str) -> Validator {
    let file = schemas().into_iter().find(|file| file.name == name).expect("a schema of that name");
    jsonschema::draft202012::new(&file.schema).expect("a schema")
}

/// Adds the schema's errors for a file, or for its lines.
fn compare(path: &Path, schema: &Validator, wrong: &mut Vec<String>) {
    for value in values(path) {
        let errors = schema.iter_errors(&value);
        wrong.extend(
            errors.map(|error| format!("{}: {error} at `{}`", path.display(), error.instance_path())),
        );
    }
}

/// The values of a file; none if it can't be parsed.
fn values(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let read = |text: &str| Some(ParsedDocument::parse(path, text).ok()?.value());
    if path.extension().is_some_and(|ending| ending == "jsonl") {
        let lines = text.trim_start_matches('\u{feff}').lines().filter(|line| !line.trim().is_empty());
        return lines.filter_map(read).collect();
    }

    read(&text).into_iter().collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter().flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}
