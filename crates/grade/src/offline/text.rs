//! Splits a text into words and passages: sentences, list items, lines of code.

use std::ops::Range;

use assize_rubric::{ascii_digit, raised_digit};

use super::word_lists::{WORDS, negates_backwards, parse_number_word};

/// Most words of a passage, so that a text without full stops has passages too.
const PASSAGE_WORDS: usize = 60;
/// Number of content words in the scope of a negation.
const NEGATION_SCOPE: usize = 5;
/// The longest quote, in bytes.
const MAX_QUOTE_BYTES: usize = 320;
/// Words that begin another clause, outside the scope of a negation; "not only" is no negation at all.
const CLAUSE_STARTERS: &str =
    " only but and when if because which that while since although unless instead so ";

/// A word, a number or a piece of an identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AnswerWord {
    /// Position of the word, in bytes.
    pub(super) bytes: Range<usize>,
    /// The word in lower case, with plain apostrophes and without separators in numbers.
    pub(super) spelling: String,
    /// Form for comparisons: the stem of a word and its synonyms, the digits of a number.
    pub(super) stem: String,
    pub(super) is_number: bool,
    pub(super) is_content: bool,
    pub(super) is_negation: bool,
    /// True if it is in the scope of a negation.
    pub(super) negated: bool,
}

/// A passage of a text.
#[derive(Debug, Clone)]
pub(super) struct AnswerPassage {
    /// Byte range in the text, without surrounding white space.
    pub(super) bytes: Range<usize>,
    /// Range of its words in the document.
    pub(super) words: Range<usize>,
}

/// A text split into passages.
#[derive(Debug)]
pub(super) struct AnswerText<'a> {
    pub(super) text: &'a str,
    pub(super) words: Vec<AnswerWord>,
    pub(super) passages: Vec<AnswerPassage>,
}

/// The words of a text in order. Identifiers are split at `_` and at capitals, so `loadData` and `load_data`
/// both give load, data. Scripts without spaces give one word per character.
pub(super) fn split_words(text: &str) -> Vec<AnswerWord> {
    let mut found = Vec::new();
    let mut chars = text.char_indices().peekable();

    while let Some((start, first)) = chars.next() {
        if !first.is_alphanumeric() {
            continue;
        }

        let (mut end, mut last) = (start + first.len_utf8(), first);
        while let Some(&(at, next)) = chars.peek().filter(|_| !is_spaceless(first)) {
            let after = text[at + next.len_utf8()..].chars().next();
            let goes_on = match next {
                '\'' | '’' => last.is_alphabetic() && after.is_some_and(char::is_alphabetic),
                '.' | ',' => first.is_numeric() && last.is_numeric() && after.is_some_and(char::is_numeric),
                _ => {
                    next.is_alphanumeric()
                        && !is_spaceless(next)
                        && !(last.is_lowercase() && next.is_uppercase())
                }
            };
            if !goes_on {
                break;
            }

            chars.next();
            (end, last) = (at + next.len_utf8(), next);
        }

        found.push(parse_word(text, start..end));
    }

    found
}

fn parse_word(text: &str, bytes: Range<usize>) -> AnswerWord {
    let written = &text[bytes.clone()];
    let digits = written.starts_with(char::is_numeric);
    let plain = |c: char| match c {
        '’' => '\'',
        // A raised digit after a number is its exponent, and no further digit of it.
        other if !digits => raised_digit(other).or(ascii_digit(other)).unwrap_or(other),
        other => ascii_digit(other).unwrap_or(other),
    };

    let mut spelling: String = written.chars().flat_map(char::to_lowercase).map(plain).collect();
    if digits {
        spelling.retain(|c| c != ',');
        if spelling.matches('.').count() == 1 {
            spelling.truncate(spelling.trim_end_matches('0').trim_end_matches('.').len());
        }
    }

    let named = parse_number_word(&spelling);
    let stem = match named {
        Some(number) => number.to_string(),
        None if digits => spelling.clone(),
        None => WORDS.stem(&spelling),
    };

    let is_number = digits || named.is_some();

    AnswerWord {
        bytes,
        is_content: is_number || !WORDS.is_stop(&spelling),
        is_negation: !is_number && WORDS.is_negation(&spelling),
        spelling,
        stem,
        is_number,
        negated: false,
    }
}

