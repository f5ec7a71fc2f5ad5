//! L0116: a criterion that rewards layout although the case does not ask for it.

use super::prelude::*;
use crate::words::{find_any_phrase, find_opening_phrase, is_negation, skip_subject, split_words};

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0116"),
    name: "rewards-layout",
    title: "The criterion rewards layout that the case does not ask for.",
    reason: "Judges already favour well-formatted answers; points for layout reward decoration. If the layout matters, ask for it in the case, or test its purpose.",
    source: cited::LLM_BAR,
    bad: RuleExample::Criteria("- Uses bullet points and bold headings"),
    good: RuleExample::Criteria("- Names each step on a line of its own"),
    check: RuleCheck::Criterion(check),
};

/// Layout words, each with the stems of words in a question that asks for it.
const LAYOUT_WORDS: &[(&str, &[&str])] = &[
    ("bullet points", &["bullet", "list", "format", "markdown", "structure"]),
    ("bullets", &["bullet", "list", "format", "markdown", "structure"]),
    ("bulleted list", &["bullet", "list", "format", "markdown", "structure"]),
    (
        "headings",
        &["heading", "section", "format", "markdown", "structure", "guide", "document", "report", "readme"],
    ),
    ("headers", &["header", "heading", "section", "format", "markdown", "structure", "http", "table", "csv"]),
    ("bold", &["bold", "format", "markdown", "emphas"]),
    ("italics", &["italic", "format", "markdown", "emphas"]),
    ("markdown", &["markdown", "format", "readme", ".md"]),
    ("emoji", &["emoji", "post", "tweet", "chat"]),
    ("emojis", &["emoji", "post", "tweet", "chat"]),
];
/// Maximum number of words. Longer criteria explain the purpose of the layout.
const MAX_WORDS: usize = 9;

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    let Some(case) = view.rubric.own_case() else { return };
    let words = split_words(view.text());
    let opens = find_opening_phrase(
        skip_subject(&words),
        &["uses", "includes", "has", "contains", "employs", "adds", "is formatted"],
    );
    let decided = view.weight() <= 0.0 || view.bands().is_some() || view.length() > MAX_WORDS;
    if opens.is_none() || decided || words.iter().any(|word| is_negation(&word.text)) {
        return;
    }

    let wanted = format!("{} {}", case.question(), case.expected_outcome.as_deref().unwrap_or_default())
        .to_lowercase();
    let unasked = LAYOUT_WORDS.iter().find_map(|(what, asks)| {
        let range = find_any_phrase(&words, &[what])?;
        (!asks.iter().any(|word| wanted.contains(word))).then_some(range)
    });
    if let Some(span) = unasked.and_then(|range| out.part_span(view.text_mark(), view.text(), range)) {
        Diagnostic::warning(RULE.code, "this criterion rewards layout")
            .at(span, "neither the question nor the expected outcome asks for it")
            .with_help("ask for it in the case, or test its purpose")
            .add_to(out);
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{finds, in_cases, silent};

    #[test]
    fn decoration_is_found() {
        finds("L0116", &["Uses bullet points", "The response includes emojis", "Has bold headings"]);
    }

    #[test]
    fn layout_that_is_asked_for_or_forbidden_is_fine() {
        silent("L0116", &["Does not use emojis", "Names the bold parts", "Uses the number of the parcel"]);
        let asked = "- {id: asked-list, input: Give me a list, assertions: [Uses bullet points]}\n";
        assert!(in_cases("L0116", asked).is_empty());
        assert_eq!(in_cases("L0116", &asked.replace("a list", "advice")), ["bullet points"]);
    }
}
