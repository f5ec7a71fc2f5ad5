//! Compares JSON values: whole, in part, or by chosen fields.

use assize_model::ArgsMatch;
use assize_rubric::json_equal;
use serde_json::Value;

/// Returns true if the arguments of a call match the expected ones. No expectation (`None`) matches anything.
pub(super) fn matches_arguments(expected: Option<&Value>, real: &Value, rule: &ArgsMatch) -> bool {
    let Some(expected) = expected else { return true };
    match rule {
        ArgsMatch::Ignore => true,
        ArgsMatch::Exact => json_equal(expected, real),
        ArgsMatch::Superset => contains_json(real, expected),
        ArgsMatch::Subset => contains_json(expected, real),
        ArgsMatch::Fields(paths) => {
            paths.iter().all(|path| match (value_at_path(expected, path), value_at_path(real, path)) {
                (Some(expected), Some(real)) => json_equal(expected, real),
                (None, None) => true,
                _ => false,
            })
        }
    }
}

/// Returns true if every member of `part` is in `whole`, at every depth of nested objects.
fn contains_json(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, value)| whole.get(key).is_some_and(|other| contains_json(other, value)))
        }
        // A call without arguments may be recorded with null arguments.
        (Value::Null, Value::Object(part)) => part.is_empty(),
        (Value::Object(_), Value::Null) => true,
        (whole, part) => json_equal(whole, part),
    }
}

/// The value at a path of names and `[index]`, such as `order.items[0].price`.
pub(super) fn value_at_path<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    let mut at = value;
    for part in path.split('.') {
        let (name, mut rest) = part.split_at(part.find('[').unwrap_or(part.len()));
        if !name.is_empty() {
            at = match at {
                Value::Array(items) => items.get(name.parse::<usize>().ok()?)?,
                other => other.get(name)?,
            };
        }

        while let Some((index, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            at = at.get(index.parse::<usize>().ok()?)?;
            rest = after;
        }
    }

    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_rule_compares_as_it_says() {
        let fits =
            |expected: Value, real: Value, rule: ArgsMatch| matches_arguments(Some(&expected), &real, &rule);
        assert!(fits(json!({"a": 1, "b": 2}), json!({"b": 2.0, "a": 1}), ArgsMatch::Exact));
        assert!(!fits(json!({"a": 1}), json!({"a": 1, "b": 2}), ArgsMatch::Exact));
        assert!(fits(json!({"a": {"x": 1}}), json!({"a": {"x": 1, "y": 2}, "b": 2}), ArgsMatch::Superset));
        assert!(!fits(json!({"a": 1, "b": 2}), json!({"a": 1}), ArgsMatch::Superset));
        assert!(fits(json!({"a": 1, "b": 2}), json!({"a": 1}), ArgsMatch::Subset));
        assert!(fits(json!({}), Value::Null, ArgsMatch::Superset));
        assert!(fits(json!({"a": 1}), json!("x"), ArgsMatch::Ignore));
        let fields = |paths: &[&str]| ArgsMatch::Fields(paths.iter().map(|path| (*path).into()).collect());
        assert!(fits(
            json!({"q": {"x": [1]}, "r": 1}),
            json!({"q": {"x": [1]}, "r": 2}),
            fields(&["q.x[0]"])
        ));
        assert!(!fits(json!({"q": 1}), json!({"q": 2}), fields(&["q"])));
    }
}
