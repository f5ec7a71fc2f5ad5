//! L0501: a criterion that repeats the question.

use super::prelude::*;
use crate::words::{content_stems, jaccard_similarity};

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0501"),
    name: "restates-question",
    title: "The criterion says no more than the question.",
    reason: "\"Explains how quicksort works\" beside \"Explain how quicksort works\" lets the judge define a good explanation. Name what it must contain.",
    source: cited::RESEARCH_RUBRICS,
    bad: RuleExample::Case(
        "  - id: quicksort\n    input: Explain how the quicksort algorithm works\n    assertions:\n      - Explains how the quicksort algorithm works\n      - States the worst case",
    ),
    good: RuleExample::Case(
        "  - id: quicksort\n    input: Explain how the quicksort algorithm works\n    assertions:\n      - Describes partitioning around a pivot\n      - States the worst case",
    ),
    check: RuleCheck::Criterion(check),
};

/// Minimum word similarity of a criterion that repeats the question.
const MIN_SIMILARITY: f64 = 0.8;

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    let Some(case) = view.rubric.own_case() else { return };
    if view.bands().is_some() || case.input.len() != 1 {
        return;
    }

    let (question, stems) = (case.question(), content_stems(view.text()));
    // The task may be the first sentence of a longer question. The other sentences are conditions, which are
    // legitimate criteria.
    let first = question.split(['.', '?', '!', '\n']).next().unwrap_or_default();
    let again = [question.as_str(), first]
        .iter()
        .any(|asked| jaccard_similarity(&content_stems(asked), &stems) >= MIN_SIMILARITY);
    if stems.len() < 3 || !again {
        return;
    }

    if let Some(span) = out.span(view.text_mark()) {
        Diagnostic::warning(RULE.code, "this criterion repeats the question")
            .at(span, "no content named")
            .with_help("name what a good answer contains")
            .add_to(out);
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::in_cases;

    fn case(question: &str, criterion: &str) -> usize {
        in_cases(
            "L0501",
            &format!("- {{id: one-case, input: \"{question}\", assertions: [\"{criterion}\"]}}\n"),
        )
        .len()
    }

    #[test]
    fn the_same_words_are_found() {
        assert_eq!(
            case("Please explain the causes of the strike.", "The answer explains the causes of the strike"),
            1
        );
    }

    #[test]
    fn more_or_less_than_the_question_is_fine() {
        for (question, criterion) in [
            ("Explain the causes of the strike", "Names low pay as a cause of the strike"),
            ("Write a function with type hints, a docstring and tests", "Has type hints"),
            ("Why?", "Says why"),
        ] {
            assert_eq!(case(question, criterion), 0, "{criterion}");
        }
    }
}
