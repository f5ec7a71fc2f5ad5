//! `is-json` and `contains-json`: the answer is or contains JSON, optionally with a schema.

use assize_model::IsJson;
use serde_json::Value;

use super::result::CheckResult;
use super::schema::violations;
use assize_rubric::GraderNote;

/// Most violations that are listed.
const MAX_SHOWN: usize = 10;

/// 1 if the answer is JSON that matches its schema. White space around it is allowed, fences and prose are not;
/// with `embedded`, the JSON may be anywhere in the answer.
pub(super) fn check_json(check: &IsJson, answer: &str) -> Result<CheckResult, String> {
    if check.embedded {
        return find_json(check.schema.as_ref(), answer);
    }

    let value: Value = match serde_json::from_str(answer) {
        Ok(value) => value,
        Err(error) => {
            let fenced = answer.trim_start().starts_with("```");
            let hint = if fenced { "; it is in a code fence" } else { "" };
            return Ok(CheckResult::all_or_nothing(vec![GraderNote::new(
                false,
                "the answer is JSON",
                format!("it is not: {error}{hint}"),
            )]));
        }
    };

    let mut findings = vec![GraderNote::new(true, "the answer is JSON", "it is")];
    if let Some(schema) = &check.schema {
        findings.extend(schema_notes(violations(schema, &value)?));
    }

    Ok(CheckResult::all_or_nothing(findings))
}

/// 1 if some JSON in the answer matches the schema. Without a schema it must be an object, because a list may
/// be the mark of a footnote.
fn find_json(schema: Option<&Value>, answer: &str) -> Result<CheckResult, String> {
    const LABEL: &str = "the answer contains JSON";
    let found = embedded_values(answer);
    let Some(schema) = schema else {
        let is_there = found.iter().any(Value::is_object);
        let reason = if is_there { "it does" } else { "there is no JSON object" };
        return Ok(CheckResult::all_or_nothing(vec![GraderNote::new(is_there, LABEL, reason)]));
    };

    let mut first = None;
    for value in &found {
        let problems = violations(schema, value)?;
        let fits = problems.is_empty();
        if fits || first.is_none() {
            first = Some(problems);
        }
        if fits {
            break;
        }
    }

    let is_there = first.is_some();
    let mut findings =
        vec![GraderNote::new(is_there, LABEL, if is_there { "it does" } else { "there is none" })];
    findings.extend(first.into_iter().flat_map(schema_notes));
    if found.len() > 1 {
        findings.push(GraderNote::remark(
            "the JSON matches the schema",
            format!("{} values were tried", found.len()),
        ));
    }
    Ok(CheckResult::all_or_nothing(findings))
}

/// Returns the objects and lists in a text from left to right, including objects in lists.
fn embedded_values(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(['{', '[']).map(|start| at + start) {
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        at = match values.next() {
            Some(Ok(value)) => {
                add_with_elements(value, &mut found);
                start + values.byte_offset()
            }
            _ => start + 1,
        };
    }

    found
}

fn add_with_elements(value: Value, found: &mut Vec<Value>) {
    let nested: Vec<Value> = match &value {
        Value::Array(items) => {
            items.iter().filter(|item| item.is_object() || item.is_array()).cloned().collect()
        }
        _ => Vec::new(),
    };
    found.push(value);
    for item in nested {
        add_with_elements(item, found);
    }
}

fn schema_notes(problems: Vec<String>) -> Vec<GraderNote> {
    const LABEL: &str = "the JSON matches the schema";
    if problems.is_empty() {
        return vec![GraderNote::new(true, LABEL, "it does")];
    }

    let more = problems.len().saturating_sub(MAX_SHOWN);
    let shown = problems.into_iter().take(MAX_SHOWN);
    let mut notes: Vec<GraderNote> = shown.map(|problem| GraderNote::new(false, LABEL, problem)).collect();
    if more > 0 {
        notes.push(GraderNote::remark(LABEL, format!("{more} more violations")));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn score(schema: Option<Value>, answer: &str) -> f64 {
        check_json(&IsJson { schema, embedded: false }, answer).unwrap().score.unwrap().get()
    }

    #[test]
    fn only_json_is_json() {
        assert_eq!(score(None, " {\"a\": 1}\n"), 1.0);
        assert_eq!(score(None, "```json\n{}\n```"), 0.0);
        assert_eq!(score(None, ""), 0.0);
        let schema = json!({"type": "object", "required": ["a"]});
        assert_eq!(score(Some(schema.clone()), "{\"a\": 1}"), 1.0);
        assert_eq!(score(Some(schema), "{\"b\": 1}"), 0.0);
    }

    #[test]
    fn json_in_an_answer_is_found_and_held_to_its_schema() {
        let of_map = json!({"type": "object", "required": ["b"]});
        let of_list = json!({"type": "array", "minItems": 2});
        for (schema, answer, expected) in [
            (None, "so {\"a\": 1} there", 1.0),
            (None, "as he says [1]", 0.0),
            (None, "so {a", 0.0),
            (Some(&of_map), "so {\"a\": 1} there", 0.0),
            (Some(&of_map), "so {\"a\": 1} or {\"b\": 2}", 1.0),
            (Some(&of_map), "so {\"a\": {\"b\": 2}}", 0.0),
            (Some(&of_map), "```json\n[{\"b\": 2}]\n```", 1.0),
            (Some(&of_map), "{x} {\"b\": \"}\"}", 1.0),
            (Some(&of_map), "nothing", 0.0),
            (Some(&of_list), "[1] and [1, 2]", 1.0),
            (Some(&json!(false)), "{}", 0.0),
        ] {
            let check = IsJson { schema: schema.cloned(), embedded: true };
            let found = check_json(&check, answer).expect("a schema").score.expect("a score");
            assert_eq!(found.get(), expected, "{schema:?} {answer}");
        }
    }
}
