//! Checks a document: diagnostics of the loader and findings of the linter.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Severity, SourceMap};
use assize_document::note_unset_variables;
use assize_evalfile::{LoadOptions, SuiteCases, read_rubric_file};
use assize_lint::{lint_loaded, lint_rubric, lint_scorecard};
use assize_load::read_suite;
use assize_model::{RubricGrader, Scorecard};
use assize_scorecard::read_scorecard;
use lsp_types::{
    DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Position, Range,
};

use crate::document_kind::DocumentKind;
use crate::{file_uri, positions};

/// Result of checking a text.
pub(crate) struct DocumentCheck {
    /// Diagnostics and findings.
    diagnostics: Vec<Diagnostic>,
    /// Source maps of the diagnostics: one of the loader, one of the linter.
    sources: Vec<SourceMap>,
    /// Index into `sources` for each diagnostic.
    source_of: Vec<usize>,
    /// The content that could be loaded from the text.
    pub(crate) content: DocumentContent,
}

/// Content of a text.
pub(crate) enum DocumentContent {
    Suite(SuiteCases),
    Rubric(Arc<RubricGrader>),
    Card(Box<Scorecard>),
    Nothing,
}

/// Checks a text as if it were the file at `path`. `open` holds all open texts, including this one.
pub(crate) fn check_document(
    path: &Path,
    text: &str,
    open: &BTreeMap<PathBuf, String>,
    options: &LoadOptions,
) -> DocumentCheck {
    let mut checked = DocumentCheck {
        diagnostics: Vec::new(),
        sources: Vec::new(),
        source_of: Vec::new(),
        content: DocumentContent::Nothing,
    };
    match DocumentKind::detect(path, text) {
        DocumentKind::Referenced(_) | DocumentKind::Other => {}
        DocumentKind::Suite | DocumentKind::Matrix | DocumentKind::Dataset => {
            let loaded = read_suite(path, text, options);
            let linted = lint_loaded(&loaded);
            checked.add(loaded.diagnostics, loaded.sources);
            if let Ok(linted) = linted {
                checked.add(linted.diagnostics, linted.sources);
            }
            checked.content = DocumentContent::Suite(loaded.cases);
        }
        DocumentKind::Rubric => {
            let loaded = read_rubric_file(path, text, options);
            let linted = lint_rubric(&loaded);

            checked.add(loaded.diagnostics, loaded.sources);
            checked.add(linted.diagnostics, linted.sources);

            if let Some(rubric) = loaded.rubric {
                checked.content = DocumentContent::Rubric(rubric);
            }
        }
        DocumentKind::Card(root, _) => {
            let loaded = read_scorecard(&root, open.clone(), options);
            let linted = lint_scorecard(&loaded);

            checked.add(loaded.diagnostics, loaded.sources);
            checked.add(linted.diagnostics, linted.sources);

            // Diagnostics about other files of the scorecard are published for those files.
            checked.retain_file(path);

            if let Some(card) = loaded.scorecard {
                checked.content = DocumentContent::Card(Box::new(card));
            }
        }
    }

    checked
}

impl DocumentCheck {
    fn add(&mut self, mut diagnostics: Vec<Diagnostic>, sources: SourceMap) {
        note_unset_variables(&mut diagnostics);
        let at = self.sources.len();
        self.source_of.extend(std::iter::repeat_n(at, diagnostics.len()));
        self.diagnostics.extend(diagnostics);
        self.sources.push(sources);
    }

    fn retain_file(&mut self, path: &Path) {
        let all = std::mem::take(&mut self.diagnostics).into_iter().zip(std::mem::take(&mut self.source_of));
        for (diagnostic, at) in all {
            if self.sources[at].file(diagnostic.primary.span.source).path() == path {
                self.diagnostics.push(diagnostic);
                self.source_of.push(at);
            }
        }
    }

    /// Returns every diagnostic with its source map.
    pub(crate) fn diagnostics_with_sources(&self) -> impl Iterator<Item = (&Diagnostic, &SourceMap)> {
        self.diagnostics.iter().zip(self.source_of.iter().map(|at| &self.sources[*at]))
    }

    /// Converts the diagnostics to the protocol's form, with ranges in `text`, the text of the file at `path`.
    pub(crate) fn to_protocol(&self, path: &Path, text: &str) -> Vec<lsp_types::Diagnostic> {
        self.diagnostics_with_sources()
            .map(|(diagnostic, sources)| to_protocol_diagnostic(diagnostic, sources, path, text))
            .collect()
    }
}

fn to_protocol_diagnostic(
    diagnostic: &Diagnostic,
    sources: &SourceMap,
    path: &Path,
    text: &str,
) -> lsp_types::Diagnostic {
    let here = positions::locate_span(diagnostic.primary.span, sources, path, text);
    let beginning = Range { start: Position::new(0, 0), end: Position::new(0, 0) };
    let range = here.map_or(beginning, |part| positions::range(text, part));
    let mut message = format!("{}: {}", diagnostic.title, diagnostic.primary.text);
    if here.is_none() {
        let file = sources.file(diagnostic.primary.span.source);
        let line = sources.position(diagnostic.primary.span).line;
        message = format!("{}:{line}: {message}", file.path().display());
    }

    for more in diagnostic.notes.iter().chain(&diagnostic.help) {
        message.push('\n');
        message.push_str(more);
    }

    let related = diagnostic.secondary.iter().filter_map(|label| {
        let file = sources.file(label.span.source);
        let range = match positions::locate_span(label.span, sources, path, text) {
            Some(part) => positions::range(text, part),
            None => positions::range(file.text(), (label.span.start, label.span.end)),
        };
        Some(DiagnosticRelatedInformation {
            location: Location { uri: file_uri::to_uri(file.path())?, range },
            message: label.text.clone(),
        })
    });

    let related: Vec<_> = related.collect();
    lsp_types::Diagnostic {
        range,
        severity: Some(match diagnostic.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Note => DiagnosticSeverity::INFORMATION,
        }),
        code: Some(NumberOrString::String(diagnostic.code.as_str().to_owned())),
        source: Some("assize".to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        ..lsp_types::Diagnostic::default()
    }
}
