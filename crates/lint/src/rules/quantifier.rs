//! L0106: an amount without a number.

use super::prelude::*;
use crate::words::split_words;

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0106"),
    name: "quantifier-without-number",
    title: "The criterion asks for an amount without a number.",
    reason: "Judges disagree whether two examples are \"several\". A number is unambiguous.",
    source: cited::RESEARCH_RUBRICS,
    bad: RuleExample::Criteria("- Gives several examples of prohibited goods"),
    good: RuleExample::Criteria("- Gives at least two examples of prohibited goods"),
    check: RuleCheck::Criterion(check),
};

const AMOUNT_WORDS: &[&str] = &[
    "several", "few", "enough", "sufficient", "numerous", "various", "many", "multiple", "plenty", "couple",
    "adequate",
];

const COUNTABLE_NOUNS: &[&str] = &[
    "examples", "sources", "reasons", "points", "arguments", "details", "citations", "references", "steps",
    "options", "alternatives", "suggestions", "ways", "benefits", "facts", "perspectives", "ideas",
    "recommendations", "questions", "tips", "strategies", "evidence", "quotes",
];

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    let text = view.text();
    let words = split_words(text);

    if text.chars().any(|c| c.is_ascii_digit()) || view.bands().is_some() {
        return;
    }

    let counted = |at: usize| words.get(at).is_some_and(|w| COUNTABLE_NOUNS.contains(&w.text.as_str()));
    let Some(at) = (0..words.len()).find(|&at| {
        let amount = AMOUNT_WORDS.contains(&words[at].text.as_str());
        let before = at.checked_sub(1).map_or("", |b| words[b].text.as_str());

        // "Of the many reasons" does not count anything; "too many" and "not many" set a limit on purpose.
        amount
            && !matches!(before, "the" | "too" | "so" | "how" | "as" | "these" | "those")
            // In "many development steps" the amount may be incidental, but "several good examples" asks for
            // some.
            && (counted(at + 1) || (counted(at + 2) && !matches!(words[at].text.as_str(), "many" | "multiple" | "various")))
    }) else {
        return;
    };
    if let Some(span) = out.part_span(view.text_mark(), text, words[at].at.clone()) {
        Diagnostic::warning(RULE.code, "no number")
            .at(span, "no number")
            .with_help("write a number: `at least two`")
            .add_to(out);
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{finds, in_text, silent};

    #[test]
    fn amounts_of_countable_things_are_found() {
        finds(
            "L0106",
            &["Cites multiple sources", "Offers a few good alternatives", "Gives sufficient evidence"],
        );
        assert_eq!(in_text("L0106", "Cites numerous facts"), ["numerous"]);
    }

    #[test]
    fn numbers_and_other_uses_are_fine() {
        silent(
            "L0106",
            &[
                "Cites at least 2 of several sources", "Handles multiple users",
                "Each task holds many development steps", "Explains multiple inheritance",
                "Does not ask too many questions", "Asks how many options there are",
            ],
        );
    }
}