/// Returns true if the script of this character is written without spaces between words.
fn is_spaceless(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{2e80}'..='\u{a4cf}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

impl<'a> AnswerText<'a> {
    /// Parses a text, in linear time.
    pub(super) fn parse(text: &'a str) -> Self {
        let mut document = Self { text, words: split_words(text), passages: Vec::new() };
        let (mut from, mut first, mut end) = (0, 0, 0);

        for at in 0..document.words.len() {
            let bytes = document.words[at].bytes.clone();
            let cut =
                passage_end(&text[end..], bytes.start - end).or((at - first >= PASSAGE_WORDS).then_some(0));
            if let Some(cut) = cut.filter(|_| at > first) {
                document.close_passage(from..end + cut, first..at);
                (from, first) = (end + cut, at);
            }

            end = bytes.end;
        }

        let rest = passage_end(&text[end..], text.len() - end).unwrap_or(text.len() - end);
        document.close_passage(from..end + rest, first..document.words.len());

        document
    }

    fn close_passage(&mut self, bytes: Range<usize>, words: Range<usize>) {
        let mut body = self.text[bytes.clone()].trim_start_matches(is_bullet);

        // The lines that open and close a code block are not part of its content.
        if let Some((_, rest)) = body.strip_prefix("```").and_then(|fence| fence.split_once('\n')) {
            body = rest.trim_start();
        }

        let start = bytes.end - body.len();
        if !words.is_empty() {
            self.mark_negated(words.clone());
            self.passages.push(AnswerPassage { bytes: start..start + body.trim_end().len(), words });
        }
    }

    /// Marks the words of a passage that a negation covers: those after it in its clause, and those before
    /// "not".
    fn mark_negated(&mut self, passage: Range<usize>) {
        let (mut reach, mut clause) = (0, passage.start);

        for at in passage {
            let before = at.checked_sub(1).map_or(0, |before| self.words[before].bytes.end);
            let word = &self.words[at];
            if self.text[before..word.bytes.start].contains(CLAUSE_BREAKS) {
                (reach, clause) = (0, at);
            }

            if word.is_negation {
                reach = NEGATION_SCOPE;
                if negates_backwards(&word.spelling) {
                    let content = self.words[clause..at].iter_mut().rev().filter(|word| word.is_content);
                    content.take(NEGATION_SCOPE).for_each(|word| word.negated = true);
                }
            } else if CLAUSE_STARTERS.contains(&format!(" {} ", word.spelling)) {
                (reach, clause) = (0, at + 1);
            } else if word.is_content {
                self.words[at].negated = reach > 0;
                reach = reach.saturating_sub(1);
            }
        }
    }

    /// The words of neighbouring passages.
    pub(super) fn passage_words(&self, passages: Range<usize>) -> &[AnswerWord] {
        match self.passages.get(passages).unwrap_or_default() {
            [] => &[],
            [first, .., last] | [first @ last] => &self.words[first.words.start..last.words.end],
        }
    }

    /// Quotes passages verbatim. If they are too long, quotes the part from the first to the last relevant
    /// word, and at most [`MAX_QUOTE_BYTES`] of it.
    pub(super) fn quote_passages(
        &self,
        passages: Range<usize>,
        matters: impl Fn(&AnswerWord) -> bool,
    ) -> Option<&'a str> {
        let place = self.passages.get(passages.clone())?;
        let mut bytes = place.first()?.bytes.start..place.last()?.bytes.end;

        if bytes.len() > MAX_QUOTE_BYTES {
            let mut hits = self.passage_words(passages).iter().filter(|word| matters(word));
            if let Some(first) = hits.next() {
                let end = hits.next_back().unwrap_or(first).bytes.end;
                // Begin at the beginning of the passage if that fits, so that the quote begins with a sentence.
                let sentence =
                    place.iter().map(|passage| &passage.bytes).find(|it| it.contains(&first.bytes.start));
                let start = sentence.map(|it| it.start).filter(|start| end - start <= MAX_QUOTE_BYTES);
                bytes = start.unwrap_or(first.bytes.start)..end;
            }

            bytes.end = bytes.end.min(self.text.floor_char_boundary(bytes.start + MAX_QUOTE_BYTES));
        }

        self.text.get(bytes).map(str::trim).filter(|quote| !quote.is_empty())
    }
}

