//! How far the offline judge agrees with labels: on a small labelled set that belongs to this crate, and on a larger
//! set of answers scored by a strong model when that set is present.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![expect(clippy::print_stdout, reason = "the figures are what these tests are run for")]

use std::path::PathBuf;
use std::sync::Arc;

use assize_grade::{Judge, Material, OfflineJudge, Question, RubricTask};
use assize_rubric::{Band, Bands, Criterion, Decision, Outcome, RawScore, Rubric, Scale};
use futures_util::FutureExt;
use serde_json::Value;

fn judge(material: Material, criteria: Vec<Criterion>) -> Vec<Decision> {
    let task = RubricTask {
        material: Arc::new(material),
        rubric: Arc::new(Rubric::new(criteria).unwrap()),
        judging: assize_rubric::Judging::PerCriterion,
        evidence: assize_rubric::EvidencePolicy::Checked,
        truncate: assize_rubric::Truncate::Never,
        case_id: "case".into(),
        repeat: 0,
        sampling: assize_grade::SamplingOptions::default(),
    };
    let question = [Question::Rubric(task)];
    OfflineJudge.decide(&question).now_or_never().expect("the offline judge never waits").remove(0)
}

/// Counts of (label, decision).
#[derive(Default, Debug)]
struct Confusion {
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
            "{name}: n {}, accuracy {:.3}, balanced accuracy {:.3}, kappa {:.3} {self:?}",
            self.n(),
            self.accuracy(),
            self.balanced_accuracy(),
            self.kappa()
        )
    }
}

/// Judges all criteria of a file of labels and prints the decisions that differ.
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
        let material = Material {
            question: case["q"].as_str().unwrap().into(),
            answer: case["a"].as_str().unwrap().into(),
            ..Material::default()
        };
        let answer = material.answer.clone();
        for (judgement, pair) in judge(material, criteria).iter().zip(pairs) {
            let label = pair[1].as_bool().unwrap();
            let decision = judgement.outcome() == Outcome::Met;
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

#[test]
fn agreement_with_the_labels_the_method_was_made_with() {
    let confusion = against_labels("labels used in development", include_str!("labelled.jsonl"));
    assert!(confusion.balanced_accuracy() >= 0.8 && confusion.kappa() >= 0.6, "{confusion:?}");
}

#[test]
fn agreement_with_labels_kept_apart() {
    let confusion = against_labels("labels kept apart", include_str!("labelled_held_out.jsonl"));
    assert!(confusion.balanced_accuracy() >= 0.6, "{confusion:?}");
}

/// The file of a data set kept beside the checkout, if it is there.
fn beside(path: &str) -> Option<String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    std::fs::read_to_string(root.join(path)).ok()
}

/// Spearman's rank correlation: Pearson's over mid-ranks.
fn spearman(a: &[f64], b: &[f64]) -> f64 {
    fn ranks(values: &[f64]) -> Vec<f64> {
        values
            .iter()
            .map(|v| {
                let below = values.iter().filter(|w| *w < v).count() as f64;
                let equal = values.iter().filter(|w| *w == v).count() as f64;
                below + f64::midpoint(equal, 1.0)
            })
            .collect()
    }
    let (a, b) = (ranks(a), ranks(b));
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (ma, mb) = (mean(&a), mean(&b));
    let cov: f64 = a.iter().zip(&b).map(|(x, y)| (x - ma) * (y - mb)).sum();
    let sd = |v: &[f64], m: f64| v.iter().map(|x| (x - m).powi(2)).sum::<f64>().sqrt();
    cov / (sd(&a, ma) * sd(&b, mb))
}

/// Five levels as bands that cover 0 to 10.
fn five_bands(levels: [&str; 5]) -> Bands {
    let edges = [(0, 2), (3, 4), (5, 6), (7, 8), (9, 10)];
    let bands = edges.iter().zip(levels).map(|(&(low, high), text)| Band {
        low: RawScore::new(low).unwrap(),
        high: RawScore::new(high).unwrap(),
        text: text.into(),
    });
    Bands::new(bands.collect()).unwrap()
}

#[test]
fn agreement_with_a_strong_model_on_levels() {
    let Some(text) = beside("prometheus-gpt4-triple/vicuna.jsonl") else { return };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut confusion = Confusion::default();
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let rubric = row["score_rubric"].as_str().unwrap();
        let mut lines = rubric.lines();
        let mut criterion = Criterion::checklist("c", lines.next().unwrap().trim_matches(['[', ']']));
        let levels: Vec<&str> = lines
            .filter_map(|line| line.split_once(": ").map(|(_, text)| text))
            .filter(|t| !t.is_empty())
            .collect();
        let Ok(levels) = <[&str; 5]>::try_from(levels) else { continue };
        criterion.scale = Scale::Bands(five_bands(levels));
        let scores: Vec<f64> =
            row["gpt4_score"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
        let strong = scores.iter().sum::<f64>() / scores.len() as f64;
        let material = Material {
            question: row["instruction"].as_str().unwrap().into(),
            reference: row["reference_answer"].as_str().map(str::to_owned),
            answer: row["response"].as_str().unwrap().into(),
            ..Material::default()
        };
        let judgement = judge(material, vec![criterion]).remove(0);
        let raw = f64::from(judgement.outcome().raw_score().unwrap().get());
        ours.push(raw);
        theirs.push(strong);
        confusion.add(strong >= 4.0, raw >= 7.0);
    }
    let mae =
        ours.iter().zip(&theirs).map(|(a, b)| (a - (b - 1.0) * 2.5).abs()).sum::<f64>() / ours.len() as f64;
    println!(
        "levels: n {}, spearman {:.3}, mean absolute error {mae:.2} of 10",
        ours.len(),
        spearman(&ours, &theirs)
    );
    println!("{}", confusion.line("levels, good is 4 of 5 against 7 of 10"));
    assert!(ours.len() >= 300);
}

#[test]
fn references_stand_out_from_answers_to_other_questions() {
    let Some(text) = beside("biggen-rubrics/biggen_rubrics.jsonl") else { return };
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut wins = 0.0;
    let mut n = 0.0;
    for pair in rows.windows(2).step_by(3) {
        let (own, other) = (&pair[0], &pair[1]);
        let score = |answer: &Value| {
            let rubric = &own["score_rubric"];
            let level = |n: u8| rubric[format!("score{n}_description").as_str()].as_str().unwrap_or("-");
            let mut criterion = Criterion::checklist("c", rubric["criteria"].as_str().unwrap());
            criterion.scale = Scale::Bands(five_bands([1, 2, 3, 4, 5].map(level)));
            let material = Material {
                question: own["input"].as_str().unwrap().into(),
                answer: answer["reference_answer"].as_str().unwrap_or("").into(),
                ..Material::default()
            };
            f64::from(judge(material, vec![criterion]).remove(0).outcome().raw_score().unwrap().get())
        };
        let (a, b) = (score(own), score(other));
        wins += if a > b {
            1.0
        } else if a < b {
            0.0
        } else {
            0.5
        };
        n += 1.0;
    }
    println!(
        "own reference against the next one of the same kind: n {n}, wins {:.3} (ties count half)",
        wins / n
    );
    assert!(wins / n > 0.5);
}
