//! Decoder of graders of JSON answers: `is-json` and `field-accuracy`.

use assize_diagnostic::{Diagnostic, SpannedValue};
use assize_document::{MapReader, NodeValue, TreeNode, codes, read_json, wrong_type};
use assize_model::{AnswerCheck, FieldAccuracy, FieldCheck, FieldMatch, GraderKind, IsJson};
use assize_rubric::Weight;
use serde_json::Value;

use super::shared::{decode_choice, decode_non_negative, missing_key, unused_key};
use crate::decode::DecodeContext;
use crate::decode::common::decode_required_text;

/// Decodes the keys of `type: is-json`, or of `contains-json`.
pub(super) fn decode_is_json(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    embedded: bool,
) -> Option<GraderKind> {
    let errors = cx.problems.error_count();
    let schema = object.value("schema").and_then(|node| {
        let schema = decode_schema(cx, node)?;
        if let Err(reason) = check_patterns(cx, &schema) {
            Diagnostic::error(codes::BAD_PATTERN, "the patterns of this schema can't be used")
                .at(node.use_span(), reason)
                .add_to(&mut cx.problems);
        }
        Some(schema)
    });
    (cx.problems.error_count() == errors)
        .then_some(GraderKind::Check(AnswerCheck::IsJson(IsJson { schema, embedded })))
}

/// Checks that the patterns of a schema do not take too long. Whether they are valid is checked with the schema.
fn check_patterns(cx: &DecodeContext, schema: &Value) -> Result<(), String> {
    match schema {
        Value::Array(items) => items.iter().try_for_each(|item| check_patterns(cx, item)),
        Value::Object(entries) => entries.iter().try_for_each(|(key, value)| match value {
            Value::String(pattern) if key == "pattern" => cx.time_pattern(pattern),
            Value::Object(patterns) if key == "patternProperties" => {
                patterns.keys().try_for_each(|pattern| cx.time_pattern(pattern))?;
                check_patterns(cx, value)
            }
            _ => check_patterns(cx, value),
        }),
        _ => Ok(()),
    }
}

/// Decodes a JSON Schema, given inline or as a file.
fn decode_schema(cx: &mut DecodeContext, node: &TreeNode) -> Option<Value> {
    match &node.data {
        NodeValue::Map(_) | NodeValue::Bool(_) => Some(node.to_json()),
        NodeValue::Str(written) => {
            let file = cx.read_text(written.trim(), node.use_span())?;
            let is_json = file.path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
            let source = cx.sources.add(&file.path, file.text);
            let errors = cx.problems.error_count();
            let root =
                if is_json { read_json(&cx.sources, source, &mut cx.problems) } else { cx.read_yaml(source) };
            match root {
                Some(root) if matches!(root.data, NodeValue::Map(_) | NodeValue::Bool(_)) => cx
                    .count_file(&file.path, root.size().values, Some(node.use_span()))
                    .then(|| root.to_json()),
                Some(root) => cx.problems.reject(wrong_type(&root, "a JSON Schema", "a map")),
                None => {
                    if cx.problems.error_count() == errors {
                        Diagnostic::error(codes::EMPTY_TEXT, "the schema file is empty")
                            .at(node.use_span(), "this file")
                            .with_help("write a JSON Schema into it")
                            .add_to(&mut cx.problems);
                    }
                    None
                }
            }
        }
        _ => cx.problems.reject(wrong_type(node, "`schema`", "a JSON Schema or the path of one")),
    }
}

