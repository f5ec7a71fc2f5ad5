//! Positions in source text.

use crate::SourceId;

/// A half-open byte range `start..end` of one source file.
///
/// Both ends lie on character boundaries of the file and `start <= end`. An empty span is a point between two
/// characters (for "something is missing here").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    /// File of the range.
    pub source: SourceId,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// Creates a span of the byte range `start..end` of `source`.
    pub const fn new(source: SourceId, start: usize, end: usize) -> Self {
        Self { source, start, end }
    }

    /// Returns the empty span at the start of this one.
    pub const fn start_point(self) -> Self {
        Self { source: self.source, start: self.start, end: self.start }
    }

    /// Returns the smallest span that contains both. Returns `self` if they are in different files.
    pub fn to(self, other: Self) -> Self {
        if self.source != other.source {
            return self;
        }
        Self { source: self.source, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A value together with its span in the source.
#[derive(Debug, Clone, PartialEq)]
pub struct SpannedValue<T> {
    /// Value.
    pub value: T,
    /// Span of the value.
    pub span: Span,
}

impl<T> SpannedValue<T> {
    /// Pairs a value with its span.
    pub const fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }

    /// Applies a function to the value and keeps the span.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> SpannedValue<U> {
        SpannedValue { value: f(self.value), span: self.span }
    }
}
