//! Weights, gates and thresholds of the cases of an eval file.

use std::path::Path;

use assize_run::{CaseScoring, CaseScorings, ThresholdSources, resolve_thresholds};

use crate::engine::Engine;
use crate::error::EngineError;

/// Reads the weights, gates and thresholds of every valid case of an eval file, or of a folder with eval files.
/// Problems of the files are reported to the observer.
///
/// # Errors
/// If the path does not exist or holds no eval file, the configuration is invalid, or thresholds contradict
/// each other.
pub fn case_scorings(engine: &Engine, path: &Path) -> Result<CaseScorings, EngineError> {
    let loaded = engine.load(&[path.to_path_buf()], &[])?;
    loaded.report_diagnostics(engine);
    let files: Vec<_> = loaded.files.iter().map(|file| file.path.clone()).collect();
    let config = engine.config(&files, &engine.load_options(&[]))?;
    let mut found = CaseScorings::default();
    for file in &loaded.files {
        let Some(suite) = &file.suite else { continue };
        for case in file.cases.iter().filter_map(Result::ok) {
            let sources = ThresholdSources {
                case: case.thresholds,
                suite: suite.settings.thresholds,
                config: config.thresholds,
                ..ThresholdSources::default()
            };
            let thresholds = resolve_thresholds(sources, Some(suite.format))
                .map_err(|error| EngineError::usage(format!("case `{}`: {error}", case.id)))?;
            let scoring = CaseScoring::from_case(&case, thresholds);
            found.add(suite.name.as_str().into(), case.id.clone().into(), scoring);
        }
    }

    Ok(found)
}
