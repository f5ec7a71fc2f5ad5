//! L0115: a criterion about material that the case does not have.

use std::ops::Range;

use assize_model::{Case, GraderKind};
use assize_rubric::MessageBlock;

use super::prelude::*;
use crate::view::has_block;
use crate::words::{TextWord, find_any_phrase, find_opening_phrase, skip_subject, split_words};

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0115"),
    name: "unverifiable",
    title: "The criterion is about something that the case does not have.",
    reason: "A judge that can't see the image, the file or the earlier turn relies on the claims of the answer. Times and costs are not in the answer either; measure them with graders of type `latency`, `cost` and `token-usage`.",
    source: "Agent-as-a-Judge (arXiv:2410.10934): judges that can look at what was done agree better with people than judges that only read the answer",
    bad: RuleExample::Criteria("- Describes the damage in the attached image"),
    good: RuleExample::Criteria("- Describes the damage that the question names"),
    check: RuleCheck::Criterion(check),
};

const IMAGE_PHRASES: &[&str] = &[
    "attached image", "in the image", "the screenshot", "attached screenshot", "attached photo",
    "in the photo", "the provided image", "the given image", "in the picture", "the uploaded image",
];
const FILE_PHRASES: &[&str] = &[
    "attached file", "attached document", "attached files", "uploaded file", "uploaded document",
    "attached pdf",
];
const TURN_PHRASES: &[&str] = &[
    "earlier in the conversation", "previous turn", "previous turns", "previous message",
    "previous messages", "earlier turn", "earlier turns", "earlier messages", "earlier message",
    "conversation history", "prior turns", "prior turn",
];
const RESPONSE_TIME_PHRASES: &[&str] =
    &["response time", "responds within", "answers within", "replies within", "latency of the response"];
/// Phrases about the running time of a program in the answer. They count if there is a number of seconds.
const DURATION_PHRASES: &[&str] = &[
    "runs in", "runs within", "completes in", "completes within", "executes in", "executes within",
    "finishes in", "finishes within", "takes less than", "takes at most", "responds in", "answers in",
    "loads in",
];
/// Claims that can only be verified by running the answer.
const EXECUTION_PHRASES: &[&str] = &[
    "compiles without", "compiles successfully", "compiles and", "code compiles", "runs without",
    "executes without", "builds without", "code runs", "passes all tests", "passes the tests",
    "passes all unit tests", "passes all existing tests", "works in production", "works in all browsers",
];
/// Words for the reader of the answer, whose feelings a judge can't see.
const READER_NOUNS: &[&str] = &["user", "customer", "reader", "audience", "patient", "student"];
const FEELING_PHRASES: &[&str] = &[
    "is satisfied", "feels", "understands", "enjoys", "is happy", "trusts", "learns", "will understand",
    "is convinced", "is reassured",
];

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    let text = view.text();
    let words = split_words(text);
    let predicate = skip_subject(&words);
    let clock = find_any_phrase(&words, RESPONSE_TIME_PHRASES)
        .or_else(|| find_opening_phrase(predicate, DURATION_PHRASES))
        .filter(|_| has_seconds(text));
    let (range, missing, help) = if let Some(range) = clock {
        (range, "time is not in the answer", "use a grader of type `latency`, or a program that runs it")
    } else if let Some(range) = find_demanded_feeling(&words) {
        (range, "the reader's reaction is not in the answer", "ask what the answer says or does")
    } else if let Some(range) = find_opening_phrase(
        &predicate[usize::from(predicate.first().is_some_and(|word| word.text == "the"))..],
        EXECUTION_PHRASES,
    )
    .filter(|_| !is_executed(view))
    {
        (
            range,
            "the judge reads the answer and does not run it",
            "run it: a grader of type `code-grader`, or a `workspace` for an agent",
        )
    } else {
        let Some(case) = view.rubric.own_case() else { return };
        let found = |phrases: &[&str], lacks: bool| find_any_phrase(&words, phrases).filter(|_| lacks);
        let asks = |word: &str| case.question().to_lowercase().contains(word);
        let no_image = !has_block(case, |b| matches!(b, MessageBlock::Image { .. }));
        let no_file =
            !has_block(case, |b| matches!(b, MessageBlock::File { .. } | MessageBlock::Image { .. }));

        // If the question mentions the thing, it may contain it as text, or its address.
        let visual =
            ["image", "screenshot", "photo", "picture", "http", "figure"].iter().any(|word| asks(word));
        let document = ["file", "document", "attach", "upload", "pdf", "http", "workspace", "```"]
            .iter()
            .any(|word| asks(word));
        if let Some(range) = found(IMAGE_PHRASES, no_image && !visual && has_no_other_material(case)) {
            (range, "this case has no image", "attach the image with `{type: image, value: PATH}`")
        } else if let Some(range) = found(FILE_PHRASES, no_file && !document && has_no_other_material(case)) {
            (
                range,
                "this case has no file",
                "attach the file with `input_files` or `{type: file, value: PATH}`",
            )
        } else if let Some(range) = found(TURN_PHRASES, is_single_message(case)) {
            (range, "this case has a single message", "write the earlier messages into `input`")
        } else {
            return;
        }
    };
    if let Some(span) = out.part_span(view.text_mark(), text, range) {
        Diagnostic::warning(RULE.code, "the judge can't see this")
            .at(span, missing)
            .with_help(help)
            .add_to(out);
    }
}

