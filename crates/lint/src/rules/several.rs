//! L0102: two statements joined by "and".

use std::ops::Range;

use super::prelude::*;
use crate::words::{TextWord, find_any_phrase, skip_subject, split_words};

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0102"),
    name: "several-things",
    title: "The criterion demands several things at once.",
    reason: "An answer that does one of the two is neither met nor unmet, and judges disagree about it. As two criteria each gets its own decision, its own evidence and its own weight.",
    source: cited::CHECK_EVAL,
    bad: RuleExample::Criteria("- Names the cause of the delay and gives the new delivery date"),
    good: RuleExample::Criteria("- Names the cause of the delay\n- Gives the new delivery date"),
    check: RuleCheck::Criterion(check),
};

/// Verbs that begin criteria. Only before one of these, "and" joins a second statement.
pub(super) const VERBS: &[&str] = &[
    "acknowledges", "addresses", "advises", "asks", "avoids", "calculates", "cites", "compares", "concludes",
    "confirms", "contains", "correctly", "covers", "declines", "defines", "demonstrates", "describes",
    "discusses", "does", "explains", "gives", "handles", "highlights", "identifies", "implements",
    "includes", "informs", "introduces", "justifies", "lists", "mentions", "names", "notes", "offers",
    "outlines", "points", "proposes", "provides", "quotes", "recommends", "recognizes", "refers", "refuses",
    "rejects", "returns", "reports", "shows", "states", "suggests", "summarizes", "tells", "uses",
    "validates", "verifies", "warns",
];

/// Verbs that may begin the first statement, in addition to [`VERBS`].
const FIRST_VERBS: &[&str] = &["has", "is", "isn't"];
/// Words that may begin the second statement, in addition to [`VERBS`].
const SECOND_VERBS: &[&str] = &["doesn't", "never"];
/// Words that turn two statements into one: a choice, an order.
const JOINING_WORDS: &[&str] = &["and then", "either", "or"];
/// Words that begin a clause about a part of the answer. The words after them may belong to that clause.
const CLAUSE_WORDS: &[&str] = &["that", "which", "who", "how", "where", "whose"];

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    if view.bands().is_some() {
        return;
    }

    let all = split_words(view.text());
    let Some(range) = find_second_statement(view.text(), &all) else { return };
    if let Some(span) = out.part_span(view.text_mark(), view.text(), range) {
        Diagnostic::warning(RULE.code, "this criterion demands two things")
            .at(span, "the second thing begins here")
            .with_help("write two criteria and divide the weight between them")
            .add_to(out);
    }
}

/// Returns the range of "and VERB" if the text also begins with a verb.
fn find_second_statement(text: &str, all: &[TextWord]) -> Option<Range<usize>> {
    let predicate = skip_subject(all);
    let is_verb = |word: &TextWord, more: &[&str]| {
        VERBS.contains(&word.text.as_str()) || more.contains(&word.text.as_str())
    };
    if !predicate.first().is_some_and(|first| is_verb(first, FIRST_VERBS))
        || find_any_phrase(all, JOINING_WORDS).is_some()
    {
        return None;
    }

    let pair = predicate.windows(3).skip(1).find(|window| {
        let also = window[1].text == "also";
        let second = if also { &window[2] } else { &window[1] };

        // "Uses and states of", "names and lists, with": nouns.
        let noun = !also
            && (matches!(
                window[2].text.as_str(),
                "of" | "for" | "in" | "on" | "from" | "with" | "are" | "is" | "by"
            ) || text[window[1].at.end..].starts_with(['.', ',', ';', ')']));
        window[0].text == "and" && is_verb(second, SECOND_VERBS) && !noun
    })?;

    let from = pair[0].at.start;
    let before: Vec<TextWord> = predicate.iter().take_while(|word| word.at.start < from).cloned().collect();
    if find_any_phrase(&before, CLAUSE_WORDS).is_some() {
        return None;
    }

    // "(gives x and lists y)" explains the criterion, and adds no requirement.
    let open = text[..from].matches('(').count() > text[..from].matches(')').count();
    (!open).then(|| from..pair[1].at.end)
}

#[cfg(test)]
mod tests {
    use crate::tests::{finds, in_text, silent};

    #[test]
    fn a_second_verb_is_found() {
        finds(
            "L0102",
            &[
                "Explains the cause and offers a refund",
                "The answer states the date and lists the costs",
                "Lists the steps, and also states how long each takes",
                "Is polite and does not mention competitors",
                "Has a title and doesn't mention competitors",
            ],
        );
        assert_eq!(in_text("L0102", "Names the cause and gives a date"), ["and gives"]);
    }

    #[test]
    fn one_statement_may_have_an_and() {
        silent(
            "L0102",
            &[
                "Names both the cause and the date",
                "Explains how to read and return data",
                "Mentions the pros and cons",
                "Gives a plan (names steps and lists owners)",
                "Describes the positions and states of each object",
                "Salt and uses of it are described",
                "Is about a port that has a harbour and offers berths",
                "Is neither rude nor long",
                "Describes a function that identifies primes and returns their sum",
                "Either explains it and gives a date, or asks",
            ],
        );
    }
}
