//! L0406: style criteria that outweigh content.

use super::prelude::*;
use crate::words::{content_stems, split_words};

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0406"),
    name: "style-outweighs-content",
    title: "A criterion about style has the largest weight.",
    reason: "Judges already favour well-presented answers. The largest weight on tone or layout adds to that bias, unless the question is about style.",
    source: cited::LLM_BAR,
    bad: RuleExample::Criteria(
        "- {outcome: Keeps a polite tone, weight: 3}\n- Names the carrier\n- Gives the date",
    ),
    good: RuleExample::Criteria(
        "- {outcome: Keeps a polite tone, weight: 0.5}\n- Names the carrier\n- Gives the date",
    ),
    check: RuleCheck::Rubric(check),
};

const STYLE_WORDS: &[&str] = &[
    "tone", "polite", "politely", "courteous", "friendly", "markdown", "headings", "heading", "bullet",
    "bullets", "formatting", "formatted", "layout", "grammar", "spelling", "concise", "emoji", "emojis",
    "professional", "readable",
];

fn is_style(criterion: &CriterionView<'_>) -> bool {
    criterion.length() <= 10
        && split_words(criterion.text()).iter().any(|word| STYLE_WORDS.contains(&word.text.as_str()))
}

fn check(view: &RubricView<'_>, out: &mut FindingCollector<'_>) {
    let weight_of = |wanted: bool| {
        view.criteria().filter(|c| is_style(c) == wanted).map(|c| c.weight()).fold(0.0, f64::max)
    };
    let (style, substance) = (weight_of(true), weight_of(false));
    if style <= substance || substance == 0.0 {
        return;
    }

    // If the question is about style, or the rubric applies to the whole suite, the author wants it like this.
    let Some(case) = view.own_case() else { return };
    for criterion in view.criteria().filter(|c| is_style(c) && c.weight() == style) {
        let question = content_stems(&case.question());
        let expected = case.expected_outcome.as_deref().map(content_stems).unwrap_or_default();
        let words = split_words(criterion.text());
        let wanted = words
            .iter()
            .filter(|word| STYLE_WORDS.contains(&word.text.as_str()))
            .map(|word| crate::words::stem(&word.text))
            .any(|stem| question.contains(&stem) || expected.contains(&stem));

        let mark = criterion.marks().and_then(|marks| marks.weight.as_ref());
        if let Some(span) = out.span(mark).filter(|_| !wanted) {
            Diagnostic::warning(RULE.code, "style weighs more than content here")
                .at(span, format!("the largest weight on content is {substance}"))
                .with_help("lower this weight, unless the question is about style")
                .add_to(out);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::in_criteria;

    #[test]
    fn style_may_weigh_as_much_as_content() {
        let bad = super::RULE.bad.text();
        assert_eq!(in_criteria("L0406", bad), ["weight: 3"]);
        assert!(in_criteria("L0406", &bad.replace("weight: 3", "weight: 1")).is_empty());
        assert!(in_criteria("L0406", &bad.replace("Keeps a polite tone", "Names the weight")).is_empty());
        assert!(
            in_criteria(
                "L0406",
                &bad.replace(
                    "Keeps a polite tone",
                    "Tells me what matters in a polite tone about parcels with ten or more words"
                )
            )
            .is_empty()
        );
    }
}
