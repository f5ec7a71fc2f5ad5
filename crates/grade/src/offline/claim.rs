//! Terms that a criterion looks for, and the negation around them.

use std::ops::Range;

use super::text::{AnswerWord, split_words};
use super::word_lists::WORDS;

/// Most terms of a criterion; later ones are ignored.
const MAX_TERMS: usize = 400;
/// Most content words before a negation that make the negation the point of the criterion: "The function does
/// not ...".
const MAX_SUBJECT_WORDS: usize = 2;
/// Pairs of words that introduce examples.
const EXAMPLE_WORDS: [[&str; 2]; 4] = [["such", "as"], ["for", "example"], ["for", "instance"], ["e", "g"]];
/// Words that introduce a condition.
const CONDITION_WORDS: [&str; 4] = ["if", "unless", "when", "whenever"];
/// Words after a negation that make it a bound or an emphasis: "no later than", "not only".
const BOUND_WORDS: &str = " only later sooner earlier more less fewer longer matter ";
/// Most words of a quotation that is searched for verbatim; a longer one is searched for word by word.
const PHRASE_WORDS: usize = 12;

#[derive(Debug)]
pub(super) struct CriterionClaim {
    /// Distinct terms in order of first use.
    pub(super) wanted: Vec<ClaimTerm>,
    /// Negation in the criterion.
    pub(super) polarity: ClaimPolarity,
    /// True if it says "not" or "no", rather than a word such as "missing" that an answer can paraphrase.
    pub(super) says_no: bool,
    /// Act that the criterion requires of an answer, with the terms as its object.
    pub(super) act: ClaimedAct,
    /// True if it has a condition or only examples: then an answer without its words may meet it.
    pub(super) is_open: bool,
}

/// Act that a criterion requires of an answer, with its terms as the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClaimedAct {
    /// To contain quoted words or numbers: `Says "thank you"`. Whether it does can be seen.
    Quote,
    /// To mention them: "names the carrier", "no prices". Words that are missing everywhere are not mentioned.
    Mention,
    /// To state them: "says that the return is free". A sentence that says no states the opposite.
    Statement,
    /// Anything else, such as explaining or apologizing. It can be done in other words.
    Other,
}

/// One term that a criterion looks for.
#[derive(Debug, Clone)]
pub(super) struct ClaimTerm {
    pub(super) sought: SearchTerm,
    /// The term as the criterion spells it.
    pub(super) spelling: String,
    /// Weight of the term.
    pub(super) weight: f64,
    /// Terms joined by "or" share a group; one of them is enough.
    pub(super) group: usize,
    /// True for a name, a date or a number: the answer must contain the term, or one of its group.
    pub(super) required: bool,
    /// True for a number that may count what the answer should contain: "lists 3 reasons".
    pub(super) is_count: bool,
}

/// Term to search for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SearchTerm {
    /// A word by its stem.
    Stem(String),
    /// A number, or a class of numbers such as `2xx`.
    Number(String),
    /// Words in quotes or back-ticks, or a bound such as `O(n log n)`: these words in this order.
    Phrase(Vec<String>),
}

/// Negation in a criterion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClaimPolarity {
    /// No negation.
    Plain,
    /// The thing must be absent: "does not mention prices".
    Absence,
    /// The answer must state a negation: "explains that it is not thread-safe".
    Denial,
}

/// A word of a criterion, or the words of a quotation.
struct ClaimPart<'w> {
    words: &'w [AnswerWord],
    is_phrase: bool,
}

