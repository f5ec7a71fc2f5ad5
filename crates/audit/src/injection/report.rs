//! Metrics of an injection audit.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{InjectionProbe, InjectionWins, InsertPosition, ProbeWins};
use crate::{CountedShare, PairTally, PairedDecisions, UNCHANGED};

/// Effect of one probe at one position.
#[derive(Debug, Clone)]
pub struct ProbeMetrics {
    /// Name of the probe.
    pub name: String,
    /// Class of attack; empty for an unknown probe.
    pub class: String,
    /// Reference that describes the attack.
    pub reference: String,
    /// Position in the answers.
    pub place: String,
    /// True if the probe is not an attack.
    pub is_control: bool,
    /// Counted changes.
    pub tally: PairTally,
    /// p-value of the null hypothesis that the probe wins no more than a repeat without a change, adjusted
    /// for all attacks. `None` for controls, or without repeats.
    pub p_adjusted: Option<f64>,
    /// True if the probe wins significantly more decisions than a repeat without a change does.
    pub is_effect: bool,
}

/// Effect of all attacks on one criterion.
#[derive(Debug, Clone)]
pub struct CriterionMetrics {
    /// Name of the suite.
    pub suite: String,
    /// Id of the case.
    pub case: String,
    /// Name of the grader.
    pub grader: String,
    /// Id of the criterion.
    pub criterion: String,
    /// Counted changes.
    pub tally: PairTally,
}

/// Metrics of an injection audit, all computed from stored decisions.
#[derive(Debug, Clone)]
pub struct InjectionReport {
    /// Number of cases.
    pub cases: usize,
    /// Number of cases without an answer.
    pub unanswered: usize,
    /// Number of variants whose unchanged case is missing.
    pub without_reference: usize,
    /// Repeats of the unchanged answers: the judge's noise.
    pub noise: PairTally,
    /// Probes without an attack: the effect of any text.
    pub control: PairTally,
    /// All attacks.
    pub attacks: PairTally,
    /// Rates of decisions won, with and without attacks.
    pub wins: InjectionWins,
    /// Each probe at each position, the most successful first.
    pub probes: Vec<ProbeMetrics>,
    /// Each criterion under all attacks, the most vulnerable first.
    pub criteria: Vec<CriterionMetrics>,
}

impl InjectionReport {
    /// Computes the metrics from stored decisions. `known` holds the probes.
    pub fn new(compared: &PairedDecisions, known: &[InjectionProbe]) -> Self {
        let is_control = |label: &str| split_label(label, known).is_some_and(|(probe, _)| probe.is_control());
        let is_attack = |label: &str| label != UNCHANGED && !is_control(label);
        let mut by_label: BTreeMap<&str, PairTally> = BTreeMap::new();
        let mut by_criterion: BTreeMap<(&str, &str, &str, &str), PairTally> = BTreeMap::new();
        for pair in &compared.pairs {
            if pair.label != UNCHANGED {
                by_label.entry(&pair.label).or_default().add(pair);
            }
            if is_attack(&pair.label) {
                let (grader, criterion) = &pair.criterion;
                by_criterion.entry((&pair.suite, &pair.case, grader, criterion)).or_default().add(pair);
            }
        }

        let wins = InjectionWins::new(compared, is_control);
        let mut probes: Vec<ProbeMetrics> = by_label
            .into_iter()
            .map(|(label, tally)| {
                let (name, place) = label.rsplit_once('.').unwrap_or((label, ""));
                let probe = split_label(label, known).map(|(probe, _)| probe);
                let tested = wins.probes.iter().find(|probe| probe.label == label);
                ProbeMetrics {
                    name: name.to_owned(),
                    class: probe.map(|probe| probe.class.clone()).unwrap_or_default(),
                    reference: probe.map(|probe| probe.reference.clone()).unwrap_or_default(),
                    place: place.to_owned(),
                    is_control: probe.is_some_and(InjectionProbe::is_control),
                    tally,
                    p_adjusted: tested.and_then(|probe| probe.p_adjusted),
                    is_effect: tested.is_some_and(ProbeWins::is_effect),
                }
            })
            .collect();

        probes.sort_by(|a, b| compare_success(&a.tally, &b.tally));
        let mut criteria: Vec<CriterionMetrics> = by_criterion
            .into_iter()
            .map(|((suite, case, grader, criterion), tally)| CriterionMetrics {
                suite: suite.to_owned(),
                case: case.to_owned(),
                grader: grader.to_owned(),
                criterion: criterion.to_owned(),
                tally,
            })
            .collect();

        criteria.sort_by(|a, b| compare_success(&a.tally, &b.tally));
        Self {
            cases: compared.cases,
            unanswered: compared.unanswered,
            without_reference: compared.without_reference,
            noise: compared.tally(|pair| pair.label == UNCHANGED),
            control: compared.tally(|pair| is_control(&pair.label)),
            attacks: compared.tally(|pair| is_attack(&pair.label)),
            wins,
            probes,
            criteria,
        }
    }

    /// Returns true if a decision or answer is missing.
    pub fn is_incomplete(&self) -> bool {
        let tallies = [&self.noise, &self.control, &self.attacks];
        self.unanswered > 0 || self.without_reference > 0 || tallies.iter().any(|tally| tally.ungraded() > 0)
    }

    /// Converts the report to JSON.
    pub fn to_json(&self) -> Value {
        let probes: Vec<Value> = self
            .probes
            .iter()
            .map(|probe| {
                let mut value = json!({
                    "probe": probe.name,
                    "class": probe.class,
                    "reference": probe.reference,
                    "place": probe.place,
                    "control": probe.is_control,
                    "p_adjusted": probe.p_adjusted,
                    "beyond_noise": probe.is_effect,
                });

                extend_object(&mut value, probe.tally.to_json());
                value
            })
            .collect();

        let criteria: Vec<Value> = self
            .criteria
            .iter()
            .map(|one| {
                let mut value = json!({
                    "suite": one.suite,
                    "case": one.case,
                    "grader": one.grader,
                    "criterion": one.criterion,
                });

                extend_object(&mut value, one.tally.to_json_of_one_decision());
                value
            })
            .collect();
        json!({
            "cases": self.cases,
            "unanswered": self.unanswered,
            "without_reference": self.without_reference,
            "noise": self.noise.to_json(),
            "control": self.control.to_json(),
            "attacks": self.attacks.to_json(),
            "wins": self.wins.to_json(),
            "probes": probes,
            "criteria": criteria,
        })
    }
}

fn extend_object(into: &mut Value, more: Value) {
    if let (Some(into), Value::Object(more)) = (into.as_object_mut(), more) {
        into.extend(more);
    }
}

/// Splits a label into probe and position.
fn split_label<'p>(label: &str, known: &'p [InjectionProbe]) -> Option<(&'p InjectionProbe, InsertPosition)> {
    let (name, place) = label.rsplit_once('.')?;
    let probe = known.iter().find(|probe| probe.name == name)?;
    Some((probe, InsertPosition::from_name(place)?))
}

/// Compares tallies by win rate, then by flip rate, the highest first.
fn compare_success(a: &PairTally, b: &PairTally) -> std::cmp::Ordering {
    let key = |tally: &PairTally| {
        let share = |rate: CountedShare| rate.rate.unwrap_or(-1.0);
        (share(tally.win_rate()), share(tally.flip_rate()))
    };
    let ((a_won, a_flipped), (b_won, b_flipped)) = (key(a), key(b));
    b_won.total_cmp(&a_won).then(b_flipped.total_cmp(&a_flipped))
}
