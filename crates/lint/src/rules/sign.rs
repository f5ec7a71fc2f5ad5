//! L0201: a weight whose sign contradicts the wording.

use std::ops::Range;

use assize_rubric::CriterionOperator;

use super::prelude::*;
use crate::words::{TextWord, find_any_phrase, find_opening_phrase, is_negation, skip_subject, split_words};

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0201"),
    name: "sign-contradicts-wording",
    title: "The sign of the weight contradicts the wording.",
    reason: "A penalty is incurred when its text is true. \"Does not insult\" with weight -2 punishes polite answers, and \"Fails to name\" with weight 2 rewards the failure.",
    source: "HealthBench (arXiv:2505.08775); openai/simple-evals, issue 77: published criteria whose sign contradicts their wording",
    bad: RuleExample::Criteria(
        "- Names the delivery date\n- outcome: Does not blame the customer\n  weight: -2",
    ),
    good: RuleExample::Criteria("- Names the delivery date\n- outcome: Blames the customer\n  weight: -2"),
    check: RuleCheck::Criterion(check),
};

const ABSENCE_PHRASES: &[&str] = &[
    "does not", "doesn't", "avoids", "never", "refrains from", "is free of", "contains no", "has no",
    "makes no",
];
/// Verbs for things whose absence is a fault.
const OMISSION_VERBS: &[&str] = &[
    "mention", "include", "provide", "explain", "address", "answer", "state", "give", "ask", "recommend",
    "name", "list", "cite", "use", "follow", "specify", "identify", "acknowledge", "advise", "warn",
    "describe", "discuss", "clarify", "suggest", "offer", "respond", "contain", "have", "meet", "note",
    "cover", "consider", "handle", "return", "seek", "inform", "tell", "emphasize", "encourage", "adhere",
    "comply", "indicate", "refer", "direct", "do", "make", "attempt", "fully", "clearly", "correctly",
    "adequately", "explicitly", "properly", "accurately", "appropriately", "account", "check", "verify",
    "reference", "highlight", "urge", "request", "show", "present", "define", "distinguish", "provides",
];
const FAULT_PHRASES: &[&str] = &[
    "fails to", "incorrectly", "wrongly", "falsely", "hallucinates", "fabricates", "misrepresents",
    "misstates", "makes up", "invents facts", "neglects to", "forgets to", "erroneously", "contains errors",
    "is wrong", "is incorrect", "is misleading", "is rude", "is inaccurate", "is offensive", "leaks",
];
/// Verbs that ascribe a fault, which a noun names.
const ASCRIBING_VERBS: &[&str] =
    &["contains", "makes", "commits", "introduces", "has", "gives", "provides", "includes", "states"];
/// Nouns that name a fault.
const FAULT_NOUNS: &[&str] = &[
    "errors", "mistakes", "inaccuracies", "hallucinations", "falsehoods", "misinformation", "contradictions",
    "typos",
];
/// Praise that is never used for a fault. "Clearly" and "politely" are not included, because a fault can be
/// stated clearly.
const MERIT_PHRASES: &[&str] = &[
    "correctly", "accurately", "is correct", "is accurate", "is factually correct", "is clear", "is polite",
    "is helpful",
];

/// Returns the range of a fault that a statement ascribes to the answer: "contains factual errors".
fn find_ascribed_fault(predicate: &[TextWord]) -> Option<Range<usize>> {
    let holds = find_opening_phrase(predicate, ASCRIBING_VERBS)?;
    // Up to two words may be between the verb and the noun, if none of them negates it.
    let near = predicate.get(1..predicate.len().min(4))?;
    let at = near.iter().position(|word| FAULT_NOUNS.contains(&word.text.as_str()))?;
    let between = &near[..at];
    let back = |word: &TextWord| {
        is_negation(&word.text) || matches!(word.text.as_str(), "about" | "of" | "common" | "possible")
    };

    (!between.iter().any(back)).then(|| holds.start..near[at].at.end)
}

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    let criterion = view.criterion();
    let text = view.text();
    let all = split_words(text);
    let predicate = skip_subject(&all);
    let weight = view.weight();

    if criterion.operator == CriterionOperator::Contradiction || view.bands().is_some() {
        return;
    }

    let (range, title, help) = if weight < 0.0 && find_opening_phrase(predicate, MERIT_PHRASES).is_some() {
        let Some(range) = find_opening_phrase(predicate, MERIT_PHRASES) else { return };
        (range, "this penalty punishes a merit", "give it a positive weight, or name the fault itself")
    } else if weight < 0.0 {
        let Some(range) = find_opening_phrase(predicate, ABSENCE_PHRASES) else { return };
        let next = predicate.iter().find(|word| word.at.start > range.end);
        let fault_of_omission = next.is_some_and(|word| {
            OMISSION_VERBS.contains(&word.text.as_str())
                && !matches!(&text[range.clone()], "Avoids" | "avoids")
        });
        if fault_of_omission || find_any_phrase(&all, &["enough", "any"]).is_some() {
            return;
        }

        (
            range,
            "this penalty punishes the absence of a fault",
            "name the fault itself: \"Blames the customer\"",
        )
    } else if weight > 0.0 {
        let Some(range) =
            find_opening_phrase(predicate, FAULT_PHRASES).or_else(|| find_ascribed_fault(predicate))
        else {
            return;
        };
        (range, "this criterion rewards a fault", "give it a negative weight, or say what a good answer does")
    } else {
        return;
    };

    let Some(span) = out.part_span(view.text_mark(), text, range) else { return };
    let mut diagnostic =
        Diagnostic::warning(RULE.code, title).at(span, format!("with weight {weight}")).with_help(help);
    if let Some(span) = out.span(view.marks().and_then(|marks| marks.weight.as_ref())) {
        diagnostic = diagnostic.with_secondary(span, "the sign");
    }

    diagnostic.add_to(out);
}

#[cfg(test)]
mod tests {
    use crate::tests::{finds, in_criteria, silent};

    fn with_weight(text: &str, weight: i32) -> Vec<String> {
        in_criteria("L0201", &format!("- A parcel is named\n- outcome: \"{text}\"\n  weight: {weight}\n"))
    }

    #[test]
    fn contradictions_are_found() {
        finds(
            "L0201",
            &[
                "Fails to name the price",
                "The answer incorrectly names the carrier",
                "Contains factual errors about the price",
                "The response makes mistakes",
            ],
        );
        for text in [
            "Does not insult the customer", "Avoids medical jargon", "Never promises a date",
            "Correctly names the carrier", "The response is accurate",
        ] {
            assert_eq!(with_weight(text, -3).len(), 1, "{text}");
        }
    }

    #[test]
    fn faults_of_omission_are_penalties() {
        for text in [
            "Does not mention the deadline", "Fails to name the price", "Insults the customer",
            "Clearly recommends the wrong carrier",
        ] {
            assert_eq!(with_weight(text, -3), Vec::<String>::new(), "{text}");
        }
        silent(
            "L0201",
            &[
                "Does not insult the customer", "Names the price", "Explains why the upload fails to start",
                "Contains no errors", "Gives a list of common errors", "Lists the mistakes",
                "Has a section about errors",
            ],
        );
    }
}
