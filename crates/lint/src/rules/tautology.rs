//! L0405: a criterion that says "as expected".

use super::prelude::*;
use crate::words::{content_stems, jaccard_similarity, split_words};

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0405"),
    name: "tautology",
    title: "The criterion only repeats that the expectation is met.",
    reason: "\"Meets the expected outcome\" checks everything at once, so it counts all other criteria a second time. The expected outcome as one criterion among others does the same. Name what is expected.",
    source: cited::AUTO_RUBRIC,
    bad: RuleExample::Criteria("- Names the carrier\n- Meets the expected outcome"),
    good: RuleExample::Criteria("- Names the carrier\n- Gives Thursday as the new date"),
    check: RuleCheck::Criterion(check),
};

/// Words without content. A text that only consists of these is meaningless.
const FILLER_WORDS: &[&str] = &[
    "meets", "meet", "matches", "match", "satisfies", "fulfils", "fulfills", "achieves", "follows", "all",
    "the", "expected", "outcome", "outcomes", "criteria", "requirements", "requirement", "expectations",
    "expectation", "answer", "response", "output", "of", "task", "question", "prompt", "and", "is", "as",
    "with", "in", "line", "user's", "user", "request", "stated",
];
const KEY_WORDS: &[&str] = &["outcome", "outcomes", "criteria", "requirements", "expectations", "expected"];

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    if view.bands().is_some() {
        return;
    }

    let text = view.text();
    let words = split_words(text);
    let empty = words.len() >= 2
        && words.iter().all(|word| FILLER_WORDS.contains(&word.text.as_str()))
        && words.iter().any(|word| KEY_WORDS.contains(&word.text.as_str()));

    // With a reference answer, "matches the expected output" is a comparison and not a tautology.
    let compares = empty
        && words.iter().any(|w| matches!(w.text.as_str(), "output" | "answer" | "response"))
        && view.rubric.case.is_some_and(|case| !case.expected_output.is_empty());
    let several = view.rubric.rubric().criteria().len() > 1;
    let outcome =
        view.rubric.own_case().and_then(|case| case.expected_outcome.as_deref()).filter(|_| several);
    let repeats = outcome.is_some_and(|outcome| {
        let (a, b) = (content_stems(outcome), content_stems(text));
        a.len() >= 4 && jaccard_similarity(&a, &b) >= 0.95
    });
    let (title, label) = match (empty && !compares, repeats) {
        (true, _) => ("this criterion only says \"as expected\"", "nothing specific"),
        (false, true) => {
            ("this criterion is the expected outcome of the case", "counts the other criteria again")
        }
        (false, false) => return,
    };
    if let Some(span) = out.span(view.text_mark()) {
        Diagnostic::warning(RULE.code, title)
            .at(span, label)
            .with_help("name one expected thing")
            .add_to(out);
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{finds, in_cases, silent};

    #[test]
    fn empty_expectations_are_found() {
        finds("L0405", &["Meets all requirements", "Matches the expected outcome", "Satisfies the criteria"]);
    }

    #[test]
    fn expectations_with_content_are_fine() {
        silent(
            "L0405",
            &["Lists the requirements of customs", "Meets the size limit", "Answers the question"],
        );
    }

    #[test]
    fn the_expected_outcome_among_others_is_found() {
        let case = "- {id: why-late, input: Why?, criteria: Explains the strike of drivers honestly, assertions: [Explains the strike of drivers honestly, Gives a date]}\n";
        assert_eq!(in_cases("L0405", case), ["Explains the strike of drivers honestly"]);
        assert!(in_cases("L0405", &case.replace(", Gives a date", "")).is_empty(), "alone it is the rubric");
    }
}
