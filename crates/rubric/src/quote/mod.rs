//! Quotes of judges, found in the texts that they come from.
//!
//! A text and a quote compare equal when they differ only in case, white space, compatibility forms (NFKC), the kind of
//! quote marks and dashes, the script of digits, Markdown emphasis, or invisible characters. Between characters of Chinese
//! and Japanese, white space does not matter at all. `...` inside a quote matches omitted text.

mod comparable_text;

use std::ops::Range;

use comparable_text::{ComparableText, is_letter_of_word};

/// A text in which quotes are looked for.
#[derive(Debug, Clone)]
pub struct QuotedText(ComparableText);

impl QuotedText {
    /// Prepares a text to check whether it contains quotes.
    pub fn new(text: &str) -> Self {
        Self(ComparableText::new(text))
    }

    /// Prepares a text to locate quotes in it. This takes eight more bytes for each byte of the text.
    pub fn with_places(text: &str) -> Self {
        Self(ComparableText::with_origins(text))
    }

    /// Returns true if the quote occurs. A quote of two or three letters or digits must be a whole word, and a
    /// quote of one must be the whole text: shorter strings occur almost everywhere and prove nothing.
    pub fn contains(&self, quote: &str) -> bool {
        find_quote(&self.0.text, &ComparableText::new(quote).text).is_some()
    }

    /// Returns the characters of the text, counted from 0, in which a quote is first found by the rules of
    /// [`QuotedText::contains`]. `None` too if the text was prepared without places.
    pub fn find(&self, quote: &str) -> Option<Range<usize>> {
        self.0.origin_of(&find_quote(&self.0.text, &ComparableText::new(quote).text)?)
    }
}

/// Finds a quote in a text, both in comparable form, and returns its bytes.
fn find_quote(text: &str, quote: &str) -> Option<Range<usize>> {
    let whole = quote.trim_matches(is_wrapping);
    let in_full = || text.find(whole).map(|at| at..at + whole.len());
    match whole.chars().filter(|c| c.is_alphanumeric()).count() {
        0 => None,
        1 => in_full().filter(|_| text.trim_matches(is_wrapping) == whole),
        2 | 3 => find_word(text, whole),
        _ => in_full().or_else(|| find_in_order(text, whole)),
    }
}

/// Characters that judges add around a quote or omit from its ends.
fn is_wrapping(c: char) -> bool {
    matches!(
        c,
        ' ' | '\''
            | '.'
            | ','
            | ';'
            | ':'
            | '!'
            | '?'
            | '['
            | ']'
            | '。'
            | '、'
            | '،'
            | '؛'
            | '؟'
            | '۔'
            | '।'
    )
}

/// Finds the parts of a quote with `...` in order, and returns the bytes from the first to the last.
fn find_in_order(text: &str, quote: &str) -> Option<Range<usize>> {
    let mut found: Option<Range<usize>> = None;
    let mut parts = 0;
    for part in quote.split("...") {
        let part = part.trim_matches(is_wrapping);
        if part.is_empty() {
            continue;
        }
        // A part of one or two letters would match almost anywhere.
        if part.chars().filter(|c| c.is_alphanumeric()).count() < 3 {
            return None;
        }

        let from = found.as_ref().map_or(0, |found| found.end);
        let at = from + text[from..].find(part)?;
        found = Some(found.map_or(at, |found| found.start)..at + part.len());
        parts += 1;
    }

    found.filter(|_| parts > 1)
}