/// Decodes the keys of `type: field-accuracy`.
pub(super) fn decode_field_accuracy(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
) -> Option<GraderKind> {
    let errors = cx.problems.error_count();
    let fields = match object.value("fields") {
        None => {
            missing_key(
                object.head(),
                "a field-accuracy grader",
                "fields",
                "fields: [{path: invoice.total, match: exact}]",
            )
            .add_to(&mut cx.problems);
            Vec::new()
        }
        Some(node) => match &node.data {
            NodeValue::Seq(items) if items.is_empty() => {
                cx.problems.add(missing_key(node.use_span(), "`fields`", "path", "- path: invoice.total"));
                Vec::new()
            }
            NodeValue::Seq(items) => items.iter().filter_map(|item| decode_field(cx, item)).collect(),
            _ => {
                cx.problems.add(wrong_type(node, "`fields`", "a list"));
                Vec::new()
            }
        },
    };

    let all_or_nothing = object.value("aggregation").and_then(|node| {
        decode_choice(node, "aggregation", &["weighted_average", "all_or_nothing"], &mut cx.problems)
    }) == Some("all_or_nothing");

    if cx.problems.error_count() == errors && fields.iter().all(|field| field.weight.get() == 0.0) {
        Diagnostic::error(codes::NO_USABLE_WEIGHT, "all fields have weight 0")
            .at(object.head(), "nothing counts")
            .with_help("give at least one field a weight above 0")
            .add_to(&mut cx.problems);
    }

    (cx.problems.error_count() == errors)
        .then_some(GraderKind::Check(AnswerCheck::FieldAccuracy(FieldAccuracy { fields, all_or_nothing })))
}

fn decode_field(cx: &mut DecodeContext, node: &TreeNode) -> Option<FieldCheck> {
    let errors = cx.problems.error_count();
    let mut object = MapReader::new(node, "a field", &mut cx.problems)?;
    let path = decode_required_text(cx, &mut object, "a field", "path", "path: invoice.total");
    if let Some(path) = &path {
        check_path(cx, path);
    }

    let word = match object.value("match") {
        Some(node) => decode_choice(node, "match", &["exact", "numeric_tolerance", "date"], &mut cx.problems),
        None => Some("exact"),
    };
    let tolerance_at = object.value("tolerance");
    let tolerance = decode_non_negative(&mut object, "tolerance", &mut cx.problems);
    let relative_at = object.value("relative");
    let relative = object.boolean("relative", &mut cx.problems);
    let formats_at = object.value("formats");
    let formats = object.strings("formats", &mut cx.problems);
    let required = object.boolean("required", &mut cx.problems);
    let weight = decode_non_negative(&mut object, "weight", &mut cx.problems);

    object.finish(&mut cx.problems);
    let word = word?;
    for (node, key, owner) in [
        (tolerance_at, "tolerance", "numeric_tolerance"),
        (relative_at, "relative", "numeric_tolerance"),
        (formats_at, "formats", "date"),
    ] {
        if let Some(node) = node.filter(|_| owner != word) {
            unused_key(
                node.use_span(),
                format!("`{key}` is not used by `match: {word}`"),
                format!("write `match: {owner}`, or remove `{key}`"),
            )
            .add_to(&mut cx.problems);
        }
    }

    let rule = match word {
        "numeric_tolerance" => FieldMatch::NumericTolerance {
            tolerance: tolerance.unwrap_or(0.0),
            relative: relative.is_some_and(|flag| flag.value),
        },
        "date" => FieldMatch::Date { formats: formats.into_iter().map(|format| format.value).collect() },
        _ => FieldMatch::Exact,
    };

    let path = path?.value;
    (cx.problems.error_count() == errors).then(|| FieldCheck {
        path,
        rule,
        required: required.is_none_or(|flag| flag.value),
        weight: weight.and_then(|weight| Weight::new(weight).ok()).unwrap_or(Weight::ONE),
    })
}

