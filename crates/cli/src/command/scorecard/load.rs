//! Loads scorecards that must be valid, and finds their weight sets.

use std::path::Path;

use assize_engine::{LabelOptions, LabelledRun, RunFolder, ScorecardInput, labelled_run};
use assize_load::near_path_hint;
use assize_model::Scorecard;
use assize_scorecard::load_scorecard_with_labels;

use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

/// Reads a scorecard with the labels that count; prints its problems and fails if it is invalid.
pub(in crate::command) fn load_valid(
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

    let mut input = ScorecardInput::new(loaded).map_err(|errors| {
        let problems = if errors == 1 { "problem" } else { "problems" };
        format!("the scorecard has {errors} {problems}")
    })?;
    input.scorecard.unbound_labels = labels.unbound;
    input.scorecard.people = labels.people;

    Ok(input)
}

/// Reads a run of a scorecard with the labels that count, and prints the warning about them.
pub(super) fn load_labelled(
    folder: &RunFolder,
    labels: &LabelOptions,
    context: &CliContext,
) -> Result<LabelledRun, CommandFailure> {
    let labelled = labelled_run(folder, labels, &context.process)?;
    if let Some(warning) = &labelled.warning {
        output::print_warning(warning, context);
    }

    Ok(labelled)
}

/// The position of a weight set, if one was given.
pub(super) fn weight_set(
    scorecard: &Scorecard,
    wanted: Option<&str>,
) -> Result<Option<usize>, CommandFailure> {
    wanted.map(|name| scorecard.weight_set(name)).transpose().map_err(|error| error.to_string().into())
}
