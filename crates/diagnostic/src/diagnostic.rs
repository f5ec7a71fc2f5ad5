//! One diagnostic, as data.

use crate::{DiagnosticCode, Span};

/// Severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The file is accepted as written, but a run may need a variable or a file that is missing now.
    Note,
    /// The file is accepted as written, but probably does not mean what its author intended.
    Warning,
    /// The file can't be used.
    Error,
}

/// A span with a short explanation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpanLabel {
    /// Marked text.
    pub span: Span,
    /// Text shown beside the caret; may be empty.
    pub text: String,
}

/// A change that would fix the problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuggestedEdit {
    /// Description of the change, such as "rename the key".
    pub title: String,
    /// Span of the text to replace.
    pub span: Span,
    /// Replacement text.
    pub replacement: String,
}

/// A problem in source text, with its location and a way to fix it.
///
/// Built with [`Diagnostic::error`] or [`Diagnostic::warning`] and the `with_` methods, which can be chained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Kind of diagnostic.
    pub code: DiagnosticCode,
    /// Severity.
    pub severity: Severity,
    /// The problem in one line, in lower case, without a full stop.
    pub title: String,
    /// Primary location. Every diagnostic has one.
    pub primary: SpanLabel,
    /// Other locations that explain the problem ("first defined here").
    pub secondary: Vec<SpanLabel>,
    /// Facts that explain the cause.
    pub notes: Vec<String>,
    /// Advice on how to fix the problem.
    pub help: Vec<String>,
    /// A concrete change, if one is likely to be right.
    pub suggestion: Option<SuggestedEdit>,
}

/// A problem without a location. [`at`](Self::at) makes it a diagnostic.
#[derive(Debug)]
#[must_use]
pub struct UnplacedDiagnostic {
    code: DiagnosticCode,
    severity: Severity,
    title: String,
}

impl UnplacedDiagnostic {
    /// Creates the diagnostic at `span`. `label` is shown beside the caret and describes the text there.
    pub fn at(self, span: Span, label: impl Into<String>) -> Diagnostic {
        let Self { code, severity, title } = self;
        Diagnostic {
            code,
            severity,
            title,
            primary: SpanLabel { span, text: label.into() },
            secondary: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
            suggestion: None,
        }
    }
}

impl Diagnostic {
    /// Begins an error, which [`at`](UnplacedDiagnostic::at) places.
    pub fn error(code: DiagnosticCode, title: impl Into<String>) -> UnplacedDiagnostic {
        UnplacedDiagnostic { code, severity: Severity::Error, title: title.into() }
    }

    /// Begins a warning, which [`at`](UnplacedDiagnostic::at) places.
    pub fn warning(code: DiagnosticCode, title: impl Into<String>) -> UnplacedDiagnostic {
        UnplacedDiagnostic { code, severity: Severity::Warning, title: title.into() }
    }

    /// Adds a secondary location.
    pub fn with_secondary(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(SpanLabel { span, text: text.into() });
        self
    }

    /// Adds an explanatory note.
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds advice.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// Suggests a change.
    pub fn with_suggestion(
        mut self,
        title: impl Into<String>,
        span: Span,
        replacement: impl Into<String>,
    ) -> Self {
        self.suggestion = Some(SuggestedEdit { title: title.into(), span, replacement: replacement.into() });
        self
    }

    /// Adds the finished diagnostic to a collection: the last call of a chain.
    pub fn add_to(self, collection: &mut impl Extend<Self>) {
        collection.extend([self]);
    }
}
