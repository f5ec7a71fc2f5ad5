//! Metrics of an order audit.

use std::collections::{BTreeMap, BTreeSet};

use assize_analysis::claims::{ALPHA, decide_together};
use assize_analysis::shares::{mean_metric, share_metric};
use assize_rubric::format_rate;

use super::exchange::p_of_no_flips;
use super::place::{PlaceEffect, place_effect};
use super::reordered::CallEnd;
use crate::report::format_count;
use crate::{AuditReport, AuditSection, DecisionChange, DecisionPair, PairedDecisions, UNCHANGED};

/// Computes the effect of other orders on decisions.
pub fn order_report(compared: &PairedDecisions) -> AuditReport {
    // A rubric with one criterion has no other order; its repeats would only dilute the noise.
    let moved: Vec<&DecisionPair> = compared.pairs.iter().filter(|pair| pair.label != UNCHANGED).collect();
    let key = |pair: &DecisionPair| {
        let (grader, criterion) = &pair.criterion;
        (pair.suite.clone(), grader.clone(), criterion.clone(), pair.text.clone())
    };
    let mut by_criterion: BTreeMap<_, MovedCriterion<'_>> = BTreeMap::new();
    for (at, pair) in moved.iter().enumerate() {
        let criterion = by_criterion.entry(key(pair)).or_default();
        criterion.first.get_or_insert(at);
        criterion.pairs.push(pair);
    }

    let again: Vec<&DecisionPair> = compared
        .pairs
        .iter()
        .filter(|pair| pair.label == UNCHANGED && by_criterion.contains_key(&key(pair)))
        .collect();
    let (flips, noise) = (decision_flips(&moved), decision_flips(&again));
    let all = share_metric(
        ("flips", "decisions that another order changed", "decisions"),
        "Decisions that differ by the position of a criterion in the call, including the judge's noise.",
        &flips,
    );

    let own = share_metric(
        ("noise", "decisions that changed in the same order", "decisions"),
        "The judge's noise: decisions that differ when the same call is repeated.",
        &noise,
    );

    let beyond = mean_metric(
        ("beyond_noise", "flips of other orders minus noise", "cases"),
        "Above 0, the order itself changes decisions. The conclusion is tested by exchanging judgements.",
        &excess_flips_by_case(&flips, &noise),
    );

    let sections = criterion_sections(&by_criterion);
    let places = CallEnd::ALL.map(|end| place_effect(end, &compared.reordered));
    let p_of_flips = p_of_no_flips(&compared.reordered);
    let known = flips.len() + noise.len();
    let is_sparse = known < moved.len() + again.len() - known;
    let says = match all.value {
        Err(_) => "Nothing was measured: no rubric has two decided criteria.".to_owned(),
        Ok(_) if is_sparse => format!(
            "Most decisions are missing: {} of {} pairs have two, which is too few to say anything about the order.",
            known,
            moved.len() + again.len()
        ),
        Ok(rate) => describe_claims(&places, p_of_flips, rate, flips.len()),
    };
    AuditReport {
        cases: compared.cases,
        worst: all.value.ok().map(|rate| (rate, "decisions that another order changed".to_owned())),
        unmeasured: match all.n {
            0 => vec!["The effect of order was not measured: no rubric has two decided criteria.".to_owned()],
            _ if own.n == 0 => vec!["The noise of the judge was not measured.".to_owned()],
            _ => Vec::new(),
        },
        figures: [all, own, beyond].into_iter().chain(places.map(|place| place.figure)).collect(),
        sections,
        says,
        missing: describe_missing(compared, moved.iter().chain(&again).copied()),
    }
}

