//! A file with the findings in it.

use std::path::{Path, PathBuf};

use assize_diagnostic::{Diagnostic, Severity, SourceMap};
use assize_lint::LintReport;

/// A file that was looked at.
pub(super) struct LintedFile {
    pub(super) path: PathBuf,
    pub(super) cases: usize,
    pub(super) linted: LintReport,
    /// Errors that keep the file from loading, whose valid cases are linted all the same, and warnings of the loader that findings
    /// should not miss.
    pub(super) errors: Vec<Diagnostic>,
    pub(super) error_sources: SourceMap,
    /// It is a scorecard: its prompts are what a model is told, and no model looks at them here.
    pub(super) is_scorecard: bool,
}

impl LintedFile {
    pub(super) fn broken(&self) -> bool {
        self.errors.iter().any(|found| found.severity == Severity::Error)
    }

    /// Returns true if the text of this file was read for it.
    pub(super) fn has_read(&self, path: &Path) -> bool {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let path = real(path);
        self.parts().iter().any(|(_, sources)| sources.files().any(|(_, source)| real(source.path()) == path))
    }

    /// Errors and findings, each with the texts they point into.
    pub(super) fn parts(&self) -> [(&[Diagnostic], &SourceMap); 2] {
        [(&self.errors, &self.error_sources), (&self.linted.diagnostics, &self.linted.sources)]
    }
}
