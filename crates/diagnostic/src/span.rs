//! Positions in source text.

use crate::SourceId;

/// A stretch of one source file: a half-open byte range `start..end`.
///
/// Both ends lie on character boundaries of the file and `start <= end`. An empty span is a point
/// between two characters (for "something is missing here").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    /// The file the range is in.
    pub source: SourceId,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The byte range `start..end` of `source`.
    pub const fn new(source: SourceId, start: usize, end: usize) -> Self {
        Self { source, start, end }
    }

    /// The point before this span.
    pub const fn start_point(self) -> Self {
        Self { source: self.source, start: self.start, end: self.start }
    }

    /// The smallest span that holds both. The two must be in the same file; if they are not, `self`.
    pub fn to(self, other: Self) -> Self {
        if self.source != other.source {
            return self;
        }
        Self { source: self.source, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A value together with the place it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct Spanned<T> {
    /// What was read.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Pairs a value with its place.
    pub const fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }

    /// The same place with another value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: f(self.value), span: self.span }
    }
}
