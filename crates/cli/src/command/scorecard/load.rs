//! Loads scorecards that must be valid, and finds their weight sets.

use std::path::Path;

use assize_diagnostic::render;
use assize_engine::{LabelOptions, ScorecardInput};
use assize_load::near_path_hint;
use assize_model::Scorecard;
use assize_scorecard::load_scorecard_with_labels;

use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

/// Reads a scorecard; prints its problems and fails if it is invalid.
pub(in crate::command) fn load_valid(
    path: &Path,
    roots: &[std::path::PathBuf],
    context: &CliContext,
) -> Result<ScorecardInput, CommandFailure> {
    load_valid_with_labels(path, &LabelOptions::default(), roots, context)
}

/// Like [`load_valid`], with the labels that count.
pub(in crate::command) fn load_valid_with_labels(
    path: &Path,
    labels: &LabelOptions,
    roots: &[std::path::PathBuf],
    context: &CliContext,
) -> Result<ScorecardInput, CommandFailure> {
    load(path, labels, roots, true, context)
}

/// Like [`load_valid`], but only counts warnings: users who list or score a scorecard have seen them.
pub(super) fn load_valid_briefly(
    path: &Path,
    labels: &LabelOptions,
    roots: &[std::path::PathBuf],
    context: &CliContext,
) -> Result<ScorecardInput, CommandFailure> {
    let loaded = load(path, labels, roots, false, context)?;
    if loaded.warnings > 0 {
        let words = if loaded.warnings == 1 { "warning" } else { "warnings" };
        let text = format!("{} {words}: `assize validate {}` shows them\n", loaded.warnings, path.display());
        output::print_message(&text);
    }

    Ok(loaded)
}

fn load(
    path: &Path,
    labels: &LabelOptions,
    roots: &[std::path::PathBuf],
    with_warnings: bool,
    context: &CliContext,
) -> Result<ScorecardInput, CommandFailure> {
    if !path.exists() {
        return Err(format!("{}: no such file or folder{}", path.display(), near_path_hint(path)).into());
    }

    let options = context.process.load_options(roots);
    let loaded = load_scorecard_with_labels(path, labels.folder.as_deref(), &options);
    if loaded.scorecard.is_none() || with_warnings {
        output::print_diagnostics(&loaded.diagnostics, &loaded.sources, context);
    }

    let (errors, warnings) = render::count_by_severity(&loaded.diagnostics);
    let problems = if errors == 1 { "problem" } else { "problems" };
    let mut scorecard = loaded.scorecard.ok_or_else(|| format!("the scorecard has {errors} {problems}"))?;
    scorecard.unbound_labels = labels.unbound;
    scorecard.people = labels.people;
    let files = loaded.sources.files().map(|(_, source)| source.path().to_path_buf());
    let mut files: Vec<_> = files.filter(|path| path.is_file()).collect();
    files.sort();
    files.dedup();

    Ok(ScorecardInput { scorecard, files, warnings })
}

/// The position of a weight set, if one was given.
pub(super) fn weight_set(
    scorecard: &Scorecard,
    wanted: Option<&str>,
) -> Result<Option<usize>, CommandFailure> {
    wanted.map(|name| scorecard.weight_set(name)).transpose().map_err(|error| error.to_string().into())
}
