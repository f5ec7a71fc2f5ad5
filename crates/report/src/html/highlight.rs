//! Judges' quotes marked in the text that they come from.

use crate::quote_place::LocatedText;
use crate::sanitize::escape_lines;

/// A piece of a text and the quotes that cover it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPiece {
    /// The piece. Characters that would reorder or hide text are spelled out.
    pub text: String,
    /// Numbers of the quotes that cover it, ascending; empty for text that is not quoted.
    pub numbers: Vec<usize>,
    /// Numbers of the quotes that end with it; their marks are put behind it.
    pub ends: Vec<usize>,
}

/// Finds quotes in a text, ignoring white space and the style of quotation marks, and cuts the text at their
/// ends. Each quote has a number, and several quotes may share one. Overlapping quotes cover a piece
/// together.
pub(super) fn highlight_quotes(text: &str, quotes: &[(usize, &str)]) -> Vec<TextPiece> {
    highlight_ranges(text, &quote_ranges(text, quotes))
}

/// Returns the character range of each quote that is in the text, with the number of its criterion.
pub(super) fn quote_ranges(text: &str, quotes: &[(usize, &str)]) -> Vec<(usize, usize, usize)> {
    let quoted = LocatedText::new(text);
    let found =
        quotes.iter().filter_map(|(number, quote)| quoted.find(quote).map(|at| (at.start, at.end, *number)));
    found.collect()
}

/// Cuts a text into pieces at the ends of character ranges, each with the number of its criterion.
pub(super) fn highlight_ranges(text: &str, ranges: &[(usize, usize, usize)]) -> Vec<TextPiece> {
    let mut cuts: Vec<usize> = ranges.iter().flat_map(|(start, end, _)| [*start, *end]).collect();
    cuts.push(0);
    cuts.sort_unstable();
    cuts.dedup();

    let mut pieces = Vec::with_capacity(cuts.len());
    let mut rest = text;
    for (index, start) in cuts.iter().enumerate() {
        let end = cuts.get(index + 1).copied();
        let length = end.map_or(rest.len(), |end| byte_length(rest, end - start));
        let (piece, after) = rest.split_at(length);
        rest = after;
        if piece.is_empty() {
            continue;
        }

        let numbers = |wanted: &dyn Fn(usize, usize) -> bool| {
            let mut numbers: Vec<usize> = ranges
                .iter()
                .filter(|(from, to, _)| wanted(*from, *to))
                .map(|(_, _, number)| *number)
                .collect();
            numbers.sort_unstable();
            numbers.dedup();
            numbers
        };
        pieces.push(TextPiece {
            text: escape_lines(piece),
            numbers: numbers(&|from, to| from <= *start && *start < to),
            ends: numbers(&|_, to| Some(to) == end),
        });
    }

    pieces
}

/// Returns the length in bytes of the first `characters` characters of a text.
fn byte_length(text: &str, characters: usize) -> usize {
    text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str, quotes: &[(usize, &str)]) -> Vec<(String, Vec<usize>, Vec<usize>)> {
        let found = highlight_quotes(text, quotes);
        found.into_iter().map(|piece| (piece.text, piece.numbers, piece.ends)).collect()
    }

    #[test]
    fn overlapping_quotes_share_a_piece() {
        assert_eq!(
            pieces("Größe: drei Äpfel", &[(1, "Größe: drei"), (2, "drei äpfel")]),
            [
                ("Größe: ".to_owned(), vec![1], vec![]),
                ("drei".to_owned(), vec![1, 2], vec![1]),
                (" Äpfel".to_owned(), vec![2], vec![2]),
            ]
        );
    }

    #[test]
    fn what_is_not_there_marks_nothing() {
        let found = highlight_quotes("a box", &[(1, "cup"), (2, "box"), (3, "")]);
        assert_eq!(found.iter().map(|piece| piece.numbers.as_slice()).collect::<Vec<_>>(), [&[][..], &[2]]);
        assert!(highlight_quotes("", &[(1, "x")]).is_empty());
    }

    #[test]
    fn characters_that_hide_text_are_spelled_out() {
        assert_eq!(pieces("a\u{202e}b\r\nc", &[])[0].0, "a\\u{202e}b\nc");
    }
}