impl ClaimPart<'_> {
    fn is_negation(&self) -> bool {
        !self.is_phrase && self.words[0].is_negation
    }

    fn is_content(&self) -> bool {
        self.is_phrase || self.words[0].is_content && !self.words[0].is_negation
    }

    fn is_instruction(&self) -> bool {
        !self.is_phrase && !self.words[0].is_number && WORDS.is_instruction(&self.words[0].spelling)
    }

    /// The word, unless the part is a quotation.
    fn word(&self) -> &str {
        if self.is_phrase { "" } else { &self.words[0].spelling }
    }

    /// Returns true for words in quotation marks; back-ticks mark names instead.
    fn is_quotation(&self, text: &str) -> bool {
        self.is_phrase && text[..self.bytes().start].ends_with(['"', '“', '«', '「', '『'])
    }

    /// Returns true for a capitalized word, such as a name; not for an abbreviation or a piece of an
    /// identifier.
    fn is_capitalized(&self, text: &str) -> bool {
        let Range { start, end } = self.bytes();
        !self.is_phrase
            && text[start..end].starts_with(char::is_uppercase)
            && text[start..end].contains(char::is_lowercase)
            && !text[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_')
    }

    fn bytes(&self) -> Range<usize> {
        self.words[0].bytes.start..self.words[self.words.len() - 1].bytes.end
    }

    /// The part as the criterion writes it; a bound includes its closing bracket.
    fn spelling(&self, text: &str) -> String {
        let bytes = self.bytes();
        let is_bound =
            self.is_phrase && text[bytes.clone()].contains('(') && text[bytes.end..].starts_with(')');

        text[bytes.start..bytes.end + usize::from(is_bound)].to_owned()
    }

    fn search_term(&self) -> SearchTerm {
        let word = &self.words[0];
        match (self.is_phrase, word.is_number) {
            (true, _) => SearchTerm::Phrase(self.words.iter().map(|word| word.spelling.clone()).collect()),
            (false, true) => SearchTerm::Number(word.stem.clone()),
            (false, false) => SearchTerm::Stem(word.stem.clone()),
        }
    }
}

impl CriterionClaim {
    /// Parses a statement or a criterion, with all its terms.
    pub(super) fn parse(text: &str) -> Self {
        let words = split_words(text);
        let parts = split_parts(text, &words);
        let range = first_claimed(&parts)..parts.len();
        Self::from_parts(text, &parts, range, ClaimedAct::Other)
    }

    /// Parses a criterion to be decided. If quotations decide it, only they are searched for. Otherwise examples are
    /// not searched for, and neither are words before a verb of mentioning: "The record names the witness" asks for the
    /// witness.
    pub(super) fn parse_checklist(text: &str) -> Self {
        let words = split_words(text);
        let parts = split_parts(text, &words);
        let (act, start) = find_act(text, &parts);
        if let Some(range) = find_decisive_quotations(text, &parts) {
            return Self::from_parts(text, &parts, range, ClaimedAct::Quote);
        }

        let examples = (start..parts.len()).find(|at| is_example(&parts, *at)).unwrap_or(parts.len());
        let mut claim = Self::from_parts(text, &parts, start..examples, act);
        if claim.wanted.is_empty() {
            claim = Self::from_parts(text, &parts, start..parts.len(), act);
        }
        if claim.polarity == ClaimPolarity::Plain && is_about_quotations(text, &parts) {
            claim.wanted.retain(|term| matches!(term.sought, SearchTerm::Phrase(_)));
            claim.act = ClaimedAct::Quote;
        }
        // Criteria also describe the answer's act with general words ("recommends", "gives"), which answers
        // don't repeat.
        if act == ClaimedAct::Other && claim.wanted.iter().any(|term| term.weight >= 1.0) {
            claim.wanted.retain(|term| term.weight >= 1.0);
        }
        claim
    }

