//! Normal form in which quotes and texts are compared.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::digits::{ascii_digit, raised_digit};

/// A normalized text to search quotes in, with the positions of its characters in the original text.
///
/// It is lower-case NFKC with single spaces, plain quote marks, dashes and digits, no emphasis marks and no invisible
/// characters. White space is removed beside quotation marks and beside characters of scripts that are written without
/// spaces.
#[derive(Debug, Clone, Default)]
pub(super) struct ComparableText {
    pub(super) text: String,
    /// For each byte of the text, the number of the character that it comes from; empty unless asked for.
    origins: Vec<usize>,
}

/// Folds a text, and passes each character with the number of the character that it comes from to `put`.
pub(super) fn fold(text: &str, put: impl FnMut(usize, char)) {
    let mut folding = Folding { put, last: None, space: false, held: None };
    let mut is_raised = false;
    // Characters that combine with one before them are brought into their form together.
    let mut group = String::new();
    let mut group_at = 0;
    let mut chars = text.chars().enumerate().peekable();
    while let Some((at, c)) = chars.next() {
        let is_continued = chars.peek().is_some_and(|(_, next)| continues_character(*next));
        if !continues_character(c) || group.is_empty() {
            folding.push_group(group_at, &group);
            group.clear();
            group_at = at;
        }
        // ASCII has no compatibility forms, and most texts are ASCII.
        if c.is_ascii() && !is_continued {
            is_raised = false;
            folding.push(at, c.to_ascii_lowercase());
            continue;
        }

        let raised = raised_digit(c);
        keep_value(c, raised, is_raised, &mut group);
        is_raised = raised.is_some();
    }
    folding.push_group(group_at, &group);
    folding.push_held(None);
}

impl ComparableText {
    /// The normal form alone.
    pub(super) fn new(text: &str) -> Self {
        let mut found = Self { text: String::with_capacity(text.len()), origins: Vec::new() };
        fold(text, |_, c| found.text.push(c));
        found
    }

    /// The normal form with the places of its characters.
    pub(super) fn with_origins(text: &str) -> Self {
        let mut found =
            Self { text: String::with_capacity(text.len()), origins: Vec::with_capacity(text.len()) };
        fold(text, |at, c| {
            found.text.push(c);
            found.origins.extend(std::iter::repeat_n(at, c.len_utf8()));
        });
        found
    }

    /// The characters of the text as written that a range of bytes comes from; `None` for an empty range, or without
    /// the places.
    pub(super) fn origin_of(&self, bytes: &Range<usize>) -> Option<Range<usize>> {
        let first = self.origins.get(bytes.start)?;
        let last = self.origins.get(bytes.end.checked_sub(1)?)?;
        Some(*first..last + 1)
    }
}

/// Returns true for a character that forms one with those before it: marks, and the later letters of a Korean syllable.
fn continues_character(c: char) -> bool {
    !c.is_ascii() && (is_combining_mark(c) || ('\u{1160}'..='\u{11ff}').contains(&c))
}

/// Appends a character so that its compatibility form has the same value: `10⁶` would become 106, and `1½` 11/2. A wave
/// dash would become a mark of emphasis.
fn keep_value(c: char, raised: Option<char>, is_raised: bool, out: &mut String) {
    match (raised, c) {
        (Some(digit), _) => {
            if !is_raised {
                out.push('^');
            }
            out.push(digit);
        }
        (None, '\u{bc}'..='\u{be}' | '\u{2150}'..='\u{215e}' | '\u{2460}'..='\u{249b}') => {
            out.push(' ');
            out.push(c);
        }
        (None, '\u{301c}' | '\u{ff5e}') => out.push('-'),
        _ => out.push(ascii_digit(c).unwrap_or(c)),
    }
}

/// Returns a character in lower case. The Turkish capital with a dot would become two characters.
fn lower_case(c: char) -> impl Iterator<Item = char> {
    let c = if c == 'İ' { 'i' } else { c };
    c.to_lowercase()
}

/// Folds one character after another.
struct Folding<P> {
    put: P,
    /// The last character that was put.
    last: Option<char>,
    /// True if white space came since.
    space: bool,
    /// A mark of emphasis after a digit, which counts if a digit follows.
    held: Option<(usize, char)>,
}

impl<P: FnMut(usize, char)> Folding<P> {
    /// Folds the characters that come from one character of the text and those that combine with it.
    fn push_group(&mut self, at: usize, group: &str) {
        group.nfkc().flat_map(lower_case).for_each(|c| self.push(at, c));
    }

    /// Decides about a mark of emphasis: between digits, it is a sign of arithmetic or a range.
    fn push_held(&mut self, next: Option<char>) {
        if let Some((at, mark)) = self.held.take()
            && next.is_some_and(|next| next.is_ascii_digit())
        {
            self.put(at, mark);
        }
    }

    fn push(&mut self, at: usize, c: char) {
        self.push_held(Some(c));
        let c = match c {
            // Judges replace double quote marks by single ones to avoid escaping them in JSON.
            '"'
            | '\u{2018}'..='\u{201f}'
            | '\u{2032}'
            | '\u{2033}'
            | '\u{b4}'
            | '\u{ab}'
            | '\u{bb}'
            | '\u{2039}'
            | '\u{203a}'
            | '\u{300a}'..='\u{300f}'
            | '\u{301d}'..='\u{301f}' => '\'',
            '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
            '\u{2044}' => '/',
            '*' | '_' | '`' | '~' => {
                if self.last.is_some_and(|last| last.is_ascii_digit()) {
                    self.held = Some((at, c));
                }
                return;
            }
            c if c.is_whitespace() => {
                self.space = true;
                return;
            }
            c if c.is_control() || is_invisible(c) => return,
            c => c,
        };
        self.put(at, c);
    }

    fn put(&mut self, at: usize, c: char) {
        if self.space && self.last.is_some_and(|last| !needs_no_space(last)) && !needs_no_space(c) {
            (self.put)(at, ' ');
        }
        self.space = false;
        self.last = Some(c);
        (self.put)(at, c);
    }
}

/// Returns true for characters beside which white space has no meaning: quotation marks, and the scripts of Chinese
/// and Japanese, whose lines break anywhere.
fn needs_no_space(c: char) -> bool {
    c == '\''
        || matches!(c, '\u{2e80}'..='\u{312f}' | '\u{3190}'..='\u{a4cf}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Returns true for characters without a glyph: zero-width characters, bidirectional controls, soft hyphen,
/// byte order mark, variation selectors; and for the stroke that lengthens Arabic words.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{640}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
    )
}

/// Returns true if a neighbouring character continues a word. Never true for scripts written without spaces.
pub(super) fn is_letter_of_word(c: char) -> bool {
    c.is_alphanumeric() && c < '\u{2e80}'
}
