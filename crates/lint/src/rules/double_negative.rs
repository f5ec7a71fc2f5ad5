//! L0104: two negations in a row.

use super::prelude::*;
use super::verbs::third_person;
use crate::words::{find_any_phrase, split_words};

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0104"),
    name: "double-negative",
    title: "The criterion negates a negation.",
    reason: "\"Does not fail to mention\" has to be inverted twice, which leads to errors. State it positively.",
    source: cited::CHECK_EVAL,
    bad: RuleExample::Criteria("- Does not fail to mention the deadline"),
    good: RuleExample::Criteria("- Mentions the deadline"),
    check: RuleCheck::FixableCriterion(check),
};

const FAIL_TO_PHRASES: &[&str] = &["does not fail to", "doesn't fail to", "never fails to"];

const OTHER_PHRASES: &[&str] = &[
    "does not fail", "not omit", "not omits", "doesn't omit", "does not forget", "doesn't forget",
    "never forgets", "does not neglect", "doesn't neglect", "does not lack", "doesn't lack", "not without",
    "not fail to", "never omits", "does not avoid", "doesn't avoid", "no lack of", "does not leave out",
    "doesn't leave out", "is not unclear", "not incorrect", "is not wrong",
];

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    let text = view.text();
    let words = split_words(text);
    if let Some(range) = find_any_phrase(&words, FAIL_TO_PHRASES) {
        let Some(span) = out.part_span(view.text_mark(), text, range.clone()) else { return };
        let mut diagnostic = Diagnostic::warning(RULE.code, "this criterion negates a negation")
            .at(span, "double negative")
            .with_help("state what the answer does");
        let verb = words.iter().find(|word| word.at.start > range.end);
        if let Some((verb, plain)) = verb.and_then(|verb| Some((verb, third_person(&verb.text)?))) {
            let whole = range.start..verb.at.end;
            let upper = text[range].starts_with(char::is_uppercase);
            if let Some(span) = out.exact_span(view.text_mark(), text, whole) {
                diagnostic =
                    diagnostic.with_suggestion("state it positively", span, with_case(&plain, upper));
            }
        }

        diagnostic.add_to(out);
    } else if let Some(range) = find_any_phrase(&words, OTHER_PHRASES)
        && let Some(span) = out.part_span(view.text_mark(), text, range)
    {
        Diagnostic::warning(RULE.code, "this criterion negates a negation")
            .at(span, "two negations")
            .with_help("state what the answer does")
            .add_to(out);
    }
}

/// Returns a word, with a capital letter if `upper` is true.
pub(super) fn with_case(word: &str, upper: bool) -> String {
    let mut chars = word.chars();
    match chars.next() {
        Some(first) if upper => first.to_uppercase().chain(chars).collect(),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{finds, in_text, silent};

    #[test]
    fn two_negations_are_found() {
        finds(
            "L0104",
            &["Does not omit the price", "Is not without risk", "The answer doesn't forget the date"],
        );
        assert_eq!(in_text("L0104", "Does not fail to name the price"), ["Does not fail to"]);
    }

    #[test]
    fn one_negation_is_fine() {
        silent(
            "L0104",
            &["Does not mention the price", "Fails gracefully", "Leaves out the price", "Tests fail"],
        );
    }
}
