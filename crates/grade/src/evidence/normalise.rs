//! Normal form in which quotes and texts are compared.

use unicode_normalization::UnicodeNormalization as _;

use crate::digits::{ascii_digit, raised_digit};

/// Normalises to lower-case NFKC with single spaces, plain quote marks, dashes and digits, no emphasis marks and no
/// invisible characters. White space is left out beside quotation marks and beside characters of scripts that
/// are written without spaces.
pub(super) fn normalise(text: &str) -> String {
    // ASCII has no compatibility forms, and most texts are ASCII.
    if text.is_ascii() {
        fold(text.chars().map(|c| c.to_ascii_lowercase()), text.len())
    } else {
        fold(keep_values(text).nfkc().flat_map(lower_case), text.len())
    }
}

/// Replaces the characters whose compatibility form has another value: `10⁶` would become 106, and `1½` 11/2. A
/// wave dash would become a mark of emphasis.
fn keep_values(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_raised = false;
    for c in text.chars() {
        let raised = raised_digit(c);
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
        is_raised = raised.is_some();
    }

    out
}

/// Returns a character in lower case. The Turkish capital with a dot would become two characters.
fn lower_case(c: char) -> impl Iterator<Item = char> {
    let c = if c == 'İ' { 'i' } else { c };
    c.to_lowercase()
}

/// Folds characters that are already lower case and in compatibility form.
fn fold(chars: impl Iterator<Item = char>, length: usize) -> String {
    let mut out = String::with_capacity(length);
    let mut chars = chars.peekable();
    let mut last = ' ';
    let mut space = false;
    while let Some(c) = chars.next() {
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
            // Between digits, it is a sign of arithmetic or a range, not emphasis.
            '*' | '_' | '`' | '~'
                if !(last.is_ascii_digit() && chars.peek().is_some_and(char::is_ascii_digit)) =>
            {
                continue;
            }
            c if c.is_whitespace() => {
                space = true;
                continue;
            }
            c if c.is_control() || is_invisible(c) => continue,
            c => c,
        };

        if space && !out.is_empty() && !needs_no_space(last) && !needs_no_space(c) {
            out.push(' ');
        }

        space = false;
        last = c;
        out.push(c);
    }

    out
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ascii_is_made_comparable_as_any_other_text_is(text in "[ -~]{0,40}|[\\x00-\\x7f]{0,40}") {
            let any = fold(keep_values(&text).nfkc().flat_map(lower_case), text.len());
            prop_assert_eq!(normalise(&text), any);
        }
    }
}
