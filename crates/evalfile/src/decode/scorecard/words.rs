//! Helpers shared by several scorecard decoders.

use assize_diagnostic::{Code, Diagnostic, Span, Spanned};
use assize_rubric::{Aggregation, Unit, Weight};

use crate::codes;
use crate::decode::common::usable_id;
use crate::decode::object::wrong_type;
use crate::decode::{Context, Object};
use crate::tree::{Data, Node};

const AGGREGATIONS: [(&str, Aggregation); 3] = [
    ("WEIGHTED_AVERAGE", Aggregation::WeightedAverage),
    ("MINIMUM", Aggregation::Minimum),
    ("MAXIMUM", Aggregation::Maximum),
];

/// Returns the diagnostic for a required key that is absent.
pub(super) fn missing(at: Span, what: &str, key: &str, example: &str) -> Diagnostic {
    Diagnostic::error(codes::MISSING_SETTING, format!("{what} needs `{key}`"), at, format!("no `{key}` here"))
        .with_help(format!("write `{example}`"))
}

/// Returns the span of key and value of an entry.
pub(super) fn whole(object: &mut Object<'_>, key: &'static str) -> Option<Span> {
    let entry = object.entry(key).filter(|entry| !entry.value.is_null())?;
    Some(entry.key_span.to(entry.value.place()))
}

/// Decodes a required text that must not be blank.
pub(super) fn needed(
    cx: &mut Context,
    object: &mut Object<'_>,
    what: &str,
    key: &'static str,
    example: &str,
) -> Option<Spanned<String>> {
    if object.value(key).is_none() {
        cx.problems.add(missing(object.head(), what, key, example));
        return None;
    }
    object.text(key, &mut cx.problems)
}

/// Decodes `code`: unlike other ids, it is used in lists, so it has no blanks.
pub(super) fn code(cx: &mut Context, object: &mut Object<'_>, what: &str) -> Option<Spanned<String>> {
    let code = needed(cx, object, what, "code", "code: A-REF")?;
    let code = usable_id(cx, code, "a code")?;
    if code.value.contains(char::is_whitespace) {
        cx.problems.add(
            Diagnostic::error(codes::BAD_ID, "a code has a blank in it", code.span, "not one word")
                .with_help("write letters, digits and hyphens, such as `A-REF1`"),
        );
        return None;
    }
    Some(code)
}

/// Decodes one of several words, ignoring case; a class name before it (`Tier.WORD`) is ignored.
pub(super) fn word<T: Copy>(
    cx: &mut Context,
    node: &Node,
    key: &str,
    choices: &[(&'static str, T)],
) -> Option<T> {
    let mut node = node.clone();
    if let Data::Str(text) = &mut node.data
        && let Some((class, word)) = text.rsplit_once('.')
        && !class.is_empty()
        && class.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    {
        *text = word.to_owned();
    }
    crate::decode::common::one_word(cx, &node, key, choices)
}

/// Decodes the optional `aggregation_method`.
pub(super) fn aggregation(cx: &mut Context, object: &mut Object<'_>) -> Option<Aggregation> {
    let node = object.value("aggregation_method")?;
    word(cx, node, "aggregation_method", &AGGREGATIONS)
}

/// Decodes a number from 0 to 1; an error has the given code.
fn share(cx: &mut Context, node: &Node, key: &str, code: Code) -> Option<f64> {
    let value = crate::decode::object::number(node, key, &mut cx.problems)?;
    if (0.0..=1.0).contains(&value.value) {
        return Some(value.value);
    }
    let mut diagnostic = Diagnostic::error(
        code,
        format!("`{key}` is not from 0 to 1"),
        value.span,
        format!("found {}", value.value),
    );
    if value.value >= 2.0 && value.value <= 100.0 {
        diagnostic = diagnostic.with_suggestion(
            format!("if {} % was meant", value.value),
            value.span,
            format!("{}", value.value / 100.0),
        );
    }
    cx.problems.add(diagnostic.with_help("write a share: 0.20 is 20 %"));
    None
}

/// Decodes a weight from 0 to 1.
pub(super) fn weight_of(cx: &mut Context, node: &Node, key: &str) -> Option<Weight> {
    share(cx, node, key, codes::SHARE_RANGE).and_then(|value| Weight::new(value).ok())
}

/// Decodes an optional threshold from 0 to 1.
pub(super) fn threshold(
    cx: &mut Context,
    object: &mut Object<'_>,
    key: &'static str,
) -> Option<Spanned<Unit>> {
    let node = object.value(key)?;
    let value = share(cx, node, key, codes::LINE_RANGE)?;
    Unit::new(value).ok().map(|unit| Spanned::new(unit, node.place()))
}

/// Warns that a setting is left to its default.
pub(super) fn default_taken(cx: &mut Context, at: Span, what: &str, key: &str, value: &str) {
    cx.problems.add(
        Diagnostic::warning(
            codes::DEFAULT_TAKEN,
            format!("{what} does not say its `{key}`"),
            at,
            format!("taken as {value}"),
        )
        .with_help(format!("write `{key}: {value}`")),
    );
}

/// Decodes a list of plain texts.
pub(super) fn texts(cx: &mut Context, object: &mut Object<'_>, key: &'static str) -> Vec<String> {
    object.strings(key, &mut cx.problems).into_iter().map(|text| text.value).collect()
}

/// Decodes a list of codes.
pub(super) fn codes_of(cx: &mut Context, node: &Node, key: &str) -> Vec<Spanned<String>> {
    if let Some(items) = node.as_seq() {
        return items
            .iter()
            .filter_map(|item| crate::decode::object::string(item, key, &mut cx.problems))
            .collect();
    }
    cx.problems.add(wrong_type(node, &format!("`{key}`"), "a list of codes"));
    Vec::new()
}
