//! Helpers shared by the decoders of suites, cases and their settings.

use assize_diagnostic::{Diagnostic, Span, SpannedValue};
use assize_document::{MapEntry, MapReader, NodeValue, TreeNode, codes, wrong_type};
use assize_model::{ThresholdOverrides, UnsupportedFeature};
use assize_rubric::composed_name;
use serde_json::{Map, Value};

use super::DecodeContext;
use super::grader::{decode_choice, missing_key};

/// Warns that a key is an older or foreign spelling of `present`.
pub(crate) fn old_spelling(cx: &mut DecodeContext, entry: &MapEntry, present: &str) {
    let diagnostic =
        Diagnostic::warning(codes::OLD_SPELLING, format!("`{}` is an older spelling", entry.key))
            .at(entry.key_span, format!("read as `{present}`"))
            .with_help(format!("write `{present}`"));
    // In these cases more than the key would have to change.
    let only_the_key = !present.contains('.') && entry.key != "evaluator";
    cx.problems.add(if only_the_key {
        diagnostic.with_suggestion("rename the key", entry.key_span, present)
    } else {
        diagnostic
    });
}

/// Returns the entry under the first spelling that is present. The first of `keys` is the current spelling. The
/// first `quiet` of them (at least 1) are accepted without a warning.
pub(crate) fn find_spelling<'n>(
    cx: &mut DecodeContext,
    object: &mut MapReader<'n>,
    keys: &[&'static str],
    quiet: usize,
) -> Option<&'n MapEntry> {
    let entry = object.first_of(keys, &mut cx.problems)?;
    if !keys[..quiet.min(keys.len())].contains(&entry.key.as_str()) {
        old_spelling(cx, entry, keys[0]);
    }
    Some(entry)
}

/// Returns the entry under the key of the file's format, or else under the other format's key. Only the `tests` format
/// warns of the other key.
pub(crate) fn find_own_spelling<'n>(
    cx: &mut DecodeContext,
    object: &mut MapReader<'n>,
    one: &'static str,
    two: &'static str,
) -> Option<&'n MapEntry> {
    let (keys, quiet) = cx.format.choose(([one, two], 2), ([two, one], 1));
    find_spelling(cx, object, &keys, quiet)
}

