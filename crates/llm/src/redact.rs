//! Removes known secrets from text before it is shown or stored.
//!
//! Design: `docs/design/trust.md`.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use aho_corasick::packed::Searcher;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use secrecy::{ExposeSecret, SecretString};

use crate::escaped_match::{EscapableChars, escaped_match};

const MASK: &str = "[redacted]";

/// Shorter values are placeholders such as `none`; replacing them would damage innocent text.
const SHORTEST_SECRET: usize = 6;

/// In a model's output, a shorter value is more likely a word, such as the `not-needed` that people give local
/// servers for a key. Replacing it would change the content.
const SHORTEST_SECRET_IN_CONTENT: usize = 12;

/// The shortest beginning of a secret that is masked, in bytes.
const SHORTEST_BEGINNING: usize = 12;

/// The shortest secret that is also searched in lower and in upper case, in bytes.
const SHORTEST_CASELESS: usize = 16;

/// The shortest part of a beginning that is searched, in bytes.
const SHORTEST_SIGN: usize = 8;

/// Replaces known secrets wherever they appear, also in another spelling, and also if only their beginning
/// appears.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Longest first, so that a secret that contains another one is replaced as a whole.
    secrets: Vec<KnownSecret>,
    /// Finds out in one pass whether a text contains any of them. Most texts don't.
    any: Option<Searcher>,
    /// The same for escapes that may hide them.
    escapable: EscapableChars,
}

/// A value, and the spellings in which servers send it back.
#[derive(Clone)]
struct KnownSecret {
    plain: SecretString,
    /// In Base64, percent-encoding, hexadecimal digits, lower and upper case. None for short values: their
    /// encodings are short strings that occur everywhere.
    spellings: Vec<SecretString>,
}

impl KnownSecret {
    fn new(plain: &str) -> Self {
        let mut spellings =
            if plain.len() < SHORTEST_SECRET_IN_CONTENT { Vec::new() } else { spellings(plain) };
        spellings.retain(|spelling| spelling.expose_secret() != plain);
        Self { plain: SecretString::from(plain), spellings }
    }

    fn len(&self) -> usize {
        self.plain.expose_secret().len()
    }

    /// The value itself, and its other spellings.
    fn spelled_out(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.plain).chain(&self.spellings).map(ExposeSecret::expose_secret)
    }

    /// Texts that reveal it, in every spelling.
    fn signs(&self) -> impl Iterator<Item = &str> {
        self.spelled_out().map(sign).chain(end(self.plain.expose_secret()))
    }

    /// The text with this secret masked; `None` if it does not occur. A long enough beginning or end is masked
    /// too: a server that shows half of a key has still shown half of it.
    fn mask(&self, text: &str, escaped: bool) -> Option<String> {
        let masked = self.mask_beginnings(text, escaped);
        let plain = self.plain.expose_secret();
        let known = masked.as_deref().unwrap_or(text);
        end(plain)
            .filter(|end| escaped || known.contains(end))
            .and_then(|end| mask_ends(known, plain, end))
            .or(masked)
    }

    /// Masks everything that spells the secret from its beginning, in any escapes.
    fn mask_beginnings(&self, text: &str, escaped: bool) -> Option<String> {
        let places: Box<dyn Iterator<Item = usize>> = if escaped {
            Box::new(text.char_indices().map(|(at, _)| at))
        } else {
            // Most texts hold no secret, and this is the fastest check for that.
            let signs = self.spelled_out().map(sign);
            let mut places: Vec<usize> =
                signs.flat_map(|sign| text.match_indices(sign)).map(|(at, _)| at).collect();
            places.sort_unstable();

            Box::new(places.into_iter())
        };

        let mut out = String::new();
        let mut done = 0;
        for at in places {
            if at < done {
                continue;
            }

            let lengths = self.spelled_out().map(|spelling| {
                let (length, chars) = escaped_match(&text[at..], spelling);
                if chars < beginning(spelling).chars().count() { 0 } else { length }
            });
            // Two spellings may begin alike.
            let length = lengths.max().unwrap_or(0);
            if length > 0 {
                out.push_str(&text[done..at]);
                out.push_str(MASK);
                done = at + length;
            }
        }

        out.push_str(&text[done..]);
        (done > 0).then_some(out)
    }
}

