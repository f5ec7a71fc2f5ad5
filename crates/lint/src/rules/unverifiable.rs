//! L0115: a criterion about something that is not there.

use assize_diagnostic::{Code, Diagnostic};
use assize_spec::{Block, Case};

use crate::report::Report;
use crate::rule::{Check, Example, Rule};
use crate::view::{CriterionView, has_block};
use crate::words::{any_phrase, words};

pub(super) const RULE: Rule = Rule {
    code: Code::new("L0115"),
    name: "unverifiable",
    title: "The criterion is about something that the case does not have.",
    reason: "A judge that can't see the image, the file or the earlier turn decides anyway, by what the answer claims about it. Times and costs are not in the answer either; graders of type `latency`, `cost` and `token-usage` measure them.",
    source: "Agent-as-a-Judge (arXiv:2410.10934): judges that can look at what was done agree better with people than judges that only read the answer",
    bad: Example::Criteria("- Describes the damage in the attached image"),
    good: Example::Criteria("- Describes the damage that the question names"),
    fixes: false,
    check: Check::Criterion(check),
};

const IMAGE: &[&str] = &[
    "attached image",
    "in the image",
    "the screenshot",
    "attached screenshot",
    "attached photo",
    "in the photo",
    "the provided image",
    "the given image",
    "in the picture",
    "the uploaded image",
];
const FILE: &[&str] = &[
    "attached file",
    "attached document",
    "attached files",
    "uploaded file",
    "uploaded document",
    "attached pdf",
];
const TURN: &[&str] = &[
    "earlier in the conversation",
    "previous turn",
    "previous turns",
    "previous message",
    "previous messages",
    "earlier turn",
    "earlier turns",
    "earlier messages",
    "earlier message",
    "conversation history",
    "prior turns",
    "prior turn",
];
const CLOCK: &[&str] =
    &["response time", "responds within", "answers within", "replies within", "latency of the response"];

fn check(view: &CriterionView<'_>, out: &mut Report<'_>) {
    let text = view.text();
    let words = words(text);
    let (range, missing, help) = if let Some(range) = any_phrase(&words, CLOCK).filter(|_| seconds(text)) {
        (range, "time is not in the answer", "use a grader of type `latency`")
    } else {
        let Some(case) = view.rubric.own_case() else { return };
        let found = |phrases: &[&str], lacks: bool| any_phrase(&words, phrases).filter(|_| lacks);
        let asks = |word: &str| case.question().to_lowercase().contains(word);
        let no_image = !has_block(case, |b| matches!(b, Block::Image { .. }));
        let no_file = !has_block(case, |b| matches!(b, Block::File { .. } | Block::Image { .. }));
        // A question that speaks of the thing itself may hold it as text, or name an address.
        let visual =
            ["image", "screenshot", "photo", "picture", "http", "figure"].iter().any(|word| asks(word));
        let document = ["file", "document", "attach", "upload", "pdf", "http", "workspace", "```"]
            .iter()
            .any(|word| asks(word));
        if let Some(range) = found(IMAGE, no_image && !visual && elsewhere(case)) {
            (range, "this case has no image", "attach the image with `{type: image, value: PATH}`")
        } else if let Some(range) = found(FILE, no_file && !document && elsewhere(case)) {
            (
                range,
                "this case has no file",
                "attach the file with `input_files` or `{type: file, value: PATH}`",
            )
        } else if let Some(range) = found(TURN, single(case)) {
            (range, "this case has a single message", "write the earlier messages into `input`")
        } else {
            return;
        }
    };
    if let Some(span) = out.part(view.text_mark(), text, range) {
        out.add(
            Diagnostic::warning(RULE.code, "this can't be seen by the judge", span, missing).with_help(help),
        );
    }
}

/// A number with a unit of time.
fn seconds(text: &str) -> bool {
    let words = words(text);
    text.chars().any(|c| c.is_ascii_digit())
        && any_phrase(&words, &["seconds", "second", "milliseconds", "ms", "minutes", "minute"]).is_some()
}

/// Nothing else of the case can hold the thing: no folder to work in, no turns, no given answer that
/// may have come with it.
fn elsewhere(case: &Case) -> bool {
    case.workspace.is_none() && case.conversation.is_none()
}

fn single(case: &Case) -> bool {
    let question = case.question().to_lowercase();
    // A transcript may stand in one message.
    case.input.len() < 2
        && case.conversation.is_none()
        && case.conversation_id.is_none()
        && !question.contains("user:")
        && !question.contains("conversation")
        && question.len() < 2000
}

#[cfg(test)]
mod tests {
    use crate::testing::{finds, in_cases, silent};

    #[test]
    fn what_is_not_there_is_found() {
        finds(
            "L0115",
            &[
                "Reads the label in the attached photo",
                "Quotes the attached document",
                "Keeps to the earlier turns",
                "Responds within 2 seconds",
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
            ],
        );
        let shown =
            "- {id: label-shown, input: 'See http://x/y.png', assertions: [Reads the label in the image]}\n";
        assert_eq!(in_cases("L0115", shown), Vec::<String>::new());
        let turns = "- {id: two-turns, input: [{role: user, content: a}, {role: assistant, content: b}, {role: user, content: c}], assertions: [Recalls the earlier turns]}\n";
        assert_eq!(in_cases("L0115", turns), Vec::<String>::new());
    }
}
