//! L0105: a criterion written as a question.

use super::double_negative::with_case;
use super::prelude::*;
use super::verbs::third_person;
use crate::words::{SUBJECT_NOUNS, TextWord, split_words};

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0105"),
    name: "question",
    title: "The criterion is a question.",
    reason: "A criterion is a statement that is met or unmet. A question has to be turned into a statement first, which is impossible for \"how well?\".",
    source: "HealthBench (arXiv:2505.08775): criteria are statements about the answer, decided as met or not met",
    bad: RuleExample::Criteria("- Does the answer mention the deadline?"),
    good: RuleExample::Criteria("- Mentions the deadline"),
    check: RuleCheck::FixableCriterion(check),
};

/// Words after which a question can't be turned into a statement by removing its beginning: a second verb stays
/// in its plain form ("and explain"), or a choice stays open ("any").
const REWORDED: &[&str] =
    &["and", "or", "but", "nor", "then", "any", "anything", "ever", "either", "both", "also"];

const OPENING_WORDS: &[&str] = &[
    "does", "do", "did", "is", "are", "was", "were", "has", "have", "can", "could", "should", "would",
    "will", "how", "what", "which", "who", "why", "when", "where", "to",
];

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    let text = view.text().trim();
    let words = split_words(text);
    let opens = words.first().is_some_and(|word| OPENING_WORDS.contains(&word.text.as_str()));
    if !opens || !text.ends_with('?') || text.matches('?').count() > 1 || view.bands().is_some() {
        return;
    }

    let Some(span) = out.span(view.text_mark()) else { return };
    let mut diagnostic = Diagnostic::warning(RULE.code, "this criterion is a question")
        .at(span, "not a statement")
        .with_help("state what is true of a good answer");

    // "Does the answer mention x?" becomes "Mentions x": the subject and the question mark are removed.
    let verb = match words.as_slice() {
        [does, the, subject, verb, ..]
            if does.text == "does" && the.text == "the" && SUBJECT_NOUNS.contains(&subject.text.as_str()) =>
        {
            let is_reworded = |word: &TextWord| REWORDED.contains(&word.text.as_str());
            let is_one_statement = !text.contains(',') && !words.iter().any(is_reworded);
            Some(verb).filter(|_| is_one_statement)
        }
        _ => None,
    };
    if let Some((verb, third)) = verb.and_then(|verb| Some((verb, third_person(&verb.text)?)))
        && let Some(span) = out.exact_span(view.text_mark(), text, 0..text.len())
    {
        let rest = text[verb.at.end..].trim_end_matches('?');
        diagnostic =
            diagnostic.with_suggestion("state it", span, format!("{}{rest}", with_case(&third, true)));
    }

    diagnostic.add_to(out);
}

#[cfg(test)]
mod tests {
    use crate::rule::RuleExample;
    use crate::tests::{finds, lint_file, silent};

    #[test]
    fn questions_are_found() {
        finds("L0105", &["Does it name the price?", "Is the tone polite?", "How clear is it?"]);
    }

    #[test]
    fn statements_about_questions_are_fine() {
        silent(
            "L0105",
            &["Asks: where is it?", "Does not ask back", "Ends with \"Anything else?\"", "Is polite"],
        );
    }

    #[test]
    fn questions_that_would_say_something_else_are_left_to_people() {
        for question in [
            "Does the answer mention the deadline and explain the delay?",
            "Does the answer mention the deadline or the fee?",
            "Does the answer mention any deadline?",
            "Does the answer mention the deadline, if the user asks?",
        ] {
            let criteria = format!("- {question}").leak();
            let linted = lint_file("a.yaml", &RuleExample::Criteria(criteria).file());
            let found = linted.diagnostics.iter().find(|one| one.code == super::RULE.code);
            assert!(found.expect("a question").suggestion.is_none(), "{question}");
        }
    }

    #[test]
    fn the_plain_form_is_restated() {
        let file = super::RULE.bad.file();
        let linted = lint_file("a.yaml", &file);
        let suggestion = linted.diagnostics[0].suggestion.as_ref().expect("sure");
        assert_eq!(suggestion.replacement, "Mentions the deadline");
        assert_eq!(linted.sources.slice(suggestion.span), "Does the answer mention the deadline?");
    }
}
