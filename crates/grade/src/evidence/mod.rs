//! Verifies quotes against the material that the judge saw.

mod normalise;

use std::sync::OnceLock;

use normalise::{is_letter_of_word, normalise};

use crate::JudgeMaterial;

/// Index of the texts that may be quoted. They are normalised once, at the first quote, so each quote takes one
/// search.
///
/// Two texts compare equal when they differ only in case, white space, compatibility forms (NFKC), the kind
/// of quote marks and dashes, the script of digits, Markdown emphasis, or invisible characters. Between
/// characters of Chinese and Japanese, white space does not matter at all. `...` inside a quote matches omitted
/// text.
#[derive(Debug, Clone)]
pub struct EvidenceIndex {
    written: Vec<String>,
    comparable: OnceLock<Vec<String>>,
}

impl EvidenceIndex {
    /// Indexes the output of the target: answer, file changes, tool calls.
    pub fn new(material: &JudgeMaterial) -> Self {
        Self::from_texts(material.produced_texts())
    }

    /// Indexes the given texts.
    pub(crate) fn from_texts<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        Self { written: texts.map(str::to_owned).collect(), comparable: OnceLock::new() }
    }

    /// Returns true if the quote occurs. A quote of two or three letters or digits must be a whole word, and a
    /// quote of one must be the whole text: shorter strings occur almost everywhere and prove nothing.
    pub fn contains(&self, quote: &str) -> bool {
        let whole = normalise(quote);
        let whole = whole.trim_matches(is_wrapping);
        let texts = self.comparable.get_or_init(|| self.written.iter().map(|text| normalise(text)).collect());
        let symbols = whole.chars().filter(|c| c.is_alphanumeric()).count();
        match symbols {
            0 => false,
            1 => texts.iter().any(|text| text.trim_matches(is_wrapping) == whole),
            2 | 3 => texts.iter().any(|text| find_word(text, whole)),
            _ => texts.iter().any(|text| text.contains(whole) || contains_in_order(text, whole)),
        }
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

/// Returns true if the parts of a quote with `...` occur in order.
fn contains_in_order(text: &str, quote: &str) -> bool {
    let mut rest = text;
    let mut parts = 0;
    for part in quote.split("...") {
        let part = part.trim_matches(is_wrapping);
        if part.is_empty() {
            continue;
        }
        // A part of one or two letters would match almost anywhere.
        if part.chars().filter(|c| c.is_alphanumeric()).count() < 3 {
            return false;
        }

        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];

        parts += 1;
    }

    parts > 1
}

/// Returns true if `word` occurs with no word character on either side.
fn find_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_letter_of_word) && !after.is_some_and(is_letter_of_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(answer: &str) -> EvidenceIndex {
        EvidenceIndex::new(&JudgeMaterial { answer: answer.into(), ..JudgeMaterial::default() })
    }

    #[test]
    fn spelling_differences_that_mean_nothing_do_not_matter() {
        let index = index("The **quick** “brown” fox —\n  it’s ﬁne\u{200b}. Uses `snake_case`… always.");
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
            assert_eq!(index(answer).contains(quote), is_found, "{answer}: {quote}");
        }
    }

    #[test]
    fn other_words_other_order_and_other_places_do_not_verify() {
        let index = index("The quick brown fox jumps over the lazy dog.");
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
        assert!(index("7.").contains("7"));
        assert!(!index("7 or 8").contains("7"));
        assert!(index("The answer is 42.").contains("42"));
        assert!(!index("The answer is 142.").contains("42"));
        assert!(index("答えは東京です").contains("東京"));
    }

    #[test]
    fn changes_and_tool_calls_count_but_the_question_does_not() {
        let index = EvidenceIndex::new(&JudgeMaterial {
            question: "what about the moon".into(),
            reference: Some("the reference text".into()),
            answer: "done".into(),
            file_changes: Some("+ let total = 3;".into()),
            tool_calls: Some("read_file(path=a.txt)".into()),
            ..JudgeMaterial::default()
        });
        assert!(index.contains("let total = 3;"));
        assert!(index.contains("read_file(path=a.txt)"));
        assert!(!index.contains("about the moon"));
        assert!(!index.contains("the reference text"));
    }
}
