//! Parses a model's review and keeps only findings that hold up.

use assize_diagnostic::DiagnosticCode;
use assize_lint::{LintInquiry, LintRule, ModelFinding, QuestionScope};
use serde_json::Value;

use super::prompt::key;

/// Most characters of a reason that are kept.
const MAX_REASON_CHARS: usize = 400;

/// Result of one rule.
#[derive(Debug, PartialEq)]
pub(super) enum ReviewReply {
    /// The rule was applied, with these findings.
    Applied(Vec<ModelFinding>),
    /// The rule could not be applied: problems of the reply, one per line. Never empty.
    Unusable(Vec<String>),
}

/// The results by rule, in the order of `rules`.
pub(super) fn read(
    reply: &Value,
    inquiry: &LintInquiry,
    rules: &[&'static LintRule],
) -> Vec<(DiagnosticCode, ReviewReply)> {
    let answers = reply.get("answers").and_then(Value::as_array);
    let read = |rule: &&'static LintRule| {
        let of_rule: Vec<&Value> = answers
            .into_iter()
            .flatten()
            .filter(|answer| answer.get("rule").and_then(Value::as_str) == Some(rule.code.as_str()))
            .collect();
        let answer = match of_rule.as_slice() {
            [] => ReviewReply::Unusable(vec![format!("{}: there is no answer to this question", rule.code)]),
            [answer] => findings(answer, inquiry, rule),
            more => ReviewReply::Unusable(vec![format!("{}: there are {} answers", rule.code, more.len())]),
        };
        (rule.code, answer)
    };
    rules.iter().map(read).collect()
}

fn findings(answer: &Value, inquiry: &LintInquiry, rule: &LintRule) -> ReviewReply {
    let Some(list) = answer.get("findings").and_then(Value::as_array) else {
        return ReviewReply::Unusable(vec![format!("{}: `findings` is not a list", rule.code)]);
    };
    let mut remarks = Vec::new();
    let mut problems = Vec::new();
    for (at, finding) in list.iter().enumerate() {
        match remark(finding, inquiry, rule) {
            Ok(remark) => remarks.push(remark),
            Err(problem) => problems.push(format!("{}, finding {}: {problem}", rule.code, at + 1)),
        }
    }

    if problems.is_empty() { ReviewReply::Applied(remarks) } else { ReviewReply::Unusable(problems) }
}

fn remark(finding: &Value, inquiry: &LintInquiry, rule: &LintRule) -> Result<ModelFinding, String> {
    let scope = rule.question().ok_or("no question was asked")?.scope;
    let index = |member: &str| -> Result<Option<usize>, String> {
        match finding.get(member) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(name)) => (0..inquiry.criteria.len())
                .find(|at| key(*at) == *name)
                .map(Some)
                .ok_or_else(|| format!("`{member}` is `{name}`, and there is no such criterion")),
            Some(_) => Err(format!("`{member}` is neither the key of a criterion nor null")),
        }
    };

    let criterion = index("criterion")?.filter(|_| scope.names_criterion());
    if scope.names_criterion() && criterion.is_none() {
        return Err("`criterion` names no criterion".to_owned());
    }

    let other = index("other")?.filter(|_| scope == QuestionScope::Pair);
    if scope == QuestionScope::Pair && (other.is_none() || other == criterion) {
        return Err("`other` names no second criterion".to_owned());
    }

    let asked = criterion.and_then(|at| inquiry.criteria.get(at));
    if scope == QuestionScope::Bands && asked.is_some_and(|asked| asked.bands.is_empty()) {
        return Err("this criterion has no ranges".to_owned());
    }

    let quote = finding.get("quote").and_then(Value::as_str).unwrap_or_default().trim();
    let texts: Vec<&str> = match (scope, asked) {
        (QuestionScope::Missing, _) => vec![&inquiry.expected_outcome],
        (_, Some(asked)) => {
            let bands = asked.bands.iter().map(|(_, _, text)| text.as_str());
            std::iter::once(asked.text.as_str()).chain(bands).collect()
        }
        (_, None) => Vec::new(),
    };
    if scope.requires_quote() {
        if quote.is_empty() {
            return Err("`quote` is empty".to_owned());
        }
        if !texts.iter().any(|text| plain(text).contains(&plain(quote))) {
            return Err(format!("`quote` is not in the text it is about: `{quote}`"));
        }
    }

    let reason = clean(finding.get("reason").and_then(Value::as_str).unwrap_or_default());
    if reason.is_empty() {
        return Err("`reason` is empty".to_owned());
    }

    let quote = if scope.requires_quote() { quote.to_owned() } else { String::new() };
    Ok(ModelFinding { rule: rule.code, criterion, other, quote, reason })
}

