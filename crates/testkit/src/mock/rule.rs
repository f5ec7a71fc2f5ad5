//! Model that answers and judges by fixed rules, and a suite for it.

use std::fmt::Write as _;

use serde_json::json;

use super::{MockReply, MockRequest};

/// A judge for which a criterion is met if it contains "yes".
pub fn judge(incoming: &MockRequest) -> MockReply {
    let user = &incoming.last_user_text;
    let criterion = user.rsplit("[[BEGIN criterion").next().unwrap_or_default();
    let criterion = criterion.split("[[END").next().unwrap_or_default();
    let outcome = if criterion.contains("yes") { "met" } else { "unmet" };
    MockReply::Json(json!({ "evidence": [], "reason": "by rule", "outcome": outcome }))
}

/// Judges by [`judge`], and answers any other question with its last line.
pub fn answer_or_judge(incoming: &MockRequest) -> MockReply {
    if incoming.body["response_format"].is_object() {
        judge(incoming)
    } else {
        MockReply::text(format!("answer to {}", incoming.last_user_text.lines().last().unwrap_or_default()))
    }
}

/// A suite of this many cases with these criteria; with `given`, it includes the answers.
pub fn suite(cases: usize, criteria: &[&str], given: bool) -> String {
    let mut text = String::from("name: sums\ntests:\n");
    for case in 0..cases {
        let _ = write!(text, "  - id: case-{case}\n    criteria: be right\n    input: question {case}\n");
        if given {
            let _ = writeln!(text, "    output: the answer is {case}");
        }
        text.push_str("    assertions:\n      - type: rubrics\n        criteria:\n");
        for (at, criterion) in criteria.iter().enumerate() {
            let _ = write!(text, "          - id: c{at}\n            outcome: {criterion}\n");
        }
    }
    text
}
