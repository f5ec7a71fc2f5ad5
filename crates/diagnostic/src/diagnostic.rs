//! One complaint, as data.

use crate::{Code, Span};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The file is read as written, but probably does not mean what its author thinks.
    Warning,
    /// The file can't be used.
    Error,
}

/// A span with a few words about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The marked text.
    pub span: Span,
    /// What is said beside the caret; may be empty.
    pub text: String,
}

/// A change that would put the problem right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// What the change does, such as "rename the key".
    pub title: String,
    /// The text to replace.
    pub span: Span,
    /// What to put there.
    pub replacement: String,
}

/// One complaint about source text: what is wrong, where, and what to do.
///
/// Built with [`Diagnostic::error`] or [`Diagnostic::warning`] and the `with_` methods, which can
/// be chained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind of complaint.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// One line, lower case, no full stop: what is wrong.
    pub title: String,
    /// The main place. Every complaint has one.
    pub primary: Label,
    /// Other places that explain it ("first defined here").
    pub secondary: Vec<Label>,
    /// Facts that explain why it is wrong.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Vec<String>,
    /// A concrete change, when one is likely to be right.
    pub suggestion: Option<Suggestion>,
}

impl Diagnostic {
    /// An error at `span`. `label` stands beside the caret: what was found there.
    pub fn error(code: Code, title: impl Into<String>, span: Span, label: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, title.into(), span, label.into())
    }

    /// A warning at `span`. `label` stands beside the caret: what was found there.
    pub fn warning(code: Code, title: impl Into<String>, span: Span, label: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, title.into(), span, label.into())
    }

    fn new(severity: Severity, code: Code, title: String, span: Span, label: String) -> Self {
        Self {
            code,
            severity,
            title,
            primary: Label { span, text: label },
            secondary: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
            suggestion: None,
        }
    }

    /// Marks another place.
    pub fn with_secondary(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// Adds a reason.
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds advice.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// Proposes a change.
    pub fn with_suggestion(
        mut self,
        title: impl Into<String>,
        span: Span,
        replacement: impl Into<String>,
    ) -> Self {
        self.suggestion = Some(Suggestion { title: title.into(), span, replacement: replacement.into() });
        self
    }
}