/// Masks text that spells the secret from some point to its end; `None` if there is none.
fn mask_ends(text: &str, secret: &str, end: &str) -> Option<String> {
    let mut out = String::new();
    let mut done = 0;
    for (at, _) in text.char_indices() {
        let (length, chars) = if at < done { (0, 0) } else { escaped_match(&text[at..], end) };
        if chars < end.chars().count() {
            continue;
        }

        let mut begin = at;
        for wanted in secret[..secret.len() - end.len()].chars().rev() {
            let Some(rest) = text[done..begin].strip_suffix(wanted) else { break };
            // JSON may have backslashes before these characters. If they were left, the text could no longer be parsed.
            let rest = if matches!(wanted, '/' | '"') { rest.trim_end_matches('\\') } else { rest };
            begin = done + rest.len();
        }

        out.push_str(&text[done..begin]);
        out.push_str(MASK);

        done = at + length;
    }

    out.push_str(&text[done..]);
    (done > 0).then_some(out)
}

/// The shortest end that is masked; `None` if it would be a large part of the secret.
fn end(secret: &str) -> Option<&str> {
    (secret.len() >= 2 * SHORTEST_BEGINNING).then(|| secret.get(secret.len() - SHORTEST_BEGINNING..))?
}

/// The shortest beginning that is masked. It goes beyond the provider's own prefix, such as `sk-ant-api03-`,
/// which occurs in many texts.
fn beginning(secret: &str) -> &str {
    secret.get(..SHORTEST_BEGINNING.max(own(secret))).unwrap_or(secret)
}

/// What a plain search looks for, before the rest is compared. It is short, because the first line of a broken
/// secret may be.
fn sign(secret: &str) -> &str {
    secret.get(..SHORTEST_SIGN.max(own(secret))).unwrap_or(secret)
}

/// The length of the provider's own prefix, plus five bytes.
fn own(secret: &str) -> usize {
    let head = &secret.as_bytes()[..secret.len().min(SHORTEST_BEGINNING + 1)];
    head.iter().rposition(|byte| matches!(byte, b'-' | b'_')).map_or(0, |at| at + 1) + 5
}

/// The spellings of a secret: in Base64 at each of the three offsets at which it may begin within a longer
/// text, with either alphabet and without the letters it shares with its neighbours; with everything but
/// letters and digits percent-encoded; in hexadecimal digits; and in one case.
fn spellings(secret: &str) -> Vec<SecretString> {
    let mut spellings = Vec::new();
    for before in 0..3 {
        let bytes = [&[0; 2][..before], secret.as_bytes()].concat();
        let text = STANDARD_NO_PAD.encode(&bytes);

        // A letter encodes six bits. Letters that also hold bits of neighbouring text are excluded.
        let first = (before * 8).div_ceil(6);
        let inner = &text[first..bytes.len() * 8 / 6];
        spellings.push(inner.to_owned());

        spellings.push(inner.replace('+', "-").replace('/', "_"));
    }

    for upper in [true, false] {
        let encode = |keep: &str| {
            secret.bytes().fold(String::new(), |mut text, byte| {
                let c = char::from(byte);
                if c.is_ascii_alphanumeric() || keep.contains(c) {
                    text.push(c);
                } else if upper {
                    let _ = write!(text, "%{byte:02X}");
                } else {
                    let _ = write!(text, "%{byte:02x}");
                }

                text
            })
        };

        spellings.push(encode("-._~"));
        spellings.push(encode(""));
    }

    let hex = secret.bytes().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    spellings.extend([hex.to_uppercase(), hex]);

    // A key in the wrong case does not work as a key, but reveals it to anyone who tries. Phrases are not searched,
    // because they occur in normal texts.
    let is_random = secret.len() >= SHORTEST_CASELESS
        && secret.bytes().any(|byte| byte.is_ascii_digit())
        && !secret.contains(char::is_whitespace);
    if is_random {
        spellings.extend([secret.to_ascii_lowercase(), secret.to_ascii_uppercase()]);
    }

    spellings.sort_unstable();
    spellings.dedup();

    spellings.into_iter().map(SecretString::from).collect()
}

