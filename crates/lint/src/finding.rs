//! Collects the findings of the rules.

use std::ops::Range;

use assize_diagnostic::{Diagnostic, Span};
use assize_model::SourceMark;

use crate::sources::LintSources;

/// A finding, and the beginning of its criterion or case. A comment above either of them may allow it.
pub(crate) struct LintFinding {
    pub(crate) diagnostic: Diagnostic,
    pub(crate) head: Option<Span>,
}

/// Collects the findings of the rules.
pub(crate) struct FindingCollector<'s> {
    pub(crate) sources: &'s mut LintSources,
    pub(crate) found: Vec<LintFinding>,
    /// Span of the criterion or case that is being checked.
    pub(crate) head: Option<Span>,
}

impl Extend<Diagnostic> for FindingCollector<'_> {
    fn extend<T: IntoIterator<Item = Diagnostic>>(&mut self, diagnostics: T) {
        let head = self.head;
        self.found.extend(diagnostics.into_iter().map(|diagnostic| LintFinding { diagnostic, head }));
    }
}

impl FindingCollector<'_> {
    /// Returns the span of a mark.
    pub(crate) fn span(&mut self, mark: Option<&SourceMark>) -> Option<Span> {
        self.sources.span(mark?)
    }

    /// Returns the span of a part of a text that was read from `mark`, or of the whole text if the part can't
    /// be located.
    pub(crate) fn part_span(
        &mut self,
        mark: Option<&SourceMark>,
        text: &str,
        range: Range<usize>,
    ) -> Option<Span> {
        let mark = mark?;
        self.sources.part_span(mark, text, range).or_else(|| self.sources.span(mark))
    }

    /// Returns the span of a part of a text that was read from `mark`, if the source has exactly these words,
    /// so that they can be replaced.
    pub(crate) fn exact_span(
        &mut self,
        mark: Option<&SourceMark>,
        text: &str,
        range: Range<usize>,
    ) -> Option<Span> {
        self.sources.part_span(mark?, text, range)
    }
}
