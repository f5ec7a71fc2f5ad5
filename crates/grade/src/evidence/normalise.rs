//! Normal form in which quotes and texts are compared.

use unicode_normalization::UnicodeNormalization as _;

/// Normalises to lower-case NFKC with single spaces, plain quote marks and dashes, no emphasis marks and no
/// invisible characters.
pub(super) fn normalise(text: &str) -> String {
    // ASCII has no compatibility forms, and most texts are ASCII.
    if text.is_ascii() {
        normalise_ascii(text)
    } else {
        normalise_chars(text.nfkc().flat_map(char::to_lowercase), text.len())
    }
}

/// ASCII-only fast path of [`normalise_chars`].
fn normalise_ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut space = false;
    for byte in text.bytes() {
        let byte = match byte {
            b'"' => b'\'',
            b'*' | b'_' | b'`' | b'~' => continue,
            // White space as defined by Unicode, which includes the vertical tab.
            b'\t'..=b'\r' | b' ' => {
                space = true;
                continue;
            }
            byte if byte.is_ascii_control() => continue,
            byte => byte.to_ascii_lowercase(),
        };

        if space && !out.is_empty() {
            out.push(' ');
        }

        space = false;
        out.push(char::from(byte));
    }

    out
}

/// Normalises characters that are already lower case and in compatibility form.
fn normalise_chars(chars: impl Iterator<Item = char>, length: usize) -> String {
    let mut out = String::with_capacity(length);
    let mut space = false;
    for c in chars {
        let c = match c {
            // Judges replace double quote marks by single ones to avoid escaping them in JSON.
            '"' | '\u{2018}'..='\u{201f}' | '\u{2032}' | '\u{2033}' | '\u{b4}' | '\u{ab}' | '\u{bb}' => '\'',
            '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
            '*' | '_' | '`' | '~' => continue,
            c if c.is_whitespace() => {
                space = true;
                continue;
            }
            c if c.is_control() || is_invisible(c) => continue,
            c => c,
        };

        if space && !out.is_empty() {
            out.push(' ');
        }

        space = false;
        out.push(c);
    }

    out
}

/// Returns true for characters without a glyph: zero-width characters, bidirectional controls, soft hyphen,
/// byte order mark.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
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
            let any = normalise_chars(text.nfkc().flat_map(char::to_lowercase), text.len());
            prop_assert_eq!(normalise(&text), any);
        }
    }
}
