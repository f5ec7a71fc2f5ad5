//! Checks the standard form of inclusion and exclusion criteria.

use assize_diagnostic::{Diagnostic, SpannedValue};
use assize_document::codes;
use assize_evalfile::reading::DecodeContext;

/// Beginnings of exclusion criteria.
const EXCLUSION_FORMS: [&str; 2] = ["do not apply when ", "do not use for "];

/// Checks both texts of a benchmark.
pub(super) fn check_criteria_form(
    cx: &mut DecodeContext,
    inclusion: Option<&SpannedValue<String>>,
    exclusion: Option<&SpannedValue<String>>,
) {
    if let Some(text) = inclusion {
        let folded = fold_text(&text.value);
        let lacks = match (folded.starts_with("apply when "), folded.contains("flag if ")) {
            (true, true) => None,
            (false, true) => Some("does not begin with `Apply when`"),
            (true, false) => Some("does not say `Flag if`"),
            (false, false) => Some("neither `Apply when` nor `Flag if`"),
        };
        if let Some(lacks) = lacks {
            Diagnostic::warning(
                codes::INCLUSION_FORM,
                "the inclusion criteria are not in their standard form",
            )
            .at(text.span, lacks)
            .with_help("write `Apply when TRIGGER. Flag if FAILURE.`")
            .add_to(&mut cx.problems);
        }

        warn_if_numbered(cx, "inclusion", text);
    }
    if let Some(text) = exclusion {
        let folded = fold_text(&text.value);
        if !EXCLUSION_FORMS.iter().any(|form| folded.starts_with(form)) {
            Diagnostic::warning(
                codes::EXCLUSION_FORM,
                "the exclusion criteria are not in their standard form",
            )
            .at(text.span, "begins with neither `Do not apply when` nor `Do not use for`")
            .with_help("write `Do not apply when ...`; excluded cases are skipped and do not pass")
            .add_to(&mut cx.problems);
        }
        warn_if_numbered(cx, "exclusion", text);
    }
}

/// Returns a text in lower case, with single spaces.
fn fold_text(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").to_ascii_lowercase()
}

fn warn_if_numbered(cx: &mut DecodeContext, which: &str, text: &SpannedValue<String>) {
    if !has_numbers(&text.value) {
        return;
    }
    Diagnostic::warning(codes::NUMBERED_CRITERIA, format!("the {which} criteria hold a numbered list"))
        .at(text.span, "a list inside a sentence")
        .with_help("keep one trigger and one failure; write a benchmark for each further one")
        .add_to(&mut cx.problems);
}

/// Returns true if a text looks like a numbered list: `1.` or `1)` at the beginning of a line, or `(1)` and
/// `(2)` anywhere.
fn has_numbers(text: &str) -> bool {
    let mark = |line: &str| {
        let digits = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
        digits.len() < line.trim_start().len() && (digits.starts_with(". ") || digits.starts_with(") "))
    };
    text.lines().any(mark)
        || (text.contains("(1)") && text.contains("(2)"))
        || (text.contains(" 1. ") && text.contains(" 2. "))
        || (text.contains(" 1) ") && text.contains(" 2) "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_told_from_figures() {
        for text in ["1. one\n2. two", "Apply when (1) a or (2) b.", "Apply when: 1) a 2) b", "x\n  10) y"] {
            assert!(has_numbers(text), "{text}");
        }
        for text in ["Apply when 2 doses are given.", "0.5 mg", "2.5 of 3. Flag if 1 is missing.", "(1) only"]
        {
            assert!(!has_numbers(text), "{text}");
        }
    }
}
