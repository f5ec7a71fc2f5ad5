//! Positions: bytes of a text here, lines and UTF-16 units in the protocol.

use assize_diagnostic::Span;
use lsp_types::{Position, Range};

/// The byte at a position; one beyond the end of its line counts as that end.
pub(crate) fn offset(text: &str, position: Position) -> usize {
    let mut start = 0;
    for _ in 0..position.line {
        match text[start..].find('\n') {
            Some(end) => start += end + 1,
            None => return text.len(),
        }
    }
    let line = text[start..].split('\n').next().unwrap_or_default();
    let line = line.strip_suffix('\r').unwrap_or(line);
    let mut units = 0;
    for (at, character) in line.char_indices() {
        if units >= position.character {
            return start + at;
        }
        units += character.len_utf16() as u32;
    }
    start + line.len()
}

/// The position of a byte; inside a character it is the beginning of the character.
pub(crate) fn position(text: &str, offset: usize) -> Position {
    let before = &text[..text.floor_char_boundary(offset)];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let units: usize = before[start..].chars().map(char::len_utf16).sum();
    Position {
        line: u32::try_from(before.matches('\n').count()).unwrap_or(u32::MAX),
        character: u32::try_from(units).unwrap_or(u32::MAX),
    }
}

/// The range of a span.
pub(crate) fn range(text: &str, span: Span) -> Range {
    Range { start: position(text, span.start), end: position(text, span.end.max(span.start)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_utf16_units_and_come_back() {
        let text = "a: \u{1f600}é\r\nb: ü\n";
        for (at, _) in text.char_indices().filter(|(_, c)| *c != '\n') {
            assert_eq!(offset(text, position(text, at)), at, "{at}");
        }
        let after_smile = text.find('é').expect("there");
        assert_eq!(position(text, after_smile), Position { line: 0, character: 5 });
        assert_eq!(offset(text, Position { line: 0, character: 99 }), text.find('\r').expect("there"));
        assert_eq!(offset(text, Position { line: 99, character: 0 }), text.len());
        assert_eq!(position(text, 9_999), Position { line: 2, character: 0 });
        // Half of a pair is the character.
        assert_eq!(offset(text, Position { line: 0, character: 4 }), after_smile);
    }
}