    /// Reads the terms of the parts in a range, or only its quotations, as alternatives.
    fn from_parts(text: &str, parts: &[ClaimPart<'_>], range: Range<usize>, act: ClaimedAct) -> Self {
        let is_quoted = act == ClaimedAct::Quote;

        // A criterion made only of instruction words ("gives an explanation") has no other words to search for.
        let is_plain = |part: &ClaimPart<'_>| part.is_content() && !part.is_instruction();
        let any_plain = parts[range.clone()].iter().any(is_plain);
        let examples = (0..parts.len()).find(|at| is_example(parts, *at)).unwrap_or(parts.len());
        // In a title, every word is capitalized.
        let has_names = parts.iter().skip(1).any(|part| part.is_content() && !part.is_capitalized(text));
        let (mut wanted, mut group, mut joined) = (Vec::<ClaimTerm>::new(), 0, false);

        for at in range {
            let part = &parts[at];
            let chosen = match (is_quoted, any_plain) {
                (true, _) => part.is_quotation(text),
                (false, true) => is_plain(part),
                (false, false) => part.is_content(),
            };
            let sought = part.search_term();
            if chosen && wanted.len() < MAX_TERMS && !wanted.iter().any(|known| known.sought == sought) {
                let before = text[..part.bytes().start].ends_with('/');
                group += usize::from(!is_quoted && !joined && !before || wanted.is_empty());

                let weight = match &sought {
                    SearchTerm::Stem(_)
                        if part.is_instruction() || WORDS.is_general(&part.words[0].spelling) =>
                    {
                        0.6
                    }
                    SearchTerm::Stem(_) => 1.0,
                    SearchTerm::Number(_) | SearchTerm::Phrase(_) => 1.5,
                };
                let required = at < examples
                    && (WORDS.is_date(part.word())
                        || has_names && is_name(text, parts, at)
                        || is_given_number(parts, at));
                let spelling = part.spelling(text);
                let is_count = is_count(parts, at);
                wanted.push(ClaimTerm { sought, spelling, weight, group, required, is_count });
            }

            joined = part.words[0].spelling == "or" || joined && !part.is_content();
        }

        let is_open =
            parts.iter().any(|part| CONDITION_WORDS.contains(&part.word())) || examples < parts.len();
        Self { wanted, polarity: detect_polarity(parts), says_no: says_no(parts), act, is_open }
    }
}

/// Index of the first part that can be claimed: behind the negation of an absence.
fn first_claimed(parts: &[ClaimPart<'_>]) -> usize {
    match detect_polarity(parts) {
        ClaimPolarity::Absence => parts.iter().position(ClaimPart::is_negation).map_or(0, |at| at + 1),
        ClaimPolarity::Plain | ClaimPolarity::Denial => 0,
    }
}

/// Returns the act that a criterion requires, and the index of the first part after the words for it.
fn find_act(text: &str, parts: &[ClaimPart<'_>]) -> (ClaimedAct, usize) {
    let start = first_claimed(parts);
    let word = |at: usize| parts.get(at).map_or("", ClaimPart::word);
    let is_absence = detect_polarity(parts) == ClaimPolarity::Absence;
    if is_absence && second_clause(text, parts).is_some() {
        return (ClaimedAct::Other, start);
    }

    // The verb may have a subject: "the record names". In "lists are sorted" and "handles lists" it is a noun.
    let max_subject = usize::from(!is_absence && WORDS.is_stop(word(0)));
    let is_verb = |at: &usize| {
        let before = parts[start..*at].iter().filter(|part| part.is_content() && !part.is_instruction());
        WORDS.is_mention(word(*at))
            && before.count() <= max_subject
            && parts[at + 1..].iter().any(ClaimPart::is_content)
            && !(*at > 0 && matches!(word(at - 1), "a" | "an" | "the"))
    };
    match (start..parts.len()).find(is_verb) {
        Some(at) if WORDS.is_statement(word(at)) || word(at + 1) == "that" => (ClaimedAct::Statement, at + 1),
        Some(at) => (ClaimedAct::Mention, at + 1),
        // "No prices", "without the use of prices".
        None if start == 1 && matches!(word(0), "no" | "without") => {
            (ClaimedAct::Mention, start + usize::from(word(start) == "use"))
        }
        // A criterion of a single word asks to mention it.
        None if parts.len() == 1 => (ClaimedAct::Mention, start),
        None => (ClaimedAct::Other, start),
    }
}

/// Index of the first part of a second clause, which need not be absent: "no prices, but ...".
fn second_clause(text: &str, parts: &[ClaimPart<'_>]) -> Option<usize> {
    let begins_clause = |at: &usize| {
        let gap = &text[parts[at - 1].bytes().end..parts[*at].bytes().start];
        parts[*at].word() == "but" || gap.contains([';', '.'])
    };
    (1..parts.len()).find(begins_clause)
}

/// The words of a criterion outside its quotations, in lower case.
pub(super) fn plain_words(text: &str) -> Vec<String> {
    let words = split_words(text);
    let parts = split_parts(text, &words).into_iter().filter(|part| !part.is_phrase);
    parts.map(|part| part.word().to_owned()).collect()
}

/// Range of the parts whose quotations alone decide a criterion: quotations that must be absent, and examples, where
/// one is enough (`a greeting such as "hello" or "good morning"`).
fn find_decisive_quotations(text: &str, parts: &[ClaimPart<'_>]) -> Option<Range<usize>> {
    let range = match detect_polarity(parts) {
        ClaimPolarity::Absence if second_clause(text, parts).is_some() => return None,
        ClaimPolarity::Absence => 0..parts.len(),
        ClaimPolarity::Plain => {
            let is_quoted = |at: &usize| parts[*at].is_quotation(text) && is_example(parts, *at);
            let first = (0..parts.len()).find(is_quoted)?;
            let others = parts[first..].iter().take_while(|part| part.is_phrase || part.word() == "or");
            first..first + others.count()
        }
        ClaimPolarity::Denial => return None,
    };

    parts[range.clone()].iter().any(|part| part.is_quotation(text)).then_some(range)
}

/// Returns true if a criterion asks for the quotations at its end: `Gives the number "0800 4711"`.
fn is_about_quotations(text: &str, parts: &[ClaimPart<'_>]) -> bool {
    let is_quoted = |part: &ClaimPart<'_>| {
        part.is_quotation(text) || part.is_phrase && text[..part.bytes().start].ends_with('`')
    };
    let (before, quoted) = parts.split_at(parts.iter().position(is_quoted).unwrap_or(parts.len()));

    before.iter().any(|part| WORDS.is_quoting(part.word()))
        && !quoted.is_empty()
        && quoted.iter().all(|part| is_quoted(part) || !part.is_content())
}

/// Returns true for parts after words such as "for example".
fn is_example(parts: &[ClaimPart<'_>], at: usize) -> bool {
    at >= 2 && EXAMPLE_WORDS.contains(&[parts[at - 2].word(), parts[at - 1].word()])
}

/// Returns true for a capitalized word within a sentence.
fn is_name(text: &str, parts: &[ClaimPart<'_>], at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return false };
    let gap = &text[parts[before].bytes().end..parts[at].bytes().start];

    parts[at].is_capitalized(text) && !gap.contains(['.', ':', '!', '?', '\n'])
}

/// Returns true for a number in digits that is a fact, and not a number of things that the answer should
/// contain ("lists 3 reasons", "at least 2 examples").
fn is_given_number(parts: &[ClaimPart<'_>], at: usize) -> bool {
    at >= 2 && parts[at].word().starts_with(char::is_numeric) && !parts[at - 1].is_instruction()
}

/// Returns true for a number that may be such a count: one in words, or one between a verb and a thing.
fn is_count(parts: &[ClaimPart<'_>], at: usize) -> bool {
    let part = &parts[at];
    let counts_things = || {
        let before = at
            .checked_sub(1)
            .is_some_and(|at| parts[at].is_instruction() || WORDS.is_mention(parts[at].word()));
        let after = parts.get(at + 1).is_some_and(ClaimPart::is_content);
        part.word().bytes().all(|b| b.is_ascii_digit()) && before && after
    };
    !part.is_phrase
        && part.words[0].is_number
        && (!part.word().starts_with(char::is_numeric) || counts_things())
}

/// Returns true if a criterion contains a "not" or "no" outside bounds and "or not".
fn says_no(parts: &[ClaimPart<'_>]) -> bool {
    let word = |at: usize| parts.get(at).map_or("", ClaimPart::word);

    (0..parts.len()).any(|at| {
        let is_plain = parts[at].is_negation() && (!parts[at].words[0].is_content || word(at) == "cannot");
        let is_bound = BOUND_WORDS.contains(&format!(" {} ", word(at + 1)));
        is_plain && !is_bound && (at == 0 || word(at - 1) != "or")
    })
}

/// Splits a criterion into words, with the words of a quotation together.
fn split_parts<'w>(text: &str, words: &'w [AnswerWord]) -> Vec<ClaimPart<'w>> {
    let (mut found, mut rest) = (Vec::new(), words);

    while let Some(first) = rest.first() {
        let phrase = phrase_end(text, first.bytes.start)
            .map(|end| rest.iter().take_while(|word| word.bytes.end <= end).count())
            .filter(|count| (1..=PHRASE_WORDS).contains(count));
        let (part, others) = rest.split_at(phrase.unwrap_or(1));
        found.push(ClaimPart { words: part, is_phrase: phrase.is_some() });

        rest = others;
    }

    found
}

/// End of the quotation or bound that begins at `start`.
fn phrase_end(text: &str, start: usize) -> Option<usize> {
    let (before, rest) = text.split_at(start);
    let close = match before.chars().next_back() {
        Some('"') if before.matches('"').count() % 2 == 1 => '"',
        Some('`') if before.matches('`').count() % 2 == 1 => '`',
        Some('“') => '”',
        Some('«') => '»',
        Some('「') => '」',
        Some('『') => '』',
        _ if rest.starts_with("O(") || rest.starts_with("Θ(") => ')',
        _ => return None,
    };

    rest.find(close).map(|end| start + end)
}

fn detect_polarity(parts: &[ClaimPart<'_>]) -> ClaimPolarity {
    let (mut subject, mut said) = (0, false);

    for part in parts {
        if part.is_negation() {
            return if !said && subject <= MAX_SUBJECT_WORDS {
                ClaimPolarity::Absence
            } else {
                ClaimPolarity::Denial
            };
        }

        said |= !part.is_phrase && WORDS.is_saying(&part.words[0].spelling);
        subject += usize::from(part.is_content() && !part.is_instruction());
    }

    ClaimPolarity::Plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<String>, ClaimPolarity) {
        let claim = CriterionClaim::parse(text);
        (claim.wanted.into_iter().map(|wanted| wanted.spelling).collect(), claim.polarity)
    }

    #[test]
    fn content_words_remain() {
        assert_eq!(
            read("The answer correctly mentions the time complexity O(n log n)"),
            (vec!["time".into(), "complexity".into(), "O(n log n)".into()], ClaimPolarity::Plain)
        );
        assert_eq!(read("Gives a clear response").0, ["Gives", "clear", "response"]);
        assert!(read("!!! ...").0.is_empty());
    }

    #[test]
    fn quoted_words_are_one_term_and_their_negation_is_not_the_criterion_s() {
        assert_eq!(
            read("Says \"and again\" or `do not`"),
            (vec!["and again".into(), "do not".into()], ClaimPolarity::Plain)
        );
        assert_eq!(read("Does not say “at all”"), (vec!["at all".into()], ClaimPolarity::Absence));
    }

    #[test]
    fn the_place_of_a_negation_decides_what_it_means() {
        assert_eq!(read("Does not mention prices"), (vec!["prices".into()], ClaimPolarity::Absence));
        assert_eq!(read("Avoids medical jargon").1, ClaimPolarity::Absence);
        assert_eq!(
            read("The function must not mutate its input"),
            (vec!["mutate".into(), "input".into()], ClaimPolarity::Absence)
        );
        assert_eq!(read("Explains that the cache is not thread-safe").1, ClaimPolarity::Denial);
        assert_eq!(read("Advises against self-medication").1, ClaimPolarity::Denial);
    }

    #[test]
    fn alternatives_share_a_group() {
        let claim = CriterionClaim::parse("Uses a heap or a queue");
        let groups: Vec<_> = claim.wanted.iter().map(|wanted| wanted.group).collect();
        assert_eq!(groups, [1, 2, 2]);
    }
}