impl Redactor {
    /// A redactor for these values. Surrounding white space is ignored, and so are values under 6 bytes.
    pub fn new(secrets: impl IntoIterator<Item = SecretString>) -> Self {
        let mut secrets: Vec<KnownSecret> = secrets
            .into_iter()
            .map(|secret| KnownSecret::new(secret.expose_secret().trim()))
            .filter(|secret| secret.len() >= SHORTEST_SECRET)
            .collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));

        let signs = secrets.iter().flat_map(KnownSecret::signs);
        // If there are too many or none, there is no searcher, and each is searched separately.
        let any = Searcher::new(signs);
        let escapable = secrets.iter().fold(EscapableChars::default(), |all, secret| {
            all.including(secret.plain.expose_secret(), secret.spelled_out().skip(1))
        });
        Self { secrets, any, escapable }
    }

    /// The text without any known secret; borrowed if there was none in it.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.redact_from(text, SHORTEST_SECRET)
    }

    /// Like [`Redactor::redact`], for the output of a model or a command: only values of 12 bytes or more,
    /// which can't be mistaken for words.
    pub fn redact_content<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.redact_from(text, SHORTEST_SECRET_IN_CONTENT)
    }

    fn redact_from<'a>(&self, text: &'a str, shortest: usize) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        let escaped = !self.secrets.is_empty() && self.escapable.may_be_in(&text);
        if !escaped && self.any.as_ref().is_some_and(|any| any.find(&*text).is_none()) {
            return text;
        }

        for secret in self.secrets.iter().filter(|secret| secret.len() >= shortest) {
            if let Some(masked) = secret.mask(&text, escaped) {
                text = Cow::Owned(masked);
            }
        }

        text
    }

    /// Like [`Redactor::redact`], but also removes anything that looks like a key: servers quote refused keys
    /// with some characters starred out.
    pub fn redact_message(&self, text: &str) -> String {
        let text = self.redact(text);
        text.split_inclusive(char::is_whitespace)
            .map(|word| {
                let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '*');
                let looks_like_key = bare.contains("***") || (bare.starts_with("sk-") && bare.len() > 10);
                if looks_like_key { word.replace(bare, MASK) } else { word.to_owned() }
            })
            .collect()
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} secrets)", self.secrets.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor(secrets: &[&str]) -> Redactor {
        Redactor::new(secrets.iter().map(|s| SecretString::from(*s)))
    }

    #[test]
    fn every_occurrence_goes_and_longer_secrets_go_whole() {
        let redactor = redactor(&["abcdef", "abcdefgh"]);
        assert_eq!(redactor.redact("x abcdefgh abcdef,abcdef"), "x [redacted] [redacted],[redacted]");
        assert!(matches!(redactor.redact("clean"), Cow::Borrowed("clean")));
    }

    #[test]
    fn encodings_that_no_letter_needs_hide_nothing() {
        let secret = "zK3vT9mQ2xW7pLr5";
        let redactor = redactor(&[secret]);
        let each = |encode: &dyn Fn(u8) -> String| secret.bytes().map(encode).collect::<String>();
        for spelled in [
            each(&|byte| format!("%{byte:02x}")),
            each(&|byte| format!("%{byte:02X}")),
            each(&|byte| format!("&#{byte};")),
            each(&|byte| format!("&#x{byte:x};")),
            each(&|byte| format!("&#x{byte:04X};")),
            each(&|byte| format!("\\u{byte:04x}")),
            each(&|byte| format!("{byte:02x}")),
            each(&|byte| format!("{byte:02X}")),
            secret.to_lowercase(),
            secret.to_uppercase(),
        ] {
            let text = format!("a key: {spelled} and more");
            assert_eq!(redactor.redact(&text), "a key: [redacted] and more", "{spelled}");
        }
    }

    #[test]
    fn placeholders_are_left_alone() {
        assert_eq!(redactor(&["", "none", " x "]).redact("none of it"), "none of it");
        assert_eq!(redactor(&["not-needed"]).redact_content("It is not-needed."), "It is not-needed.");
        assert_eq!(redactor(&["0123456789ab"]).redact_content("0123456789ab"), "[redacted]");
    }

    #[test]
    fn starred_out_and_look_alike_keys_go_from_messages() {
        assert_eq!(
            redactor(&[])
                .redact_message("Incorrect API key provided: sk-ab*****xyz. See 'sk-proj-0123456789'"),
            "Incorrect API key provided: [redacted]. See '[redacted]'"
        );
        assert_eq!(redactor(&[]).redact_message("a **bold** word"), "a **bold** word");
    }

    #[test]
    fn beginnings_and_other_spellings_go_too() {
        let key = "sk-Zq8?+/xY7Qtail/of=it";
        let redactor = redactor(&[key]);
        for (text, left) in [
            ("key sk-Zq8?+/xY7Qtail... refused".to_owned(), "key [redacted]... refused"),
            ("sk-Zq8?+/xY7".to_owned(), "[redacted]"),
            ("sk-Zq8?+/xY".to_owned(), "sk-Zq8?+/xY"),
            ("a=sk-Zq8%3F%2B%2FxY7Qtail%2Fof%3Dit&b".to_owned(), "a=[redacted]&b"),
            ("a=sk%2dZq8%3f%2b%2fxY7Qtail%2fof%3dit&b".to_owned(), "a=[redacted]&b"),
        ] {
            assert_eq!(redactor.redact(&text), left);
        }
        for before in ["", "a", "Bearer ", "user:", "xyz"] {
            for after in ["", "!", "\n\n", " and more"] {
                let encoded = STANDARD_NO_PAD.encode(format!("{before}{key}{after}"));
                for encoded in [encoded.replace('+', "-").replace('/', "_"), encoded] {
                    let redacted = redactor.redact(&encoded);
                    assert!(redacted.contains(MASK), "{before}key{after}: {redacted}");
                    let longest = redacted.split(MASK).map(str::len).max();
                    assert!(longest <= Some((before.len() + after.len()) * 2 + 4), "{redacted}");
                }
            }
        }
    }

    #[test]
    fn ends_escapes_and_broken_lines_go_too() {
        let key = "sk-Zq8&+/xY7Qtail/of=it-Longer";
        let redactor = redactor(&[key]);
        for (text, left) in [
            ("your key ...7Qtail/of=it-Longer is wrong", "your key ...[redacted] is wrong"),
            ("ends in =it-Longer", "ends in =it-Longer"),
            (r#"{"k":"sk-Zq8\u0026\u002b\/xY7Qtail\/of=it-Longer"}"#, r#"{"k":"[redacted]"}"#),
            (
                r#"{"k":"{\"k\": \"sk-Zq8\\u0026+\\\/xY7Qtail/of\\u003dit-Longer\"}"}"#,
                r#"{"k":"{\"k\": \"[redacted]\"}"}"#,
            ),
            ("<p>sk-Zq8&amp;+/xY7Qtail/of&#61;it-Longer</p>", "<p>[redacted]</p>"),
            ("sk-Zq8%26+/xY7Qtail/of=it-Longer&more", "[redacted]&more"),
            ("sk-Zq8&+/xY7Qt\n    ail/of=it\n    -Longer\nand", "[redacted]\nand"),
            (r"sk-Zq8&+/xY7Qt\n\tail/of=it-Longer\nand", r"[redacted]\nand"),
            ("sk-Zq8&+\n/xY7Qtai\nl/of=it-\nLonger", "[redacted]"),
            (
                r#"{"k":"7Qtail/of=it-Longer", "7Qtail\/of\u003dit-Longer"}"#,
                r#"{"k":"[redacted]", "[redacted]"}"#,
            ),
            ("sk-Zq8\n&+/xY7Qtail/of=it-Longer", "[redacted]"),
        ] {
            assert_eq!(redactor.redact_content(text), left, "{text}");
        }
        let escaped: Vec<String> = key.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
        let escaped = escaped.concat();
        assert_eq!(redactor.redact(&format!("k: {escaped}!")), "k: [redacted]!");
        let wrapped = STANDARD_NO_PAD.encode(format!("Bearer {key}"));
        let wrapped = format!("{}\n{}", &wrapped[..28], &wrapped[28..]);
        let redacted = redactor.redact(&wrapped);
        assert!(redacted.len() < 24 && !redacted.contains('\n'), "{redacted}");
        assert!(matches!(redactor.redact(r"caf\u00e9 \n\u6f22 100 %"), Cow::Borrowed(_)));
    }

    #[test]
    fn debug_shows_no_secret() {
        assert_eq!(format!("{:?}", redactor(&["supersecret"])), "Redactor(1 secrets)");
    }
}
