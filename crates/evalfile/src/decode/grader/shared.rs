//! Helpers shared by several grader decoders.

use std::time::Duration;

use assize_diagnostic::{Diagnostic, Span, did_you_mean};
use assize_document::{DiagnosticCollector, MapReader, TreeNode, codes, string};

/// Decodes one of several known words, ignoring case and the difference between hyphens and underscores.
/// Returns `None` after adding a diagnostic.
pub(crate) fn decode_choice(
    node: &TreeNode,
    key: &str,
    words: &[&'static str],
    problems: &mut DiagnosticCollector,
) -> Option<&'static str> {
    let found = string(node, key, problems)?;
    let folded = normalize_word(found.value.trim());
    if let Some(word) = words.iter().find(|word| normalize_word(word) == folded) {
        return Some(word);
    }

    let listed: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    let mut diagnostic =
        Diagnostic::error(codes::UNKNOWN_CHOICE, format!("`{key}` has no value `{}`", found.value))
            .at(found.span, "unknown word");
    if let Some(near) = did_you_mean(&found.value, words.iter().copied()) {
        diagnostic = diagnostic
            .with_help(format!("did you mean `{near}`?"))
            .with_suggestion("use this value", found.span, near);
    }

    let help = match listed.as_slice() {
        [only] => format!("the only value is {only}"),
        several => format!("use one of {}", several.join(", ")),
    };
    problems.reject(diagnostic.with_help(help))
}

/// Normalises a name: lower case, with hyphens instead of underscores.
pub(super) fn normalize_word(name: &str) -> String {
    name.chars().map(|c| if c == '_' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// Returns the diagnostic for a required key that is absent.
pub fn missing_key(at: Span, what: &str, key: &str, example: &str) -> Diagnostic {
    Diagnostic::error(codes::MISSING_SETTING, format!("{what} needs `{key}`"))
        .at(at, format!("no `{key}` here"))
        .with_help(format!("write `{example}`"))
}

/// Returns the diagnostic for a key that has no effect.
pub(super) fn unused_key(at: Span, title: impl Into<String>, help: impl Into<String>) -> Diagnostic {
    Diagnostic::error(codes::UNUSED_SETTING, title).at(at, "has no effect here").with_help(help)
}

/// Returns the warning about a key or word that has a newer name.
pub(super) fn older_spelling(at: Span, found: &str, present: &str) -> Diagnostic {
    Diagnostic::warning(codes::OLDER_SPELLING, format!("`{found}` is an older spelling"))
        .at(at, format!("now `{present}`"))
        .with_help("it is accepted all the same")
        .with_suggestion("use the current spelling", at, present)
}

/// Decodes an optional number that is not negative.
pub(super) fn decode_non_negative(
    object: &mut MapReader<'_>,
    key: &'static str,
    problems: &mut DiagnosticCollector,
) -> Option<f64> {
    let value = object.number(key, problems)?;
    if value.value >= 0.0 {
        return Some(value.value + 0.0);
    }

    Diagnostic::error(codes::OUT_OF_RANGE, format!("`{key}` is negative"))
        .at(value.span, format!("found {}", value.value))
        .with_help("use 0 or more")
        .reject_in(problems)
}

/// Decodes an optional duration in units of `seconds` seconds.
pub(crate) fn decode_duration(
    object: &mut MapReader<'_>,
    key: &'static str,
    seconds: f64,
    problems: &mut DiagnosticCollector,
) -> Option<Duration> {
    let at = object.value(key)?.use_span();
    let value = decode_non_negative(object, key, problems)?;
    let time = Duration::try_from_secs_f64(value * seconds).ok();
    if time.is_none() {
        Diagnostic::error(codes::OUT_OF_RANGE, format!("`{key}` is too large"))
            .at(at, format!("found {value}"))
            .with_help("use a shorter time")
            .add_to(problems);
    }

    time
}

/// Decodes an optional count.
pub(super) fn decode_count(
    object: &mut MapReader<'_>,
    key: &'static str,
    problems: &mut DiagnosticCollector,
) -> Option<u64> {
    object.integer(key, 0, i64::MAX, problems).and_then(|value| u64::try_from(value.value).ok())
}
