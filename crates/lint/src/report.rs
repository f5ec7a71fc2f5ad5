//! Where rules put what they find.

use std::ops::Range;

use assize_diagnostic::{Diagnostic, Span};
use assize_evalfile::Mark;

use crate::sources::Sources;

/// A finding and the line above which it may be allowed, beside its own.
pub(crate) struct Finding {
    pub(crate) diagnostic: Diagnostic,
    pub(crate) head: Option<Span>,
}

/// Takes the findings of the rules.
pub(crate) struct Report<'s> {
    pub(crate) sources: &'s mut Sources,
    pub(crate) found: Vec<Finding>,
    /// Where the criterion or case begins that is looked at now.
    pub(crate) head: Option<Span>,
}

impl Report<'_> {
    /// Adds a finding.
    pub(crate) fn add(&mut self, diagnostic: Diagnostic) {
        self.found.push(Finding { diagnostic, head: self.head });
    }

    /// A mark as a span.
    pub(crate) fn span(&mut self, mark: Option<&Mark>) -> Option<Span> {
        self.sources.span(mark?)
    }

    /// The part `range` of a text read from `mark`: exactly where that is sure, else all of it.
    pub(crate) fn part(&mut self, mark: Option<&Mark>, text: &str, range: Range<usize>) -> Option<Span> {
        let mark = mark?;
        self.sources.part(mark, text, range).or_else(|| self.sources.span(mark))
    }

    /// The part `range` of a text read from `mark`, if its words stand there exactly, so that it can be
    /// replaced.
    pub(crate) fn exact(&mut self, mark: Option<&Mark>, text: &str, range: Range<usize>) -> Option<Span> {
        self.sources.part(mark?, text, range)
    }
}
