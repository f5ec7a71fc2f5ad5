//! Words, phrases and similarity of short English texts.

use std::collections::BTreeSet;
use std::ops::Range;

/// A word in lower case, with its range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextWord {
    pub(crate) text: String,
    pub(crate) at: Range<usize>,
}

/// Splits a text into words. Apostrophes and hyphens inside a word are part of it. A typographic apostrophe
/// becomes a plain one.
pub(crate) fn split_words(text: &str) -> Vec<TextWord> {
    let mut found = Vec::new();
    let mut start = None;
    let inside = |at: usize, c: char| {
        let joint = matches!(c, '\'' | '’' | '-');
        let next = text[at + c.len_utf8()..].chars().next();
        c.is_alphanumeric() || (joint && next.is_some_and(char::is_alphanumeric))
    };
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let belongs = at < text.len() && inside(at, c) && (start.is_some() || c.is_alphanumeric());
        match (belongs, start) {
            (true, None) => start = Some(at),
            (false, Some(begin)) => {
                let word = text[begin..at].to_lowercase().replace('’', "'");
                found.push(TextWord { text: word, at: begin..at });
                start = None;
            }
            _ => {}
        }
    }

    found
}

/// Returns the range of the first occurrence of a phrase, given as words separated by one blank.
pub(crate) fn find_phrase(words: &[TextWord], phrase: &str) -> Option<Range<usize>> {
    let wanted: Vec<&str> = phrase.split(' ').collect();
    let hit =
        words.windows(wanted.len()).find(|window| window.iter().zip(&wanted).all(|(w, p)| w.text == *p))?;
    Some(hit.first()?.at.start..hit.last()?.at.end)
}

/// Returns the range of the earliest occurrence of any of several phrases.
pub(crate) fn find_any_phrase(words: &[TextWord], phrases: &[&str]) -> Option<Range<usize>> {
    phrases.iter().filter_map(|wanted| find_phrase(words, wanted)).min_by_key(|range| range.start)
}

/// Returns the range of the phrase that the words begin with, if it is one of these.
pub(crate) fn find_opening_phrase(words: &[TextWord], phrases: &[&str]) -> Option<Range<usize>> {
    phrases.iter().find_map(|wanted| {
        let length = wanted.split(' ').count();
        find_phrase(words.get(..length)?, wanted)
    })
}

/// Returns the words after an opening such as "the answer". Most criteria can be written with or without it.
pub(crate) fn skip_subject(words: &[TextWord]) -> &[TextWord] {
    let article = usize::from(words.first().is_some_and(|w| matches!(w.text.as_str(), "the" | "a" | "its")));
    let noun = words.get(article).is_some_and(|w| SUBJECT_NOUNS.contains(&w.text.as_str()));
    if !noun {
        return words;
    }

    let rest = &words[article + 1..];
    let modal = rest.first().is_some_and(|w| matches!(w.text.as_str(), "should" | "must" | "shall"));
    if modal { &rest[1..] } else { rest }
}

/// Nouns that criteria use for the answer or its author.
pub(crate) const SUBJECT_NOUNS: &[&str] =
    &["answer", "response", "reply", "output", "assistant", "model", "agent", "explanation", "completion"];

/// Returns a word without inflectional endings. This is crude, but both sides of a comparison are treated the
/// same way.
pub(crate) fn stem(word: &str) -> String {
    let word = word.strip_suffix("'s").unwrap_or(word);
    for (ending, replacement, min_length) in [
        ("ies", "y", 3),
        ("sses", "ss", 2),
        ("ing", "", 4),
        ("ed", "", 4),
        ("es", "", 4),
        ("s", "", 3),
        ("e", "", 4),
    ] {
        if let Some(root) = word.strip_suffix(ending)
            && root.len() >= min_length
            && !(ending == "s" && (root.ends_with('s') || root.ends_with('u') || root.ends_with('i')))
        {
            let root = format!("{root}{replacement}");
            return root.strip_suffix('e').filter(|r| r.len() >= 4).map_or(root.clone(), str::to_owned);
        }
    }

    word.to_owned()
}

/// Words that are structure, not content.
const STOP_WORDS: &[&str] = &[
    "a", "an", "the", "of", "to", "in", "on", "for", "and", "or", "with", "by", "as", "at", "from", "that",
    "this", "these", "those", "it", "its", "is", "are", "be", "been", "was", "were", "does", "do", "did",
    "should", "must", "will", "would", "can", "could", "has", "have", "their", "they", "there", "which",
    "who", "how", "what", "why", "when", "where", "i", "me", "my", "you", "your", "we", "our", "us",
    "please", "about", "into", "if", "than", "then", "also", "any", "all", "each", "so", "such",
];

