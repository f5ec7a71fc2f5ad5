//! L0108: a criterion that ends in an open list.

use assize_diagnostic::{Code, Diagnostic};

use super::cited;
use crate::report::Report;
use crate::rule::{Check, Example, Rule};
use crate::view::CriterionView;
use crate::words::{any_phrase, words};

pub(super) const RULE: Rule = Rule {
    code: Code::new("L0108"),
    name: "open-list",
    title: "The criterion ends in an open list, such as \"etc\".",
    reason: "Nobody knows what else \"etc.\" demands, so nobody can say that it was missed. Name all that counts, or mark the names as examples: \"such as\".",
    source: cited::GUIDE,
    bad: Example::Criteria("- Mentions the weight limit, the size limit, etc."),
    good: Example::Criteria("- Mentions the weight limit\n- Mentions the size limit"),
    fixes: false,
    check: Check::Criterion(check),
};

const OPEN: &[&str] = &["etc", "and so on", "and so forth", "and the like", "and more", "among others"];

fn check(view: &CriterionView<'_>, out: &mut Report<'_>) {
    let text = view.text();
    let words = words(text);
    // In brackets and after "such as" the list is one of examples.
    let examples =
        any_phrase(&words, &["such as", "for example", "like", "e g", "including", "any", "one of"])
            .is_some();
    let Some(range) = any_phrase(&words, OPEN).filter(|_| !examples) else { return };
    let before = &text[..range.start];
    if before.matches('(').count() > before.matches(')').count()
        || text[range.end..].split_whitespace().count() > 3
        || text[range.end..].starts_with(" than")
    {
        return;
    }
    if let Some(span) = out.part(view.text_mark(), text, range) {
        out.add(
            Diagnostic::warning(RULE.code, "this list goes on without saying how", span, "what else?")
                .with_help("name all that counts, or write `such as` before the examples"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{finds, silent};

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
