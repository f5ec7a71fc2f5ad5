//! L0401: two criteria that check the same thing.

use std::collections::BTreeSet;

use assize_rubric::CriterionOperator;

use super::prelude::*;
use crate::words::{content_stems, is_negation, jaccard_similarity, split_words};

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0401"),
    name: "repeated-criterion",
    title: "Two criteria check the same thing.",
    reason: "What is checked twice counts twice, and what is both required and forbidden can't be met. Keep one criterion, with the right weight.",
    source: cited::AUTO_RUBRIC,
    bad: RuleExample::Criteria(
        "- Names the strike at the carrier as the cause\n- The answer names the strike at the carrier as cause",
    ),
    good: RuleExample::Criteria(
        "- outcome: Names the strike at the carrier as the cause\n  weight: 2\n- Gives the new date",
    ),
    check: RuleCheck::Rubric(check),
};

/// Minimum word similarity of two texts that count as repetitions.
const MIN_SIMILARITY: f64 = 0.85;
/// Maximum number of criteria for which all pairs are compared. If there are more, each is compared with the
/// ten before it.
const MAX_ALL_PAIRS: usize = 300;

struct CriterionWords<'a> {
    view: CriterionView<'a>,
    content: BTreeSet<String>,
    negative: bool,
    /// True if the text has the word "or". A requirement of one of several things differs from a requirement
    /// of all of them.
    has_choice: bool,
}

fn check(view: &RubricView<'_>, out: &mut FindingCollector<'_>) {
    let criteria: Vec<CriterionWords<'_>> = view
        .criteria()
        .filter(|criterion| criterion.bands().is_none())
        .map(|criterion| {
            let words = split_words(criterion.text());
            CriterionWords {
                content: content_stems(criterion.text()),
                negative: words.iter().any(|word| is_negation(&word.text)),
                has_choice: words.iter().any(|word| word.text == "or"),
                view: criterion,
            }
        })
        .collect();

    let reach = if criteria.len() > MAX_ALL_PAIRS { 10 } else { criteria.len() };
    for (index, later) in criteria.iter().enumerate() {
        let near = &criteria[index.saturating_sub(reach)..index];
        let Some((earlier, what)) =
            near.iter().find_map(|earlier| Some((earlier, compare_criteria(earlier, later)?)))
        else {
            continue;
        };

        let Some(span) = out.span(later.view.text_mark()) else { continue };
        let mut diagnostic =
            Diagnostic::warning(RULE.code, what.title()).at(span, what.label()).with_help(what.help());
        if let Some(first) = out.span(earlier.view.text_mark()) {
            diagnostic = diagnostic.with_secondary(first, "the other one");
        }

        diagnostic.add_to(out);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum CriterionRelation {
    Same,
    Opposite,
    Mirrored,
}

fn compare_criteria(a: &CriterionWords<'_>, b: &CriterionWords<'_>) -> Option<CriterionRelation> {
    let operators = (a.view.criterion().operator, b.view.criterion().operator);
    if operators != (CriterionOperator::Correctness, CriterionOperator::Correctness)
        || a.content.len().min(b.content.len()) < 2
    {
        return None;
    }

    let alike = jaccard_similarity(&a.content, &b.content);
    // If one word is replaced by another, the criterion is a different one, however long the texts are; with an
    // additional word it may be the same. A different word order may make the difference, too ("from A to B").
    let more = a.content.is_subset(&b.content) || b.content.is_subset(&a.content);
    if alike < MIN_SIMILARITY
        || a.has_choice != b.has_choice
        || !more
        || (alike < 1.0 && a.content.len() + b.content.len() < 10)
        || !have_same_order(a, b)
    {
        return None;
    }

    let (up, down) = (a.view.weight() >= 0.0, b.view.weight() >= 0.0);
    match (a.negative == b.negative, up == down) {
        (true, true) => Some(CriterionRelation::Same),
        (false, true) if alike == 1.0 && up => Some(CriterionRelation::Opposite),
        (true, false) if alike == 1.0 => Some(CriterionRelation::Opposite),
        (false, false) if alike == 1.0 => Some(CriterionRelation::Mirrored),
        _ => None,
    }
}

/// Returns true if the shared words have the same order, and the other words contain no numbers or names, which
/// would make a different criterion.
fn have_same_order(a: &CriterionWords<'_>, b: &CriterionWords<'_>) -> bool {
    let order = |own: &CriterionWords<'_>, other: &CriterionWords<'_>| -> Vec<String> {
        let stems = split_words(own.view.text()).into_iter().map(|word| crate::words::stem(&word.text));
        stems.filter(|stem| own.content.contains(stem) && other.content.contains(stem)).collect()
    };
    let differ = a.content.symmetric_difference(&b.content);
    order(a, b) == order(b, a)
        && !differ.into_iter().any(|word| word.chars().any(|c| c.is_ascii_digit()))
        && (a.content == b.content || !names_differ(a.view.text(), b.view.text()))
}

/// Returns true if one text has a capitalised or quoted word that the other lacks. The first word does not
/// count.
fn names_differ(a: &str, b: &str) -> bool {
    let names = |text: &str| -> BTreeSet<String> {
        let named = |at: &usize| {
            text[*at..].starts_with(char::is_uppercase) || text[..*at].ends_with(['"', '\'', '`', '“'])
        };
        split_words(text).into_iter().skip(1).filter(|w| named(&w.at.start)).map(|w| w.text).collect()
    };
    names(a) != names(b)
}

impl CriterionRelation {
    const fn title(self) -> &'static str {
        match self {
            Self::Same => "this criterion repeats another",
            Self::Opposite => "this criterion requires the opposite of another",
            Self::Mirrored => "this criterion is the inverse of another",
        }
    }

    const fn label(self) -> &'static str {
        match self {
            Self::Same => "counts twice",
            Self::Opposite => "no answer meets both",
            Self::Mirrored => "counts twice: as a gain and as a loss",
        }
    }

    const fn help(self) -> &'static str {
        match self {
            Self::Same | Self::Mirrored => "keep one of them, with the sum of both weights",
            Self::Opposite => "decide which of them is meant",
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::in_criteria;

    fn pair(a: &str, b: &str) -> usize {
        in_criteria("L0401", &format!("- {{outcome: \"{a}\"}}\n- {{outcome: \"{b}\"}}\n")).len()
    }

    #[test]
    fn repetitions_in_other_words_of_structure_are_found() {
        assert_eq!(pair("Mentions the delay", "The answer should mention delays"), 1);
        assert_eq!(pair("Mentions 404 Not Found", "It mentions 404 not found"), 1);
        assert_eq!(pair("Names the carrier", "Does not name the carrier"), 1);
        let mirrored = "- Names the carrier\n- {outcome: Does not name the carrier, weight: -1}\n";
        assert_eq!(in_criteria("L0401", mirrored), ["Does not name the carrier"]);
    }

    #[test]
    fn small_differences_that_matter_are_kept_apart() {
        for (a, b) in [
            ("Names the carrier", "Names the sender"),
            ("Offers a refund and a voucher", "Offers a refund or a voucher"),
            (
                "The caption that gave the lowest score is saved for use in the attacks that follow",
                "The label that gave the lowest score is saved for use in the attacks that follow",
            ),
            ("Converts from metres to feet", "Converts from feet to metres"),
            (
                "Names the first price of the parcel in 2019 exactly",
                "Names the first price of the parcel in 2020 exactly",
            ),
            (
                "Says that Anna called the office on the day of arrival",
                "Says that Ben called the office on the day of arrival",
            ),
        ] {
            assert_eq!(pair(a, b), 0, "{a} / {b}");
        }
    }
}
