//! Conversion of positions: byte offsets here, lines and UTF-16 units in the protocol.

use std::path::Path;

use assize_diagnostic::{SourceMap, Span};
use lsp_types::{Position, Range};

/// Returns the byte offset of a position; one beyond the end of its line counts as the end of the line.
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

/// Returns the position of a byte offset; an offset inside a character counts as the start of the character.
pub(crate) fn position(text: &str, offset: usize) -> Position {
    let before = &text[..text.floor_char_boundary(offset)];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let units: usize = before[start..].chars().map(char::len_utf16).sum();
    Position {
        line: u32::try_from(before.matches('\n').count()).unwrap_or(u32::MAX),
        character: u32::try_from(units).unwrap_or(u32::MAX),
    }
}

/// Returns the range of the half-open byte range `start..end`.
pub(crate) fn range(text: &str, (start, end): (usize, usize)) -> Range {
    Range { start: position(text, start), end: position(text, end.max(start)) }
}

/// Returns the byte range of a span in the text of the file at `path`; `None` if the span belongs to another file, or
/// to another version of this one. Spans in a line of a dataset are mapped to the whole file.
pub(crate) fn locate_span(
    span: Span,
    sources: &SourceMap,
    path: &Path,
    text: &str,
) -> Option<(usize, usize)> {
    let file = sources.file(span.source);
    if file.path() != path {
        return None;
    }

    // Another text under this path, for example of a file that includes itself, has other offsets.
    let bare = |text: &str| text.trim_start_matches('\u{feff}').len();
    if file.first_line() == 1
        && file.text().trim_start_matches('\u{feff}') == text.trim_start_matches('\u{feff}')
    {
        let shift = (text.len() - bare(text)).saturating_sub(file.text().len() - bare(file.text()));
        return Some((span.start + shift, span.end + shift));
    }

    let line = file.first_line();
    let start = match line {
        1 => text.len() - bare(text),
        _ => text.match_indices('\n').nth(line - 2)?.0 + 1,
    };
    let is_line = text.get(start..)?.starts_with(file.text()) && !file.text().is_empty();
    is_line.then_some((start + span.start, start + span.end))
}

/// Returns the text after a change of one range; `None` if the range is not inside the text.
pub(crate) fn apply_change(text: &str, range: Range, new: &str) -> Option<String> {
    let (start, end) = (offset(text, range.start), offset(text, range.end));
    let (before, after) = (text.get(..start)?, text.get(end..)?);
    (start <= end).then(|| format!("{before}{new}{after}"))
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
        // A position in the middle of a surrogate pair counts as the character.
        assert_eq!(offset(text, Position { line: 0, character: 4 }), after_smile);
    }

    #[test]
    fn changes_are_made_in_their_place() {
        let at = |line, character| Position { line, character };
        let change =
            |from, to, new| apply_change("a: \u{1f600}\nb: x\n", Range { start: from, end: to }, new);
        assert_eq!(change(at(0, 5), at(0, 5), "!").as_deref(), Some("a: \u{1f600}!\nb: x\n"));
        assert_eq!(change(at(0, 1), at(1, 1), "").as_deref(), Some("a: x\n"));
        assert_eq!(change(at(9, 0), at(9, 9), "c").as_deref(), Some("a: \u{1f600}\nb: x\nc"));
        assert_eq!(change(at(1, 1), at(0, 1), "c"), None);
    }

    #[test]
    fn lines_of_a_dataset_are_found_in_the_whole() {
        let text = "\u{feff}{}\nwhole line\n";
        let path = Path::new("a.jsonl");
        let mut sources = SourceMap::new();
        let second = sources.add_fragment(path, "whole line", 2);
        let other = sources.add_fragment(path, "another", 2);
        let first = sources.add_fragment(path, "{}", 1);
        assert_eq!(locate_span(Span::new(second, 6, 10), &sources, path, text), Some((12, 16)));
        assert_eq!(locate_span(Span::new(other, 0, 1), &sources, path, text), None);
        assert_eq!(locate_span(Span::new(first, 0, 2), &sources, path, text), Some((3, 5)));
        assert_eq!(locate_span(Span::new(second, 0, 1), &sources, Path::new("b.jsonl"), text), None);
    }
}
