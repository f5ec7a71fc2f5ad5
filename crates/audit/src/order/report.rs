//! Metrics of an order audit.

use std::collections::BTreeMap;

use assize_analysis::shares::{mean_metric, share_metric};
use assize_stats::UndefinedReason;

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

    let mut sections: Vec<(f64, AuditSection)> = by_criterion
        .iter()
        .map(|((_, grader, criterion, _), pairs)| {
            let figure = share_metric(
                ("flips", "decisions that another order changed", "decisions"),
                "Criteria with many flips depend on their position; make them more specific, or judge them alone.",
                &self::decision_flips(pairs),
            );
            let rate = figure.value.unwrap_or(-1.0);
            (rate, AuditSection { title: format!("{grader} / {criterion}"), figures: vec![figure] })
        })
        .collect();

    sections.sort_by(|a, b| b.0.total_cmp(&a.0));
    let says = match (all.value, beyond.interval) {
        (Err(_), _) => "Nothing was measured: no rubric has two decided criteria.".to_owned(),
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
        figures: vec![all, own, beyond],
        sections: sections.into_iter().map(|(_, section)| section).collect(),
        says,
        missing: describe_missing(compared, moved.iter().chain(&again).copied()),
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
