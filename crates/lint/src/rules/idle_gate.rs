//! L0205: a gate that every answer passes.

use assize_diagnostic::Span;
use assize_rubric::Gate;

use super::prelude::*;

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0205"),
    name: "gate-never-fails",
    title: "The minimum is 0, so the gate can never fail.",
    reason: "Every answer reaches a minimum of 0, so the gate has no effect. Raise it, or remove it.",
    source: cited::ARITHMETIC,
    bad: RuleExample::Criteria(
        "- id: tone\n  outcome: The tone towards the customer\n  min_score: 0\n  score_ranges:\n    0: Insults the customer\n    5: Is neutral",
    ),
    good: RuleExample::Criteria(
        "- id: tone\n  outcome: The tone towards the customer\n  min_score: 0.5\n  score_ranges:\n    0: Insults the customer\n    5: Is neutral",
    ),
    check: RuleCheck::FixableCriterion(check),
};

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    let idle = match view.criterion().gate {
        Some(Gate::MinValue(minimum)) => minimum.get() == 0.0,
        Some(Gate::MinRaw(minimum)) => minimum.get() == 0,
        Some(Gate::PassLine) => view.rubric.case.is_some() && view.rubric.pass_threshold() == 0.0,
        Some(Gate::Met) | None => false,
    };

    let Some(span) = out.span(view.gate_mark()).filter(|_| idle) else { return };
    let mut diagnostic = Diagnostic::warning(RULE.code, "this gate can't fail")
        .at(span, "every answer reaches 0")
        .with_help("raise the minimum, or remove it");

    // In the `evalcases` format, removing the key would make a checklist criterion required.
    let removable = view.bands().is_some() && view.marks().is_some_and(|marks| marks.required.is_none());
    if let Some(line) = find_whole_line(out, span).filter(|_| removable) {
        diagnostic = diagnostic.with_suggestion("remove the line", line, "");
    }

    diagnostic.add_to(out);
}

/// Returns the line of a span, with its line end, if the span is alone on it.
fn find_whole_line(out: &FindingCollector<'_>, span: Span) -> Option<Span> {
    let text = out.sources.map.file(span.source).text();
    let start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let end = span.end + text[span.end..].find('\n')? + 1;
    let blank = |part: &str| part.trim().is_empty();

    (blank(&text[start..span.start]) && blank(&text[span.end..end]))
        .then(|| Span::new(span.source, start, end))
}

#[cfg(test)]
mod tests {
    use crate::tests::{in_criteria, lint_file};
    use crate::{apply_fixes, collect_fixes};

    const BANDS: &str = "  score_ranges: {0: Bad words, 5: Good words}\n";

    #[test]
    fn only_a_minimum_of_zero_is_idle() {
        for (minimum, count) in
            [("min_score: 0", 1), ("required_min_score: 0", 1), ("min_score: 0.1", 0), ("required: true", 0)]
        {
            let found = in_criteria("L0205", &format!("- id: a1\n  {minimum}\n{BANDS}"));
            assert_eq!(found.len(), count, "{minimum}: {found:?}");
        }
    }

    #[test]
    fn the_line_is_removed_and_nothing_else() {
        let file = super::RULE.bad.file();
        let linted = lint_file("a.yaml", &file);
        let fixes = collect_fixes(&linted.diagnostics, &linted.sources);
        let changed = apply_fixes(&file, fixes.values().next().expect("one file")).expect("fits");
        assert_eq!(changed, file.replace("            min_score: 0\n", ""));
    }
}
