//! What is wrong with a text: the complaints of the loader and the findings of the linter.

use std::path::Path;

use assize_diagnostic::{Diagnostic, Severity, SourceMap, Span};
use assize_lint::{Linted, lint_loaded, lint_rubric};
use assize_spec::{LoadOptions, read_rubric_file, read_suite};
use lsp_types::{
    DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Position, Range,
};

use crate::{file_uri, text};

/// What a file is, told by its keys: editors show all YAML files to a language server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An eval file.
    Suite,
    /// A rubric file.
    Rubric,
    /// Nothing this server knows.
    Other,
}

impl Kind {
    /// The kind of a text. A list of criteria without keys is known by its name, `*.rubric.yaml`.
    pub(crate) fn of(path: &Path, text: &str) -> Self {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        if !matches!(ending.as_deref(), Some("yaml" | "yml" | "json")) {
            return Self::Other;
        }
        let json = ending.as_deref() == Some("json");
        let has = |keys: &[&str]| {
            text.lines().any(|line| {
                // JSON may be indented as it likes.
                let line = if json { line.trim_start_matches([' ', '{', '\t']) } else { line };
                let Some((key, _)) = line.split_once(':') else { return false };
                keys.contains(&key.trim_end().trim_matches(['"', '\'']))
            })
        };
        if name.contains(".eval.") || name.starts_with("eval.") || has(&["tests", "evalcases", "eval_cases"])
        {
            Self::Suite
        } else if name.contains(".rubric.") || name.starts_with("rubric.") || has(&["criteria", "rubrics"]) {
            Self::Rubric
        } else {
            Self::Other
        }
    }
}

/// What was found out about a text.
pub(crate) struct Checked {
    /// Complaints and findings whose main place is in this text.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The texts that both point into, each list with its own.
    pub(crate) sources: Vec<SourceMap>,
    /// Which of `sources` each diagnostic belongs to.
    pub(crate) source_of: Vec<usize>,
}

/// Checks a text as if it stood at `path`.
pub(crate) fn check(path: &Path, text: &str, options: &LoadOptions) -> Checked {
    let mut checked = Checked { diagnostics: Vec::new(), sources: Vec::new(), source_of: Vec::new() };
    match Kind::of(path, text) {
        Kind::Other => {}
        Kind::Suite => {
            let loaded = read_suite(path, text, options);
            let linted = lint_loaded(&loaded).ok();
            checked.add(loaded.diagnostics, loaded.sources);
            checked.add_linted(linted);
        }
        Kind::Rubric => {
            let loaded = read_rubric_file(path, text, options);
            let linted = lint_rubric(&loaded);
            checked.add(loaded.diagnostics, loaded.sources);
            checked.add_linted(Some(linted));
        }
    }
    checked
}

impl Checked {
    fn add(&mut self, diagnostics: Vec<Diagnostic>, sources: SourceMap) {
        let at = self.sources.len();
        self.source_of.extend(std::iter::repeat_n(at, diagnostics.len()));
        self.diagnostics.extend(diagnostics);
        self.sources.push(sources);
    }

    fn add_linted(&mut self, linted: Option<Linted>) {
        if let Some(linted) = linted {
            self.add(linted.diagnostics, linted.sources);
        }
    }

    /// Every diagnostic with the texts it points into.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&Diagnostic, &SourceMap)> {
        self.diagnostics.iter().zip(self.source_of.iter().map(|at| &self.sources[*at]))
    }

    /// The diagnostics as the protocol has them, with ranges in `text`, which stands at `path`.
    pub(crate) fn to_protocol(&self, path: &Path, text: &str) -> Vec<lsp_types::Diagnostic> {
        self.each().map(|(diagnostic, sources)| one(diagnostic, sources, path, text)).collect()
    }
}

/// Whether a span lies in the text at `path`.
pub(crate) fn is_here(span: Span, sources: &SourceMap, path: &Path, text: &str) -> bool {
    let file = sources.file(span.source);
    // Another text of this name, as a file that includes itself, has other places.
    file.path() == path && file.text().trim_start_matches('\u{feff}') == text.trim_start_matches('\u{feff}')
}

fn one(diagnostic: &Diagnostic, sources: &SourceMap, path: &Path, text: &str) -> lsp_types::Diagnostic {
    let here = is_here(diagnostic.primary.span, sources, path, text);
    let range = if here {
        text::range(text, diagnostic.primary.span)
    } else {
        Range { start: Position::new(0, 0), end: Position::new(0, 0) }
    };
    let mut message = format!("{}: {}", diagnostic.title, diagnostic.primary.text);
    if !here {
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
        let range = text::range(file.text(), label.span);
        Some(DiagnosticRelatedInformation {
            location: Location { uri: file_uri::uri(file.path())?, range },
            message: label.text.clone(),
        })
    });
    let related: Vec<_> = related.collect();
    lsp_types::Diagnostic {
        range,
        severity: Some(match diagnostic.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        }),
        code: Some(NumberOrString::String(diagnostic.code.as_str().to_owned())),
        source: Some("assize".to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        ..lsp_types::Diagnostic::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_this_program_are_looked_at() {
        let kind = |name: &str, text: &str| Kind::of(Path::new(name), text);
        assert_eq!(kind("a.yaml", "name: x\ntests:\n"), Kind::Suite);
        assert_eq!(kind("a.json", "{\n  \"evalcases\": []\n}"), Kind::Suite);
        assert_eq!(kind("a.eval.yaml", ""), Kind::Suite);
        assert_eq!(kind("a.yaml", "criteria:\n- x\n"), Kind::Rubric);
        assert_eq!(kind("a.rubric.yml", "- x\n"), Kind::Rubric);
        assert_eq!(kind("compose.yaml", "services:\n  tests: 1\n"), Kind::Other);
        assert_eq!(kind("a.txt", "tests:\n"), Kind::Other);
        assert_eq!(kind("a.yaml", "testsuite: 1\n"), Kind::Other);
    }
}
