//! Cases and answers in any number, the same every time.

use std::fmt::Write as _;

use serde_json::{Value, json};

/// The rubric for grading the answers.
pub(super) const RUBRIC: &str = "\
rubrics:
  - id: window
    outcome: States the refund window of 30 days
    weight: 2
  - id: channel
    outcome: Names the support address to write to
    required: true
  - id: tone
    outcome: Apologises for the delay
  - id: detail
    weight: 3
    score_ranges:
      0: Nothing about the next step
      4: The next step without a date
      8: The next step with a date
";

const OPENINGS: &[&str] = &[
    "Thank you for writing to us.",
    "I am sorry for the delay with your parcel.",
    "We have looked into your order.",
    "Good news about your request.",
];

const FACTS: &[&str] = &[
    "You can return any item within 30 days of delivery for a full refund.",
    "Refunds reach your card five working days after the parcel arrives.",
    "The warranty covers the battery for two years.",
    "Your order left the warehouse on Tuesday.",
    "Please write to support@example.com with the number of your order.",
];

const CLOSINGS: &[&str] = &[
    "Our next step is to send you a label by Friday.",
    "We will be in touch.",
    "You do not need to do anything else.",
];

/// A generator of small numbers for choosing sentences, with the constants of Knuth's MMIX.
struct SentencePicker(u64);

impl SentencePicker {
    fn roll<'a>(&mut self, list: &[&'a str]) -> &'a str {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        list[(self.0 >> 33) as usize % list.len()]
    }
}

pub(super) fn answer(number: usize) -> String {
    let mut dice = SentencePicker(number as u64);
    let sentences = [dice.roll(OPENINGS), dice.roll(FACTS), dice.roll(FACTS), dice.roll(CLOSINGS)];
    format!("{} Your order is {number}.", sentences.join(" "))
}

/// Answers of a page each with their questions, one per line. A stored run of them takes about 3 kB a case.
pub(super) fn long_answers(count: usize) -> String {
    const SENTENCES: usize = 18;

    json_lines(count, |number| {
        let mut dice = SentencePicker(number as u64);
        let sentences: Vec<&str> =
            (0..SENTENCES).map(|_| dice.roll(&[OPENINGS, FACTS, CLOSINGS].concat())).collect();
        json!({
            "id": format!("case-{number:06}"),
            "input": format!("Question {number}: where is my order, and can I return it?"),
            "answer": format!("{} Your order is {number}.", sentences.join(" ")),
            "tags": [format!("group {}", number % 4)],
        })
    })
}

/// A suite in the `tests` format, in YAML.
pub(super) fn suite(cases: usize) -> String {
    let mut text = "name: generated\ntests:\n".to_owned();
    for number in 1..=cases {
        write!(
            text,
            "  - id: case-{number}\n    input: Where is order {number}, and can I return it?\n    output: {answer}\n    \
             assertions:\n      - States the refund window of 30 days\n      - Names the support address to write to\n      \
             - type: rubrics\n        weight: 2\n        criteria:\n          - id: tone\n            outcome: Apologises \
             for the delay\n            required: true\n          - id: detail\n            score_ranges:\n              \
             0: Nothing about the next step\n              4: The next step without a date\n              8: The next \
             step with a date\n",
            answer = json!(answer(number))
        )
        .expect("a string takes everything");
    }

    text
}

/// Values for the numbers 1 to `count`, one per line.
fn json_lines(count: usize, value: impl Fn(usize) -> Value) -> String {
    (1..=count).map(|number| value(number).to_string() + "\n").collect()
}

/// Cases in the `tests` format, one per line.
pub(super) fn cases(count: usize) -> String {
    json_lines(count, |number| {
        json!({
            "id": format!("case-{number}"),
            "input": format!("Where is order {number}, and can I return it?"),
            "output": answer(number),
            "assertions": [
                "States the refund window of 30 days",
                "Names the support address to write to",
                {
                    "type": "rubrics",
                    "weight": 2,
                    "criteria": [
                        { "id": "tone", "outcome": "Apologises for the delay", "required": true },
                        { "id": "detail", "score_ranges": {
                            "0": "Nothing about the next step",
                            "4": "The next step without a date",
                            "8": "The next step with a date",
                        } },
                    ],
                },
            ],
        })
    })
}

/// Cases with four criteria that a judge decides one by one, one case per line.
pub(super) fn judged(count: usize) -> String {
    json_lines(count, |number| {
        json!({
            "id": format!("case-{number}"),
            "input": format!("Where is order {number}, and can I return it?"),
            "output": answer(number),
            "assertions": [
                "States the refund window of 30 days",
                "Names the support address to write to",
                "Apologises for the delay",
                "Says what the next step is and when it comes",
            ],
        })
    })
}

/// Cases with one criterion, one per line.
pub(super) fn judged_once(count: usize) -> String {
    json_lines(count, judged_case)
}

/// One of the cases of [`judged_once`].
pub(super) fn judged_case(number: usize) -> Value {
    json!({
        "id": format!("case-{number}"),
        "input": format!("Where is order {number}, and can I return it?"),
        "output": answer(number),
        "assertions": ["States the refund window of 30 days"],
    })
}

/// Answers for [`RUBRIC`], one per line.
pub(super) fn answers(count: usize) -> String {
    json_lines(count, |number| {
        json!({
            "id": format!("case-{number}"),
            "question": format!("Where is order {number}, and can I return it?"),
            "answer": answer(number),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_the_same_every_time_and_not_all_alike() {
        assert_eq!(cases(50), cases(50));
        assert_eq!(answers(3).lines().count(), 3);
        let bodies: std::collections::BTreeSet<String> =
            (0..50).map(|number| answer(number).replace(&number.to_string(), "")).collect();
        assert!(bodies.len() > 10, "{}", bodies.len());
    }

    #[test]
    fn every_case_stands_in_the_suite() {
        let text = suite(20);
        assert_eq!(text.matches("  - id: case-").count(), 20);
        assert_eq!(text.matches("\n    output: \"").count(), 20);
    }
}
