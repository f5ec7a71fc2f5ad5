//! One item from its question to its record.

use std::sync::Arc;

use assize_grade::RubricTask;
use assize_rubric::{Judgement, Tokens};
use assize_spec::{Grader, GraderKind, RubricGrader};
use assize_store::{CaseError, CaseRecord, JudgementContext, JudgementRow};
use assize_target::Answer;
use futures_util::future::join_all;
use tokio::time::Instant;

use crate::assemble::{CaseHead, Graded, assemble};
use crate::material::{material, target_input};
use crate::{Source, WorkItem};

/// Answers and grades one item. Failures become part of the record; this never fails.
pub(crate) async fn work(item: WorkItem) -> CaseRecord {
    let begun = Instant::now();
    let mut head = CaseHead {
        format: item.format,
        suite: item.suite.to_string(),
        case_id: item.case.id.to_string(),
        target: item.source.target_name().map(str::to_owned),
        repeat: item.repeat,
        answer: None,
        error: None,
        tokens: Tokens::default(),
        cost_usd: Some(0.0),
        duration_ms: 0,
    };
    let answer = match answer(&item, &mut head).await {
        Ok(answer) => answer,
        Err(error) => {
            head.error = Some(error);
            head.duration_ms = millis(begun);
            return CaseRecord { result: assemble(head, &[], item.lines), judgements: Vec::new() };
        }
    };
    head.answer = Some(answer.text.clone());

    let graders = rubric_graders(&item);
    let material = Arc::new(material(&item.case, &answer));
    let decided = join_all(graders.iter().map(|(_, grader)| judge(&item, grader, &material))).await;

    let mut judgements = Vec::new();
    let mut ranges = Vec::with_capacity(graders.len());
    let mut errors = Vec::new();
    for ((grader, rubric_grader), decided) in graders.iter().zip(decided) {
        let start = judgements.len();
        match decided {
            Ok(decisions) => {
                let context = JudgementContext {
                    suite: &item.suite,
                    case_id: item.case.id.as_str(),
                    target: item.source.target_name(),
                    repeat: item.repeat,
                    lines: item.lines,
                    grader: &grader.name,
                    standing: grader.standing,
                };
                let pairs = rubric_grader.rubric.criteria().iter().zip(&decisions);
                judgements.extend(
                    pairs.map(|(criterion, judgement)| JudgementRow::new(context, criterion, judgement)),
                );
            }
            Err(message) => errors.push(message),
        }
        ranges.push(start..judgements.len());
    }
    let graded: Vec<Graded<'_>> = graders
        .iter()
        .zip(ranges)
        .map(|((grader, rubric_grader), range)| Graded {
            name: &grader.name,
            type_name: &grader.type_name,
            standing: grader.standing,
            rubric: &rubric_grader.rubric,
            rows: &judgements[range],
        })
        .collect();
    if !errors.is_empty() {
        head.error = Some(CaseError {
            stage: "grade".to_owned(),
            kind: "no_judge".to_owned(),
            message: errors.join("; "),
        });
    }
    head.duration_ms = millis(begun);
    let result = assemble(head, &graded, item.lines);
    CaseRecord { result, judgements }
}

/// The record of an item whose work broke inside this program: said, never lost.
pub(crate) fn broken(item: &WorkItem, message: String) -> CaseRecord {
    let head = CaseHead {
        format: item.format,
        suite: item.suite.to_string(),
        case_id: item.case.id.to_string(),
        target: item.source.target_name().map(str::to_owned),
        repeat: item.repeat,
        answer: None,
        error: Some(CaseError { stage: "grade".to_owned(), kind: "internal".to_owned(), message }),
        tokens: Tokens::default(),
        cost_usd: None,
        duration_ms: 0,
    };
    CaseRecord { result: assemble(head, &[], item.lines), judgements: Vec::new() }
}

async fn answer(item: &WorkItem, head: &mut CaseHead) -> Result<Answer, CaseError> {
    let failed = |kind: &str, message: String| CaseError {
        stage: "target".to_owned(),
        kind: kind.to_owned(),
        message,
    };
    match &item.source {
        Source::Given(answer) => Ok((**answer).clone()),
        Source::Missing { kind, message } => Err(failed(kind, message.clone())),
        Source::Target(target) => {
            let input =
                target_input(&item.case, item.repeat).map_err(|message| failed("bad_input", message))?;
            match target.answer(&input).await {
                Ok(answer) => {
                    head.tokens = answer.tokens;
                    head.cost_usd = answer.cost_usd;
                    Ok(answer)
                }
                Err(error) => {
                    head.tokens = error.tokens;
                    head.cost_usd = None;
                    Err(failed(error.kind.as_str(), error.to_string()))
                }
            }
        }
    }
}

/// The graders of the case that are rubrics: the only kind a run accepts so far.
pub(crate) fn rubric_graders(item: &WorkItem) -> Vec<(&Grader, &RubricGrader)> {
    let graders = item.case.graders.iter();
    graders
        .filter_map(|grader| match &grader.kind {
            GraderKind::Rubric(rubric) => Some((&**grader, rubric)),
            _ => None,
        })
        .collect()
}

async fn judge(
    item: &WorkItem,
    grader: &RubricGrader,
    material: &Arc<assize_grade::Material>,
) -> Result<Vec<Judgement>, String> {
    let judge = item.judges.judge(item.judge_wish(grader))?;
    Ok(judge.judge(&task(item, grader, material)).await)
}

/// What a judge is given for one grader.
pub(crate) fn task(
    item: &WorkItem,
    grader: &RubricGrader,
    material: &Arc<assize_grade::Material>,
) -> RubricTask {
    RubricTask {
        material: Arc::clone(material),
        rubric: Arc::clone(&grader.rubric),
        judging: item.judging_override.or(grader.judging).unwrap_or(item.judging),
        evidence: grader.evidence.unwrap_or(item.evidence),
        case_id: item.case.id.to_string(),
        repeat: item.repeat,
    }
}

fn millis(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)
}
