//! L0103: a criterion that is a list.

use super::prelude::*;
use crate::words::{TextWord, find_any_phrase, find_opening_phrase, skip_subject, split_words};

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0103"),
    name: "list-in-criterion",
    title: "The criterion is a list of three or more things.",
    reason: "Two of three is not \"met\", so all partial credit is lost, and the report can't say which one was missing. One criterion for each thing, or \"at least two of\", can be decided. Three things are found where the answer has to name them (\"names the price, the date and the address\"), four in any list of short parts; adjectives before one noun (\"a clear, concise and polite tone\") are one thing.",
    source: cited::GUIDE,
    bad: RuleExample::Criteria("- Mentions the sender, the weight and the route"),
    good: RuleExample::Criteria("- Mentions at least two of sender, weight and route"),
    check: RuleCheck::Criterion(check),
};

/// Words that turn a list into a single requirement: a choice, a number, examples.
const SINGLE_DEMAND_WORDS: &[&str] = &[
    "or", "any of", "one of", "at least", "such as", "for example", "like", "e g", "including",
    "in the order", "in order", "exactly", "in this order", "not", "no", "without", "avoids", "avoid",
    "format", "fields", "keys", "between",
];

/// Opening verbs that require the answer to contain their objects. Other verbs may be about the list as a
/// whole ("compares the price, the date and the address").
const NAMING_VERBS: &[&str] = &[
    "names", "mentions", "states", "gives", "lists", "cites", "includes", "contains", "covers", "provides",
    "quotes", "reports", "specifies", "identifies", "shows", "tells", "has", "asks for", "refers to",
    "points out", "name", "mention", "state", "give", "list", "cite", "include", "contain", "cover",
    "provide", "quote", "report", "specify", "identify", "show", "tell", "have", "ask for", "refer to",
    "point out",
];
/// Words that introduce a noun.
const DETERMINERS: &[&str] =
    &["the", "a", "an", "its", "their", "his", "her", "your", "our", "my", "this", "that", "each", "every"];
/// Words after which the list belongs to the first item: "the effect of the sun, the moon and the tides".
const PREPOSITIONS: &[&str] = &[
    "of", "in", "on", "at", "to", "for", "from", "with", "by", "about", "between", "among", "as", "than",
    "that", "which", "who", "how", "why", "when", "where", "if", "what",
];

/// Maximum number of words. In longer sentences, commas have other uses.
const MAX_WORDS: usize = 20;

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    let text = view.text();
    let all = split_words(text);

    // A list in brackets, in quotes or after a colon explains a single thing.
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

    // The first item contains the verb. The others are short if this is a list of things.
    let short = |item: &&str| (1..=4).contains(&item.split_whitespace().count());

    // A long first part is a clause of its own.
    if items[0].split_whitespace().count() > 8 {
        return;
    }

    let listed = items.len() + 1;

    // A series of numbers is a single thing.
    if items[1..].iter().any(|item| item.trim().parse::<f64>().is_ok()) {
        return;
    }

    if listed < 3
        || (listed == 3 && !are_named_things(&all, &items, last))
        || !items[1..].iter().all(|item| short(&item.trim_end_matches(',')))
        || last.split_whitespace().count() > 6
    {
        return;
    }

    let help = match listed {
        3 => "write one criterion for each, or a number: `at least two of: ...`",
        _ => "write one criterion for each, or a number: `at least three of: ...`",
    };
    if let Some(span) = out.span(view.text_mark()) {
        Diagnostic::warning(RULE.code, format!("this criterion demands {listed} things"))
            .at(span, "met only if all of them are present")
            .with_help(help)
            .add_to(out);
    }
}

/// Returns true if three items are things that the answer has to name: they follow a verb of naming, and either
/// all have a determiner or all are single words. With adjectives before one noun, only the first may have a
/// determiner, and the last contains the noun.
fn are_named_things(all: &[TextWord], items: &[&str], last: &str) -> bool {
    let predicate = skip_subject(all);
    let Some(verb) = find_opening_phrase(predicate, NAMING_VERBS) else { return false };

    let first = items[0].get(verb.end..).unwrap_or_default();
    let parts: Vec<Vec<TextWord>> =
        [&[first], &items[1..], &[last]].concat().into_iter().map(split_words).collect();
    let is_one_of = |word: &TextWord, words: &[&str]| words.contains(&word.text.as_str());
    let begins_as_noun = |part: &Vec<TextWord>| part.first().is_some_and(|word| is_one_of(word, DETERMINERS));
    let is_single = |part: &Vec<TextWord>| part.len() == 1 && !is_adverb_or_form(&part[0].text);
    let first_is_plain = !parts[0].iter().any(|word| is_one_of(word, PREPOSITIONS));
    let first_is_single = is_single(&parts[0]) || (begins_as_noun(&parts[0]) && parts[0].len() == 2);

    first_is_plain
        && parts.iter().all(|part| !part.is_empty())
        && (parts.iter().all(begins_as_noun) || (first_is_single && parts[1..].iter().all(is_single)))
}

/// Returns true for words that do not name things: adverbs, and other forms of verbs.
fn is_adverb_or_form(word: &str) -> bool {
    word.ends_with("ly") || word.ends_with("ing") || word.ends_with("ed")
}

#[cfg(test)]
mod tests {
    use crate::tests::{finds, silent};

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
    fn three_things_to_name_are_a_list() {
        finds(
            "L0103",
            &[
                "Names the price, the date and the address",
                "Names the price, date and address",
                "The answer states the sender, the weight, and the route",
                "The response must mention the deadline, the fee and the form",
                "Covers price, size and colour",
                "Gives a phone number, an address and a contact person",
                "Includes a title, an abstract and a conclusion",
                "Lists Paris, London and Rome",
                "Asks for the order number, the name and the postal code",
                "Refers to the warranty, the invoice and the manual.",
                "Identifies the attacker, the victim and the date of the breach",
                "Provides its name, its version and its licence",
                "Contains title, author, and year",
                "Quotes the law, the ruling and the contract",
            ],
        );
    }

    #[test]
    fn adjectives_and_lists_within_one_thing_are_not() {
        silent(
            "L0103",
            &[
                "Uses a clear, concise and polite tone",
                "Gives a clear, concise and polite summary",
                "Provides accurate, complete and current information",
                "Is clear, concise and polite",
                "Gives clear, actionable and safe advice",
                "Explains the effect of the sun, the moon and the tides",
                "Describes the effect of the sun, the moon and the tides",
                "Mentions the effect of the sun, the moon and the tides",
                "Compares the price, the date and the address",
                "Names one of the price, the date and the address",
                "Names the author, Mr Smith, and the title",
                "States that the price, the date and the address are wrong",
                "Includes at least two of the price, the date and the address",
                "Returns the sum of a, b and c",
                "Names the cause and the date",
                "Answers politely, briefly and correctly",
                "Gives the answer slowly, calmly and kindly",
                "Does not name the price, the date and the address",
                "Mentions, for example, the price, the date and the address",
                "Shows the steps in the order boil, peel and slice",
                "If the price, the date and the address are known, names them",
            ],
        );
    }

    #[test]
    fn shorter_lists_choices_and_one_thing_spelled_out_are_not() {
        silent(
            "L0103",
            &[
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
