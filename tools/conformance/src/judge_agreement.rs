//! What the offline judge leaves to models, and references compared with other answers.

use assize_grade::{Judge, JudgeMaterial, JudgeQuestion, OfflineJudge, PairTask, RubricTask};
use assize_rubric::{
    AnswerPreference, Criterion, CriterionScale, Decision, Finding, Outcome, RawScore, Rubric, ScoreBand,
    ScoreBands,
};
use futures_util::FutureExt;
use serde_json::Value;

use crate::output;
use crate::shared::SharedFolder;

fn judge(question: JudgeQuestion) -> Decision {
    OfflineJudge
        .decide(&[question])
        .now_or_never()
        .expect("the offline judge never waits")
        .remove(0)
        .remove(0)
}

/// Content of a file of a data set.
fn read(shared: &SharedFolder, path: &str) -> String {
    std::fs::read_to_string(shared.path("data").join(path)).unwrap()
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

/// Levels of quality are nothing that words show: the judge must leave them open.
pub(crate) fn levels(shared: &SharedFolder) {
    let text = read(shared, "prometheus-gpt4-triple/vicuna.jsonl");
    let (mut total, mut decided) = (0, 0);
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

        let material = JudgeMaterial {
            question: row["instruction"].as_str().unwrap().into(),
            reference: row["reference_answer"].as_str().map(str::to_owned),
            answer: row["response"].as_str().unwrap().into(),
            ..JudgeMaterial::default()
        };
        let rubric = Rubric::new(vec![criterion]).unwrap();
        let judgement = judge(JudgeQuestion::Rubric(RubricTask::new(material.into(), rubric.into())));
        total += 1;
        decided += usize::from(judgement.outcome() != Outcome::Ungraded);
    }

    output::print(&format!("levels: {decided} of {total} decided without a model"));
    assert!(total >= 300 && decided * 10 <= total, "{decided} of {total}");
}

/// Reference answers are preferred to answers to other questions.
pub(crate) fn references(shared: &SharedFolder) {
    let text = read(shared, "biggen-rubrics/biggen_rubrics.jsonl");
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut wins = 0.0;
    let mut n = 0.0;
    for pair in rows.windows(2).step_by(3) {
        let (own, other) = (&pair[0], &pair[1]);
        let answer = |row: &Value| row["reference_answer"].as_str().unwrap_or("").to_owned();
        let task = PairTask {
            question: own["input"].as_str().unwrap().into(),
            criteria: vec![Criterion::checklist("c", own["score_rubric"]["criteria"].as_str().unwrap())],
            first: answer(own),
            second: answer(other),
            ..PairTask::default()
        };

        // The offline judge reads English answers only.
        let Finding::Preference(preference) = judge(JudgeQuestion::Pair(task)).finding else { continue };
        wins += match preference {
            AnswerPreference::First => 1.0,
            AnswerPreference::Second => 0.0,
            AnswerPreference::Tie => 0.5,
        };
        n += 1.0;
    }

    output::print(&format!(
        "own reference against the next one of the same kind: n {n}, wins {:.3} (ties count half)",
        wins / n
    ));
    assert!(n > 200.0 && wins / n > 0.5);
}
