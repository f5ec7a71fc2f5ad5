//! Agreement of the offline judge with the labels of a small data set in this crate.

use crate::{Judge, JudgeMaterial, JudgeQuestion, OfflineJudge, RubricTask};
use assize_rubric::{Criterion, Decision, Outcome, Rubric};
use futures_util::FutureExt;
use serde_json::Value;

fn judge(material: JudgeMaterial, criteria: Vec<Criterion>) -> Vec<Decision> {
    let rubric = Rubric::new(criteria).unwrap();
    let question = [JudgeQuestion::Rubric(RubricTask::new(material.into(), rubric.into()))];
    OfflineJudge.decide(&question).now_or_never().expect("the offline judge never waits").remove(0)
}

/// Counts of (label, decision), and of criteria that were not decided.
#[derive(Default, Debug)]
struct Confusion {
    undecided: f64,
    true_met: f64,
    false_met: f64,
    false_unmet: f64,
    true_unmet: f64,
}

impl Confusion {
    fn add(&mut self, label: bool, decision: bool) {
        *match (label, decision) {
            (true, true) => &mut self.true_met,
            (false, true) => &mut self.false_met,
            (true, false) => &mut self.false_unmet,
            (false, false) => &mut self.true_unmet,
        } += 1.0;
    }

    fn n(&self) -> f64 {
        self.true_met + self.false_met + self.false_unmet + self.true_unmet
    }

    fn accuracy(&self) -> f64 {
        (self.true_met + self.true_unmet) / self.n()
    }

    fn balanced_accuracy(&self) -> f64 {
        let met = self.true_met / (self.true_met + self.false_unmet);
        let unmet = self.true_unmet / (self.true_unmet + self.false_met);
        f64::midpoint(met, unmet)
    }

    /// Cohen's kappa: agreement beyond what the two rates of "met" give by chance.
    fn kappa(&self) -> f64 {
        let n = self.n();
        let (label, decision) =
            ((self.true_met + self.false_unmet) / n, (self.true_met + self.false_met) / n);
        let chance = label * decision + (1.0 - label) * (1.0 - decision);
        (self.accuracy() - chance) / (1.0 - chance)
    }

    fn line(&self, name: &str) -> String {
        format!(
            "{name}: decided {} of {}, accuracy {:.3}, balanced accuracy {:.3}, kappa {:.3} {self:?}",
            self.n(),
            self.n() + self.undecided,
            self.accuracy(),
            self.balanced_accuracy(),
            self.kappa()
        )
    }
}

/// Judges all criteria of a label file and prints the decisions that differ.
fn against_labels(name: &str, file: &str) -> Confusion {
    let mut confusion = Confusion::default();
    for line in file.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let pairs = case["c"].as_array().unwrap();
        let criteria = pairs
            .iter()
            .enumerate()
            .map(|(n, pair)| Criterion::checklist(format!("{n}"), pair[0].as_str().unwrap()))
            .collect();
        let material = JudgeMaterial {
            question: case["q"].as_str().unwrap().into(),
            answer: case["a"].as_str().unwrap().into(),
            ..JudgeMaterial::default()
        };
        let answer = material.answer.clone();
        for (judgement, pair) in judge(material, criteria).iter().zip(pairs) {
            let label = pair[1].as_bool().unwrap();
            let decision = match judgement.outcome() {
                Outcome::Ungraded => {
                    confusion.undecided += 1.0;
                    continue;
                }
                outcome => outcome == Outcome::Met,
            };
            for evidence in &judgement.evidence {
                assert!(answer.contains(&evidence.quote), "not a quote: {}", evidence.quote);
            }
            if label != decision {
                println!("{} should be {label}: {}", pair[0], judgement.reason);
            }
            confusion.add(label, decision);
        }
    }
    println!("{}", confusion.line(name));
    confusion
}

/// At least 90 % of its decisions are right, and it decides at least 40 % of the criteria.
fn check(confusion: &Confusion) {
    assert!(confusion.accuracy() >= 0.9, "{confusion:?}");
    assert!(confusion.n() >= 0.4 * (confusion.n() + confusion.undecided), "{confusion:?}");
}

#[test]
fn agreement_with_the_labels_the_method_was_made_with() {
    let confusion = against_labels("labels used in development", include_str!("../../tests/labelled.jsonl"));
    check(&confusion);
}

#[test]
fn agreement_with_labels_kept_apart() {
    let confusion = against_labels("labels kept apart", include_str!("../../tests/labelled_held_out.jsonl"));
    check(&confusion);
}
