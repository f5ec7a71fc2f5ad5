//! L0112: a criterion that permits instead of requiring.

use super::prelude::*;
use crate::words::{find_any_phrase, split_words};

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0112"),
    name: "permission",
    title: "The criterion allows something instead of requiring it.",
    reason: "\"May mention\" is true whether it is mentioned or not, so the criterion is always met, or judged as \"must\". If it is worth points, require it with a small weight and no gate; otherwise remove it.",
    source: cited::GUIDE,
    bad: RuleExample::Criteria("- The answer may mention the insurance"),
    good: RuleExample::Criteria("- outcome: Mentions the insurance\n  weight: 0.5"),
    check: RuleCheck::Criterion(check),
};

const PERMISSIONS: &[&str] = &[
    "answer may", "response may", "output may", "assistant may", "agent may", "model may", "reply may",
    "answer might", "response might", "answer could", "response could", "may optionally", "can optionally",
    "could optionally", "optionally mentions", "optionally includes",
];

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    let text = view.text();
    let words = split_words(text);
    let Some(range) = find_any_phrase(&words, PERMISSIONS) else { return };

    // Next to a requirement, a permission explains it. "May not" forbids.
    let rest = &text[range.end..];
    let demand = find_any_phrase(&words, &["must", "but", "should", "as long as", "if", "or", "not", "only"])
        .is_some();
    if demand
        || range.start > 8
        || rest.contains(['.', ';', ',']) && rest.trim_end_matches('.').contains(['.', ';', ','])
    {
        return;
    }

    if let Some(span) = out.part_span(view.text_mark(), text, range) {
        Diagnostic::warning(RULE.code, "this criterion is always met")
            .at(span, "allowed, not required")
            .with_help("require it with a small weight and no gate, or remove it")
            .add_to(out);
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{finds, silent};

    #[test]
    fn permissions_are_found() {
        finds("L0112", &["The response may include a greeting", "Optionally mentions the price"]);
    }

    #[test]
    fn demands_with_leave_are_fine() {
        silent(
            "L0112",
            &[
                "The answer may not name the customer",
                "The answer must name the price; the response may round it",
                "States what the customer may send",
            ],
        );
    }
}
