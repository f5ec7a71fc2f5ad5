//! JSON Schema (draft 2020-12, or the draft that `$schema` names).
//!
//! The standard says that unknown keywords and formats are ignored. Here they are refused: a schema that
//! silently demands less than it says is worse than none. Formats are checked for the same reason. Nothing
//! outside the schema is read, and patterns run in linear time.

use std::sync::LazyLock;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, PatternOptions, ValidationError, Validator};
use serde_json::{Value, json};

/// Largest size of a compiled pattern, in bytes.
const MAX_PATTERN: usize = 10 << 20;

/// The types that a schema may name, for messages.
const TYPES: &str = "`array`, `boolean`, `integer`, `null`, `number`, `object` or `string`";

/// The meta-schema of draft 2020-12 with unknown keywords forbidden at every depth. Its parts refer to each
/// other through the dynamic anchor, which is redefined here.
static KNOWN_KEYWORDS: LazyLock<Option<Validator>> = LazyLock::new(|| {
    let strict = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:assize:strict",
        "$dynamicAnchor": "meta",
        "$ref": "https://json-schema.org/draft/2020-12/schema",
        "patternProperties": { "^x-": true },
        "unevaluatedProperties": false,
    });

    jsonschema::options().offline().build(&strict).ok()
});

/// Why a schema can't be used; `None` if it can.
pub fn schema_problem(schema: &Value) -> Option<String> {
    compile(schema).err()
}

fn compile(schema: &Value) -> Result<Validator, String> {
    // Older drafts have other keywords and their own meta-schemas, which are checked when the validator is
    // built.
    let elder =
        schema.get("$schema").is_some_and(|draft| draft.as_str().is_none_or(|it| !it.contains("2020-12")));
    if let Some(strict) = KNOWN_KEYWORDS.as_ref().filter(|_| !elder) {
        // A known keyword with a wrong value is reported as unknown too; its own error says more.
        let errors: Vec<ValidationError<'_>> = strict.iter_errors(schema).collect();
        let is_unknown = |error: &&ValidationError<'_>| {
            matches!(error.kind(), ValidationErrorKind::UnevaluatedProperties { .. })
        };
        // Objects around an unknown keyword are reported as unknown too.
        let depth = |error: &&ValidationError<'_>| error.instance_path().to_string().matches('/').count();
        let wrong = errors.iter().find(|error| !is_unknown(error));
        if let Some(error) = wrong.or_else(|| errors.iter().max_by_key(depth)) {
            return Err(describe_error(error));
        }
    }

    jsonschema::options()
        .offline()
        .should_validate_formats(true)
        .should_ignore_unknown_formats(false)
        .with_pattern_options(PatternOptions::regex().size_limit(MAX_PATTERN))
        .build(schema)
        .map_err(|error| describe_error(&error))
}

fn describe_error(error: &ValidationError<'_>) -> String {
    let at = error.instance_path();
    let place = at.to_string();
    let keyword = place.rsplit('/').next().unwrap_or_default();
    let found = error.instance();

    match error.kind() {
        ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            let names = unexpected.join("`, `");
            format!("#{at}: unknown keyword `{names}`; remove it or use a code grader")
        }
        ValidationErrorKind::AnyOf { .. } if keyword == "type" => {
            let found = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
            format!("#{at}: `{found}` is not a type; write {TYPES}")
        }
        ValidationErrorKind::Type { kind: TypeKind::Single(expected) } if !keyword.is_empty() => {
            let expected = match expected {
                JsonType::Array => "a list",
                JsonType::Object => "a map",
                JsonType::Boolean => "true or false",
                JsonType::Integer => "a whole number",
                JsonType::Number => "a number",
                JsonType::Null => "null",
                JsonType::String => "a text",
            };
            format!("#{at}: `{keyword}` must be {expected}, not {found}")
        }
        _ => {
            let message = error.to_string();
            match message.strip_prefix("Unknown format: ").and_then(|rest| rest.split_once(". ")) {
                Some((format, _)) => format!("#{at}: unknown format {format}; remove it"),
                None => format!("#{at}: {message}"),
            }
        }
    }
}

