//! Metrics of an order audit.

use std::collections::{BTreeMap, BTreeSet};

use assize_analysis::shares::{mean_metric, share_metric};
use assize_stats::UndefinedReason;

use super::place::place_effects;
use crate::report::{format_count, format_percent};
use crate::{AuditReport, AuditSection, DecisionChange, DecisionPair, PairedDecisions, UNCHANGED};

/// Computes the effect of other orders on decisions.
pub fn order_report(compared: &PairedDecisions) -> AuditReport {
    // A rubric of one criterion has no other order; its repeats would only dilute the noise.
    let moved: Vec<&DecisionPair> = compared.pairs.iter().filter(|pair| pair.label != UNCHANGED).collect();
    let key = |pair: &DecisionPair| {
        let (grader, criterion) = &pair.criterion;
        (pair.suite.clone(), grader.clone(), criterion.clone(), pair.text.clone())
    };
    let mut by_criterion: BTreeMap<_, Vec<&DecisionPair>> = BTreeMap::new();
    for pair in &moved {
        by_criterion.entry(key(pair)).or_default().push(pair);
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
        "Above 0 the order itself changes decisions; a CI that contains 0 shows no effect.",
        &excess_flips_by_case(&flips, &noise),
    );

    let sections = criterion_sections(&by_criterion);
    let places = place_effects(&compared.placed);
    let known = flips.len() + noise.len();
    let is_sparse = known < moved.len() + again.len() - known;
    let says = match (all.value, beyond.interval) {
        (Err(_), _) => "Nothing was measured: no rubric has two decided criteria.".to_owned(),
        (Ok(_), _) if is_sparse => format!(
            "Most decisions are missing: {} of {} pairs have two, which is too few to say anything about the order.",
            known,
            moved.len() + again.len()
        ),
        (Ok(_), _) if places.says.is_some() => places.says.unwrap_or_default(),
        (Ok(0.0), _) => {
            format!("No order changed a decision ({}).", format_count(flips.len(), "decision", "decisions"))
        }
        (Ok(rate), Err(UndefinedReason::NoSpread)) if beyond.value.is_ok_and(|value| value > 0.0) => format!(
            "Another order changes {} of the decisions, by the same amount above noise in every case.",
            format_percent(rate)
        ),
        (Ok(rate), Ok(interval)) if interval.low > 0.0 => format!(
            "Another order changes {} of the decisions, significantly more than the judge's noise.",
            format_percent(rate)
        ),
        (Ok(rate), Ok(_)) => format!(
            "Another order changes {} of the decisions, not significantly more than the judge's noise.",
            format_percent(rate)
        ),
        (Ok(rate), Err(why)) => format!(
            "Another order changes {} of the decisions; it is unknown whether that is more than noise: {why}.",
            format_percent(rate)
        ),
    };
    AuditReport {
        cases: compared.cases,
        worst: all.value.ok().map(|rate| (rate, "decisions that another order changed".to_owned())),
        unmeasured: match all.n {
            0 => vec!["The effect of order was not measured: no rubric has two decided criteria.".to_owned()],
            _ if own.n == 0 => vec!["The noise of the judge was not measured.".to_owned()],
            _ => Vec::new(),
        },
        figures: [vec![all, own, beyond], places.figures].concat(),
        sections,
        says,
        missing: describe_missing(compared, moved.iter().chain(&again).copied()),
    }
}

/// Suite, grader, id and text of a criterion.
type CriterionKey = (String, String, String, String);

/// Builds the part of each criterion, the one with most flips first. Parts of the same name tell their cases.
fn criterion_sections(by_criterion: &BTreeMap<CriterionKey, Vec<&DecisionPair>>) -> Vec<AuditSection> {
    let mut named: BTreeMap<(&String, &String), usize> = BTreeMap::new();
    for (_, grader, criterion, _) in by_criterion.keys() {
        *named.entry((grader, criterion)).or_default() += 1;
    }
    let mut sections: Vec<(f64, AuditSection)> = by_criterion
        .iter()
        .map(|((_, grader, criterion, _), pairs)| {
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
            (rate, AuditSection { title, figures: vec![figure] })
        })
        .collect();

    sections.sort_by(|a, b| b.0.total_cmp(&a.0));
    sections.into_iter().map(|(_, section)| section).collect()
}

/// The cases of pairs: the first one, and how many more there are.
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

/// Returns for each pair with two decisions whether they differ.
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
    use crate::order::{PlacedDecision, draw_orders};

    const CASES: usize = 40;
    const CRITERIA: usize = 5;

    /// An audit with the usual numbers of orders and repeats: the decisions of a judge on criteria half of which are met.
    fn audit(seed: u64, first_place: f64) -> PairedDecisions {
        let mut judge = KnownJudge { noise: 0.03, first_place, ..KnownJudge::new(seed) };
        let same: Vec<usize> = (0..CRITERIA).collect();
        let orders = [vec![same.clone(), same], draw_orders(CRITERIA, 3, seed)].concat();

        let mut compared = PairedDecisions { cases: CASES, ..PairedDecisions::default() };
        for case in 0..CASES {
            let truth: Vec<bool> = (0..CRITERIA).map(|_| judge.chance(0.5)).collect();
            let mut before = [false; CRITERIA];
            for (variant, order) in orders.iter().enumerate() {
                for (place, &criterion) in order.iter().enumerate() {
                    let met = judge.decide(truth[criterion], place);
                    let id = format!("k{criterion}");
                    compared.placed.push(PlacedDecision {
                        item: ("s".to_owned(), format!("c{case}"), "rubrics".to_owned(), id.clone()),
                        place,
                        of: CRITERIA,
                        value: f64::from(u8::from(met)),
                    });
                    if variant == 0 {
                        before[criterion] = met;
                        continue;
                    }

                    let step = |met: bool| ScaleDecision::Step { at: usize::from(met), top: 1 };
                    compared.pairs.push(DecisionPair {
                        case: format!("c{case}"),
                        suite: "s".to_owned(),
                        label: if variant == 1 {
                            UNCHANGED.to_owned()
                        } else {
                            format!("order.{}", variant - 1)
                        },
                        criterion: ("rubrics".to_owned(), id),
                        text: String::new(),
                        before: step(before[criterion]),
                        after: step(met),
                        costs: false,
                        is_checklist: true,
                    });
                }
            }
        }

        compared
    }

    #[test]
    fn the_size_of_a_bias_for_the_first_place_is_told() {
        let report = order_report(&audit(1, 0.4));
        assert!(report.says.contains("more often in the first place"), "{}", report.says);
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
        assert!(claims("more often in the first place of a call than in the middle") >= 19, "{says:?}");
        let false_claims = claims("in the last place");
        assert!(false_claims <= 2, "{false_claims} of 20 audits claim an effect of the last place");
    }

    #[test]
    fn parts_of_the_same_name_tell_their_cases() {
        let mut compared = audit(1, 0.0);
        for pair in &mut compared.pairs {
            // Every case asks something else as its first criterion, and the same as its second.
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
}
