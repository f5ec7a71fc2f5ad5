//! L0103: a criterion that is a list.

use assize_diagnostic::{Diagnostic, DiagnosticCode};

use super::cited;
use crate::finding::FindingCollector;
use crate::rule::{LintRule, RuleCheck, RuleExample};
use crate::view::CriterionView;
use crate::words::{find_any_phrase, split_words};

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0103"),
    name: "list-in-criterion",
    title: "The criterion is a list of four or more things.",
    reason: "Three of four is not \"met\", so all partial credit is lost, and the report can't say which one was missing. One criterion for each thing, or \"at least three of\", can be decided.",
    source: cited::GUIDE,
    bad: RuleExample::Criteria("- Mentions the sender, the weight, the route and the insurance"),
    good: RuleExample::Criteria("- Mentions at least three of sender, weight, route and insurance"),
    fixes: false,
    check: RuleCheck::Criterion(check),
};

/// Words that make a list one requirement: a choice, a number, examples.
const SINGLE_DEMAND_WORDS: &[&str] = &[
    "or", "any of", "one of", "at least", "such as", "for example", "like", "e g", "including",
    "in the order", "in order", "exactly", "in this order", "not", "no", "without", "avoids", "avoid",
    "format", "fields", "keys", "between",
];

/// Maximum number of words: in longer sentences commas have other uses.
const MAX_WORDS: usize = 20;

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    let text = view.text();
    let all = split_words(text);

    // A list in brackets, in quotes or after a colon spells out one thing.
    if view.bands().is_some()
        || view.length() > MAX_WORDS
        || text.contains(['(', '[', '{', '"', '“', '`', ':', ';', '\n'])
    {
        return;
    }

    if find_any_phrase(&all, SINGLE_DEMAND_WORDS).is_some()
        || text.trim_end().trim_end_matches('.').contains(". ")
    {
        return;
    }

    let Some((before, last)) = text.rsplit_once(" and ") else { return };
    let items: Vec<&str> = before.split(", ").collect();

    // The first part holds the verb; the following parts are short in a list of things.
    let short = |item: &&str| (1..=4).contains(&item.split_whitespace().count());

    // A long first part is a clause of its own.
    if items[0].split_whitespace().count() > 8 {
        return;
    }

    let listed = items.len() + 1;

    // A series of numbers is one thing.
    if items[1..].iter().any(|item| item.trim().parse::<f64>().is_ok()) {
        return;
    }

    if listed < 4
        || !items[1..].iter().all(|item| short(&item.trim_end_matches(',')))
        || last.split_whitespace().count() > 6
    {
        return;
    }

    if let Some(span) = out.span(view.text_mark()) {
        out.add(
            Diagnostic::warning(
                RULE.code,
                format!("this criterion demands {listed} things"),
                span,
                "met only if all of them are present",
            )
            .with_help("write one criterion for each, or a number: `at least three of: ...`"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{finds, silent};

    #[test]
    fn four_things_are_a_list() {
        finds(
            "L0103",
            &[
                "Covers price, size, colour and material",
                "Lists the cause, the date, the cost, and the route",
            ],
        );
    }

    #[test]
    fn shorter_lists_choices_and_one_thing_spelled_out_are_not() {
        silent(
            "L0103",
            &[
                "Covers price, size and colour",
                "Prints the sums for 1, 2, 3, 4, and 5 parcels",
                "Names one of price, size, colour and material",
                "Handles edge cases (none, empty, long and short)",
                "Returns JSON with the keys id, name, size and colour",
                "Does not mention price, size, colour and material",
                "When asked, and after the greeting, explains, in plain words and without haste, the delay",
            ],
        );
    }
}
