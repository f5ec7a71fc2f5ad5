//! Comparisons of the answer with another one, judged in both orders.

use std::sync::Arc;

use assize_evalfile::{Baseline, PairwiseGrader};
use assize_grade::{PairJudgement, PairTask, RubricJudge};
use assize_rubric::{PairOutcome, PairScores, Preference};
use assize_store::{GraderResult, JudgementRow, Note, OrderRow, PairwiseRow};
use futures_util::future::join;

use super::rows::{Spot, not_judged};
use super::{Scene, votes};

pub(super) async fn grade(scene: &Scene<'_>, spot: &Spot<'_>, grader: &PairwiseGrader) -> Vec<JudgementRow> {
    let task = match task(scene, grader) {
        Ok(task) => task,
        Err(message) => return vec![spot.broken(scene, message)],
    };
    let ask = |judge: Arc<dyn RubricJudge>, temperature: Option<f64>, asking: u32| {
        let task = PairTask { temperature, asking, ..task.clone() };
        async move {
            let turned = task.turned();
            let (candidate_first, baseline_first) = if task.first == task.second {
                let judge = judge.identity();
                let same = PairJudgement::decided(
                    judge,
                    Preference::Tie,
                    "The answers are the same, word for word.",
                );
                (same.clone(), same)
            } else {
                join(judge.judge_pair(&task), judge.judge_pair(&turned)).await
            };
            row(scene, spot, grader, candidate_first, baseline_first)
        }
    };
    votes::grade(scene, spot, &grader.panel, grader.judge.as_deref(), ask).await
}

/// What a judge is given, with the candidate first. The error says why there is nothing to compare with.
pub(crate) fn task(scene: &Scene<'_>, grader: &PairwiseGrader) -> Result<PairTask, String> {
    let material = &scene.material;
    let (baseline, reference) = match &grader.baseline {
        Baseline::Reference => {
            let reference = material.reference.clone();
            let reference = reference
                .ok_or("the case has no reference answer to compare with: add `expected_output`, or name a `baseline`")?;
            (reference, None)
        }
        Baseline::Text(text) => (text.to_string(), material.reference.clone()),
        Baseline::Run { answer: Some(Ok(answer)), .. } => (answer.to_string(), material.reference.clone()),
        Baseline::Run { answer: Some(Err(message)), .. } => return Err(message.clone()),
        Baseline::Run { written, answer: None, .. } => {
            return Err(format!("the answers of the run `{written}` are not at hand"));
        }
    };
    Ok(PairTask {
        question: material.question.clone(),
        expected_outcome: material.expected_outcome.clone(),
        reference,
        criteria: grader.criteria.clone(),
        first: material.answer.clone(),
        second: baseline,
        temperature: None,
        repeat: scene.item.repeat,
        asking: 1,
    })
}

/// The row of both orders. One order alone decides nothing: which answer it favours, and which place, can't be told
/// apart.
fn row(
    scene: &Scene<'_>,
    spot: &Spot<'_>,
    grader: &PairwiseGrader,
    candidate_first: PairJudgement,
    baseline_first: PairJudgement,
) -> JudgementRow {
    let outcome = preference(&candidate_first)
        .zip(preference(&baseline_first))
        .map(|(candidate_first, baseline_first)| PairOutcome::of(candidate_first, baseline_first));
    let ungraded =
        [&candidate_first, &baseline_first].into_iter().find_map(|judged| judged.decided.as_ref().err());
    let ungraded = ungraded.cloned();
    let pairwise = PairwiseRow {
        outcome,
        baseline: match &grader.baseline {
            Baseline::Reference => "reference".to_owned(),
            Baseline::Text(_) => "text".to_owned(),
            Baseline::Run { written, .. } => format!("run {written}"),
        },
        candidate_first: order(&candidate_first),
        baseline_first: order(&baseline_first),
    };
    let result = GraderResult {
        score: outcome.map(|outcome| grader.scores.of(outcome).get()),
        error: ungraded.as_ref().map(not_judged),
        notes: [("with the candidate first", &candidate_first), ("with the baseline first", &baseline_first)]
            .map(|(order, judged)| said(order, judged))
            .into(),
        pairwise: Some(pairwise),
        ..GraderResult::default()
    };
    let reason = match outcome {
        Some(outcome) => reason(outcome, grader.scores, &candidate_first, &baseline_first),
        None => ungraded.as_ref().map(|ungraded| ungraded.message.clone()).unwrap_or_default(),
    };
    let (_, mut judgement) = spot.judgement(PairJudgement {
        reason,
        spent: candidate_first.spent.and(baseline_first.spent),
        ..candidate_first
    });
    judgement.ungraded = ungraded;
    for quote in baseline_first.evidence {
        if !judgement.evidence.contains(&quote) {
            judgement.evidence.push(quote);
        }
    }
    JudgementRow::of_grader(spot.context(scene), result, judgement)
}

fn preference(judged: &PairJudgement) -> Option<Preference> {
    judged.decided.as_ref().ok().copied()
}

/// What one order came to, as a remark: alone it decides nothing.
fn said(order: &str, judged: &PairJudgement) -> Note {
    let word = match preference(judged) {
        Some(Preference::First) => "the one shown first is better",
        Some(Preference::Second) => "the one shown second is better",
        Some(Preference::Tie) => "neither is better",
        None => "not judged",
    };
    Note { text: format!("{order}: {word}"), passed: None, reason: judged.reason.clone(), weight: None }
}

fn order(judged: &PairJudgement) -> OrderRow {
    OrderRow { preference: preference(judged), reason: judged.reason.clone() }
}

/// The outcome in words, with the judge's own.
fn reason(
    outcome: PairOutcome,
    scores: PairScores,
    candidate_first: &PairJudgement,
    baseline_first: &PairJudgement,
) -> String {
    let said = |judged: &PairJudgement| judged.reason.trim().to_owned();
    match outcome {
        PairOutcome::Win => {
            format!("win: better than the baseline in both orders. {}", said(candidate_first))
        }
        PairOutcome::Loss => {
            format!("loss: worse than the baseline in both orders. {}", said(candidate_first))
        }
        PairOutcome::Tie => format!("tie in both orders. {}", said(candidate_first)),
        PairOutcome::Inconsistent => {
            let word = |preference: Option<Preference>, first: &str, second: &str| match preference {
                Some(Preference::First) => format!("{first} is better"),
                Some(Preference::Second) => format!("{second} is better"),
                Some(Preference::Tie) | None => "a tie".to_owned(),
            };
            format!(
                "inconsistent, counted as {}: with the candidate first {} ({}), with the baseline first {} ({})",
                scores.inconsistent.get(),
                word(preference(candidate_first), "the candidate", "the baseline"),
                said(candidate_first),
                word(preference(baseline_first), "the baseline", "the candidate"),
                said(baseline_first),
            )
        }
    }
}
