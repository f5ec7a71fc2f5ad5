//! The text of a criterion.

use assize_diagnostic::{Diagnostic, Span, SpannedValue};
use assize_document::{MapReader, check_not_blank, codes, string};
use assize_model::EvalFileFormat;

use crate::decode::DecodeContext;

/// Length in bytes above which there is a warning.
const LONG_TEXT_BYTES: usize = 20_000;

/// Returns the key of the text of a criterion.
pub(super) fn text_key(format: EvalFileFormat) -> &'static str {
    format.choose("expected_outcome", "outcome")
}

/// Decodes the text of a criterion or of a score range, in the spelling of either format. Returns `None` if it is
/// absent, and after adding a diagnostic. `leaves_gate_open` is true for a criterion that does not say whether it is a
/// gate: its author may expect the other format's behaviour.
pub(super) fn decode_criterion_text(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    leaves_gate_open: bool,
) -> Option<SpannedValue<String>> {
    let keys: [&'static str; 3] = cx.format.choose(
        ["expected_outcome", "description", "outcome"],
        ["outcome", "expected_outcome", "description"],
    );
    let entry = object.first_of(&keys, &mut cx.problems)?;
    let foreign = cx.format.choose(entry.key == "outcome", entry.key != "outcome");
    if foreign {
        let diagnostic =
            Diagnostic::warning(codes::OTHER_SPELLING, format!("`{}` is the other format's key", entry.key))
                .at(entry.key_span, format!("the `{}` format writes `{}`", cx.format.case_list(), keys[0]))
                .with_help("it is accepted all the same")
                .with_suggestion("use the key of this format", entry.key_span, keys[0]);
        let gates = cx.format.choose(
            "this criterion is a gate, as in this format; `required: false` makes it count only in the score",
            "this criterion is no gate, as in this format; `required: true` makes it one",
        );
        cx.problems.add(if leaves_gate_open { diagnostic.with_note(gates) } else { diagnostic });
    }

    if entry.value.is_null() {
        Diagnostic::error(codes::EMPTY_TEXT, format!("`{}` is empty", entry.key))
            .at(entry.key_span, "nothing follows")
            .with_help("write the text, or remove the key")
            .add_to(&mut cx.problems);
        return None;
    }

    let text = string(&entry.value, &entry.key, &mut cx.problems)?;
    let text = check_not_blank(text, &entry.key, &mut cx.problems)?;
    warn_if_long(cx, &text.value, text.span);

    Some(text)
}

pub(super) fn warn_if_long(cx: &mut DecodeContext, text: &str, span: Span) {
    if text.len() > LONG_TEXT_BYTES {
        Diagnostic::warning(codes::LONG_CRITERION, "this criterion is very long")
            .at(span.start_point(), format!("{} kB begin here", text.len() / 1000))
            .with_help("judges decide best on one short statement; consider splitting it")
            .add_to(&mut cx.problems);
    }
}
