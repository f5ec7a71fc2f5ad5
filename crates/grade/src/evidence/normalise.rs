//! The form in which quotes and texts are compared.

use unicode_normalization::UnicodeNormalization as _;

/// Lower-case NFKC with single spaces, plain quote marks and dashes, no emphasis marks and nothing invisible.
pub(super) fn normalise(text: &str) -> String {
    // Nothing in ASCII has another compatibility form, and most texts have nothing else.
    if text.is_ascii() {
        plain(text.chars().map(|c| c.to_ascii_lowercase()), text.len())
    } else {
        plain(text.nfkc().flat_map(char::to_lowercase), text.len())
    }
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
