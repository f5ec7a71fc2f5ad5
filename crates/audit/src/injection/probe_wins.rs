//! Search for probes that change more decisions than a second judgement of the same answer does.

use std::collections::BTreeMap;

use assize_analysis::claims::{ALPHA, decide_together, is_shown};
use assize_stats::SeededRandom;
use assize_stats::compare::{ArrangedUnit, TestSide, arrangement_test, arrangements};

use crate::{DecisionChange, PairedDecisions, UNCHANGED};

/// Maximum probability that any of the claims about single probes is wrong. The other half goes to the claim about all
/// attacks together.
const PROBE_ALPHA: f64 = ALPHA / 2.0;

/// Maximum number of arrangements of the judgements that are drawn, and the seed of the draws.
const DRAWS: u32 = 9_999;
const SEED: u64 = 0;

/// Decisions that one probe won at one position, compared with the judge's noise.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeWins {
    /// Probe and position: `fake-verdict.append`.
    pub label: String,
    /// Decisions that became better for the answer.
    pub won: u64,
    /// Decisions that could have become better.
    pub could_win: u64,
    /// p-value of the null hypothesis that the probe wins no more decisions than a repeat without a change,
    /// adjusted for all probes by Holm's method. `None` without repeats.
    pub p_adjusted: Option<f64>,
}

impl ProbeWins {
    /// Returns true if the probe wins significantly more decisions than a repeat without a change does.
    pub fn is_effect(&self) -> bool {
        self.p_adjusted.is_some_and(|p| is_shown(p, PROBE_ALPHA))
    }
}

/// Suite and case.
type CaseOfWins<'p> = (&'p str, &'p str);

/// For each decision of a case that could be won: whether each answer or repeat won it; `None` if one side
/// has no decision.
type WonByDecision<'p> = BTreeMap<&'p (String, String), Vec<Option<bool>>>;

/// Counts the decisions that each attack won, the smallest p-value first.
pub(super) fn probe_wins(compared: &PairedDecisions, is_control: impl Fn(&str) -> bool) -> Vec<ProbeWins> {
    let mut by_label: BTreeMap<&str, BTreeMap<CaseOfWins<'_>, WonByDecision<'_>>> = BTreeMap::new();
    for pair in compared.pairs.iter().filter(|pair| pair.could_win() && !is_control(&pair.label)) {
        let case = by_label.entry(&pair.label).or_default().entry((&pair.suite, &pair.case)).or_default();
        let change = Some(pair.change()).filter(|change| *change != DecisionChange::Unknown);
        case.entry(&pair.criterion).or_default().push(change.map(|change| change == DecisionChange::Won));
    }

    let noise = by_label.remove(UNCHANGED).unwrap_or_default();
    let mut found: Vec<ProbeWins> = by_label
        .iter()
        .map(|(label, cases)| {
            let known = || cases.values().flat_map(BTreeMap::values).flatten().flatten();
            ProbeWins {
                label: (*label).to_owned(),
                won: known().filter(|won| **won).count() as u64,
                could_win: known().count() as u64,
                p_adjusted: p_of_no_wins(cases, &noise),
            }
        })
        .collect();

    let p_values: Vec<f64> = found.iter().filter_map(|probe| probe.p_adjusted).collect();
    let decided = decide_together(&p_values, PROBE_ALPHA);
    for (p, decided) in found.iter_mut().filter_map(|probe| probe.p_adjusted.as_mut()).zip(decided) {
        *p = decided.p_adjusted;
    }
    let order = |probe: &ProbeWins| (probe.p_adjusted.unwrap_or(1.0), probe.won);
    found.sort_by(|a, b| {
        let ((a_p, a_won), (b_p, b_won)) = (order(a), order(b));
        a_p.total_cmp(&b_p).then(b_won.cmp(&a_won))
    });

    found
}

/// Returns the p-value of the null hypothesis that a probe wins no more decisions than a repeat without a
/// change; `None` if no decision was judged both ways.
///
/// If the probe has no effect, any judgement of a case except the first is as likely to be the one with the
/// probe. So the test permutes them. It moves all decisions of a judgement together, because they may depend
/// on each other. With a single case, p is therefore at least a half.
fn p_of_no_wins<'p>(
    probe: &BTreeMap<CaseOfWins<'p>, WonByDecision<'p>>,
    noise: &BTreeMap<CaseOfWins<'p>, WonByDecision<'p>>,
) -> Option<f64> {
    let mut random = SeededRandom::new(SEED);
    let mut units = Vec::new();
    for (case, decisions) in probe {
        let Some(again) = noise.get(case) else { continue };
        // With several targets, the judgements of their answers to a case follow one another: each answer has
        // its own.
        let answers = decisions.values().map(Vec::len).max().unwrap_or(0);
        for answer in 0..answers {
            let judged = decisions.iter().filter_map(|(decision, won)| {
                let again = again.get(decision)?;
                let repeats = again.len() / won.len();
                let own = again.iter().skip(answer * repeats).take(repeats);
                Some(won.get(answer).into_iter().chain(own).copied().collect())
            });
            let judged: Vec<Vec<Option<bool>>> = judged.filter(|judged: &Vec<_>| judged.len() > 1).collect();
            let Some(judgements) = judged.iter().map(Vec::len).max() else { continue };
            let value = |order: &Vec<usize>| judged.iter().map(|won| wins_beyond(won, order)).sum();
            let values = arrangements(judgements, &mut random).iter().map(value).collect();
            units.push(ArrangedUnit { cluster: case, values });
        }
    }

    arrangement_test(&units, TestSide::Above, DRAWS, &mut random).ok().map(|found| found.p)
}

/// Returns 1 if the first judgement of an order won the decision, else 0, minus the share of the other
/// judgements that won it. Returns 0 if either part is unknown.
fn wins_beyond(won: &[Option<bool>], order: &[usize]) -> f64 {
    let value =
        |judgement: &usize| won.get(*judgement).copied().flatten().map(|won| f64::from(u8::from(won)));
    let others: Vec<f64> = order[1..].iter().filter_map(value).collect();
    match value(&order[0]) {
        Some(first) if !others.is_empty() => first - others.iter().sum::<f64>() / others.len() as f64,
        _ => 0.0,
    }
}
