//! L0101: a criterion that consists of praise.

use super::prelude::*;
use crate::words::{is_stop, split_words};

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0101"),
    name: "vague-criterion",
    title: "The criterion only praises and checks nothing specific.",
    reason: "\"Good quality\" means something different to each judge. Name what can be seen in an answer that meets the criterion.",
    source: cited::GUIDE,
    bad: RuleExample::Criteria("- The response is helpful and of good quality"),
    good: RuleExample::Criteria("- Names the day on which the parcel arrives"),
    check: RuleCheck::Criterion(check),
};

const PRAISE: &[&str] = &[
    "good", "great", "nice", "high", "helpful", "useful", "clear", "clearly", "accurate", "accurately",
    "appropriate", "appropriately", "relevant", "adequate", "adequately", "reasonable", "reasonably",
    "proper", "properly", "correct", "correctly", "excellent", "effective", "effectively", "suitable",
    "acceptable", "satisfactory", "sensible", "solid", "well", "high-quality", "meaningful", "valuable",
    "complete", "comprehensive", "thorough", "coherent", "insightful", "well-written", "well-structured",
    "better", "best", "right", "fine", "decent", "optimal", "strong", "robust",
];

/// Words that name neither the praised thing nor a quality of it.
const FILLER_WORDS: &[&str] = &[
    "quality", "code", "text", "content", "result", "results", "work", "overall", "very", "quite", "really",
    "highly", "fully", "generally", "is", "looks", "seems", "sounds", "makes", "sense", "gives", "provides",
    "written", "manner", "way", "level", "standard", "standards", "user", "users", "answers", "responds",
    "question", "request", "task",
];

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    if view.bands().is_some() {
        return;
    }

    let words = split_words(view.text());
    let praise = words.iter().filter(|w| PRAISE.contains(&w.text.as_str())).count();
    let known = |w: &str| PRAISE.contains(&w) || FILLER_WORDS.contains(&w) || is_stop(w);
    if praise == 0 || !words.iter().all(|w| known(&w.text)) {
        return;
    }

    // With a reference answer, "answers the question correctly" is a comparison with it.
    let compares =
        words.iter().any(|w| matches!(w.text.as_str(), "correct" | "correctly" | "accurate" | "right"));
    if compares && view.rubric.case.is_some_and(|case| case.reference().is_some()) {
        return;
    }

    if let Some(span) = out.span(view.text_mark()) {
        Diagnostic::warning(RULE.code, "this criterion has nothing to check")
            .at(span, "only praise")
            .with_help("name what an answer must contain: a fact, a step, a name, a number")
            .add_to(out);
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{finds, silent};

    #[test]
    fn praise_alone_is_found() {
        finds(
            "L0101",
            &[
                "Good code quality", "The answer is accurate and clear", "Is helpful.",
                "Provides a great response",
            ],
        );
    }

    #[test]
    fn anything_concrete_is_enough() {
        silent(
            "L0101",
            &[
                "Good error handling for missing files", "Clear headings", "Is written in German",
                "States the time", "Answers",
            ],
        );
    }
}
