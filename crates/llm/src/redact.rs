//! Taking known secrets out of text before anyone else sees it.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use aho_corasick::packed::Searcher;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use secrecy::{ExposeSecret, SecretString};

const MASK: &str = "[redacted]";

/// Shorter values are placeholders such as `none`; replacing them would damage innocent text.
const SHORTEST_SECRET: usize = 6;

/// In what a model wrote, a shorter value is more likely to be a word, such as the `not-needed` people give local
/// servers for a key, and replacing it would change what was said.
const SHORTEST_SECRET_IN_CONTENT: usize = 12;

/// The shortest beginning of a secret that is taken for it, in bytes.
const SHORTEST_BEGINNING: usize = 12;

/// Replaces known secret values wherever they appear, also in another spelling, and also only their beginning.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Longest first, so that a secret which contains another goes as a whole.
    secrets: Vec<Secret>,
    /// Finds out in one pass whether any of them is in a text at all: in most there is none.
    any: Option<Searcher>,
}

/// A value with the spellings in which servers send it back.
#[derive(Clone)]
struct Secret {
    plain: SecretString,
    /// In Base64 and percent-encoding. None for short values: what their encodings are made of occurs everywhere.
    spellings: Vec<SecretString>,
}

impl Secret {
    fn new(plain: &str) -> Self {
        let mut spellings =
            if plain.len() < SHORTEST_SECRET_IN_CONTENT { Vec::new() } else { spellings(plain) };
        spellings.retain(|spelling| spelling.expose_secret() != plain);
        Self { plain: SecretString::from(plain), spellings }
    }

    fn len(&self) -> usize {
        self.plain.expose_secret().len()
    }

    /// What it is recognised by, in every spelling.
    fn starts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.plain).chain(&self.spellings).map(|text| beginning(text.expose_secret()))
    }

    /// The text with this secret masked; `None` if it does not occur.
    fn mask(&self, text: &str) -> Option<String> {
        let mut masked = mask_from(text, self.plain.expose_secret());
        for spelling in &self.spellings {
            let known = masked.as_deref().unwrap_or(text);
            if let Some(more) = mask_from(known, spelling.expose_secret()) {
                masked = Some(more);
            }
        }
        masked
    }
}

/// Masks every occurrence of a secret, and of its beginning where that is long enough to say something: a server that
/// shows only the first half of a key has still shown half of it.
fn mask_from(text: &str, secret: &str) -> Option<String> {
    let start = beginning(secret);
    // Most texts hold no secret, and this is how to find that out fastest.
    if !text.contains(start) {
        return None;
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(start) {
        let (before, found) = rest.split_at(at);
        let same = found.char_indices().zip(secret.chars()).take_while(|((_, a), b)| a == b);
        let end = same.last().map_or(start.len(), |((at, c), _)| at + c.len_utf8());
        out.push_str(before);
        out.push_str(MASK);
        rest = &found[end..];
    }
    out.push_str(rest);
    Some(out)
}

/// The shortest beginning that is not the provider's own, such as `sk-ant-api03-`, which stands in many texts.
fn beginning(secret: &str) -> &str {
    let head = &secret.as_bytes()[..secret.len().min(SHORTEST_BEGINNING + 1)];
    let providers = head.iter().rposition(|byte| matches!(byte, b'-' | b'_')).map_or(0, |at| at + 1);
    secret.get(..SHORTEST_BEGINNING.max(providers + 5)).unwrap_or(secret)
}

/// A secret in Base64 at each of the three places where it may begin within a longer text, with either alphabet and
/// without the letters it shares with its neighbours; and with everything but letters and digits percent-encoded.
fn spellings(secret: &str) -> Vec<SecretString> {
    let mut spellings = Vec::new();
    for before in 0..3 {
        let bytes = [&[0; 2][..before], secret.as_bytes()].concat();
        let text = STANDARD_NO_PAD.encode(&bytes);
        // A letter stands for six bits: those that hold bits of what comes before or after are not the secret's.
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
    spellings.sort_unstable();
    spellings.dedup();
    spellings.into_iter().map(SecretString::from).collect()
}

impl Redactor {
    /// A redactor for these values. Surrounding white space does not count; values under 6 bytes are ignored.
    pub fn new(secrets: impl IntoIterator<Item = SecretString>) -> Self {
        let mut secrets: Vec<Secret> = secrets
            .into_iter()
            .map(|secret| Secret::new(secret.expose_secret().trim()))
            .filter(|secret| secret.len() >= SHORTEST_SECRET)
            .collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        let starts = secrets.iter().flat_map(Secret::starts);
        // Without it, where there are too many or none, each is looked for by itself.
        let any = Searcher::new(starts);
        Self { secrets, any }
    }

    /// The text without any known secret; borrowed when there was none in it.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.redact_from(text, SHORTEST_SECRET)
    }

    /// Like [`Redactor::redact`], for what a model wrote: only values that cannot be mistaken for words.
    pub(crate) fn redact_content<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.redact_from(text, SHORTEST_SECRET_IN_CONTENT)
    }

    fn redact_from<'a>(&self, text: &'a str, shortest: usize) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        if self.any.as_ref().is_some_and(|any| any.find(&*text).is_none()) {
            return text;
        }
        for secret in self.secrets.iter().filter(|secret| secret.len() >= shortest) {
            if let Some(masked) = secret.mask(&text) {
                text = Cow::Owned(masked);
            }
        }
        text
    }

    /// Like [`Redactor::redact`], and also takes out what merely looks like a key: servers quote refused keys back
    /// partly starred out.
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
    fn debug_shows_no_secret() {
        assert_eq!(format!("{:?}", redactor(&["supersecret"])), "Redactor(1 secrets)");
    }
}
