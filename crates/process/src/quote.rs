//! Quoting of text so that a POSIX shell reads it back as one word, byte for byte.

/// Returns `text` as one single-quoted shell word.
///
/// Inside single quotes a POSIX shell gives no character a meaning, so the only one that needs care is the
/// single quote itself: it is written as close-quote, escaped quote, open-quote. The result is always quoted,
/// even if it need not be, so that an empty text is still a word.
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('\'');

    for part in text.split_inclusive('\'') {
        match part.strip_suffix('\'') {
            Some(before) => {
                quoted.push_str(before);
                quoted.push_str("'\\''");
            }
            None => quoted.push_str(part),
        }
    }

    quoted.push('\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn quotes_are_closed_escaped_and_reopened() {
        assert_eq!(quote("plain"), "'plain'");
        assert_eq!(quote(""), "''");
        assert_eq!(quote("it's"), r"'it'\''s'");
        assert_eq!(quote("'"), r"''\'''");
        assert_eq!(quote("$(rm) `x` \\ \"y\"\n"), "'$(rm) `x` \\ \"y\"\n'");
    }
}
