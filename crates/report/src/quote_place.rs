//! Places of quotes in the text that they come from.

use assize_rubric::QuotedText;
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

/// A text in which quotes are located.
pub(crate) struct LocatedText {
    text: QuotedText,
    /// The positions of line breaks.
    breaks: Vec<usize>,
}

impl LocatedText {
    pub(crate) fn new(text: &str) -> Self {
        let breaks = text.chars().enumerate().filter(|(_, c)| *c == '\n').map(|(position, _)| position);
        Self { text: QuotedText::with_places(text), breaks: breaks.collect() }
    }

    /// Finds the first occurrence of a quote.
    pub(crate) fn find(&self, quote: &str) -> Option<QuotePlace> {
        let range = self.text.find(quote)?;
        let line = 1 + self.breaks.partition_point(|position| *position < range.start);

        Some(QuotePlace { turn: None, line, start: range.start, end: range.end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_found_in_lines_of_the_text() {
        let text = LocatedText::new("Größe:\n  drei   Äpfel,\nsagt “er”.");
        let place = |quote: &str| text.find(quote).map(|found| (found.line, found.start, found.end));
        assert_eq!(place("drei äpfel"), Some((2, 9, 21)));
        assert_eq!(place("Größe: drei"), Some((1, 0, 13)));
        assert_eq!(place("vier"), None);
    }
}
