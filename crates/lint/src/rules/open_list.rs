//! L0108: a criterion that ends in an open list.

use super::prelude::*;
use crate::words::{find_any_phrase, split_words};

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0108"),
    name: "open-list",
    title: "The criterion ends in an open list, such as \"etc\".",
    reason: "It is unclear what \"etc.\" demands. List everything that counts, or mark the list as examples with \"such as\".",
    source: cited::GUIDE,
    bad: RuleExample::Criteria("- Mentions the weight limit, the size limit, etc."),
    good: RuleExample::Criteria("- Mentions the weight limit\n- Mentions the size limit"),
    check: RuleCheck::Criterion(check),
};

const OPEN_ENDINGS: &[&str] =
    &["etc", "and so on", "and so forth", "and the like", "and more", "among others"];

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    let text = view.text();
    let words = split_words(text);

    // A list in brackets or after "such as" only gives examples.
    let examples =
        find_any_phrase(&words, &["such as", "for example", "like", "e g", "including", "any", "one of"])
            .is_some();
    let Some(range) = find_any_phrase(&words, OPEN_ENDINGS).filter(|_| !examples) else { return };
    let before = &text[..range.start];
    if before.matches('(').count() > before.matches(')').count()
        || text[range.end..].split_whitespace().count() > 3
        || text[range.end..].starts_with(" than")
    {
        return;
    }

    if let Some(span) = out.part_span(view.text_mark(), text, range) {
        Diagnostic::warning(RULE.code, "this list is open-ended")
            .at(span, "what else?")
            .with_help("list everything that counts, or write `such as` before examples")
            .add_to(out);
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{finds, silent};

    #[test]
    fn open_ends_are_found() {
        finds("L0108", &["Names price, size, etc.", "Covers cost, time and so on"]);
    }

    #[test]
    fn examples_may_go_on() {
        silent(
            "L0108",
            &[
                "Handles edge cases (none, empty, etc.)",
                "Names a limit such as weight, size, etc.",
                "Costs 5 and more than that is said",
            ],
        );
    }
}
