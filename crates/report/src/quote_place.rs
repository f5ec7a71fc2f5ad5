//! Places of quotes in the text that they come from.

use serde::Serialize;

/// Place of a quote in an answer: a line from 1, and a range of characters from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct QuotePlace {
    /// Turn of the conversation whose answer contains the quote, from 1; absent outside conversations. For a
    /// quote that continues in the next turn, this is the first turn, and the place is that of its first
    /// part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// Line of its first character, from 1.
    pub line: usize,
    /// Its first character, from 0.
    pub start: usize,
    /// End of the range: one past its last character.
    pub end: usize,
}

/// A text prepared for finding quotes regardless of white space, letter case and style of quotation marks.
pub(crate) struct QuotedText {
    folded: String,
    /// For each byte of `folded`, the position of the character it came from.
    positions: Vec<usize>,
    /// The positions of line breaks.
    breaks: Vec<usize>,
}

impl QuotedText {
    pub(crate) fn new(text: &str) -> Self {
        let mut folded = String::with_capacity(text.len());
        let mut positions = Vec::with_capacity(text.len());
        fold(text, |position, c| {
            folded.push(c);
            positions.extend(std::iter::repeat_n(position, c.len_utf8()));
        });
        let breaks =
            text.chars().enumerate().filter(|(_, c)| *c == '\n').map(|(position, _)| position).collect();

        Self { folded, positions, breaks }
    }

    /// Finds the first occurrence of a quote.
    pub(crate) fn find(&self, quote: &str) -> Option<QuotePlace> {
        let mut wanted = String::new();
        fold(quote, |_, c| wanted.push(c));
        let wanted = wanted.trim();
        if wanted.is_empty() {
            return None;
        }

        let at = self.folded.find(wanted)?;
        let start = *self.positions.get(at)?;
        let end = *self.positions.get(at + wanted.len() - 1)? + 1;
        let line = 1 + self.breaks.partition_point(|position| *position < start);

        Some(QuotePlace { turn: None, line, start, end })
    }
}

/// Passes each character, folded for comparison, with its position to `put`. A run of white space becomes one
/// space.
fn fold(text: &str, mut put: impl FnMut(usize, char)) {
    let mut after_space = false;
    for (position, c) in text.chars().enumerate() {
        if c.is_whitespace() {
            if !after_space {
                put(position, ' ');
            }
            after_space = true;
            continue;
        }

        after_space = false;
        match c {
            '“' | '”' | '„' | '«' | '»' => put(position, '"'),
            '‘' | '’' => put(position, '\''),
            other => other.to_lowercase().for_each(|lower| put(position, lower)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str, quote: &str) -> Option<(usize, usize, usize)> {
        QuotedText::new(text).find(quote).map(|found| (found.line, found.start, found.end))
    }

    #[test]
    fn quotes_are_found_in_characters_of_the_text() {
        let text = "Größe:\n  drei   Äpfel,\nsagt “er”.";
        assert_eq!(place(text, "drei äpfel"), Some((2, 9, 21)));
        assert_eq!(place(text, "Größe: drei"), Some((1, 0, 13)));
        assert_eq!(place(text, " sagt \"er\" "), Some((3, 23, 32)));
        assert_eq!(place(text, "vier"), None);
        assert_eq!(place(text, "  "), None);
    }
}
