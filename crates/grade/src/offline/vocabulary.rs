//! Numbering of terms: each distinct word is folded, stemmed and looked up once.

use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};

use super::tokens::{Kind, Token, folded};
use super::words::{WORDS, negates_backwards};

/// Id of a distinct term. Synonyms have the same id.
pub(super) type TermId = u32;

/// A term and the word lists it is in.
#[derive(Debug, Clone)]
pub(super) struct Term {
    /// The canonical stem, number or bound.
    pub(super) text: String,
    pub(super) kind: Kind,
    pub(super) instruction: bool,
    pub(super) general: bool,
    pub(super) saying: bool,
}

/// A token's term and its role in the sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) term: TermId,
    pub(super) stop: bool,
    pub(super) negation: bool,
    pub(super) backwards: bool,
}

pub(super) struct Vocabulary {
    stemmer: Stemmer,
    surfaces: HashMap<String, Seen>,
    ids: HashMap<String, TermId>,
    terms: Vec<Term>,
}

impl Vocabulary {
    pub(super) fn new() -> Self {
        Self {
            stemmer: Stemmer::create(Algorithm::English),
            surfaces: HashMap::new(),
            ids: HashMap::new(),
            terms: Vec::new(),
        }
    }

    pub(super) fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Looks a token of `text` up, adding its term if it is new.
    pub(super) fn see(&mut self, text: &str, token: Token) -> Seen {
        let word = folded(&text[token.start..token.end], token.kind);
        if let Some(&seen) = self.surfaces.get(&word) {
            return seen;
        }
        let number = WORDS.number(&word).filter(|_| token.kind == Kind::Word);
        let (canonical, kind) = match number {
            Some(number) => (number.to_string(), Kind::Number),
            None if token.kind == Kind::Word => {
                let base = word.strip_suffix("'s").unwrap_or(&word);
                let stem = self.stemmer.stem(base);
                (WORDS.canonical(&stem).to_owned(), Kind::Word)
            }
            None => (word.clone(), token.kind),
        };
        let plain = kind == Kind::Word;
        let next = TermId::try_from(self.terms.len()).unwrap_or(TermId::MAX);
        let term = *self.ids.entry(canonical.clone()).or_insert(next);
        if term == next {
            let stem = self.stemmer.stem(&word);
            self.terms.push(Term {
                instruction: plain && WORDS.is_instruction(&stem),
                general: plain && WORDS.is_general(&stem),
                saying: plain && WORDS.is_saying(&stem),
                text: canonical,
                kind,
            });
        }
        let seen = Seen {
            term,
            stop: plain && WORDS.is_stop(&word),
            negation: plain && WORDS.is_negation(&word),
            backwards: plain && negates_backwards(&word),
        };
        self.surfaces.insert(word, seen);
        seen
    }
}
