//! Graders that compare all answers to a test: when they decide, and the reason if they can't.

use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::{ItemRelations, ItemSource, RivalAnswer, RivalGroup, RunLimits, RunStart, WorkItem, run};
use assize_model::{AnswerSelection, Case, Grader, GraderKind, MaxScoreRule};
use assize_rubric::{CaseDecision, GraderWeighting, UnitInterval, Verdict};
use assize_store::{CaseErrorKind, CaseRecord};
use tokio_util::sync::CancellationToken;

use crate::tests::fakes::{Literal, Memory, Only, item, rubric, thresholds};

/// The cases of one test, with the same criteria. The answer with the highest score is chosen.
fn rivals(cases: &[(&str, &str)], group: &Arc<RivalGroup>) -> Vec<WorkItem> {
    let rival = |&(id, answer): &(&str, &str)| {
        let base = item(id, answer, rubric(&["a", "b"]), Arc::new(Only(Literal::new())));
        let grader = Grader {
            name: "max-score".to_owned(),
            type_name: "max-score".to_owned(),
            weighting: GraderWeighting::default(),
            place: base.case.place.clone(),
            kind: GraderKind::Selection(AnswerSelection::MaxScore(MaxScoreRule::default())),
        };
        let mut case = Case::clone(&base.case);
        case.graders.push(Arc::new(grader));
        let relations =
            ItemRelations { rivals: Some(Arc::clone(group)), ..ItemRelations::none(thresholds()) };
        WorkItem { case: Arc::new(case), relations: Arc::new(relations), ..base }
    };
    cases.iter().map(rival).collect()
}

fn group(members: &[&str], absent: &[&str]) -> Arc<RivalGroup> {
    let member = |id: &&str| RivalAnswer { case_id: (*id).to_owned(), target: None };
    Arc::new(RivalGroup {
        test: "test".into(),
        members: members.iter().map(member).collect(),
        absent: absent.iter().map(|id| (*id).to_owned()).collect(),
    })
}

async fn records(items: Vec<WorkItem>, workers: usize) -> Vec<CaseRecord> {
    let mut memory = Memory::default();
    let limits = RunLimits { workers: NonZeroUsize::new(workers).expect("not zero"), bail: None };
    let cancel = CancellationToken::new();
    let items = items.into_iter().map(Ok);
    let (_, ended) = run(RunStart::default(), items, limits, &cancel, &mut memory, &mut |_| {}).await;
    ended.expect("the run ends well");

    memory.records
}

/// The grader's result for a case: its score, if any, and its reason.
fn word(record: &CaseRecord) -> (Option<f64>, &str) {
    let row: &CaseDecision =
        record.decisions.iter().find(|row| &*row.grader == "max-score").expect("decided");
    let finding = row.decision.grader().expect("a finding of the whole grader");
    (finding.score().map(UnitInterval::get), &row.decision.reason)
}

#[tokio::test]
async fn all_answers_are_there_before_one_is_chosen_with_any_number_of_workers() {
    for workers in [1, 2, 16] {
        let cases = [("one", "a"), ("two", "a b"), ("three", "nothing")];
        let found = records(rivals(&cases, &group(&["one", "two", "three"], &[])), workers).await;
        let scores: Vec<(&str, Option<f64>)> =
            found.iter().map(|record| (&*record.result.case_id, word(record).0)).collect();
        assert_eq!(scores, [("one", Some(0.0)), ("two", Some(1.0)), ("three", Some(0.0))]);
        // The mean of the case depends on the choice.
        assert_eq!(found[1].result.score, Some(1.0));
        assert_eq!(found[0].result.score, Some(0.25));
    }
}

#[tokio::test]
async fn a_rival_that_is_not_run_leaves_all_ungraded() {
    let cases = [("one", "a"), ("two", "a b")];
    for (group, reason) in [
        (group(&["one", "two"], &["three"]), "case `three` is excluded"),
        (group(&["one", "two", "three"], &[]), "the answer of `three` is missing: it was not run"),
    ] {
        for record in records(rivals(&cases, &group), 1).await {
            let (score, why) = word(&record);
            assert!(score.is_none() && why.contains(reason), "{why}");
            assert!(record.result.coverage.is_some_and(|coverage| coverage < 1.0));
        }
    }

    let alone = records(rivals(&cases[..1], &group(&["one"], &[])), 1).await;
    assert!(word(&alone[0]).1.contains("no other answer to compare with"));
}

#[tokio::test]
async fn a_rival_without_an_answer_leaves_the_others_ungraded() {
    let mut items = rivals(&[("one", "a"), ("two", "a b")], &group(&["one", "two"], &[]));
    let message = "the server was away".to_owned();
    items[0].source = ItemSource::Missing { kind: CaseErrorKind::Server, message, target: None };
    let found = records(items, 4).await;

    let other = found.iter().find(|record| &*record.result.case_id == "two").expect("recorded");
    assert_eq!(word(other), (None, "the answer of `one` is missing: the server was away"));
    assert_eq!(other.result.verdict, Verdict::Incomplete);
    assert!(other.result.error.is_none());
}
