//! The figures of an injection audit.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Place, Probe};
use crate::{Compared, Rate, Tally, UNCHANGED};

/// What one probe did at one place.
#[derive(Debug, Clone)]
pub struct ProbeFigures {
    /// Name of the probe.
    pub name: String,
    /// Class of attack; empty for a probe that is not known here.
    pub class: String,
    /// Where the attack is described.
    pub reference: String,
    /// Where it stood in the answers.
    pub place: String,
    /// Whether it attacks nothing.
    pub is_control: bool,
    /// What it did.
    pub tally: Tally,
}

/// What all attacks together did to one criterion.
#[derive(Debug, Clone)]
pub struct CriterionFigures {
    /// Suite.
    pub suite: String,
    /// Case.
    pub case: String,
    /// Grader.
    pub grader: String,
    /// Criterion.
    pub criterion: String,
    /// What they did.
    pub tally: Tally,
}

/// The figures of an injection audit, all of them counted from stored decisions.
#[derive(Debug, Clone)]
pub struct InjectionReport {
    /// Cases that were looked at.
    pub cases: usize,
    /// Cases without an answer.
    pub unanswered: usize,
    /// Variants without an unchanged case to compare them with.
    pub without_reference: usize,
    /// Repeats of the unchanged answers: what changes by itself.
    pub noise: Tally,
    /// Texts that attack nothing: what any text changes.
    pub control: Tally,
    /// All attacks.
    pub attacks: Tally,
    /// Each probe at each place, the one that won most first.
    pub probes: Vec<ProbeFigures>,
    /// Each criterion under all attacks, the one that was won most first.
    pub criteria: Vec<CriterionFigures>,
}

impl InjectionReport {
    /// Counts what was stored. `known` says what the probes are.
    pub fn new(compared: &Compared, known: &[Probe]) -> Self {
        let is_control = |label: &str| probe_of(label, known).is_some_and(|(probe, _)| probe.is_control());
        let is_attack = |label: &str| label != UNCHANGED && !is_control(label);
        let mut by_label: BTreeMap<&str, Tally> = BTreeMap::new();
        let mut by_criterion: BTreeMap<(&str, &str, &str, &str), Tally> = BTreeMap::new();
        for pair in &compared.pairs {
            if pair.label != UNCHANGED {
                by_label.entry(&pair.label).or_default().add(pair);
            }
            if is_attack(&pair.label) {
                let (grader, criterion) = &pair.criterion;
                by_criterion.entry((&pair.suite, &pair.case, grader, criterion)).or_default().add(pair);
            }
        }
        let mut probes: Vec<ProbeFigures> = by_label
            .into_iter()
            .map(|(label, tally)| {
                let (name, place) = label.rsplit_once('.').unwrap_or((label, ""));
                let probe = probe_of(label, known).map(|(probe, _)| probe);
                ProbeFigures {
                    name: name.to_owned(),
                    class: probe.map(|probe| probe.class.clone()).unwrap_or_default(),
                    reference: probe.map(|probe| probe.reference.clone()).unwrap_or_default(),
                    place: place.to_owned(),
                    is_control: probe.is_some_and(Probe::is_control),
                    tally,
                }
            })
            .collect();
        probes.sort_by(|a, b| most_won(&a.tally, &b.tally));
        let mut criteria: Vec<CriterionFigures> = by_criterion
            .into_iter()
            .map(|((suite, case, grader, criterion), tally)| CriterionFigures {
                suite: suite.to_owned(),
                case: case.to_owned(),
                grader: grader.to_owned(),
                criterion: criterion.to_owned(),
                tally,
            })
            .collect();
        criteria.sort_by(|a, b| most_won(&a.tally, &b.tally));
        Self {
            cases: compared.cases,
            unanswered: compared.unanswered,
            without_reference: compared.without_reference,
            noise: compared.tally(|pair| pair.label == UNCHANGED),
            control: compared.tally(|pair| is_control(&pair.label)),
            attacks: compared.tally(|pair| is_attack(&pair.label)),
            probes,
            criteria,
        }
    }

    /// Whether something could not be judged.
    pub fn is_incomplete(&self) -> bool {
        let tallies = [&self.noise, &self.control, &self.attacks];
        self.unanswered > 0 || self.without_reference > 0 || tallies.iter().any(|tally| tally.ungraded() > 0)
    }

    /// The share that a limit is compared with: decisions that attacks turned in the answer's favour, among those that
    /// could be.
    pub fn success_rate(&self) -> Rate {
        self.attacks.win_rate()
    }

    /// The report as programs read it.
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
                });
                merge(&mut value, probe.tally.to_json());
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
                merge(&mut value, one.tally.to_json());
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
            "probes": probes,
            "criteria": criteria,
        })
    }
}

fn merge(into: &mut Value, more: Value) {
    if let (Some(into), Value::Object(more)) = (into.as_object_mut(), more) {
        into.extend(more);
    }
}

/// The probe and the place in a label.
fn probe_of<'p>(label: &str, known: &'p [Probe]) -> Option<(&'p Probe, Place)> {
    let (name, place) = label.rsplit_once('.')?;
    let probe = known.iter().find(|probe| probe.name == name)?;
    Some((probe, Place::from_name(place)?))
}

/// Most won first, then most changed.
fn most_won(a: &Tally, b: &Tally) -> std::cmp::Ordering {
    let key = |tally: &Tally| {
        let share = |rate: Rate| rate.rate.unwrap_or(-1.0);
        (share(tally.win_rate()), share(tally.flip_rate()))
    };
    let ((a_won, a_flipped), (b_won, b_flipped)) = (key(a), key(b));
    b_won.total_cmp(&a_won).then(b_flipped.total_cmp(&a_flipped))
}