/// A text in the form for comparing: letter case and line breaks make no difference.
fn plain(text: &str) -> String {
    text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// A reason as one line without control characters.
fn clean(text: &str) -> String {
    let visible: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MAX_REASON_CHARS {
        return line;
    }

    line.chars().take(MAX_REASON_CHARS).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use assize_lint::{ModelLint, RULES};
    use serde_json::json;

    use super::*;

    const RUBRIC: &str = "criteria:\n  - id: a\n    outcome: Names the  Date\n  - id: b\n    score_ranges:\n      0: Late\n      5: In time\n";

    fn answer(code: &str, findings: Value) -> ReviewReply {
        let linting = ModelLint::for_rubric(&assize_evalfile::read_rubric(Path::new("r.yaml"), RUBRIC));
        let mut inquiry = linting.inquiries()[0].clone();
        inquiry.expected_outcome = "Be in time".to_owned();
        let rule = RULES.iter().find(|rule| rule.code.as_str() == code).expect("known");
        let reply = json!({"answers": [{"rule": code, "findings": findings}]});
        read(&reply, &inquiry, &[rule]).remove(0).1
    }

    fn finding(criterion: Value, other: Value, quote: Value) -> Value {
        json!({"criterion": criterion, "other": other, "quote": quote, "reason": "because"})
    }

    #[test]
    fn quotes_are_found_in_the_text_they_belong_to() {
        for (code, good) in [
            ("L0601", finding("c1".into(), Value::Null, "names the date".into())),
            ("L0604", finding("c1".into(), "c2".into(), "Date".into())),
            ("L0606", finding(Value::Null, Value::Null, "in time".into())),
            ("L0608", finding("c2".into(), Value::Null, "In time".into())),
            ("L0610", finding(Value::Null, Value::Null, Value::Null)),
        ] {
            assert!(
                matches!(answer(code, json!([good])), ReviewReply::Applied(remarks) if remarks.len() == 1),
                "{code}"
            );
        }
        assert_eq!(answer("L0601", json!([])), ReviewReply::Applied(Vec::new()));
    }

    #[test]
    fn what_names_nothing_is_unusable() {
        for (code, bad) in [
            ("L0601", finding("c3".into(), Value::Null, "Date".into())),
            ("L0601", finding(Value::Null, Value::Null, "Date".into())),
            ("L0601", finding("c1".into(), Value::Null, "In time".into())),
            ("L0601", finding("c1".into(), Value::Null, " ".into())),
            ("L0604", finding("c1".into(), "c1".into(), "Date".into())),
            ("L0604", finding("c1".into(), Value::Null, "Date".into())),
            ("L0606", finding("c1".into(), Value::Null, "Date".into())),
            ("L0608", finding("c1".into(), Value::Null, "Date".into())),
            ("L0601", json!({"criterion": "c1", "quote": "Date", "reason": "\u{7}"})),
            ("L0601", json!("c1")),
        ] {
            assert!(matches!(answer(code, json!([bad])), ReviewReply::Unusable(_)), "{code} {bad}");
        }
        assert!(matches!(answer("L0601", json!("none")), ReviewReply::Unusable(_)));
    }

    #[test]
    fn every_question_is_answered_once() {
        let linting = ModelLint::for_rubric(&assize_evalfile::read_rubric(Path::new("r.yaml"), RUBRIC));
        let rules = linting.inquiries()[0].applicable_rules(|_| true);
        let one = json!({"rule": "L0601", "findings": []});
        let answers = read(&json!({"answers": [one, one]}), &linting.inquiries()[0], &rules);
        assert_eq!(answers.len(), rules.len());
        assert!(answers.iter().all(|(_, answer)| matches!(answer, ReviewReply::Unusable(_))));
        assert!(!rules.iter().any(|rule| rule.code.as_str() == "L0606"), "nothing is expected in words");
    }

    #[test]
    fn reasons_are_one_line() {
        assert_eq!(clean(" a\n\u{1b}[1m b "), "a [1m b");
        assert_eq!(clean(&"x".repeat(500)).chars().count(), MAX_REASON_CHARS + 1);
    }
}
