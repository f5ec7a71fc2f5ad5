//! L0114: a criterion that asks for "the correct answer" although the case does not give it.

use super::prelude::*;
use crate::words::{find_any_phrase, split_words};

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0114"),
    name: "correct-without-key",
    title: "The criterion asks for the correct answer, which the case does not give.",
    reason: "Without the answer the judge solves the task itself and grades by its own mistakes. Put the value into the criterion, or give a reference answer in `expected_output`.",
    source: "MT-Bench (arXiv:2306.05685): a reference answer removes most failures of judges in mathematics and reasoning",
    bad: RuleExample::Criteria("- Gives the correct answer"),
    good: RuleExample::Criteria("- Gives 17.40 euros as the price"),
    check: RuleCheck::Criterion(check),
};

const CORRECTNESS_PHRASES: &[&str] = &[
    "correct answer", "correct result", "correct solution", "correct value", "correct response",
    "correct final answer", "right answer", "right result", "answer is correct", "answer is right",
    "result is correct", "correct number", "response is correct", "final answer is correct",
];

/// Maximum number of words. Longer criteria mention a correct answer only in passing.
const MAX_WORDS: usize = 8;

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    let text = view.text();
    let Some(case) = view.rubric.own_case() else { return };
    let known = !case.expected_output.is_empty()
        || case.expected_outcome.as_deref().is_some_and(|outcome| outcome != text && has_value(outcome));
    if known || has_value(text) || view.bands().is_some() || view.length() > MAX_WORDS {
        return;
    }

    let words = split_words(text);
    let Some(range) = find_any_phrase(&words, CORRECTNESS_PHRASES) else { return };

    // Other criteria of the rubric may contain the value, but the judge sees one criterion at a time.
    if find_any_phrase(&words, &["that", "namely", "of", "which", "or", "not", "because", "as"]).is_some() {
        return;
    }

    if let Some(span) = out.part_span(view.text_mark(), text, range) {
        Diagnostic::warning(RULE.code, "the correct answer is not given")
            .at(span, "the judge has to guess")
            .with_help("write the value here, or give a reference answer in `expected_output`")
            .add_to(out);
    }
}

/// Returns true if a text contains a value to compare with: a number, a quotation, code.
fn has_value(text: &str) -> bool {
    text.contains(['"', '`', '“', '\'', ':', '(', '=']) || text.chars().any(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use crate::tests::{finds, in_cases, silent};

    #[test]
    fn a_key_that_nobody_has_is_found() {
        finds("L0114", &["Gives the correct answer", "The final answer is correct"]);
    }

    #[test]
    fn a_value_or_a_reference_is_a_key() {
        silent(
            "L0114",
            &[
                "Gives the correct answer (42)",
                "Gives the correct answer that Paris is meant",
                "Uses correct grammar",
            ],
        );
        let case = "- {id: sum-of-two, input: What is 2 + 2?, expected_output: '4', assertions: [Gives the correct answer]}\n";
        assert_eq!(in_cases("L0114", case), Vec::<String>::new());
        let without = case.replace("expected_output: '4', ", "");
        assert_eq!(in_cases("L0114", &without), ["correct answer"]);
    }
}
