//! One diagnostic, as data.

use crate::{DiagnosticCode, Span};

/// Severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The file is accepted as written, but a run may need something that is missing now.
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

/// One diagnostic about source text: what is wrong, where, and how to fix it.
///
/// Built with [`Diagnostic::error`] or [`Diagnostic::warning`] and the `with_` methods, which can be chained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Kind of diagnostic.
    pub code: DiagnosticCode,
    /// Severity.
    pub severity: Severity,
    /// Message of one line: what is wrong, in lower case, without a full stop.
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

impl Diagnostic {
    /// Creates an error at `span`. `label` is shown beside the caret and says what was found there.
    pub fn error(
        code: DiagnosticCode,
        title: impl Into<String>,
        span: Span,
        label: impl Into<String>,
    ) -> Self {
        Self::new(Severity::Error, code, title.into(), span, label.into())
    }

    /// Creates a warning at `span`. `label` is shown beside the caret and says what was found there.
    pub fn warning(
        code: DiagnosticCode,
        title: impl Into<String>,
        span: Span,
        label: impl Into<String>,
    ) -> Self {
        Self::new(Severity::Warning, code, title.into(), span, label.into())
    }

    fn new(severity: Severity, code: DiagnosticCode, title: String, span: Span, label: String) -> Self {
        Self {
            code,
            severity,
            title,
            primary: SpanLabel { span, text: label },
            secondary: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
            suggestion: None,
        }
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
}
