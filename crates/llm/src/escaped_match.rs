//! Matches a secret in a text that spells it plainly, in the escapes of JSON, URLs and HTML, or broken over
//! lines.
//!
//! A server that echoes a request encodes it in its own way: one writes `/` as `\/`, another `&` as `\u0026` or
//! `&amp;`, and a body inside a body escapes the backslashes once more.

/// The longest line break within a secret, in characters, with indentation and quotation marks.
const LONGEST_BREAK: usize = 40;

/// The most backslashes before one escape: five bodies nested in each other.
const MOST_BACKSLASHES: usize = 31;

/// The length of the longest beginning of `secret` that `text` begins with, in bytes of the text and characters of the
/// secret.
pub(crate) fn escaped_match(text: &str, secret: &str) -> (usize, usize) {
    let (mut end, mut chars) = (0, 0);
    for wanted in secret.chars() {
        let rest = &text[end..];
        let found = spells(rest, wanted).or_else(|| {
            // Only between two characters: white space before a secret does not belong to it.
            let skipped = if chars == 0 { 0 } else { line_break(rest) };
            (skipped > 0).then(|| spells(&rest[skipped..], wanted).map(|length| skipped + length))?
        });
        let Some(length) = found else { break };
        end += length;

        chars += 1;
    }

    (end, chars)
}

/// Whether secrets contain characters that some body escapes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EscapableChars {
    slash: bool,
    quote: bool,
    other: bool,
}

impl EscapableChars {
    /// Adds the characters of `plain` and of its spellings.
    pub(crate) fn including<'a>(self, plain: &str, mut spellings: impl Iterator<Item = &'a str>) -> Self {
        let special = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '.' | '~');
        Self {
            slash: self.slash || plain.contains('/') || spellings.any(|spelling| spelling.contains('/')),
            quote: self.quote || plain.contains('"'),
            other: self.other || plain.contains(special),
        }
    }

    /// Whether a text may hold something that [`escaped_match`] finds and a plain search does not. Most texts
    /// don't, and searching for a few characters is the fastest way to find that out.
    pub(crate) fn may_be_in(self, text: &str) -> bool {
        let ascii = |(at, _): (usize, &str)| matches!(text.as_bytes().get(at + 4), Some(b'0'..=b'7'));
        text.contains("\\u00") && text.match_indices("\\u00").any(ascii)
            || self.slash && text.contains("\\/")
            || self.quote && text.contains("\\\"")
            || self.other && text.contains(['%', '&'])
            || text.contains("&#")
            || text.as_bytes().windows(3).any(is_percent_encoded_plain)
    }
}

/// Whether this is the percent-encoding of a letter or digit. They need no encoding, so it is rare.
fn is_percent_encoded_plain(window: &[u8]) -> bool {
    let &[b'%', high, low] = window else { return false };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    digit(high)
        .zip(digit(low))
        .and_then(|(high, low)| u8::try_from(high * 16 + low).ok())
        .is_some_and(|byte| byte.is_ascii_alphanumeric())
}

/// Length in bytes of the encoded form of `wanted` at the start of `text`.
fn spells(text: &str, wanted: char) -> Option<usize> {
    let escaped = match text.as_bytes().first()? {
        b'\\' => in_json(text, wanted),
        b'%' => text.get(1..3).and_then(|digits| (number(digits, 16)? == wanted).then_some(3)),
        b'&' => in_html(text, wanted),
        _ => None,
    };
    escaped.or_else(|| text.starts_with(wanted).then(|| wanted.len_utf8()))
}

/// An escape of JSON, with as many backslashes as the nesting of bodies needs.
fn in_json(text: &str, wanted: char) -> Option<usize> {
    let backslashes = backslashes(text);
    if wanted == '\\' {
        return Some(backslashes);
    }

    let rest = &text[backslashes..];
    if let Some(digits) = rest.strip_prefix('u') {
        return (number(digits.get(..4)?, 16)? == wanted).then_some(backslashes + 5);
    }

    (matches!(wanted, '/' | '"') && rest.starts_with(wanted)).then_some(backslashes + 1)
}

