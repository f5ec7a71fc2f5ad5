//! Characters that are written as two escapes, as JSON writes them: `"\ud83d\ude00"`. The YAML parser rejects
//! these.
//!
//! Before parsing, each escape of such a pair is replaced by the escape of a stand-in from the private use
//! area, U+E000 to U+E7FF; after parsing, pairs of stand-ins are combined to the intended character. The
//! replacement has the same length, so positions stay valid. Other text with private use characters in that
//! range can't be told apart from stand-ins; such a file is parsed unchanged, and a pair in it is an error.

use std::borrow::Cow;

use saphyr_parser::ScalarStyle;

/// Length of an escape such as `\ud83d`.
const ESCAPE: usize = 6;
/// First stand-in for a high surrogate, first stand-in for a low surrogate, and the end of the range.
const STAND_INS: [u32; 3] = [0xE000, 0xE400, 0xE800];

/// Returns the text with stand-ins. `None` if it has no pairs, or has characters that could be confused with
/// stand-ins.
pub(super) fn with_stand_ins(text: &str) -> Option<String> {
    let pairs = find_pairs(text, 'd', &["89ab", "cdef"]);
    let is_taken = |c: char| (STAND_INS[0]..STAND_INS[2]).contains(&u32::from(c));
    let is_clear = !pairs.is_empty() && !text.contains(is_taken) && !has_private_escape(text);
    is_clear.then(|| replace_pairs(text, &pairs, 'e', '8', 0))
}

/// Returns a scalar without stand-ins. In double quotes the parser has decoded the escapes to characters;
/// elsewhere they are still the text `\ue83d`, and become the original text again.
pub(super) fn without_stand_ins(text: Cow<'_, str>, style: ScalarStyle) -> Cow<'_, str> {
    if style != ScalarStyle::DoubleQuoted {
        let pairs = find_pairs(&text, 'e', &["0123", "4567"]);
        return if pairs.is_empty() { text } else { Cow::Owned(replace_pairs(&text, &pairs, 'd', '0', 8)) };
    }

    let [first, second, _] = STAND_INS;
    let mut written = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let high = u32::from(c).checked_sub(first).filter(|high| *high < 0x400);
        let low = characters.peek().and_then(|next| u32::from(*next).checked_sub(second));
        match high.zip(low.filter(|low| *low < 0x400)) {
            Some((high, low)) => {
                written.extend(char::from_u32(0x1_0000 + (high << 10) + low));
                characters.next();
            }
            None => written.push(c),
        }
    }
    Cow::Owned(written)
}

/// Returns the positions of pairs of escapes whose first hexadecimal digit is `first`. The second digit of the first
/// escape must be in `second[0]`, and the second digit of the second escape in `second[1]`.
fn find_pairs(text: &str, first: char, second: &[&str; 2]) -> Vec<usize> {
    let is_half = |at: usize, second: &str| {
        let mut digits = text
            .get(at..at + ESCAPE)
            .and_then(|escape| escape.strip_prefix("\\u"))
            .unwrap_or_default()
            .chars();
        let (Some(one), Some(two)) = (digits.next(), digits.next()) else { return false };
        // The first two digits are rewritten in the case of the first one, so the second must have the same
        // case to be restored exactly.
        let is_alike = !two.is_ascii_alphabetic() || two.is_ascii_lowercase() == one.is_ascii_lowercase();
        one.eq_ignore_ascii_case(&first)
            && second.contains(two.to_ascii_lowercase())
            && is_alike
            && digits.all(|digit| digit.is_ascii_hexdigit())
    };
    let is_escaped = |at: usize| text[..at].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;

    let mut pairs: Vec<usize> = Vec::new();
    for (at, _) in text.match_indices("\\u") {
        let is_free = pairs.last().is_none_or(|last| *last + 2 * ESCAPE <= at);
        if is_free && is_half(at, second[0]) && is_half(at + ESCAPE, second[1]) && !is_escaped(at) {
            pairs.push(at);
        }
    }
    pairs
}

/// Returns the text with the first two digits of each escape of these pairs replaced: by `first`, and by the
/// second digit shifted by `to - from`.
fn replace_pairs(text: &str, pairs: &[usize], first: char, from: char, to: u32) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for at in pairs.iter().flat_map(|at| [*at, at + ESCAPE]) {
        let is_upper = bytes[at + 2].is_ascii_uppercase();
        let digit = char::from(bytes[at + 3]).to_digit(16).unwrap_or_default();
        let moved = (digit + to).wrapping_sub(from.to_digit(16).unwrap_or_default());
        let written = [first, char::from_digit(moved, 16).unwrap_or('0')];
        for (place, c) in written.into_iter().enumerate() {
            bytes[at + 2 + place] = (if is_upper { c.to_ascii_uppercase() } else { c }) as u8;
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Returns true if a text contains the escape of a character that could be a stand-in.
fn has_private_escape(text: &str) -> bool {
    let is_private = |(at, _): (usize, &str)| {
        let digits = text[at + 2..].trim_start_matches('0').as_bytes();
        matches!(digits, [b'e' | b'E', b'0'..=b'7', ..])
    };
    text.match_indices("\\u").any(is_private) || text.match_indices("\\U").any(is_private)
}
