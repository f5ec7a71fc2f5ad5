//! L0110: a criterion that rewards length although the question does not ask for it.

use super::prelude::*;
use crate::words::{find_any_phrase, is_anchored, is_negation, split_words, stem};

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0110"),
    name: "rewards-length",
    title: "The criterion rewards length, and the question does not ask for it.",
    reason: "Judges already favour long answers; \"detailed\" or \"comprehensive\" adds to that bias. Name the details that matter, or ask for length in the question.",
    source: cited::LENGTH_BIAS,
    bad: RuleExample::Criteria("- Provides a detailed explanation"),
    good: RuleExample::Criteria("- Explains that the strike at the carrier causes the delay"),
    check: RuleCheck::Criterion(check),
};

const LENGTH_WORDS: &[&str] = &[
    "detailed", "comprehensive", "comprehensively", "thorough", "thoroughly", "extensive", "extensively",
    "lengthy", "in-depth", "elaborate", "exhaustive", "exhaustively",
];
/// Maximum number of words. Longer criteria name the details that they expect.
const MAX_WORDS: usize = 9;

/// Units of length.
const UNITS: &[&str] = &["words", "characters", "sentences", "paragraphs", "pages", "lines"];
/// Words in questions that ask for a length.
const LENGTH_REQUESTS: &[&str] = &[
    "words", "word", "characters", "sentences", "paragraphs", "paragraph", "pages", "page", "lines", "long",
    "length", "essay", "short", "brief",
];

/// Reports "Is at least 500 words long" if the question asks for no length.
fn check_minimum_length(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) -> bool {
    let Some(case) = view.rubric.own_case().filter(|_| view.weight() > 0.0 && view.bands().is_none()) else {
        return false;
    };
    let words = split_words(view.text());
    let Some(range) =
        find_any_phrase(&words, &["at least", "more than", "a minimum of", "minimum of", "no fewer than"])
    else {
        return false;
    };
    let mut rest = words.iter().skip_while(|word| word.at.start < range.end);
    let number = rest.next().is_some_and(|word| word.text.chars().all(|c| c.is_ascii_digit()));
    let unit = rest.next().filter(|word| number && UNITS.contains(&word.text.as_str()));
    let wanted = format!("{} {}", case.question(), case.expected_outcome.as_deref().unwrap_or_default());
    let Some(unit) = unit.filter(|_| find_any_phrase(&split_words(&wanted), LENGTH_REQUESTS).is_none())
    else {
        return false;
    };
    if let Some(span) = out.part_span(view.text_mark(), view.text(), range.start..unit.at.end) {
        Diagnostic::warning(RULE.code, "this criterion rewards length")
            .at(span, "the question does not ask for it")
            .with_help("ask for the length in the question, or name the required facts")
            .add_to(out);
    }

    true
}

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    let text = view.text();

    if check_minimum_length(view, out) {
        return;
    }
    if view.weight() <= 0.0 || view.bands().is_some() || view.length() > MAX_WORDS || is_anchored(text) {
        return;
    }

    let words = split_words(text);
    let Some(range) =
        find_any_phrase(&words, LENGTH_WORDS).filter(|_| !words.iter().any(|w| is_negation(&w.text)))
    else {
        return;
    };

    // The adjective must describe the answer, not a part of it.
    let about_answer = find_any_phrase(
        &words,
        &[
            "explanation", "answer", "response", "description", "overview", "analysis", "summary",
            "is detailed", "is comprehensive", "is thorough", "thoroughly", "comprehensively", "discussion",
            "report", "guide", "review",
        ],
    )
    .is_some();
    if !about_answer
        || find_any_phrase(&words, &["too", "overly", "unnecessarily", "about", "of the", "covering"])
            .is_some()
    {
        return;
    }

    let is_in_question = |word: &str| {
        let question = view.rubric.own_case().map(|case| case.question().to_lowercase()).unwrap_or_default();
        question.contains(&stem(word))
    };
    if is_in_question(&text[range.clone()].to_lowercase()) {
        return;
    }

    if let Some(span) = out.part_span(view.text_mark(), text, range) {
        Diagnostic::warning(RULE.code, "this criterion rewards length")
            .at(span, "the question does not ask for it")
            .with_help("name the required facts or steps")
            .add_to(out);
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{finds, in_cases, silent};

    #[test]
    fn length_nobody_asked_for_is_found() {
        finds(
            "L0110",
            &[
                "The response is comprehensive", "Gives an in-depth analysis",
                "Thoroughly explains the matter",
            ],
        );
    }

    #[test]
    fn details_that_are_named_or_asked_for_are_fine() {
        silent(
            "L0110",
            &[
                "Gives a detailed price list: item, price",
                "Is not a lengthy answer",
                "Recommends exhaustive tests of the parcel",
            ],
        );
        let asked =
            "- {id: guide-asked, input: Write a detailed guide, assertions: [Provides a detailed guide]}\n";
        assert_eq!(in_cases("L0110", asked), Vec::<String>::new());
        let counted =
            "- {id: guide-counted, input: Explain parcels, assertions: [Is at least 500 words long]}\n";
        assert_eq!(in_cases("L0110", counted), ["at least 500 words"]);
        assert!(
            in_cases("L0110", &counted.replace("Explain parcels", "Write 500 words on parcels")).is_empty()
        );
        assert!(in_cases("L0110", &counted.replace("500 words long", "2 carriers")).is_empty());
        let unasked = asked.replace("Write a detailed", "Write a");
        assert_eq!(in_cases("L0110", &unasked), ["detailed"]);
    }
}