/// Violations of a schema in a document, one sentence each. The error says why the schema can't be used.
pub(super) fn violations(schema: &Value, value: &Value) -> Result<Vec<String>, String> {
    let validator = compile(schema).map_err(|problem| format!("the schema can't be used: {problem}"))?;
    let violation = |error: ValidationError<'_>| format!("${}: {}", error.instance_path(), error.masked());

    Ok(validator.iter_errors(value).map(violation).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn documents_are_held_to_their_schema() {
        let schema = json!({
            "type": "object",
            "required": ["id", "lines"],
            "additionalProperties": false,
            "properties": {
                "id": {"type": "string", "pattern": "^A-\\d+$", "maxLength": 6},
                "total": {"type": ["number", "null"], "minimum": 0, "multipleOf": 0.01},
                "lines": {"type": "array", "minItems": 1, "uniqueItems": true, "items": {"$ref": "#/$defs/line"}},
                "state": {"enum": ["open", "paid"]},
                "day": {"type": "string", "format": "date"},
                "mail": {"format": "email"},
                "page": {"format": "uri"},
                "at": {"format": "date-time"},
                "who": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
            },
            "$defs": {"line": {"type": "integer", "exclusiveMinimum": 0}},
        });
        let bad = |value: Value| violations(&schema, &value).unwrap();
        let fine = json!({
            "id": "A-1", "lines": [1, 2], "total": 1.25, "state": "open", "who": 3, "day": "2024-02-29",
            "mail": "a@example.com", "page": "https://example.com/a?b", "at": "2024-02-29T12:00:00Z",
        });
        assert_eq!(bad(fine), Vec::<String>::new());
        for (value, word) in [
            (json!([]), "of type \"object\""),
            (json!({"lines": [1]}), "\"id\" is a required property"),
            (json!({"id": "B", "lines": [1]}), "match"),
            (json!({"id": "A-123456", "lines": [1]}), "longer than 6"),
            (json!({"id": "A-1", "lines": []}), "has less than 1 item"),
            (json!({"id": "A-1", "lines": [0]}), "less than or equal to the minimum of 0"),
            (json!({"id": "A-1", "lines": [1, 1.0]}), "non-unique"),
            (json!({"id": "A-1", "lines": [1], "total": -1}), "less than the minimum of 0"),
            (json!({"id": "A-1", "lines": [1], "total": 0.001}), "multiple"),
            (json!({"id": "A-1", "lines": [1], "state": "lost"}), "not one of"),
            (json!({"id": "A-1", "lines": [1], "day": "2024-02-30"}), "is not a \"date\""),
            (json!({"id": "A-1", "lines": [1], "mail": "no mail"}), "is not a \"email\""),
            (json!({"id": "A-1", "lines": [1], "page": "no page"}), "is not a \"uri\""),
            (json!({"id": "A-1", "lines": [1], "at": "today"}), "is not a \"date-time\""),
            (json!({"id": "A-1", "lines": [1], "who": true}), "not valid under any of the schemas"),
            (json!({"id": "A-1", "lines": [1], "x": 1}), "'x' was unexpected"),
        ] {
            let found = bad(value.clone());
            assert!(found.iter().any(|line| line.contains(word)), "{value}: {found:?}");
        }
    }

    #[test]
    fn an_unusable_schema_is_refused() {
        for schema in [
            json!({"requird": ["id"]}),
            json!({"properties": {"id": {"min_length": 1}}}),
            json!({"$ref": "file:///etc/hostname"}),
            json!({"$ref": "#/nowhere"}),
            json!({"$ref": "https://example.com/a.json"}),
            json!({"pattern": "(?=a)"}),
            json!({"properties": {"a": 5}}),
        ] {
            assert!(schema_problem(&schema).is_some(), "{schema}");
        }
        for schema in [
            json!(true),
            json!({"unevaluatedProperties": false, "x-note": 1}),
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]}),
        ] {
            assert_eq!(schema_problem(&schema), None, "{schema}");
        }
    }

    #[test]
    fn a_problem_of_a_schema_names_its_keyword() {
        for (schema, problem) in [
            (json!({"type": "objekt"}), format!("#/type: `objekt` is not a type; write {TYPES}")),
            (
                json!({"properties": {"a": {"type": ["string", "nul"]}}}),
                format!("#/properties/a/type: `[\"string\",\"nul\"]` is not a type; write {TYPES}"),
            ),
            (json!({"required": "d"}), "#/required: `required` must be a list, not \"d\"".to_owned()),
            (json!({"format": "dat"}), "#/format: unknown format 'dat'; remove it".to_owned()),
            (
                json!({"properties": {"id": {"min_length": 1}}}),
                "#/properties/id: unknown keyword `min_length`; remove it or use a code grader".to_owned(),
            ),
        ] {
            assert_eq!(schema_problem(&schema), Some(problem), "{schema}");
        }
    }

    #[test]
    fn a_schema_that_leads_back_to_itself_ends() {
        for schema in [
            json!({"$ref": "#"}),
            json!({"allOf": [{"$ref": "#"}]}),
            json!({"anyOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"not": {"$ref": "#"}}}}),
        ] {
            let _ = violations(&schema, &json!([1]));
        }
    }
}
