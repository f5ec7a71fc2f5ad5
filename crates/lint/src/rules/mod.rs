//! The rules, one file each.

mod and_or;
mod answer_in_question;
mod case_id;
mod cited;
mod comments;
mod correct_without_key;
mod cross_reference;
mod cut_text;
mod dominant;
mod double_negative;
mod everything_required;
mod falling_bands;
mod full_marks;
mod idle_gate;
mod layout;
mod length;
mod list;
mod model;
mod nameless_ranges;
mod nice_to_have;
mod no_negative;
mod one_band;
mod only_penalties;
mod open_list;
mod paragraph;
mod permissive;
mod prelude;
mod quantifier;
mod question;
mod repeated;
mod restates;
mod same_bands;
mod scorecard;
mod several;
mod sign;
mod split_band;
mod style;
mod subjective;
mod tautology;
mod threshold;
mod too_many;
mod unfinished;
mod unverifiable;
mod vague;
mod verbs;
mod zero_threshold;
mod zero_weight;

pub(crate) use comments::{ALLOW_UNUSED, ALLOW_WITHOUT_REASON};

use crate::rule::LintRule;

/// Every rule, in the order of the codes.
pub const RULES: &[LintRule] = &[
    comments::WITHOUT_REASON,
    comments::UNUSED,
    vague::RULE,
    several::RULE,
    list::RULE,
    double_negative::RULE,
    question::RULE,
    quantifier::RULE,
    subjective::RULE,
    open_list::RULE,
    unfinished::RULE,
    length::RULE,
    and_or::RULE,
    permissive::RULE,
    cross_reference::RULE,
    correct_without_key::RULE,
    unverifiable::RULE,
    layout::RULE,
    cut_text::RULE,
    sign::RULE,
    everything_required::RULE,
    nice_to_have::RULE,
    dominant::RULE,
    idle_gate::RULE,
    zero_weight::RULE,
    threshold::RULE,
    full_marks::RULE,
    only_penalties::RULE,
    zero_threshold::RULE,
    same_bands::RULE,
    falling_bands::RULE,
    split_band::RULE,
    one_band::RULE,
    nameless_ranges::RULE,
    repeated::RULE,
    paragraph::RULE,
    too_many::RULE,
    no_negative::RULE,
    tautology::RULE,
    style::RULE,
    restates::RULE,
    answer_in_question::RULE,
    case_id::RULE,
    model::ambiguous::RULE,
    model::unobservable::RULE,
    model::bundled::RULE,
    model::overlapping::RULE,
    model::unfounded::RULE,
    model::untested::RULE,
    model::contradictory::RULE,
    model::bands::RULE,
    model::gameable::RULE,
    model::unguarded::RULE,
    model::misplaced_gate::RULE,
    scorecard::idle_gate::RULE,
    scorecard::all_block::RULE,
    scorecard::dominant::RULE,
    scorecard::weightless::RULE,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{found, found_in};
    use crate::{apply_fixes, collect_fixes};

    #[test]
    fn codes_rise_and_nothing_is_empty() {
        assert!(RULES.windows(2).all(|pair| pair[0].code < pair[1].code));
        for rule in RULES {
            for text in [rule.name, rule.title, rule.reason, rule.source, rule.bad.text(), rule.good.text()] {
                assert!(!text.trim().is_empty(), "{}", rule.code);
            }
            assert!(rule.title.ends_with('.') && rule.title.len() < 100, "{}", rule.title);
        }
    }

    #[test]
    fn the_bad_example_is_found_and_the_good_one_is_clean() {
        for rule in RULES.iter().filter(|rule| rule.question().is_none()) {
            let codes: Vec<String> = found_in(rule.bad).into_iter().map(|(code, _)| code).collect();
            assert!(codes.iter().any(|code| code == rule.code.as_str()), "{}: {codes:?}", rule.code);
            let good = found_in(rule.good);
            assert_eq!(good, vec![], "{}: the good example has findings", rule.code);
        }
    }

    #[test]
    fn examples_of_a_models_rules_show_what_only_a_model_finds() {
        for rule in RULES.iter().filter(|rule| rule.question().is_some()) {
            assert!(rule.code.as_str().starts_with("L06") && !rule.fixes(), "{}", rule.code);
            for example in [rule.bad, rule.good] {
                assert_eq!(found_in(example), vec![], "{}: {}", rule.code, example.text());
            }
        }
    }

    #[test]
    fn every_fix_removes_its_finding() {
        for rule in RULES.iter().filter(|rule| rule.fixes()) {
            let file = rule.bad.file();
            let linted = crate::tests::lint_file("a.eval.yaml", &file);
            let changes = collect_fixes(&linted.diagnostics, &linted.sources);
            let changed = apply_fixes(&file, changes.values().next().expect("a change")).expect("fits");
            assert!(!found(&changed).iter().any(|(code, _)| code == rule.code.as_str()), "{changed}");
        }
    }
}
