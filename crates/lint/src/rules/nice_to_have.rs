//! L0203: a required criterion worded as a wish.

use super::prelude::*;
use crate::words::{find_any_phrase, split_words};

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0203"),
    name: "required-nice-to-have",
    title: "The criterion is required, and its text says it is nice to have.",
    reason: "The case fails without it, although the text says \"ideally\". Criteria written as plain strings are required, too.",
    source: cited::GUIDE,
    bad: RuleExample::Criteria("- outcome: Ideally mentions the insurance\n  required: true"),
    good: RuleExample::Criteria("- outcome: Mentions the insurance\n  weight: 0.5"),
    check: RuleCheck::Criterion(check),
};

const WISHES: &[&str] = &[
    "ideally", "preferably", "optionally", "nice to have", "nice-to-have", "bonus", "if possible",
    "where possible", "when possible", "would be nice", "extra credit", "is a plus", "not required",
    "not strictly necessary",
];

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    let text = view.text();
    let words = split_words(text);

    // "A bonus" may be the subject of the criterion, and not a wish.
    let wish = find_any_phrase(&words, WISHES).filter(|range| {
        &text[range.clone()].to_lowercase() != "bonus"
            || text[range.end..].starts_with(':')
            || text[range.end..].starts_with(" points")
    });
    let (Some(_), Some(range)) = (view.criterion().gate, wish) else { return };
    let Some(span) = out.part_span(view.text_mark(), text, range) else { return };
    let mut diagnostic = Diagnostic::warning(RULE.code, "an optional wish is required")
        .at(span, "nice to have")
        .with_help("remove `required` and give it a small weight, or remove the word");
    let marks = view.marks();
    match out.span(marks.and_then(|marks| marks.required.as_ref().or(marks.minimum.as_ref()))) {
        Some(span) => diagnostic = diagnostic.with_secondary(span, "without it the case fails"),
        None => diagnostic = diagnostic.with_note("required by default"),
    }

    diagnostic.add_to(out);
}

#[cfg(test)]
mod tests {
    use crate::tests::{in_criteria, silent};

    #[test]
    fn wishes_that_are_required_are_found() {
        assert_eq!(
            in_criteria("L0203", "- outcome: Names the price, if possible\n  required: true\n"),
            ["if possible"]
        );
        assert_eq!(in_criteria("L0203", "- Preferably names the price\n"), ["Preferably"]);
    }

    #[test]
    fn wishes_without_a_gate_are_fine() {
        silent("L0203", &["Ideally names the price"]);
        assert!(in_criteria("L0203", "- Explains the yearly bonus\n").is_empty());
    }
}