/// Returns true if a word has no content of its own.
pub(crate) fn is_stop(word: &str) -> bool {
    STOP_WORDS.contains(&word) || SUBJECT_NOUNS.contains(&word)
}

/// Returns the stems of the words that have content, without an opening such as "the answer". Numbers count as
/// content, negations do not.
pub(crate) fn content_stems(text: &str) -> BTreeSet<String> {
    let words = split_words(text);
    let stems = skip_subject(&words).iter().map(|word| word.text.as_str());
    stems.filter(|word| !STOP_WORDS.contains(word) && !is_negation(word)).map(stem).collect()
}

/// Returns true if a word negates a statement.
pub(crate) fn is_negation(word: &str) -> bool {
    matches!(
        word,
        "not" | "no" | "never" | "without" | "none" | "neither" | "nor" | "cannot" | "avoid" | "avoids"
    ) || word.ends_with("n't")
}

/// Returns the share of words in common, 0 to 1 (Jaccard index).
pub(crate) fn jaccard_similarity(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let common = a.intersection(b).count();
    let all = a.len() + b.len() - common;
    if all == 0 { 0.0 } else { common as f64 / all as f64 }
}

/// Returns true if the text explains itself by an example, a number, a quotation, or a list after a colon.
pub(crate) fn is_anchored(text: &str) -> bool {
    let words = split_words(text);
    text.contains(['"', '“', '`', '(', ':', '\'', '‘']) && !apostrophes_only(text)
        || text.chars().any(|c| c.is_ascii_digit())
        || find_any_phrase(
            &words,
            &["such as", "for example", "e g", "i e", "that is", "because", "so that", "at least"],
        )
        .is_some()
}

/// Returns true if the only quotation marks in the text are apostrophes inside words.
fn apostrophes_only(text: &str) -> bool {
    let others = text.contains(['"', '“', '`', '(', ':']);
    let bytes: Vec<char> = text.chars().collect();
    let letter = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(|c| c.is_alphanumeric());
    !others
        && bytes.iter().enumerate().filter(|(_, c)| matches!(**c, '\'' | '‘')).all(|(at, _)| {
            letter(at.checked_sub(1)) && (letter(Some(at + 1)) || bytes.get(at - 1) == Some(&'s'))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_joints_and_places() {
        let found = split_words("Doesn’t use well-known 'x'.");
        let texts: Vec<&str> = found.iter().map(|w| w.text.as_str()).collect();
        assert_eq!(texts, ["doesn't", "use", "well-known", "x"]);
        assert_eq!(&"Doesn’t use well-known 'x'."[found[2].at.clone()], "well-known");
    }

    #[test]
    fn phrases_are_found_as_words() {
        let found = split_words("It fails to load; failsafe");
        assert_eq!(find_phrase(&found, "fails to"), Some(3..11));
        assert_eq!(find_phrase(&found, "fail"), None);
        assert_eq!(find_opening_phrase(&found, &["fails", "it fails"]), Some(0..8));
    }

    #[test]
    fn stems_of_one_word_are_equal() {
        for family in [
            &["mention", "mentions", "mentioned", "mentioning"][..],
            &["use", "uses"],
            &["cause", "causes"],
            &["delivery", "deliveries"],
            &["address", "addresses"],
            &["explain", "explains", "explaining"],
        ] {
            let stems: BTreeSet<String> = family.iter().map(|w| stem(w)).collect();
            assert_eq!(stems.len(), 1, "{stems:?}");
        }
    }

    #[test]
    fn likeness_ignores_structure_and_negation() {
        let of = |a: &str, b: &str| jaccard_similarity(&content_stems(a), &content_stems(b));
        assert_eq!(of("The answer mentions the delay", "Mentions delays"), 1.0);
        assert_eq!(of("Does not mention the delay", "Mentions the delay"), 1.0);
        assert!(of("Mentions the delay", "Explains the refund") < 0.1);
        assert_eq!(jaccard_similarity(&BTreeSet::new(), &BTreeSet::new()), 0.0);
    }

    #[test]
    fn anchors_are_seen() {
        for text in ["Good (no jargon)", "Uses 3 sources", "Says \"no\"", "Clear, such as short sentences"] {
            assert!(is_anchored(text), "{text}");
        }
        for text in ["Is good", "Respects the user's wishes", "Doesn't ramble"] {
            assert!(!is_anchored(text), "{text}");
        }
    }
}
