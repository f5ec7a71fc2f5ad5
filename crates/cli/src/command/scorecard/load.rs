//! Scorecards that must be valid, and their weight sets.

use std::path::Path;

use assize_diagnostic::render;
use assize_engine::ScorecardInput;
use assize_evalfile::{Scorecard, load_scorecard};

use crate::context::CliContext;
use crate::output;

/// Reads a scorecard that must be sound, saying what is wrong with it.
pub(in crate::command) fn sound(
    path: &Path,
    roots: &[std::path::PathBuf],
    context: &CliContext,
) -> Result<ScorecardInput, String> {
    if !path.exists() {
        return Err(format!("{}: no such file or folder", path.display()));
    }

    let loaded = load_scorecard(path, &context.process.load_options(roots));
    output::print_diagnostics(&loaded.diagnostics, &loaded.sources, context);

    let (errors, warnings) = render::count_by_severity(&loaded.diagnostics);
    let problems = if errors == 1 { "problem" } else { "problems" };
    let scorecard = loaded.scorecard.ok_or_else(|| format!("the scorecard has {errors} {problems}"))?;
    let files = loaded.sources.files().map(|(_, source)| source.path().to_path_buf());
    let mut files: Vec<_> = files.filter(|path| path.is_file()).collect();
    files.sort();
    files.dedup();

    Ok(ScorecardInput { scorecard, files, warnings })
}

/// The place of a weight set, if one is asked for.
pub(super) fn weight_set(scorecard: &Scorecard, wanted: Option<&str>) -> Result<Option<usize>, String> {
    let Some(wanted) = wanted else { return Ok(None) };
    let sets = scorecard.index.as_ref().map(|index| index.weight_sets.as_slice()).unwrap_or_default();
    if let Some(at) = sets.iter().position(|set| set.name == wanted) {
        return Ok(Some(at));
    }

    let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
    Err(if names.is_empty() {
        "the scorecard has no index with weight sets".to_owned()
    } else {
        format!("there is no weight set `{wanted}`; there are: {}", names.join(", "))
    })
}
