//! Verbatim quotes from an answer.

use std::collections::HashSet;
use std::ops::Range;

use super::passages::Document;
use super::vocabulary::TermId;

/// The longest quote, in bytes.
const QUOTE_BYTES: usize = 320;

/// Quotes passages verbatim. If they are too long, quotes the part from the first to the last relevant word,
/// and at most [`QUOTE_BYTES`] of it.
pub(super) fn quote<'a>(
    document: &Document<'a>,
    passages: Range<usize>,
    terms: &HashSet<TermId>,
) -> Option<&'a str> {
    let first = document.passages.get(passages.start)?;
    let last = document.passages.get(passages.end.checked_sub(1)?)?;
    let mut bytes = first.bytes.start..last.bytes.end;
    if bytes.len() > QUOTE_BYTES {
        let mut hits = document.words_of(passages).iter().filter(|word| terms.contains(&word.term));
        if let Some(first) = hits.next() {
            let last = hits.next_back().unwrap_or(first);
            // Starts at the beginning of the passage if that fits, so that the quote begins with a sentence.
            let sentence = document
                .passages
                .iter()
                .map(|passage| &passage.bytes)
                .find(|range| range.contains(&first.start))
                .map_or(first.start, |range| range.start);
            let start = if last.end - sentence <= QUOTE_BYTES { sentence } else { first.start };
            bytes = start..last.end;
        }
        if bytes.len() > QUOTE_BYTES {
            bytes.end = document.text.floor_char_boundary(bytes.start + QUOTE_BYTES);
        }
    }
    document.text.get(bytes).map(str::trim).filter(|quote| !quote.is_empty())
}
