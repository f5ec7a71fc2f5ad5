//! Places of quotes in the text they are from.

use serde::Serialize;

/// Place of a quote in an answer: a line from 1, and a range of characters from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct QuotePlace {
    /// Turn of a conversation whose answer it is in, from 1; absent outside conversations. A quote that goes on in the next turn
    /// has the place of its part in the first answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// Line of its first character, from 1.
    pub line: usize,
    /// Its first character, from 0.
    pub start: usize,
    /// The character behind it.
    pub end: usize,
}

/// A text in which quotes are looked for, whatever its white space, letter case and style of quotation marks.
pub(crate) struct QuotedText {
    folded: String,
    /// The position in the text of the character behind each byte of `folded`.
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

/// Gives each character in a form to compare by, with its position; runs of white space are one space.
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