/// Returns the conclusion of an order audit, whose claims are adjusted together by Holm's method. `rate` is the share of
/// the `decisions` that another order changed; `p_of_flips` tests whether other orders change more decisions than the
/// same order does, and is `None` if that was not measured.
fn describe_claims(places: &[PlaceEffect], p_of_flips: Option<f64>, rate: f64, decisions: usize) -> String {
    let p_values: Vec<f64> = places.iter().filter_map(|place| place.p).chain(p_of_flips).collect();
    let mut shown = decide_together(&p_values, ALPHA).into_iter().map(|claim| claim.is_shown);

    let measured = places.iter().filter(|place| place.p.is_some());
    let significant = measured.zip(shown.by_ref()).filter(|(_, shown)| *shown);
    let significant: Vec<&str> = significant.map(|(place, _)| place.says.as_str()).collect();
    if !significant.is_empty() {
        return format!("The same criterion is met {}: its position matters.", significant.join(", and "));
    }
    if rate == 0.0 {
        return format!(
            "No order changed a decision ({}).",
            format_count(decisions, "decision", "decisions")
        );
    }

    let changes = format!("Another order changes {} of the decisions", format_rate(rate));
    match p_of_flips.and_then(|_| shown.next()) {
        Some(true) => format!("{changes}, significantly more than the judge's noise."),
        Some(false) => format!("{changes}, not significantly more than the judge's noise."),
        None => format!(
            "{changes}; it is unknown whether that is more than noise, because no case was judged again in the same order."
        ),
    }
}

/// Suite, grader, id and text of a criterion.
type CriterionKey = (String, String, String, String);

/// Pairs of a criterion.
#[derive(Default)]
struct MovedCriterion<'p> {
    /// Index of the first among the pairs of all criteria.
    first: Option<usize>,
    pairs: Vec<&'p DecisionPair>,
}

/// Builds the section of each criterion, the one with the highest share of flips first, then in the order of
/// the files. Sections with the same name list their cases.
fn criterion_sections(by_criterion: &BTreeMap<CriterionKey, MovedCriterion<'_>>) -> Vec<AuditSection> {
    let mut named: BTreeMap<(&String, &String), usize> = BTreeMap::new();
    for (_, grader, criterion, _) in by_criterion.keys() {
        *named.entry((grader, criterion)).or_default() += 1;
    }
    let mut sections: Vec<(f64, Option<usize>, AuditSection)> = by_criterion
        .iter()
        .map(|((_, grader, criterion, _), MovedCriterion { first, pairs })| {
            let figure = share_metric(
                ("flips", "decisions that another order changed", "decisions"),
                "Includes the judge's noise; if flips exceed it, make the criterion more specific, or judge it alone.",
                &decision_flips(pairs),
            );
            let rate = figure.value.unwrap_or(-1.0);
            let title = match named[&(grader, criterion)] {
                1 => format!("{grader} / {criterion}"),
                _ => format!("{grader} / {criterion} of {}", list_cases(pairs)),
            };
            (rate, *first, AuditSection { title, figures: vec![figure] })
        })
        .collect();

    sections.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    sections.into_iter().map(|(.., section)| section).collect()
}

/// Lists the cases of pairs: the first one, and the number of others.
fn list_cases(pairs: &[&DecisionPair]) -> String {
    let cases: BTreeSet<(&str, &str)> =
        pairs.iter().map(|pair| (pair.suite.as_str(), pair.case.as_str())).collect();
    let first = cases.first().map_or("", |(_, case)| case);
    match cases.len() {
        0 | 1 => first.to_owned(),
        n => format!("{first} and {}", format_count(n - 1, "case more", "cases more")),
    }
}

/// Suite and case.
type OrderCaseKey = (String, String);

/// Returns for each pair with two decisions its case and whether they differ.
pub(crate) fn decision_flips(pairs: &[&DecisionPair]) -> Vec<(OrderCaseKey, bool)> {
    let known = pairs.iter().filter(|pair| pair.change() != DecisionChange::Unknown);
    known
        .map(|pair| ((pair.suite.clone(), pair.case.clone()), pair.change() != DecisionChange::None))
        .collect()
}

/// Computes the share of flips minus the share of noise in each case that has both.
fn excess_flips_by_case(
    flips: &[(OrderCaseKey, bool)],
    noise: &[(OrderCaseKey, bool)],
) -> Vec<(OrderCaseKey, f64)> {
    let shares = |hits: &[(OrderCaseKey, bool)]| {
        let mut sums: BTreeMap<OrderCaseKey, (f64, f64)> = BTreeMap::new();
        for (case, hit) in hits {
            let (sum, n) = sums.entry(case.clone()).or_default();
            *sum += f64::from(u8::from(*hit));
            *n += 1.0;
        }

        sums.into_iter().map(|(case, (sum, n))| (case, sum / n)).collect::<BTreeMap<_, _>>()
    };

    let noise = shares(noise);
    shares(flips)
        .into_iter()
        .filter_map(|(case, rate)| noise.get(&case).map(|own| (case.clone(), rate - own)))
        .collect()
}