/// Decodes one of several words to a value. Returns `None` after adding a diagnostic.
pub fn decode_keyword<T: Copy>(
    cx: &mut DecodeContext,
    node: &TreeNode,
    key: &str,
    choices: &[(&'static str, T)],
) -> Option<T> {
    let words: Vec<&'static str> = choices.iter().map(|(word, _)| *word).collect();
    let word = decode_choice(node, key, &words, &mut cx.problems)?;
    choices.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
}

/// Reports keys that belong to another tool or version, each with its equivalent here. A help that ends in
/// "as `NAME`" means that the key is `NAME` under another name.
pub fn refuse_foreign_keys(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    keys: &[(&'static str, &'static str)],
) {
    for (key, help) in keys {
        if let Some(entry) = object.foreign(key) {
            if let Some(name) = help.strip_suffix('`').and_then(|help| help.rsplit_once("as `")) {
                object.mark_as_given(name.1);
            }
            Diagnostic::error(codes::NOT_SUPPORTED, format!("`{key}` is not part of this format"))
                .at(entry.key_span, "not read here")
                .with_help(*help)
                .add_to(&mut cx.problems);
        }
    }
}

/// Decodes a required text that must not be blank.
pub fn decode_required_text(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    what: &str,
    key: &'static str,
    example: &str,
) -> Option<SpannedValue<String>> {
    if object.value(key).is_none() {
        return cx.problems.reject(missing_key(object.head(), what, key, example));
    }
    object.text(key, &mut cx.problems)
}

/// Decodes a map of arbitrary data.
pub fn decode_free_map(cx: &mut DecodeContext, node: &TreeNode, key: &str) -> Map<String, Value> {
    let Value::Object(map) = node.to_json() else {
        cx.problems.add(wrong_type(node, &format!("`{key}`"), "a map"));
        return Map::new();
    };
    map
}

/// Decodes `tags`: a list of texts, none of them blank.
pub fn decode_tags(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Vec<String> {
    decode_spanned_tags(cx, object).into_iter().map(|tag| tag.value).collect()
}

/// Decodes `tags` with their places.
pub fn decode_spanned_tags(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Vec<SpannedValue<String>> {
    let mut tags: Vec<SpannedValue<String>> = Vec::new();
    for tag in object.names("tags", &mut cx.problems) {
        if tag.value.trim().is_empty() {
            Diagnostic::error(codes::EMPTY_TEXT, "a tag is empty")
                .at(tag.span, "nothing here")
                .with_help("write the tag, or remove the entry")
                .add_to(&mut cx.problems);
        } else if tags.iter().all(|known| known.value != tag.value) {
            tags.push(tag);
        }
    }

    tags
}

/// Checks a text that becomes an id or a name in records: it needs a visible character, no control
/// characters, and no blanks at the ends. Returns it in the form of [`composed_name`].
pub fn check_id(
    cx: &mut DecodeContext,
    id: SpannedValue<String>,
    what: &str,
) -> Option<SpannedValue<String>> {
    let complaint = if id.value.trim().is_empty() {
        ("is empty", "nothing here".to_owned(), "write a short, stable name")
    } else if let Some(found) = id.value.chars().find(|c| c.is_control()) {
        (
            "has a control character in it",
            format!("found U+{:04X}", u32::from(found)),
            "use letters, digits, `-`, `_`, `/` and spaces",
        )
    } else if id.value.trim() != id.value {
        ("begins or ends with a space", "blanks around it".to_owned(), "remove the blanks")
    } else {
        return Some(id.map(composed_name));
    };

    let (title, label, help) = complaint;
    cx.problems.reject(
        Diagnostic::error(codes::BAD_ID, format!("{what} {title}")).at(id.span, label).with_help(help),
    )
}

/// Decodes `threshold` and `borderline` of a map into `found`. It is an error if two maps set the same
/// threshold.
pub(crate) fn decode_thresholds(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    found: &mut DecodedThresholds,
) {
    for (key, slot) in [("threshold", &mut found.pass), ("borderline", &mut found.borderline)] {
        let Some(value) = object.unit(key, &mut cx.problems) else { continue };
        if let Some(first) = slot {
            Diagnostic::error(codes::TWO_SPELLINGS, format!("`{key}` is given twice"))
                .at(value.span, "this one is extra")
                .with_secondary(first.span, "already given here")
                .with_help(format!("keep `execution.{key}`"))
                .add_to(&mut cx.problems);
        } else {
            *slot = Some(value);
        }
    }
}

/// Thresholds with their spans, while the two maps that may set them are decoded.
#[derive(Default)]
pub(crate) struct DecodedThresholds {
    pass: Option<SpannedValue<assize_rubric::UnitInterval>>,
    borderline: Option<SpannedValue<assize_rubric::UnitInterval>>,
}

impl DecodedThresholds {
    /// Returns the span of the pass threshold.
    pub(crate) fn pass_span(&self) -> Option<Span> {
        self.pass.as_ref().map(|line| line.span)
    }

    /// Returns the thresholds, after checking that the borderline threshold is not above the pass threshold.
    pub(crate) fn finish(self, cx: &mut DecodeContext) -> ThresholdOverrides {
        if let (Some(pass), Some(borderline)) = (&self.pass, &self.borderline)
            && borderline.value > pass.value
        {
            Diagnostic::error(codes::LINES_CROSSED, "`borderline` is above `threshold`")
                .at(borderline.span, format!("{} is above {}", borderline.value.get(), pass.value.get()))
                .with_secondary(pass.span, "the pass threshold")
                .with_help("`borderline` must be the lower of the two; swap them")
                .add_to(&mut cx.problems);
        }
        ThresholdOverrides {
            pass: self.pass.map(|line| line.value),
            borderline: self.borderline.map(|line| line.value),
        }
    }
}

/// Records a part that is decoded but can't be run yet.
pub(crate) fn unsupported_feature(
    cx: &DecodeContext,
    feature: &'static str,
    span: Span,
) -> UnsupportedFeature {
    UnsupportedFeature { feature: feature.into(), place: cx.position(span) }
}

/// Decodes a positive amount of US dollars.
pub(crate) fn decode_dollars(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    key: &'static str,
) -> Option<f64> {
    let value = object.number(key, &mut cx.problems)?;
    if value.value > 0.0 {
        return Some(value.value);
    }

    Diagnostic::error(codes::OUT_OF_RANGE, format!("`{key}` must be more than 0"))
        .at(value.span, format!("found {}", value.value))
        .with_help("write an amount of US dollars, or remove the key for no limit")
        .reject_in(&mut cx.problems)
}

/// Returns the items of a non-empty list; reports an empty list or another value.
pub(crate) fn non_empty_list<'n>(cx: &mut DecodeContext, entry: &'n MapEntry) -> Option<&'n [TreeNode]> {
    match &entry.value.data {
        NodeValue::Seq(items) if !items.is_empty() => Some(items),
        NodeValue::Seq(_) => cx.problems.reject(empty_list(&entry.key, entry.value.use_span())),
        NodeValue::Null => cx.problems.reject(empty_list(&entry.key, entry.key_span)),
        _ => wrong_type(&entry.value, &format!("`{}`", entry.key), "a list")
            .with_help("begin each entry with `- `")
            .reject_in(&mut cx.problems),
    }
}

/// Returns the error about a key whose text is empty.
pub(crate) fn empty(key: &str, span: Span) -> Diagnostic {
    Diagnostic::error(codes::EMPTY_TEXT, format!("`{key}` is empty"))
        .at(span, "nothing here")
        .with_help("write the text, or remove the key")
}

/// Returns the error about a key whose list is empty.
pub(crate) fn empty_list(key: &str, span: Span) -> Diagnostic {
    Diagnostic::error(codes::EMPTY_LIST, format!("`{key}` is an empty list"))
        .at(span, "no entries")
        .with_help("write at least one entry, or remove the key")
}
