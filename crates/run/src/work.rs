//! One item from its question to its record.

use assize_rubric::{Cost, Tokens};
use assize_store::{CaseError, CaseRecord};
use assize_target::{Answer, TargetInput};
use futures_util::future::join_all;
use tokio::time::Instant;

use crate::about::{case_hash, cluster};
use crate::assemble::{CaseHead, Graded, assemble};
use crate::conversation::converse;
use crate::grading::{Scene, grade};
use crate::material::target_input;
use crate::{Source, WorkItem};

/// Answers and grades one item. Failures become part of the record; this never fails.
pub(crate) async fn work(item: WorkItem) -> CaseRecord {
    let begun = Instant::now();
    let mut head = head(&item);
    let is_missing = matches!(item.source, Source::Missing { .. });
    if let Some(talk) = item.case.conversation.as_ref().filter(|_| !is_missing) {
        let mut record = converse(&item, talk, head).await;
        record.result.duration_ms = millis(begun);
        return record;
    }
    let input = || target_input(&item.case, item.repeat);
    let answer = match answer(&item, input, &mut head).await {
        Ok(answer) => answer,
        Err(error) => {
            head.error = Some(error);
            head.duration_ms = millis(begun);
            return CaseRecord { result: assemble(head, &[], item.lines), judgements: Vec::new() };
        }
    };
    head.answer = Some(answer.text.clone());

    let scene = Scene::new(&item, &answer);
    let graders = &item.case.graders;
    let decided = join_all(graders.iter().map(|grader| grade(&scene, grader))).await;
    let graded: Vec<Graded<'_>> = graders
        .iter()
        .zip(&decided)
        .map(|(grader, rows)| Graded {
            name: &grader.name,
            type_name: &grader.type_name,
            standing: grader.standing,
            rows,
        })
        .collect();
    head.duration_ms = millis(begun);
    let result = assemble(head, &graded, item.lines);
    CaseRecord { result, judgements: decided.into_iter().flatten().collect() }
}

/// The record of an item whose work broke inside this program: said, never lost.
pub(crate) fn broken(item: &WorkItem, message: String) -> CaseRecord {
    let error = CaseError { stage: "grade".to_owned(), kind: "internal".to_owned(), message };
    // What was spent before it broke is not known.
    let head = CaseHead { error: Some(error), cost: Cost::UNKNOWN, ..head(item) };
    CaseRecord { result: assemble(head, &[], item.lines), judgements: Vec::new() }
}

/// What a record says of an item before anything was asked or spent.
pub(crate) fn head(item: &WorkItem) -> CaseHead {
    CaseHead {
        format: item.format,
        suite: item.suite.to_string(),
        case_id: item.case.id.to_string(),
        target: item.source.target_name().map(str::to_owned),
        answered_by: None,
        repeat: item.repeat,
        tags: item.case.tags.clone(),
        cluster: cluster(&item.case),
        case_hash: Some(case_hash(&item.case)),
        answer: None,
        turns: Vec::new(),
        error: None,
        tokens: Tokens::default(),
        cost: Cost::ZERO,
        duration_ms: 0,
    }
}

/// The answer of an item, to what `input` puts together if a target is asked. What that took is noted in `head`.
pub(crate) async fn answer(
    item: &WorkItem,
    input: impl FnOnce() -> Result<TargetInput, String>,
    head: &mut CaseHead,
) -> Result<Answer, CaseError> {
    let failed = |kind: &str, message: String| CaseError {
        stage: "target".to_owned(),
        kind: kind.to_owned(),
        message,
    };
    match &item.source {
        Source::Given(answer) => Ok((**answer).clone()),
        Source::Missing { kind, message } => Err(failed(kind, message.clone())),
        Source::Target(target) => {
            let input = input().map_err(|message| failed("bad_input", message))?;
            match target.answer(&input).await {
                Ok(answer) => {
                    // What a recording tells was spent when it was made.
                    if answer.attempts == 0 {
                        head.tokens = Tokens { input: Some(0), cached: Some(0), output: Some(0) };
                    } else {
                        head.tokens = answer.tokens;
                        head.cost = answer.cost.unwrap_or(Cost::UNKNOWN);
                    }
                    head.answered_by.clone_from(&answer.answered_by);
                    Ok(answer)
                }
                Err(error) => {
                    if error.attempts > 0 {
                        head.tokens = error.tokens;
                        head.cost = error.cost;
                    }
                    Err(failed(error.kind.as_str(), error.to_string()))
                }
            }
        }
    }
}

fn millis(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)
}
