//! promptfoo's own examples: how many load, how many can be run, and why the others can't.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use assize_diagnostic::Severity;
use assize_evalfile::LoadOptions;
use assize_load::load_suite;

use crate::output;
use crate::shared::SharedFolder;

/// How many of the 348 examples without `redteam` must load.
const LEAST_LOADED: usize = 285;

/// Loads every configuration and prints why some do not load. Providers are not considered, since a run can
/// name others.
pub(crate) fn promptfoo(shared: &SharedFolder) {
    let folder = shared.path("data/promptfoo-examples");
    let mut files = Vec::new();
    configurations_below(&folder, &mut files);
    files.sort();

    let (mut loaded_files, mut runnable) = (0, 0);
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for file in &files {
        let home = file.parent().unwrap_or(&folder);
        let loaded = load_suite(file, &LoadOptions::new(home));
        let errors: BTreeSet<String> = loaded
            .diagnostics
            .iter()
            .filter(|found| found.severity == Severity::Error)
            .map(|found| format!("{} {}", found.code, found.title))
            .collect();
        if errors.is_empty() {
            loaded_files += 1;
            let media = "prompts with images, sounds or documents";
            let runs = loaded
                .cases
                .iter()
                .flatten()
                .all(|case| case.unbuilt.iter().all(|part| part.feature == media));
            runnable += usize::from(runs);
        }
        for error in errors {
            *reasons.entry(error).or_default() += 1;
        }
    }

    let mut text = format!("{loaded_files} of {} load, {runnable} can be run\n", files.len());
    let mut reasons: Vec<(String, usize)> = reasons.into_iter().collect();
    reasons.sort_by_key(|(reason, count)| (usize::MAX - count, reason.clone()));
    for (reason, count) in reasons {
        writeln!(text, "{count:>4} {reason}").expect("a string takes everything");
    }
    output::print(&text);

    assert!(loaded_files >= LEAST_LOADED, "{text}");
}

/// Collects configurations that have prompts or providers and no `redteam`.
fn configurations_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            configurations_below(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml") {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let has = |key: &str| text.lines().any(|line| line.starts_with(&format!("{key}:")));
            if (has("prompts") || has("providers")) && !has("redteam") {
                files.push(path);
            }
        }
    }
}
