//! L0503: a case id without meaning.

use super::prelude::*;
use crate::dataset::is_dataset;

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0503"),
    name: "empty-case-id",
    title: "The id of the case is meaningless.",
    reason: "Reports, filters and comparisons of runs show ids. \"test-1\" makes everybody open the file, and numbers move when a case is added. Cases of JSONL datasets are not reported: there are too many to name.",
    source: "ids are the keys by which runs are compared; see docs/runs.md",
    bad: RuleExample::Case(
        "  - id: test-1\n    input: Where is my parcel?\n    assertions: [Names the depot]",
    ),
    good: RuleExample::Case(
        "  - id: parcel-location\n    input: Where is my parcel?\n    assertions: [Names the depot]",
    ),
    check: RuleCheck::Case(check),
};

const MEANINGLESS_WORDS: &[&str] = &[
    "test", "case", "eval", "example", "sample", "item", "foo", "bar", "baz", "untitled", "new", "tc",
    "testcase", "evalcase", "q", "t",
];

fn check(view: &CaseView<'_>, out: &mut FindingCollector<'_>) {
    let Some(mark) = view.case.marks.id.as_ref() else { return };
    if is_dataset(view.path) || is_dataset(mark.path()) {
        return;
    }

    let id = view.case.id.as_str().to_lowercase();
    let parts: Vec<&str> = id.split(|c: char| !c.is_alphabetic()).filter(|part| !part.is_empty()).collect();
    let empty = parts.iter().all(|part| MEANINGLESS_WORDS.contains(part) || part.chars().count() == 1)
        && parts.len() <= 2;

    // Ids in other scripts have parts too, but there a single character may be a word.
    if !empty || !id.is_ascii() {
        return;
    }

    if let Some(span) = out.span(Some(mark)) {
        Diagnostic::warning(RULE.code, "this id is meaningless")
            .at(span, "not descriptive")
            .with_help("name what is tested: `refund-after-deadline`")
            .add_to(out);
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{in_cases, lint_file};

    #[test]
    fn numbers_and_empty_words_are_found() {
        for (id, count) in [
            ("test-1", 1),
            ("case_07", 1),
            ("'42'", 1),
            ("a", 1),
            ("example-test", 1),
            ("sum-2", 0),
            ("test-refund", 0),
            ("sort_example", 0),
            ("质", 0),
        ] {
            let found = in_cases("L0503", &format!("- {{id: {id}, input: a, assertions: [Says so]}}\n"));
            assert_eq!(found.len(), count, "{id}");
        }
    }

    #[test]
    fn datasets_may_number_their_cases() {
        let line = "{\"id\": \"1\", \"input\": \"a\", \"assertions\": [\"Says so\"]}\n";
        assert!(lint_file("a.eval.jsonl", line).diagnostics.is_empty());
    }
}
