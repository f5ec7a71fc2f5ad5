//! Taking known secrets out of text before anyone else sees it.

use std::borrow::Cow;
use std::fmt;

use secrecy::{ExposeSecret, SecretString};

const MASK: &str = "[redacted]";

/// Shorter values are placeholders such as `none`; replacing them would damage innocent text.
const SHORTEST_SECRET: usize = 6;

/// In what a model wrote, a shorter value is more likely to be a word, such as the `not-needed` people give local
/// servers for a key, and replacing it would change what was said.
const SHORTEST_SECRET_IN_CONTENT: usize = 12;

/// Replaces known secret values wherever they appear.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Longest first, so that a secret which contains another goes as a whole.
    secrets: Vec<SecretString>,
}

impl Redactor {
    /// A redactor for these values. Surrounding white space does not count; values under 6 bytes are ignored.
    pub fn new(secrets: impl IntoIterator<Item = SecretString>) -> Self {
        let mut secrets: Vec<SecretString> = secrets
            .into_iter()
            .map(|secret| SecretString::from(secret.expose_secret().trim()))
            .filter(|secret| secret.expose_secret().len() >= SHORTEST_SECRET)
            .collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.expose_secret().len()));
        Self { secrets }
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
        for secret in self.secrets.iter().filter(|secret| secret.expose_secret().len() >= shortest) {
            if text.contains(secret.expose_secret()) {
                text = Cow::Owned(text.replace(secret.expose_secret(), MASK));
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
    fn debug_shows_no_secret() {
        assert_eq!(format!("{:?}", redactor(&["supersecret"])), "Redactor(1 secrets)");
    }
}