/// Checks a path such as `a.b[0].c`: names joined by dots, each followed by any number of `[N]`; `[N]` may
/// also come first.
fn check_path(cx: &mut DecodeContext, path: &SpannedValue<String>) {
    let sound = path.value.split('.').enumerate().all(|(index, part)| {
        let (name, mut rest) = match part.find('[') {
            Some(at) => part.split_at(at),
            None => (part, ""),
        };
        if name.trim().is_empty() && (index > 0 || rest.is_empty()) {
            return false;
        }

        while let Some((number, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
                return false;
            }
            rest = after;
        }

        rest.is_empty() && !name.contains(']')
    });
    if !sound {
        Diagnostic::error(codes::BAD_FIELD_PATH, "this path can't be read")
            .at(path.span, "not names and `[N]`")
            .with_help("write names joined by dots, with `[N]` for an item of a list: `order.items[0].price`")
            .add_to(&mut cx.problems);
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::decode::grader::{AssertionContext, decode_assertions};
    use crate::tests::snippets::{codes, one, read_at};

    #[test]
    fn schemas_stand_here_or_in_a_file() {
        assert_eq!(
            one("- {type: is-json}\n").kind,
            GraderKind::Check(AnswerCheck::IsJson(IsJson { schema: None, embedded: false }))
        );
        let GraderKind::Check(AnswerCheck::IsJson(json)) =
            &one("- {type: is_json, schema: {type: object}}\n").kind
        else {
            panic!("json")
        };
        assert_eq!(json.schema, Some(serde_json::json!({"type": "object"})));
        assert_eq!(codes("- {type: is-json, schema: [a]}\n"), ["E0105"]);
        assert_eq!(codes("- {type: is-json, schema: lost.json}\n"), ["E0501"]);
        assert_eq!(codes("- {type: is-json, value: x}\n"), ["E0103"]);
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("s.json"), "{\"type\": \"array\"}").expect("written");
        let (mut cx, node) =
            read_at(&folder.path().join("suite.yaml"), "- {type: is-json, schema: s.json}\n");
        let graders = decode_assertions(&mut cx, &node, AssertionContext::default());
        let GraderKind::Check(AnswerCheck::IsJson(json)) = &graders[0].kind else { panic!("json") };
        assert_eq!(json.schema, Some(serde_json::json!({"type": "array"})));
    }

    #[test]
    fn fields_are_read() {
        let grader = one(
            "- type: field_accuracy\n  aggregation: all_or_nothing\n  fields:\n  - path: a.b[0][1].c\n  - {path: total, match: numeric_tolerance, tolerance: 0.5, relative: true, weight: 2, required: false}\n  - {path: '[0].due', match: date, formats: [YYYY-MM-DD]}\n",
        );
        let GraderKind::Check(AnswerCheck::FieldAccuracy(fields)) = &grader.kind else { panic!("fields") };
        assert!(fields.all_or_nothing);
        assert_eq!(fields.fields[0].rule, FieldMatch::Exact);
        assert!(fields.fields[0].required && !fields.fields[1].required);
        assert_eq!(fields.fields[1].rule, FieldMatch::NumericTolerance { tolerance: 0.5, relative: true });
        assert_eq!(fields.fields[2].rule, FieldMatch::Date { formats: vec!["YYYY-MM-DD".into()] });
    }

    #[test]
    fn wrong_fields_are_refused() {
        assert_eq!(codes("- {type: field-accuracy}\n"), ["E0304"]);
        assert_eq!(codes("- {type: field-accuracy, fields: []}\n"), ["E0304"]);
        for (field, code) in [
            ("match: exact", "E0304"),
            ("path: a..b", "E0310"),
            ("path: 'a[x]'", "E0310"),
            ("path: 'a[1'", "E0310"),
            ("path: a, match: fuzzy", "E0307"),
            ("path: a, tolerance: 1", "E0306"),
            ("path: a, match: numeric_tolerance, tolerance: -1", "E0106"),
            ("path: a, match: exact, formats: [x]", "E0306"),
            ("path: a, weight: 0", "E0204"),
            ("path: a, weigth: 1", "E0103"),
        ] {
            let text = format!("- type: field-accuracy\n  fields: [{{{field}}}]\n");
            assert_eq!(codes(&text), [code], "{field}");
        }
    }
}
