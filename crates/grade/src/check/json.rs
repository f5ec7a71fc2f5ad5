//! `is-json`: the whole answer is JSON, and perhaps of a given shape.

use assize_evalfile::IsJson;
use serde_json::Value;

use super::result::CheckResult;
use super::schema::violations;
use assize_rubric::GraderNote;

/// Violations that are listed one by one.
const MAX_SHOWN: usize = 10;

/// 1 if the answer is JSON that keeps its schema. White space around it is allowed, fences and prose
/// are not.
pub(super) fn check_json(check: &IsJson, answer: &str) -> Result<CheckResult, String> {
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
        let problems = violations(schema, &value)?;
        if problems.is_empty() {
            findings.push(GraderNote::new(true, "the JSON matches the schema", "it does"));
        }

        let more = problems.len().saturating_sub(MAX_SHOWN);

        for problem in problems.into_iter().take(MAX_SHOWN) {
            findings.push(GraderNote::new(false, "the JSON matches the schema", problem));
        }

        if more > 0 {
            findings
                .push(GraderNote::remark("the JSON matches the schema", format!("{more} more violations")));
        }
    }

    Ok(CheckResult::all_or_nothing(findings))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn score(schema: Option<Value>, answer: &str) -> f64 {
        check_json(&IsJson { schema }, answer).unwrap().score.unwrap().get()
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
}