/// The number of backslashes that a text begins with, up to [`MOST_BACKSLASHES`].
fn backslashes(text: &str) -> usize {
    text.bytes().take(MOST_BACKSLASHES).take_while(|byte| *byte == b'\\').count()
}

/// A character reference of HTML.
fn in_html(text: &str, wanted: char) -> Option<usize> {
    let name = text.get(1..text.bytes().take(10).position(|byte| byte == b';')?)?;
    let meant = match name.strip_prefix('#') {
        Some(digits) => match digits.strip_prefix(['x', 'X']) {
            Some(digits) => number(digits, 16)?,
            None => number(digits, 10)?,
        },
        None => match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            _ => return None,
        },
    };
    (meant == wanted).then_some(name.len() + 2)
}

fn number(digits: &str, base: u32) -> Option<char> {
    char::from_u32(u32::from_str_radix(digits, base).ok()?)
}

/// The length in bytes of white space with a line break in it, also as JSON escapes it; 0 if there is none.
fn line_break(text: &str) -> usize {
    let (mut end, mut broken) = (0, false);
    for _ in 0..LONGEST_BREAK {
        let rest = &text[end..];
        let backslashes = backslashes(rest);
        match rest.as_bytes().get(backslashes) {
            Some(b'\n' | b'\r') if backslashes == 0 => broken = true,
            Some(b'n' | b'r') if backslashes > 0 => broken = true,
            Some(b' ' | b'\t' | b'>') if backslashes == 0 => {}
            Some(b't') if backslashes > 0 => {}
            _ => break,
        }

        end += backslashes + 1;
    }

    if broken { end } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_escape_is_read() {
        let secret = "ab/c\"d&e+fé";
        for text in [
            secret,
            r#"ab\/c\"d\u0026e\u002bf\u00e9"#,
            r#"ab\\/c\\\"d\\u0026e\\u002Bf\\u00E9"#,
            r"\u0061\u0062\u002f\u0063\u0022\u0064\u0026\u0065\u002b\u0066\u00e9",
            "ab%2Fc%22d%26e%2bfé",
            "ab&#47;c&quot;d&amp;e&#x2B;f&#xE9;",
            "ab/c\n  \"d&e\r\n> +fé",
            r"ab/c\n\t\\\\u0022d&e+fé",
        ] {
            assert_eq!(escaped_match(&format!("{text}!"), secret), (text.len(), 11), "{text}");
        }
    }

    #[test]
    fn hostile_texts_take_no_quadratic_time() {
        for unit in ["\\", "\\u0061", "\\n", "\n", "a\n", "&", "%6", "&#"] {
            let text = unit.repeat(200_000 / unit.len());
            let found =
                text.char_indices().filter(|(at, _)| escaped_match(&text[*at..], "abcabc").1 > 1).count();
            assert_eq!(found, 0, "{unit:?}");
        }
    }

    #[test]
    fn what_is_not_the_secret_is_left() {
        assert_eq!(escaped_match("abX", "abc"), (2, 2));
        assert_eq!(escaped_match("\nabc", "abc"), (0, 0));
        assert_eq!(escaped_match("a bc", "abc"), (1, 1));
        assert_eq!(escaped_match("ab\n\n", "abc"), (2, 2));
        for odd in
            ["a\\", "a\\u00", "a\\u00zz", "a%", "a%é", "a&", "a&;", "a&#;", "a&#xFFFFFFF;", "a&#1114112;"]
        {
            assert_eq!(escaped_match(odd, "abc"), (1, 1), "{odd}");
        }
        assert_eq!(escaped_match(r"a\\\b", r"a\b"), (5, 3), "a backslash in any number of them");
    }
}