/// Returns true if a text contains a number with a unit of time.
fn has_seconds(text: &str) -> bool {
    let words = split_words(text);
    let joined = |word: &TextWord| {
        let unit = word.text.trim_start_matches(|c: char| c.is_ascii_digit());
        unit.len() < word.text.len() && matches!(unit, "ms" | "s" | "sec")
    };
    words.iter().any(joined)
        || text.chars().any(|c| c.is_ascii_digit())
            && find_any_phrase(&words, &["seconds", "second", "milliseconds", "ms", "minutes", "minute"])
                .is_some()
}

/// Returns the range of a required feeling of the reader: "the user feels heard".
fn find_demanded_feeling(words: &[TextWord]) -> Option<Range<usize>> {
    let article = usize::from(words.first().is_some_and(|word| word.text == "the"));
    let reader = words.get(article).filter(|word| READER_NOUNS.contains(&word.text.as_str()))?;
    let modal = usize::from(
        words.get(article + 1).is_some_and(|word| matches!(word.text.as_str(), "should" | "must")),
    );
    let feels = find_opening_phrase(words.get(article + 1 + modal..)?, FEELING_PHRASES)?;

    Some(reader.at.start..feels.end)
}

/// Returns true if the target's work is executed: by an agent in a workspace, or by a program grader.
fn is_executed(view: &CriterionView<'_>) -> bool {
    let Some(case) = view.rubric.case else { return true };
    let programs = |grader: &std::sync::Arc<assize_model::Grader>| {
        matches!(grader.kind, GraderKind::Code(_) | GraderKind::Custom(_))
    };
    case.workspace.is_some() || case.graders.iter().any(programs)
}

/// Returns true if no other part of the case can contain the thing: it has neither a workspace nor turns.
fn has_no_other_material(case: &Case) -> bool {
    case.workspace.is_none() && case.conversation.is_none()
}

fn is_single_message(case: &Case) -> bool {
    let question = case.question().to_lowercase();
    // A transcript may be a single message.
    case.input.len() < 2
        && case.conversation.is_none()
        && case.conversation_id.is_none()
        && !question.contains("user:")
        && !question.contains("conversation")
        && question.len() < 2000
}

#[cfg(test)]
mod tests {
    use crate::tests::{finds, in_cases, silent};

    #[test]
    fn what_is_not_there_is_found() {
        finds(
            "L0115",
            &[
                "Reads the label in the attached photo", "Quotes the attached document",
                "Keeps to the earlier turns", "Responds within 2 seconds", "Runs in under 100ms",
                "The code compiles", "Compiles without warnings", "The user feels understood",
            ],
        );
    }

    #[test]
    fn what_is_there_is_fine() {
        silent(
            "L0115",
            &[
                "Promises that support responds within two days",
                "Explains what an image is",
                "Names the file to attach",
                "States that the parcel takes less than 2 minutes to scan",
                "Compiles a list of depots",
                "Explains why the customer is satisfied",
                "Runs through the steps",
            ],
        );
        let shown =
            "- {id: label-shown, input: 'See http://x/y.png', assertions: [Reads the label in the image]}\n";
        assert_eq!(in_cases("L0115", shown), Vec::<String>::new());
        let turns = "- {id: two-turns, input: [{role: user, content: a}, {role: assistant, content: b}, {role: user, content: c}], assertions: [Recalls the earlier turns]}\n";
        assert_eq!(in_cases("L0115", turns), Vec::<String>::new());
    }
}
