//! A file with its findings.

use std::path::{Path, PathBuf};

use assize_diagnostic::{Diagnostic, Severity, SourceMap};
use assize_lint::LintReport;

/// A linted file.
pub(super) struct LintedFile {
    pub(super) path: PathBuf,
    pub(super) cases: usize,
    pub(super) linted: LintReport,
    /// Errors that keep the file from loading (its valid cases are linted anyway), and warnings of the loader
    /// that belong with the findings.
    pub(super) errors: Vec<Diagnostic>,
    pub(super) error_sources: SourceMap,
    /// True for a scorecard. Its prompts are written for a model, and the rules that need a model skip it.
    pub(super) is_scorecard: bool,
}

impl LintedFile {
    pub(super) fn broken(&self) -> bool {
        self.errors.iter().any(|found| found.severity == Severity::Error)
    }

    /// Returns true if reading this file included reading `path`.
    pub(super) fn has_read(&self, path: &Path) -> bool {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let path = real(path);
        self.parts().iter().any(|(_, sources)| sources.files().any(|(_, source)| real(source.path()) == path))
    }

    /// Errors and findings, each with the texts that they point into.
    pub(super) fn parts(&self) -> [(&[Diagnostic], &SourceMap); 2] {
        [(&self.errors, &self.error_sources), (&self.linted.diagnostics, &self.linted.sources)]
    }
}