/// Characters between words at which a clause ends.
const CLAUSE_BREAKS: [char; 14] = [',', ';', ':', '.', '!', '?', '\n', '(', ')', '—', '–', '。', '，', '！'];

fn is_bullet(c: char) -> bool {
    c.is_whitespace() || matches!(c, '-' | '*' | '•' | '+' | '#' | '>' | '|')
}

/// End of a passage within the `gap` bytes between two words, if there is one: after the mark that ends it. A
/// full stop before a lower-case letter, as in "e.g. this" or "2. that", ends nothing.
fn passage_end(text: &str, gap: usize) -> Option<usize> {
    let goes_on = text[gap..].starts_with(char::is_lowercase);

    text[..gap].char_indices().find_map(|(at, c)| {
        let after = at + c.len_utf8();
        match c {
            '\n' | '。' | '！' | '？' => Some(after),
            '.' if goes_on && !text[..gap].contains('\n') => None,
            '.' | '!' | '?' => {
                // Closing marks belong to the sentence that they close.
                let rest = text[after..gap]
                    .trim_start_matches(['"', '\'', ')', ']', '”', '’', '*', '`', '.', '!', '?']);
                (rest.is_empty() && gap == text.len() || rest.starts_with(char::is_whitespace))
                    .then(|| gap - rest.len())
            }
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quotes(text: &str) -> Vec<&str> {
        AnswerText::parse(text).passages.iter().map(|passage| &text[passage.bytes.clone()]).collect()
    }

    #[test]
    fn words_numbers_and_identifiers() {
        let spelled =
            |text: &str| split_words(text).into_iter().map(|word| word.spelling).collect::<Vec<_>>();
        assert_eq!(
            spelled("Don’t call loadData or load_data2!"),
            ["don't", "call", "load", "data", "or", "load", "data2"]
        );
        assert_eq!(
            spelled("1,000 items, 2.50 EUR, 2xx, v1.2.3."),
            ["1000", "items", "2.5", "eur", "2xx", "v1", "2.3"]
        );
        assert_eq!(spelled("O(n²) 東京"), ["o", "n2", "東", "京"]);
        assert!(spelled("+-*/ \u{202e} 🙂").is_empty());
    }

    #[test]
    fn sentences_items_and_lines_are_passages() {
        let text =
            "First sentence (e.g. v1.5)! Second one.\n- item **bold**\n  2. numbered\n\n```\nlet x = 1;\n```";
        assert_eq!(
            quotes(text),
            ["First sentence (e.g. v1.5)!", "Second one.", "item **bold**", "2. numbered", "let x = 1;"]
        );
        assert_eq!(quotes("  \n ... "), Vec::<&str>::new());
        assert!(quotes(&"word ".repeat(1000)).len() >= 16);
    }

    #[test]
    fn negation_reaches_its_clause_only() {
        let text = "It does not sort lists, yet removes duplicates. Tests are not included. Not only fast.";
        let document = AnswerText::parse(text);
        let negated = document.words.iter().filter(|word| word.negated).map(|word| &text[word.bytes.clone()]);
        assert_eq!(negated.collect::<Vec<_>>(), ["sort", "lists", "Tests", "included"]);
    }
}