/// Describes the missing decisions and answers of an audit.
pub(crate) fn describe_missing<'p>(
    compared: &PairedDecisions,
    pairs: impl Iterator<Item = &'p DecisionPair>,
) -> Vec<String> {
    let mut missing = Vec::new();
    let ungraded = pairs.filter(|pair| pair.change() == DecisionChange::Unknown).count();
    if ungraded > 0 {
        missing.push(format!(
            "{} excluded, because one side has no decision.",
            format_count(ungraded, "pair", "pairs")
        ));
    }

    if compared.unanswered > 0 {
        missing.push(format!("{} no answer.", format_count(compared.unanswered, "case has", "cases have")));
    }
    if compared.without_reference > 0 {
        let items = format_count(compared.without_reference, "changed case was", "changed cases were");
        missing.push(format!("{items} excluded, because the unchanged one was not judged."));
    }

    missing
}

#[cfg(test)]
mod tests {
    use assize_testkit::KnownJudge;

    use super::*;
    use crate::ScaleDecision;
    use crate::order::{OrderedJudgement, PlacedDecision, ReorderedRubric, draw_orders};

    const CASES: usize = 40;
    const CRITERIA: usize = 5;

    /// An audit with the usual numbers of orders and repeats. Half of the criteria are met. A judge that
    /// `repeats_itself` decides the same whenever it gets the same call again.
    fn audit_of(judge: &mut KnownJudge, cases: usize, repeats_itself: bool) -> PairedDecisions {
        let same: Vec<usize> = (0..CRITERIA).collect();
        let mut compared = PairedDecisions { cases, ..PairedDecisions::default() };
        for case in 0..cases {
            let truth: Vec<bool> = (0..CRITERIA).map(|_| judge.chance(0.5)).collect();
            let orders = [vec![same.clone(), same.clone()], draw_orders(CRITERIA, 3, !judge.state)].concat();
            let mut judgements: Vec<OrderedJudgement> = Vec::new();
            for (variant, order) in orders.iter().enumerate() {
                let is_unchanged = variant < 2;
                if variant == 1 && repeats_itself {
                    judgements.push(judgements[0].clone());
                    continue;
                }
                let decisions = order.iter().enumerate().map(|(place, &criterion)| PlacedDecision {
                    criterion: format!("k{criterion}"),
                    place,
                    of: CRITERIA,
                    decision: ScaleDecision::Step {
                        at: usize::from(judge.decide(truth[criterion], place)),
                        top: 1,
                    },
                });
                judgements.push(OrderedJudgement { is_unchanged, decisions: decisions.collect() });
            }

            let case = ("s".to_owned(), format!("c{case}"));
            compared.pairs.extend(pairs_of(&case, &judgements));
            compared.reordered.push(ReorderedRubric { case, judgements });
        }

        compared
    }

    fn pairs_of(case: &OrderCaseKey, judgements: &[OrderedJudgement]) -> Vec<DecisionPair> {
        let (first, others) = judgements.split_first().expect("a judgement");
        let before = |id: &str| {
            let placed = first.decisions.iter().find(|placed| placed.criterion == id);
            placed.expect("each judgement has every criterion").decision
        };
        let pairs = others.iter().enumerate().flat_map(|(at, judgement)| {
            let label = if judgement.is_unchanged { UNCHANGED.to_owned() } else { format!("order.{at}") };
            judgement.decisions.iter().map(move |placed| (label.clone(), placed))
        });

        let (suite, case) = case;
        pairs
            .map(|(label, placed)| DecisionPair {
                case: case.clone(),
                suite: suite.clone(),
                label,
                criterion: ("rubrics".to_owned(), placed.criterion.clone()),
                text: String::new(),
                before: before(&placed.criterion),
                after: placed.decision,
                costs: false,
                is_checklist: true,
            })
            .collect()
    }

    fn audit(seed: u64, first_place: f64) -> PairedDecisions {
        audit_of(&mut KnownJudge { noise: 0.03, first_place, ..KnownJudge::new(seed) }, CASES, false)
    }

    #[test]
    fn the_size_of_a_bias_for_the_first_place_is_told() {
        let report = order_report(&audit(1, 0.4));
        assert!(report.says.contains("more often when it is first"), "{}", report.says);
        let first = report.figures.iter().find(|figure| figure.id == "first_place").expect("a figure");
        assert!(
            first.value.is_ok_and(|value| (value - 0.2).abs() < 0.06),
            "half of the criteria are unmet: {first:?}"
        );
    }

