//! Lone surrogates: escapes in JSON that encode half a character.
//!
//! Characters beyond U+FFFF are written as two escapes. A model that is stopped between them, or a program that
//! cuts texts by 16-bit units, leaves one. No JSON parser accepts that (RFC 8259, section 8.2).

use std::borrow::Cow;

const ESCAPE: usize = r"\uXXXX".len();

/// Replaces each escape that is half a character by one for U+FFFD. Borrowed if there is none.
pub fn replace_lone_surrogates(json: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut done = 0;
    let mut at = 0;
    while let Some(ahead) = json[at..].find('\\') {
        at += ahead;
        match (unit(json, at), unit(json, at + ESCAPE)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => at += 2 * ESCAPE,
            (Some(0xD800..=0xDFFF), _) => {
                out.push_str(&json[done..at]);
                out.push_str(r"\ufffd");
                at += ESCAPE;
                done = at;
            }
            // The backslash may be followed by another one, or by a character of several bytes.
            _ => at += 1 + json[at + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }

    if done == 0 {
        return Cow::Borrowed(json);
    }

    out.push_str(&json[done..]);
    Cow::Owned(out)
}

/// The unit of UTF-16 that an escape at this position encodes.
fn unit(json: &str, at: usize) -> Option<u16> {
    let digits = json.get(at..at + ESCAPE)?.strip_prefix(r"\u")?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_are_replaced_and_everything_else_stays() {
        for (json, whole) in [
            (r#""a\ud83d""#, r#""a\ufffd""#),
            (r#""\ude00\ud83d\ude00\uD83D\n""#, r#""\ufffd\ud83d\ude00\ufffd\n""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\\ud83d \é \u00e9 \ud8""#, r#""\\ud83d \é \u00e9 \ud8""#),
            (r"\", r"\"),
        ] {
            assert_eq!(replace_lone_surrogates(json), whole);
        }
        assert!(matches!(replace_lone_surrogates(r#""\ud83d\ude00""#), Cow::Borrowed(_)));
    }
}
