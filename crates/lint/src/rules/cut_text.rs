//! L0117: a criterion that a `#` cut short.

use assize_document::cut_text;

use super::prelude::*;

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0117"),
    name: "cut-text",
    title: "A `#` cuts the criterion short.",
    reason: "In YAML, ` #` begins a comment. The judge sees only the text before it.",
    source: "criteria reach the judge as YAML reads them",
    bad: RuleExample::Criteria("- Mentions ticket #42 and its date"),
    good: RuleExample::Criteria("- \"Mentions ticket #42 and its date\""),
    check: RuleCheck::Criterion(check),
};

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    let Some(span) = out.span(view.text_mark()) else { return };
    let text = out.sources.map.file(span.source).text();
    let written = &text[span.start..span.end];
    if written.starts_with(['"', '\'', '|', '>', '{', '[']) {
        return;
    }
    if let Some(found) = cut_text(written, &text[span.end..], span) {
        Diagnostic { code: RULE.code, ..found }.add_to(out);
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::found;

    #[test]
    fn plain_text_before_a_word_with_a_hash_is_cut() {
        for (criterion, is_cut) in [
            ("Mentions ticket #42 and its date", true),
            ("Mentions the ticket # 42", false),
            ("\"Mentions ticket #42\"", false),
            ("Explains C# generics", false),
        ] {
            let file = format!(
                "tests:\n  - id: parcel-help\n    input: Help\n    assertions:\n      - type: rubrics\n        \
                 criteria:\n          - {criterion}\n"
            );
            assert_eq!(found(&file).iter().any(|(code, _)| code == "L0117"), is_cut, "{criterion}");
        }
    }
}
