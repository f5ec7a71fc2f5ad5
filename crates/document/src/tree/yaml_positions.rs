//! Byte offsets for the character positions of the YAML parser.

use assize_diagnostic::{SourceId, Span};
use saphyr_parser::Marker;

/// Converts the parser's character positions to byte offsets. Positions come almost in order, so walking from
/// the last one is cheap.
pub(super) struct BytePositions<'t> {
    pub(super) text: &'t str,
    pub(super) skipped: usize,
    source: SourceId,
    character: usize,
    byte: usize,
}

impl<'t> BytePositions<'t> {
    /// Creates the converter. The parser must be given the text without its byte order mark; spans still count
    /// it.
    pub(super) fn new(text: &'t str, source: SourceId) -> Self {
        let body = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self { text: body, skipped: text.len() - body.len(), source, character: 0, byte: 0 }
    }

    pub(super) fn point_span(&mut self, marker: Marker) -> Span {
        let byte = self.byte_of(marker.index());
        Span::new(self.source, byte + self.skipped, byte + self.skipped)
    }

    pub(super) fn span(&mut self, start: Marker, end: Marker) -> Span {
        let start = self.byte_of(start.index());
        let mut end = self.byte_of(end.index()).max(start);

        // Block scalars and some collections end at the start of the next token; exclude the blank lines before
        // it.
        while end > start && self.text.as_bytes()[end - 1].is_ascii_whitespace() {
            end -= 1;
        }

        Span::new(self.source, start + self.skipped, end + self.skipped)
    }

    pub(super) fn text_at(&self, span: Span) -> &str {
        self.text.get(span.start - self.skipped..span.end - self.skipped).unwrap_or("")
    }

    /// Returns the text after a span.
    pub(super) fn text_after(&self, span: Span) -> &str {
        self.text.get(span.end - self.skipped..).unwrap_or("")
    }

    fn byte_of(&mut self, character: usize) -> usize {
        if character >= self.character {
            for c in self.text[self.byte..].chars().take(character - self.character) {
                self.byte += c.len_utf8();
                self.character += 1;
            }
        } else {
            for c in self.text[..self.byte].chars().rev().take(self.character - character) {
                self.byte -= c.len_utf8();
                self.character -= 1;
            }
        }
        self.byte
    }
}
