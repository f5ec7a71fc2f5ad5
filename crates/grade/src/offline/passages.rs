//! Splitting of an answer into passages: sentences, list items, lines of code.

use std::ops::Range;

use super::tokens::{Kind, tokens};
use super::vocabulary::{TermId, Vocabulary};

/// Limit of tokens in a passage, so that a text without full stops has passages too.
const PASSAGE_TOKENS: usize = 60;
/// Number of content words in the scope of a negation.
const REACH: usize = 5;

/// Words that begin another clause, outside the scope of the negation; "not only" is no negation at all.
const ENDS_DENIAL: [&str; 14] = [
    "only", "but", "and", "when", "if", "because", "which", "that", "while", "since", "although", "unless",
    "instead", "so",
];

/// A text split into passages, with its content words.
#[derive(Debug)]
pub(super) struct Document<'a> {
    pub(super) text: &'a str,
    pub(super) passages: Vec<Passage>,
    pub(super) words: Vec<Word>,
}

#[derive(Debug, Clone)]
pub(super) struct Passage {
    /// Byte range in the text, without white space at either end.
    pub(super) bytes: Range<usize>,
    /// Index range of its content words in the document's list.
    pub(super) words: Range<usize>,
    /// True if it contains a negation.
    pub(super) negation: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Word {
    pub(super) term: TermId,
    pub(super) kind: Kind,
    /// True if it is in the scope of a negation.
    pub(super) negated: bool,
    /// Byte offset of its start.
    pub(super) start: usize,
    pub(super) end: usize,
}

impl<'a> Document<'a> {
    /// Parses a text. Linear in its length.
    pub(super) fn read(text: &'a str, vocabulary: &mut Vocabulary) -> Self {
        let mut reader =
            Reader { text, words: Vec::new(), passages: Vec::new(), from: 0, first: 0, negation: false };
        let mut previous_end = 0;
        let mut in_passage = 0;
        let (mut last_short, mut last_number) = (false, false);
        // Content words still in the scope of the last negation, and the first one of its clause.
        let mut reach = 0usize;
        let mut clause = 0usize;
        for token in tokens(text) {
            let gap = &text[previous_end..token.start];
            // A full stop after "e.g" or after the number of a list item ends no sentence.
            let abbreviated = last_short || (in_passage == 1 && last_number);
            let cut = passage_end(gap, abbreviated).or((in_passage >= PASSAGE_TOKENS).then_some(0));
            if let Some(cut) = cut {
                reader.close(previous_end + cut);
                in_passage = 0;
            }
            if breaks_clause(gap) {
                reach = 0;
                clause = reader.words.len();
            }
            previous_end = token.end;
            last_short = token.end - token.start == 1 && token.kind == Kind::Word;
            last_number = token.kind == Kind::Number;
            in_passage += 1;
            let seen = vocabulary.see(text, token);
            let word = &text[token.start..token.end];
            if seen.negation {
                reader.negation = true;
                reach = REACH;
                if seen.backwards {
                    let from = clause.max(reader.words.len().saturating_sub(REACH)).max(reader.first);
                    for word in &mut reader.words[from..] {
                        word.negated = true;
                    }
                }
            } else if ENDS_DENIAL.iter().any(|end| word.eq_ignore_ascii_case(end)) {
                reach = 0;
                clause = reader.words.len();
            }
            if !seen.stop || token.kind != Kind::Word {
                let kind = vocabulary.terms()[seen.term as usize].kind;
                let negated = reach > 0 && !seen.negation;
                reader.words.push(Word {
                    term: seen.term,
                    kind,
                    negated,
                    start: token.start,
                    end: token.end,
                });
                reach = reach.saturating_sub(usize::from(!seen.negation));
            }
        }
        let rest = &text[previous_end..];
        reader.close(previous_end + passage_end(rest, false).unwrap_or(rest.len()));
        Self { text, passages: reader.passages, words: reader.words }
    }

    pub(super) fn words_of(&self, passages: Range<usize>) -> &[Word] {
        match (
            self.passages.get(passages.start),
            passages.end.checked_sub(1).and_then(|last| self.passages.get(last)),
        ) {
            (Some(first), Some(last)) => &self.words[first.words.start..last.words.end],
            _ => &[],
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    words: Vec<Word>,
    passages: Vec<Passage>,
    from: usize,
    first: usize,
    negation: bool,
}

impl Reader<'_> {
    fn close(&mut self, end: usize) {
        let piece = &self.text[self.from..end];
        let mut body = piece.trim_start_matches(is_bullet);
        // The lines that open and close a block of code are not part of its content.
        if let Some((_, rest)) = body.strip_prefix("```").and_then(|fence| fence.split_once('\n')) {
            body = rest.trim_start();
        }
        let start = self.from + piece.len() - body.len();
        let body = body.trim_end();
        if self.words.len() > self.first {
            self.passages.push(Passage {
                bytes: start..start + body.len(),
                words: self.first..self.words.len(),
                negation: self.negation,
            });
        }
        self.from = end;
        self.first = self.words.len();
        self.negation = false;
    }
}

fn is_bullet(c: char) -> bool {
    c.is_whitespace() || matches!(c, '-' | '*' | '•' | '+' | '#' | '>' | '|')
}

/// Byte offset at which a passage ends within the gap between two words, after its final punctuation.
fn passage_end(gap: &str, abbreviated: bool) -> Option<usize> {
    for (at, c) in gap.char_indices() {
        let after = at + c.len_utf8();
        match c {
            '\n' | '。' | '！' | '？' => return Some(after),
            '.' if abbreviated => {}
            '.' | '!' | '?' => {
                // Closing quotes and brackets belong to the sentence they close.
                let rest =
                    gap[after..].trim_start_matches(['"', '\'', ')', ']', '”', '’', '*', '`', '.', '!', '?']);
                if rest.is_empty() || rest.starts_with(char::is_whitespace) {
                    let end = gap.len() - rest.len();
                    return (end < gap.len()).then_some(end);
                }
            }
            _ => {}
        }
    }
    None
}

fn breaks_clause(gap: &str) -> bool {
    gap.contains([',', ';', ':', '.', '!', '?', '\n', '(', ')', '—', '–', '。', '，'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quotes(text: &str) -> Vec<&str> {
        let document = Document::read(text, &mut Vocabulary::new());
        document.passages.iter().map(|passage| &text[passage.bytes.clone()]).collect()
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
    }

    #[test]
    fn long_texts_without_stops_are_cut() {
        let text = "word ".repeat(1000);
        assert!(quotes(&text).len() >= 16);
    }

    #[test]
    fn negation_reaches_its_clause_only() {
        let text = "It does not sort lists, yet removes duplicates. Tests are not included. Not only fast.";
        let document = Document::read(text, &mut Vocabulary::new());
        let negated: Vec<&str> = document
            .words
            .iter()
            .filter(|word| word.negated)
            .map(|word| &text[word.start..word.end])
            .collect();
        assert_eq!(negated, ["sort", "lists", "Tests", "included"]);
    }
}
