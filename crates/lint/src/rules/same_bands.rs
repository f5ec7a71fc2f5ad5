//! L0301: two score ranges with the same text.

use super::prelude::*;
use crate::words::split_words;

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0301"),
    name: "ranges-repeat",
    title: "Two score ranges differ in nothing but words of degree.",
    reason: "A judge chooses a range by its text. Between \"clear\" and \"very clear\" the choice is arbitrary. Name what the higher range has that the lower one lacks.",
    source: cited::PROMETHEUS,
    bad: RuleExample::Criteria(
        "- id: clarity\n  outcome: The steps\n  score_ranges:\n    0: Hard to follow\n    4: Clear\n    8: Very clear",
    ),
    good: RuleExample::Criteria(
        "- id: clarity\n  outcome: The steps\n  score_ranges:\n    0: Steps are missing or out of order\n    4: All steps, in order\n    8: All steps, in order, each with its reason",
    ),
    check: RuleCheck::Criterion(check),
};

const DEGREE_WORDS: &[&str] = &[
    "very", "quite", "fairly", "rather", "somewhat", "highly", "extremely", "really", "mostly", "largely",
    "slightly", "moderately", "exceptionally", "the", "a", "an", "is", "answer", "response", "too", "and",
];

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    let (Some(bands), Some(marks)) = (view.bands(), view.marks()) else { return };
    let cores: Vec<String> = bands.as_slice().iter().map(|band| core_words(&band.text)).collect();
    for (index, later) in cores.iter().enumerate() {
        let Some(first) = cores[..index].iter().position(|earlier| earlier == later && !later.is_empty())
        else {
            continue;
        };
        let (Some(span), Some(before)) = (out.span(marks.bands.get(index)), out.span(marks.bands.get(first)))
        else {
            return;
        };
        Diagnostic::warning(RULE.code, "two score ranges have the same meaning")
            .at(span, "no difference named")
            .with_secondary(before, "than here")
            .with_help("name what the higher range has that the lower one lacks")
            .add_to(out);
    }
}

fn core_words(text: &str) -> String {
    let words: Vec<String> = split_words(text)
        .into_iter()
        .map(|w| w.text)
        .filter(|w| !DEGREE_WORDS.contains(&w.as_str()))
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use crate::tests::in_criteria;

    fn bands(low: &str, high: &str) -> Vec<String> {
        in_criteria(
            "L0301",
            &format!(
                "- id: a1\n  score_ranges:\n    - score_range: [6, 10]\n      outcome: {high}\n    - score_range: [0, 5]\n      outcome: {low}\n"
            ),
        )
    }

    #[test]
    fn degrees_make_no_difference() {
        assert_eq!(bands("Clear", "Very clear"), ["Very clear"]);
        assert_eq!(bands("The answer is useful", "Highly useful."), ["Highly useful."]);
        assert_eq!(bands("Names it", "Names it"), ["Names it"]);
    }

    #[test]
    fn negation_and_amounts_do() {
        assert!(bands("Not clear", "Clear").is_empty());
        assert!(bands("Names some steps", "Names all steps").is_empty());
    }
}
