//! L0107: a subjective adjective without an anchor.

use super::prelude::*;
use crate::words::{find_any_phrase, is_anchored, split_words};

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0107"),
    name: "subjective-without-anchor",
    title: "The criterion depends on a subjective word.",
    reason: "\"Appropriate\", \"engaging\", \"elegant\": judges disagree about them. Name what makes it so, or give an example of what is enough and what is not.",
    source: cited::RESEARCH_RUBRICS,
    bad: RuleExample::Criteria("- Closes with an appropriate apology"),
    good: RuleExample::Criteria(
        "- Closes with an apology that names the delay, such as \"sorry your parcel is late\"",
    ),
    check: RuleCheck::Criterion(check),
};

const SUBJECTIVE_WORDS: &[&str] = &[
    "appropriate", "appropriately", "suitable", "suitably", "nice", "nicely", "interesting", "engaging",
    "elegant", "elegantly", "reasonable", "reasonably", "compelling", "insightful", "high-quality",
    "well-written", "adequate", "adequately", "satisfactory", "user-friendly", "impressive", "creative",
    "creatively", "natural-sounding", "sensible", "sensibly", "properly", "effectively", "meaningful",
    "meaningfully", "good",
];
/// Maximum number of words. Longer criteria usually explain the adjective.
const MAX_WORDS: usize = 12;

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    let text = view.text();
    if view.bands().is_some() || view.length() > MAX_WORDS || is_anchored(text) {
        return;
    }

    let words = split_words(text);

    // There is a separate rule for criteria that consist of praise.
    if words.len() < 4
        || find_any_phrase(&words, &["by", "which", "when", "good faith", "good morning"]).is_some()
    {
        return;
    }

    let Some(range) = find_any_phrase(&words, SUBJECTIVE_WORDS) else { return };
    if let Some(span) = out.part_span(view.text_mark(), text, range) {
        Diagnostic::warning(RULE.code, "a subjective word decides this criterion")
            .at(span, "subjective")
            .with_help("name what makes it so, or add an example: `such as ...`")
            .add_to(out);
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{finds, in_text, silent};

    #[test]
    fn taste_without_a_measure_is_found() {
        finds("L0107", &["Uses appropriate variable names throughout", "Handles missing files properly"]);
        assert_eq!(in_text("L0107", "Opens with an engaging first line"), ["engaging"]);
    }

    #[test]
    fn a_measure_makes_it_right() {
        silent(
            "L0107",
            &[
                "Uses appropriate names such as `total`",
                "Names are reasonable: no single letters",
                "Handles missing files properly by returning an error",
                "Lists the goods",
            ],
        );
    }
}
