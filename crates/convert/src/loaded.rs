//! Input of a converter from a loaded file: its cases, or the error that it has none.

use std::path::Path;

use assize_diagnostic::{Diagnostic, SourceMap};
use assize_evalfile::LoadedSuite;
use assize_model::Case;

use crate::ConvertError;

pub(crate) fn broken_file(path: &Path, diagnostics: Vec<Diagnostic>, sources: SourceMap) -> ConvertError {
    ConvertError::Invalid(path.to_path_buf(), diagnostics, Box::new(sources))
}

pub(crate) fn collect_cases(path: &Path, loaded: &LoadedSuite) -> Result<Vec<Case>, ConvertError> {
    let read = loaded.cases.iter().map(|case| case.map(|case| (*case).clone())).collect::<Result<_, _>>();
    read.map_err(|error| ConvertError::Unreadable(path.to_path_buf(), error.to_string()))
}
