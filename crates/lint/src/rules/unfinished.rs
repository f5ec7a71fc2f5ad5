//! L0109: unfinished text.

use super::prelude::*;
use crate::words::{find_opening_phrase, split_words};

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0109"),
    name: "unfinished",
    title: "The criterion is not finished.",
    reason: "The text has a mark of unfinished work, or a placeholder without a value. The judge reads it as it is.",
    source: "criteria reach the judge word for word",
    bad: RuleExample::Criteria("- \"TBD: name the carrier\""),
    good: RuleExample::Criteria("- Names the carrier"),
    check: RuleCheck::Criterion(check),
};

const UNFINISHED_MARKS: &[&str] = &["todo", "tbd", "fixme", "xxx", "lorem ipsum"];

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    let text = view.text();
    let words = split_words(text);
    let mark = find_opening_phrase(&words, UNFINISHED_MARKS).filter(|range| {
        let written = &text[range.clone()];
        written.to_lowercase() == "lorem ipsum" || written.chars().all(|c| c.is_ascii_uppercase())
    });
    let Some(range) = mark.or_else(|| find_placeholder(text)) else { return };
    if let Some(span) = out.part_span(view.text_mark(), text, range) {
        Diagnostic::warning(RULE.code, "this criterion is not finished")
            .at(span, "the judge reads this as it is")
            .with_help("complete the text; values come from the case's `vars`")
            .add_to(out);
    }
}

/// Returns the range of `{{ name }}` or `[insert ...]`.
fn find_placeholder(text: &str) -> Option<std::ops::Range<usize>> {
    let open = text.find("{{")?;
    let close = open + text[open..].find("}}")? + 2;
    let name = text[open + 2..close - 2].trim();
    let is_name =
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-'));

    is_name.then_some(open..close)
}

#[cfg(test)]
mod tests {
    use crate::tests::{finds, in_text, silent};

    #[test]
    fn marks_and_placeholders_are_found() {
        finds("L0109", &["TBD", "TBD: the price"]);
        assert_eq!(in_text("L0109", "Names {{ price }}"), ["{{ price }}"]);
    }

    #[test]
    fn criteria_about_such_marks_are_fine() {
        silent(
            "L0109",
            &[
                "Leaves nothing marked TBD in the code", "Todo list has three items", "Uses {braces}",
                "Prints {{}}",
            ],
        );
    }
}
