//! Text comparisons: `contains` and its variants, `starts-with`, `ends-with`, `equals`, `regex`.

use assize_model::{TextCheck, TextRule, compile_pattern};

use super::result::{CheckResult, shorten};
use assize_rubric::GraderNote;

/// 1 if the rule holds, otherwise 0. `starts-with`, `ends-with` and `equals` ignore white space at both ends of
/// both texts; the other rules use the answer as it is.
pub(super) fn check_text(check: &TextCheck, answer: &str) -> Result<CheckResult, String> {
    let first = check.values.first().map(String::as_str).unwrap_or_default();
    let whole = answer.trim();
    let one = |passed: bool, text: String, yes: &str, no: &str| {
        CheckResult::all_or_nothing(vec![GraderNote::new(passed, text, if passed { yes } else { no })])
    };
    Ok(match &check.rule {
        TextRule::Contains { ignore_case } => {
            let found = contains(answer, first, *ignore_case);
            one(found, format!("contains `{}`", shorten(first)), "found", "not found in the answer")
        }
        TextRule::ContainsAny { ignore_case } => {
            let found = check.values.iter().find(|value| contains(answer, value, *ignore_case));
            let text = format!("contains one of {}", format_list(&check.values));
            match found {
                Some(value) => one(true, text, &format!("found `{}`", shorten(value)), ""),
                None => one(false, text, "", "none of them is in the answer"),
            }
        }
        TextRule::ContainsAll { ignore_case } => CheckResult::all_or_nothing(
            check
                .values
                .iter()
                .map(|value| {
                    let found = contains(answer, value, *ignore_case);
                    let reason = if found { "found" } else { "not found in the answer" };
                    GraderNote::new(found, format!("contains `{}`", shorten(value)), reason)
                })
                .collect(),
        ),
        TextRule::StartsWith => {
            let holds = whole.starts_with(first.trim());
            one(
                holds,
                format!("starts with `{}`", shorten(first)),
                "it does",
                "the answer starts differently",
            )
        }
        TextRule::EndsWith => {
            let holds = whole.ends_with(first.trim());
            one(holds, format!("ends with `{}`", shorten(first)), "it does", "the answer ends differently")
        }
        TextRule::Equals => {
            let holds = whole == first.trim();
            one(holds, format!("is `{}`", shorten(first)), "it is", "the answer differs")
        }
        TextRule::Regex(regex) => {
            let pattern = compile_pattern(first, &regex.flags)
                .map_err(|error| format!("the pattern can't be used: {error}"))?;
            let text = format!("matches /{}/{}", shorten(first), regex.flags);
            match pattern.find(answer) {
                Some(found) => one(true, text, &format!("matched `{}`", shorten(found.as_str())), ""),
                None => one(false, text, "", "nothing in the answer matches"),
            }
        }
    })
}

fn contains(answer: &str, value: &str, ignore_case: bool) -> bool {
    if ignore_case { answer.to_lowercase().contains(&value.to_lowercase()) } else { answer.contains(value) }
}

fn format_list(values: &[String]) -> String {
    values.iter().map(|value| format!("`{}`", shorten(value))).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use assize_model::Regex;

    fn score(rule: TextRule, values: &[&str], answer: &str) -> f64 {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        check_text(&TextCheck { rule, values }, answer).unwrap().score.unwrap().get()
    }

    #[test]
    fn each_rule_compares_as_it_says() {
        let contains = |ignore_case| TextRule::Contains { ignore_case };
        assert_eq!(score(contains(false), &["Hello"], "say Hello"), 1.0);
        assert_eq!(score(contains(false), &["hello"], "say Hello"), 0.0);
        assert_eq!(score(contains(true), &["hELLO"], "say Hello"), 1.0);
        assert_eq!(score(TextRule::ContainsAny { ignore_case: false }, &["x", "y"], "a y"), 1.0);
        assert_eq!(score(TextRule::ContainsAny { ignore_case: true }, &["X"], "a y"), 0.0);
        assert_eq!(score(TextRule::ContainsAll { ignore_case: false }, &["x", "y"], "a y"), 0.0);
        assert_eq!(score(TextRule::ContainsAll { ignore_case: true }, &["A", "Y"], "a y"), 1.0);
        assert_eq!(score(TextRule::StartsWith, &["a "], "  a b"), 1.0);
        assert_eq!(score(TextRule::EndsWith, &["b"], "a b\n"), 1.0);
        assert_eq!(score(TextRule::Equals, &["a b\n"], " a b"), 1.0);
        assert_eq!(score(TextRule::Equals, &["A b"], "a b"), 0.0);
    }

    #[test]
    fn an_unusable_pattern_is_an_error_and_no_score() {
        let rule = || TextRule::Regex(Regex { flags: "i".into() });
        assert_eq!(score(rule(), &[r"^ORDER \d+$"], "order 12"), 1.0);
        let check = check_text(&TextCheck { rule: rule(), values: vec!["(?=a)".into()] }, "a");
        assert!(check.unwrap_err().contains("look-ahead"));
    }
}
