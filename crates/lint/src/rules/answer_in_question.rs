//! L0502: the question contains the reference answer.

use super::prelude::*;
use crate::words::{find_any_phrase, split_words};

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0502"),
    name: "answer-in-question",
    title: "The question contains the answer or the reference.",
    reason: "A target that repeats its prompt passes. Often an example or a note of the author got into the input by mistake. Tasks of copying (extract, correct, translate, choose) are not reported.",
    source: "a target that gives back its prompt would pass",
    bad: RuleExample::Case(
        "  - id: late-parcel\n    input: |\n      Where is my parcel?\n      Note: The parcel is held up by a strike and comes on Thursday evening.\n    expected_output: The parcel is held up by a strike and comes on Thursday evening.\n    assertions: [Names Thursday as the day]",
    ),
    good: RuleExample::Case(
        "  - id: late-parcel\n    input: Where is my parcel?\n    expected_output: The parcel is held up by a strike and comes on Thursday evening.\n    assertions: [Names Thursday as the day]",
    ),
    check: RuleCheck::Case(check),
};

/// Minimum number of words. Shorter answers occur in questions by chance, or as one of several choices.
const MIN_WORDS: usize = 8;
const COPYING_VERBS: &[&str] = &[
    "extract", "repeat", "quote", "copy", "rewrite", "correct", "fix", "edit", "format", "convert", "echo",
    "proofread", "choose", "select", "classify", "sort", "translate", "summarize", "summarise", "find",
    "which", "transcribe", "refactor", "improve", "option", "options", "following", "context", "passage",
    "document", "article", "below", "above", "file",
];

/// Phrases with which an author's note gets into a question.
const GIVEAWAY_PHRASES: &[&str] = &[
    "the correct answer is", "the right answer is", "the expected answer is", "expected answer", "answer key",
];

fn check(view: &CaseView<'_>, out: &mut FindingCollector<'_>) {
    let case = view.case;
    let is_given_away = find_any_phrase(&split_words(&case.question()), GIVEAWAY_PHRASES).is_some();
    if let Some(span) = out.span(case.marks.id.as_ref()).filter(|_| is_given_away) {
        Diagnostic::warning(RULE.code, "the question contains the answer")
            .at(span, "of this case")
            .with_help("remove it from `input`; `expected_output` is shown to the judge, not to the target")
            .add_to(out);
        return;
    }

    let Some(reference) =
        case.reference().filter(|reference| reference.split_whitespace().count() >= MIN_WORDS)
    else {
        return;
    };

    let question = case.question();
    let plain =
        |text: &str| split_words(text).into_iter().map(|word| word.text).collect::<Vec<_>>().join(" ");
    let words = split_words(&question);
    if find_any_phrase(&words, COPYING_VERBS).is_some() || !plain(&question).contains(&plain(&reference)) {
        return;
    }

    if let Some(span) = out.span(case.marks.id.as_ref()) {
        Diagnostic::warning(RULE.code, "the question contains the reference answer")
            .at(span, "of this case")
            .with_help("remove it from `input`, or test something that can't be copied")
            .add_to(out);
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::in_cases;

    #[test]
    fn tasks_of_copying_are_fine() {
        let bad = super::RULE.bad.text();
        assert_eq!(in_cases("L0502", bad), ["late-parcel"]);
        assert!(in_cases("L0502", &bad.replace("Where is my parcel?", "Extract the note")).is_empty());
        assert!(in_cases("L0502", &bad.replace("Note: The", "Note: A")).is_empty());
        let told =
            "- {id: told-answer, input: 'What is 6 x 7? The correct answer is 42.', assertions: [Says 42]}\n";
        assert_eq!(in_cases("L0502", told), ["told-answer"]);
        let short = "- {id: yes-or-no, input: Say yes, expected_output: yes, assertions: [Says yes]}\n";
        assert!(in_cases("L0502", short).is_empty());
    }
}
