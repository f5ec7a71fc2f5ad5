//! Scores of the offline judge compared with those of a strong model, and of references compared with other
//! answers.

use assize_grade::{Judge, JudgeMaterial, JudgeQuestion, OfflineJudge, RubricTask};
use assize_rubric::{Criterion, CriterionScale, Decision, RawScore, Rubric, ScoreBand, ScoreBands};
use futures_util::FutureExt;
use serde_json::Value;

use crate::output;
use crate::shared::SharedFolder;

fn judge(material: JudgeMaterial, criteria: Vec<Criterion>) -> Vec<Decision> {
    let rubric = Rubric::new(criteria).unwrap();
    let question = [JudgeQuestion::Rubric(RubricTask::new(material.into(), rubric.into()))];
    OfflineJudge.decide(&question).now_or_never().expect("the offline judge never waits").remove(0)
}

/// Content of a file of a data set.
fn read(shared: &SharedFolder, path: &str) -> String {
    std::fs::read_to_string(shared.path("data").join(path)).unwrap()
}

/// Spearman's rank correlation: Pearson's correlation of the ranks, where ties share their mean rank.
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
fn five_bands(levels: [&str; 5]) -> ScoreBands {
    let edges = [(0, 2), (3, 4), (5, 6), (7, 8), (9, 10)];
    let bands = edges.iter().zip(levels).map(|(&(low, high), text)| ScoreBand {
        low: RawScore::new(low).unwrap(),
        high: RawScore::new(high).unwrap(),
        text: text.into(),
    });
    ScoreBands::new(bands.collect()).unwrap()
}

/// Compares levels with those of a strong model. The figures are only printed; the check is that at least 300
/// rows are judged.
pub(crate) fn levels(shared: &SharedFolder) {
    let text = read(shared, "prometheus-gpt4-triple/vicuna.jsonl");
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut same = 0.0;
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
        criterion.scale = CriterionScale::Bands(five_bands(levels));

        let scores: Vec<f64> =
            row["gpt4_score"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
        let strong = scores.iter().sum::<f64>() / scores.len() as f64;
        let material = JudgeMaterial {
            question: row["instruction"].as_str().unwrap().into(),
            reference: row["reference_answer"].as_str().map(str::to_owned),
            answer: row["response"].as_str().unwrap().into(),
            ..JudgeMaterial::default()
        };

        let judgement = judge(material, vec![criterion]).remove(0);
        let raw = f64::from(judgement.outcome().raw_score().unwrap().get());
        ours.push(raw);
        theirs.push(strong);

        same += f64::from((strong >= 4.0) == (raw >= 7.0));
    }

    let mae =
        ours.iter().zip(&theirs).map(|(a, b)| (a - (b - 1.0) * 2.5).abs()).sum::<f64>() / ours.len() as f64;
    output::print(&format!(
        "levels: n {}, spearman {:.3}, mean absolute error {mae:.2} of 10, agreement on good (4 of 5, 7 of 10) {:.3}",
        ours.len(),
        spearman(&ours, &theirs),
        same / ours.len() as f64
    ));

    assert!(ours.len() >= 300);
}

/// Reference answers score higher than answers to other questions.
pub(crate) fn references(shared: &SharedFolder) {
    let text = read(shared, "biggen-rubrics/biggen_rubrics.jsonl");
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut wins = 0.0;
    let mut n = 0.0;
    for pair in rows.windows(2).step_by(3) {
        let (own, other) = (&pair[0], &pair[1]);
        let score = |answer: &Value| {
            let rubric = &own["score_rubric"];
            let level = |n: u8| rubric[format!("score{n}_description").as_str()].as_str().unwrap_or("-");
            let mut criterion = Criterion::checklist("c", rubric["criteria"].as_str().unwrap());
            criterion.scale = CriterionScale::Bands(five_bands([1, 2, 3, 4, 5].map(level)));

            let material = JudgeMaterial {
                question: own["input"].as_str().unwrap().into(),
                answer: answer["reference_answer"].as_str().unwrap_or("").into(),
                ..JudgeMaterial::default()
            };
            let decision = judge(material, vec![criterion]).remove(0);
            decision.outcome().raw_score().map(|score| f64::from(score.get()))
        };

        // The offline judge reads English answers only.
        let (Some(a), Some(b)) = (score(own), score(other)) else { continue };
        wins += if a > b {
            1.0
        } else if a < b {
            0.0
        } else {
            0.5
        };

        n += 1.0;
    }

    output::print(&format!(
        "own reference against the next one of the same kind: n {n}, wins {:.3} (ties count half)",
        wins / n
    ));
    assert!(wins / n > 0.5);
}
