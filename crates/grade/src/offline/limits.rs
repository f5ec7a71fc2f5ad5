//! Criteria that limit the length of an answer ("under 50 words"), decided by counting.

use super::text::split_words;
use super::word_lists::parse_number_word;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LengthLimit {
    lowest: Option<usize>,
    highest: Option<usize>,
    unit: LengthUnit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LengthUnit {
    Words,
    Sentences,
    Lines,
    Characters,
}

impl LengthLimit {
    /// Parses the limit in a criterion, if there is one.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let words: Vec<String> = split_words(text).into_iter().map(|word| word.spelling).collect();
        words.windows(2).enumerate().find_map(|(at, pair)| {
            let limit: usize = pair[0].parse().ok().or_else(|| parse_number_word(&pair[0]))?;
            let unit = match pair[1].as_str() {
                "word" | "words" => LengthUnit::Words,
                "sentence" | "sentences" => LengthUnit::Sentences,
                "line" | "lines" => LengthUnit::Lines,
                "character" | "characters" => LengthUnit::Characters,
                _ => return None,
            };

            let before: Vec<&str> = words[at.saturating_sub(3)..at].iter().map(String::as_str).collect();
            let (lowest, highest) = parse_bounds(&before, limit)?;
            Some(Self { lowest, highest, unit })
        })
    }

    /// Checks an answer against the limit; returns the result, and the length as a text for the reason.
    pub(super) fn check_answer(self, answer: &str) -> (bool, String) {
        let (count, unit) = match self.unit {
            LengthUnit::Words => {
                (answer.split_whitespace().filter(|w| w.contains(char::is_alphanumeric)).count(), "words")
            }
            LengthUnit::Sentences => (count_sentences(answer), "sentences"),
            LengthUnit::Lines => (answer.lines().filter(|line| !line.trim().is_empty()).count(), "lines"),
            LengthUnit::Characters => (answer.trim().chars().count(), "characters"),
        };

        let kept =
            self.lowest.is_none_or(|low| count >= low) && self.highest.is_none_or(|high| count <= high);
        (kept, format!("the answer has {count} {unit}"))
    }
}

fn parse_bounds(before: &[&str], number: usize) -> Option<(Option<usize>, Option<usize>)> {
    let ends = |words: &[&str]| before.ends_with(words);
    if ends(&["no", "more", "than"])
        || ends(&["not", "exceed"])
        || ends(&["at", "most"])
        || ends(&["up", "to"])
    {
        return Some((None, Some(number)));
    }

    if ends(&["no", "fewer", "than"]) || ends(&["no", "less", "than"]) || ends(&["at", "least"]) {
        return Some((Some(number), None));
    }

    match before.last().copied()? {
        "within" | "maximum" | "max" | "most" => Some((None, Some(number))),
        "minimum" | "min" => Some((Some(number), None)),
        "under" | "below" => Some((None, Some(number.saturating_sub(1)))),
        "over" | "above" | "exceeds" => Some((Some(number.saturating_add(1)), None)),
        "exactly" => Some((Some(number), Some(number))),
        "than" if ends(&["fewer", "than"]) || ends(&["less", "than"]) => {
            Some((None, Some(number.saturating_sub(1))))
        }
        "than" if ends(&["more", "than"]) || ends(&["longer", "than"]) => {
            Some((Some(number.saturating_add(1)), None))
        }
        _ => None,
    }
}

fn count_sentences(text: &str) -> usize {
    let ends = text.trim().split_inclusive(['.', '!', '?', '\n', '。']);
    // A full stop inside "3.5" or "e.g." ends no sentence, so a sentence has at least two words.
    ends.filter(|piece| piece.split_whitespace().filter(|w| w.contains(char::is_alphanumeric)).count() >= 2)
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_and_counted() {
        let table = [
            ("Under 3 words.", "one two", true),
            ("Under 3 words.", "one two three", false),
            ("At most 3 words", "one two three", true),
            ("Uses no more than two sentences", "It is so. That is all.", true),
            ("Uses no more than two sentences", "It is so. That is all. Or so.", false),
            ("Must have at least 2 lines", "a\n\nb", true),
            ("Exceeds 50 words or is hard to understand.", "short", false),
            ("fewer than 10 characters", "0123456789", false),
        ];
        for (criterion, answer, kept) in table {
            let limit = LengthLimit::parse(criterion).unwrap_or_else(|| panic!("{criterion}"));
            assert_eq!(limit.check_answer(answer).0, kept, "{criterion}: {answer}");
        }
        for criterion in ["Mentions 50 words", "Under 50 dollars", "Gives 3 examples", ""] {
            assert_eq!(LengthLimit::parse(criterion), None, "{criterion}");
        }
    }
}
