//! The form in which quotes and texts are compared.

use unicode_normalization::UnicodeNormalization as _;

/// Lower-case NFKC with single spaces, plain quote marks and dashes, no emphasis marks and nothing invisible.
pub(super) fn normalise(text: &str) -> String {
    // Nothing in ASCII has another compatibility form, and most texts have nothing else.
    if text.is_ascii() {
        plain_ascii(text)
    } else {
        plain(text.nfkc().flat_map(char::to_lowercase), text.len())
    }
}

/// The same as [`plain`] for what has no other characters.
fn plain_ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut space = false;
    for byte in text.bytes() {
        let byte = match byte {
            b'"' => b'\'',
            b'*' | b'_' | b'`' | b'~' => continue,
            // White space as Unicode has it, which the vertical tab belongs to.
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

/// What is left of lower-case characters in their compatibility forms.
fn plain(chars: impl Iterator<Item = char>, length: usize) -> String {
    let mut out = String::with_capacity(length);
    let mut space = false;
    for c in chars {
        let c = match c {
            // Judges turn double quote marks into single ones to spare themselves the escaping in JSON.
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

/// Characters without a shape of their own: zero-width, bidirectional controls, soft hyphen, byte order mark.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Whether a neighbour of this kind continues a word. Scripts written without spaces have no such neighbours.
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
            let any = plain(text.nfkc().flat_map(char::to_lowercase), text.len());
            prop_assert_eq!(normalise(&text), any);
        }
    }
}