    #[test]
    fn a_bias_for_the_first_place_is_none_against_the_last() {
        let says: Vec<String> = (1..=20).map(|seed| order_report(&audit(seed, 0.4)).says).collect();
        let claims = |claim: &str| says.iter().filter(|says| says.contains(claim)).count();
        assert!(claims("more often when it is first in the call than in the middle") >= 19, "{says:?}");
        let false_claims = claims("when it is last");
        assert!(false_claims <= 2, "{false_claims} of 20 audits claim an effect of the last place");
    }

    #[test]
    fn a_few_cases_show_a_bias_for_the_first_place() {
        let found = (0..40).filter(|seed| {
            let mut judge = KnownJudge { noise: 0.03, first_place: 0.4, ..KnownJudge::new(*seed) };
            order_report(&audit_of(&mut judge, 10, false)).says.contains("more often when it is first")
        });
        // In the long run, three of four are found; 5 standard deviations are 14.
        let found = found.count();
        assert!(found >= 20, "{found} of 40 audits of 10 cases");
    }

    #[test]
    fn a_judge_that_repeats_itself_word_for_word_favours_no_place() {
        let says: Vec<String> = (0..100)
            .map(|seed| {
                let mut judge = KnownJudge { noise: 0.1, ..KnownJudge::new(seed) };
                order_report(&audit_of(&mut judge, CASES, true)).says
            })
            .collect();
        let claims = |claim: &str| says.iter().filter(|says| says.contains(claim)).count();
        // Its decisions differ in another order, but never in the same one.
        assert!(claims("place of a call") <= 10, "{says:?}");
        assert!(claims("significantly more than the judge's noise") >= 90, "{says:?}");
    }

    #[test]
    fn without_a_repeat_flips_are_not_compared_with_noise() {
        let mut compared = audit(3, 0.0);
        compared.pairs.retain(|pair| pair.label != UNCHANGED);
        for rubric in &mut compared.reordered {
            rubric.judgements.remove(1);
        }
        let says = order_report(&compared).says;
        assert!(says.contains("unknown whether that is more than noise"), "{says}");
    }

    #[test]
    fn parts_of_the_same_name_tell_their_cases() {
        let mut compared = audit(1, 0.0);
        for pair in &mut compared.pairs {
            // The first criterion has another text in each case, the second one the same text in all of them.
            let is_own = pair.criterion.1 == "k0";
            pair.text = if is_own { format!("about {}", pair.case) } else { "the same".to_owned() };
        }

        let titles: BTreeSet<String> =
            order_report(&compared).sections.into_iter().map(|section| section.title).collect();
        assert_eq!(titles.len(), CASES + CRITERIA - 1);
        assert!(titles.contains("rubrics / k0 of c1") && titles.contains("rubrics / k1"), "{titles:?}");
    }

    #[test]
    fn nothing_is_concluded_where_most_decisions_are_missing() {
        let mut compared = audit(1, 0.4);
        for pair in compared.pairs.iter_mut().enumerate().filter(|(at, _)| at % 4 != 0).map(|(_, pair)| pair)
        {
            pair.after = ScaleDecision::Ungraded;
        }
        let says = order_report(&compared).says;
        assert!(says.starts_with("Most decisions are missing: 200 of 800 pairs"), "{says}");
    }

    #[test]
    fn criteria_of_equal_rates_are_in_the_order_of_the_files() {
        let step = |at: usize| ScaleDecision::Step { at, top: 1 };
        let pair = |criterion: &str| DecisionPair {
            case: "c".to_owned(),
            suite: "s".to_owned(),
            label: "reversed".to_owned(),
            criterion: ("rubrics".to_owned(), criterion.to_owned()),
            text: String::new(),
            before: step(0),
            after: step(1),
            costs: false,
            is_checklist: true,
        };
        let pairs = vec![pair("k2"), pair("k10")];
        let report = order_report(&PairedDecisions { pairs, cases: 1, ..PairedDecisions::default() });
        let titles: Vec<&str> = report.sections.iter().map(|section| section.title.as_str()).collect();
        assert_eq!(titles, ["rubrics / k2", "rubrics / k10"]);
    }
}