/// Finds a word with no word character on either side.
fn find_word(text: &str, word: &str) -> Option<Range<usize>> {
    let is_alone = |at: &usize| {
        let before = text[..*at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_letter_of_word) && !after.is_some_and(is_letter_of_word)
    };
    let at = text.match_indices(word).map(|(at, _)| at).find(is_alone)?;
    Some(at..at + word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_differences_that_mean_nothing_do_not_matter() {
        let index =
            QuotedText::new("The **quick** “brown” fox —\n  it’s ﬁne\u{200b}. Uses `snake_case`… always.");
        for quote in [
            "The quick \"brown\" fox - it's fine",
            "the QUICK brown".replace("brown", "'brown'").as_str(),
            "“The quick",
            "Uses snake_case... always",
            "quick ... uses snake_case",
            "quick [...] always.",
        ] {
            assert!(index.contains(quote), "{quote}");
        }
    }

    #[test]
    fn punctuation_digits_and_spaces_of_other_scripts_are_compared_by_what_they_mean() {
        for (answer, quote, is_found) in [
            ("他说「三十天」。", "他说“三十天”", true),
            ("使用 Python 编程", "使用Python编程", true),
            ("您有三十天的时\n间申请退款", "您有三十天的时间申请退款", true),
            ("您有三十天的时间，请申请", "您有三十天的时间。", true),
            ("il dit « oui »", "il dit \"oui\"", true),
            ("er sagte ›nein‹", "er sagte 'nein'", true),
            ("خلال ٣٠ يوما", "خلال 30 يوما", true),
            ("३० दिन के भीतर।", "30 दिन के भीतर", true),
            ("استرجاع خـــلال يوم", "استرجاع خلال يوم", true),
            ("3〜5日", "3～5日", true),
            ("3～5日", "35日", false),
            ("İADE SÜRESİ", "iade süresi", true),
            ("❤️ merci", "❤ merci", true),
            ("退款期限为３０天", "期限为30天", true),
            ("about 10⁶ cells", "about 106 cells", false),
            ("about 10⁶ cells", "about 10^6 cells", true),
            ("about 10¹² cells", "about 10^12 cells", true),
            ("1½ cups", "11/2 cups", false),
            ("1½ cups", "1 1/2 cups", true),
            ("it is 3*5 here", "it is 35 here", false),
            ("서른 일 이내", "서른일이내", false),
            ("two words", "twowords", false),
        ] {
            assert_eq!(QuotedText::new(answer).contains(quote), is_found, "{answer}: {quote}");
        }
    }

    #[test]
    fn other_words_other_order_and_other_places_do_not_verify() {
        let index = QuotedText::new("The quick brown fox jumps over the lazy dog.");
        for quote in [
            "The quick red fox", "lazy dog ... quick brown", "", "  ", "...", "\"\"", "e", "he",
            "o ... o o o", "?!",
        ] {
            assert!(!index.contains(quote), "{quote}");
        }
        assert!(index.contains("fox"));
    }

    #[test]
    fn a_very_short_answer_can_be_quoted_whole() {
        assert!(QuotedText::new("7.").contains("7"));
        assert!(!QuotedText::new("7 or 8").contains("7"));
        assert!(QuotedText::new("The answer is 42.").contains("42"));
        assert!(!QuotedText::new("The answer is 142.").contains("42"));
        assert!(QuotedText::new("答えは東京です").contains("東京"));
    }

    #[test]
    fn quotes_are_found_in_characters_of_the_text_as_written() {
        for (text, quote, place) in [
            ("Größe:\n  drei   Äpfel,\nsagt “er”.", "drei äpfel", Some(9..21)),
            ("Größe:\n  drei   Äpfel,\nsagt “er”.", "Größe: drei", Some(0..13)),
            ("Größe:\n  drei   Äpfel,\nsagt “er”.", " sagt \"er\" ", Some(23..31)),
            ("Größe:\n  drei   Äpfel,\nsagt “er”.", "vier", None),
            ("The **quick** brown fox", "the quick ... fox", Some(0..23)),
            ("About 10⁶ cells", "10^6 cells", Some(6..15)),
            ("Cafe\u{301} noir", "CAFÉ noir", Some(0..10)),
            ("Cafe\u{301} noir", "noir", Some(6..10)),
            ("\u{1112}\u{1161}\u{11ab}국어 책", "한국어 책", Some(0..7)),
            ("您有三十天的时\n间申请退款", "时间申请", Some(6..11)),
            ("  ", " ", None),
        ] {
            assert_eq!(QuotedText::with_places(text).find(quote), place, "{text}: {quote}");
            assert_eq!(QuotedText::new(text).contains(quote), place.is_some(), "{text}: {quote}");
        }
    }
}
