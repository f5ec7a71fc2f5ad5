//! Scheduling: order, dependencies, trials, and the ways in which a run ends early.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::{
    CasePrerequisite, HaltReason, ItemError, ItemRelations, ItemSource, JudgeProvider, RunError, RunEvent,
    RunLimits, RunStart, RunTotals, WorkItem, run,
};
use assize_model::OnDependencyFailure;
use assize_rubric::{TrialPlan, TrialResult, Verdict};
use tokio_util::sync::CancellationToken;

use crate::tests::fakes::{Broken, Literal, Memory, Only, item, rubric, thresholds};

/// A run with its events.
struct Run {
    totals: RunTotals,
    ended: Result<(), RunError>,
    memory: Memory,
    events: Vec<RunEvent>,
}

impl Run {
    /// Ids of the recorded cases, in the order of the records.
    fn recorded(&self) -> Vec<&str> {
        self.memory.records.iter().map(|record| &*record.result.case_id).collect()
    }

    fn verdict(&self, id: &str) -> Verdict {
        let record = self.memory.records.iter().find(|record| &*record.result.case_id == id);
        record.expect("recorded").result.verdict
    }

    /// The events, abbreviated, without events of finished cases.
    fn told(&self) -> Vec<String> {
        self.events
            .iter()
            .filter_map(|event| match event {
                RunEvent::CaseStarted { case_id, .. } => Some(format!("started {case_id}")),
                RunEvent::CaseSkipped { case_id, .. } => Some(format!("skipped {case_id}")),
                RunEvent::CaseRedundant { case_id, trial, .. } => {
                    Some(format!("redundant {case_id} {trial}"))
                }
                RunEvent::CaseFinished { .. } => None,
                RunEvent::Halted { reason: HaltReason::Error } => Some("halted by an error".to_owned()),
                RunEvent::Halted { reason: HaltReason::NotPassed } => Some("halted by failures".to_owned()),
                RunEvent::Halted { reason: HaltReason::Decided } => Some("halted by the result".to_owned()),
                RunEvent::LimitReached => Some("limit".to_owned()),
                RunEvent::Stopping => Some("stopping".to_owned()),
            })
            .collect()
    }
}

fn settings(workers: usize, bail: usize) -> RunLimits {
    RunLimits { workers: NonZeroUsize::new(workers).expect("not zero"), bail: NonZeroUsize::new(bail) }
}

async fn run_items(start: RunStart, items: Vec<Result<WorkItem, ItemError>>, settings: RunLimits) -> Run {
    let mut memory = Memory::default();
    let mut events = Vec::new();
    let cancel = CancellationToken::new();

    let (totals, ended) =
        run(start, items, settings, &cancel, &mut memory, &mut |event| events.push(event)).await;

    Run { totals, ended, memory, events }
}

/// A case that passes if its answer is `a`.
fn case(id: &str, answer: &str) -> WorkItem {
    let judges: Arc<dyn JudgeProvider> = Arc::new(Only(Literal::new()));
    item(id, answer, rubric(&["a"]), judges)
}

fn awaited(item: WorkItem) -> WorkItem {
    let relations = ItemRelations { is_awaited: true, ..(*item.relations).clone() };
    WorkItem { relations: Arc::new(relations), ..item }
}

fn after(item: WorkItem, id: &str, on_failure: OnDependencyFailure) -> WorkItem {
    let prerequisite = CasePrerequisite { case_id: id.to_owned(), targets: vec![None] };
    let relations = ItemRelations { after: vec![prerequisite], on_failure, ..(*item.relations).clone() };
    WorkItem { relations: Arc::new(relations), ..item }
}

#[tokio::test]
async fn a_case_starts_after_those_it_depends_on_wherever_it_stands() {
    let skip = OnDependencyFailure::Skip;
    let items = vec![
        Ok(after(case("third", "a"), "second", skip)),
        Ok(awaited(after(case("second", "a"), "first", skip))),
        Ok(case("alone", "a")),
        Ok(awaited(case("first", "a"))),
    ];

    let run = run_items(RunStart::default(), items, settings(4, 0)).await;

    assert!(run.ended.is_ok());
    assert_eq!(run.told(), ["started alone", "started first", "started second", "started third"]);
    assert_eq!(run.totals.counts.total(), 4);
}

#[tokio::test]
async fn a_failed_dependency_skips_fails_or_is_ignored_as_the_case_says() {
    let items = vec![
        Ok(awaited(case("first", "no"))),
        Ok(after(case("skips", "a"), "first", OnDependencyFailure::Skip)),
        Ok(after(case("fails", "a"), "first", OnDependencyFailure::Fail)),
        Ok(after(case("runs", "a"), "first", OnDependencyFailure::Run)),
    ];

    let run = run_items(RunStart::default(), items, settings(1, 0)).await;

    assert_eq!(run.verdict("skips"), Verdict::Incomplete);
    assert_eq!(run.verdict("fails"), Verdict::Fail);
    assert_eq!(run.verdict("runs"), Verdict::Pass);
    assert!(run.told().contains(&"skipped skips".to_owned()));
    assert!(run.told().contains(&"skipped fails".to_owned()));
    assert!(!run.told().contains(&"skipped runs".to_owned()));
    assert_eq!(run.totals.judge_calls, 2);
}

#[tokio::test]
async fn what_waits_for_something_that_never_comes_is_skipped_at_the_end() {
    let waits = after(case("waits", "a"), "nowhere", OnDependencyFailure::Skip);
    let items = vec![Ok(waits), Ok(case("other", "a"))];

    let run = run_items(RunStart::default(), items, settings(2, 0)).await;

    assert!(run.ended.is_ok());
    assert_eq!(run.recorded(), ["other", "waits"]);
    assert_eq!(run.verdict("waits"), Verdict::Incomplete);
}

#[tokio::test]
async fn trials_after_one_that_settles_the_case_are_redundant() {
    let plan = TrialPlan { count: 3, early_stop: true, ..TrialPlan::single(thresholds()) };
    let relations = Arc::new(ItemRelations { trials: plan, ..ItemRelations::none(thresholds()) });
    let trial =
        |trial, answer| Ok(WorkItem { relations: Arc::clone(&relations), trial, ..case("case", answer) });
    let items = vec![trial(1, "no"), trial(2, "a"), trial(3, "a")];

    let run = run_items(RunStart::default(), items, settings(3, 0)).await;

    assert_eq!(run.told(), ["started case", "started case", "redundant case 3"]);
    assert_eq!((run.totals.counts.total(), run.totals.needless), (2, 1));
}

#[tokio::test]
async fn a_run_halts_at_as_many_failures_as_it_may_have() {
    let items = (0..10).map(|n| Ok(case(&format!("case-{n}"), if n == 0 { "a" } else { "no" }))).collect();

    let run = run_items(RunStart::default(), items, settings(1, 2)).await;

    assert!(run.ended.is_ok());
    assert_eq!(run.recorded(), ["case-0", "case-1", "case-2"]);
    assert_eq!(run.totals.halted, Some(HaltReason::NotPassed));
    assert_eq!(run.told().last().map(String::as_str), Some("halted by failures"));
}

#[tokio::test]
async fn cases_in_flight_finish_after_a_halt_that_is_told_once() {
    let items = (0..20).map(|n| Ok(case(&format!("case-{n}"), "no"))).collect();

    let run = run_items(RunStart::default(), items, settings(10, 1)).await;

    let halts = run.told().iter().filter(|event| event.starts_with("halted")).count();
    let started = run.told().iter().filter(|event| event.starts_with("started")).count();
    assert_eq!(halts, 1);
    assert!(started < 20 && run.recorded().len() == started, "{started} started");
}

#[tokio::test]
async fn an_error_halts_a_suite_that_asks_for_it() {
    let relations = Arc::new(ItemRelations { stops_at_errors: true, ..ItemRelations::none(thresholds()) });
    let broken = WorkItem {
        source: ItemSource::Target(Arc::new(Broken { hangs: false })),
        relations: Arc::clone(&relations),
        ..case("broken", "")
    };
    let next = WorkItem { relations, ..case("next", "a") };

    let run = run_items(RunStart::default(), vec![Ok(broken), Ok(next)], settings(1, 0)).await;

    assert_eq!(run.told(), ["started broken", "halted by an error"]);
    assert_eq!(run.totals.halted, Some(HaltReason::Error));
}

#[tokio::test]
async fn nothing_starts_once_the_limit_is_reached_or_the_run_is_cancelled() {
    let limited = RunStart::default();
    limited.limit.cancel();
    let run = run_items(limited, vec![Ok(case("case", "a"))], settings(1, 0)).await;
    assert!(run.ended.is_ok() && run.events.is_empty());

    let cancel = CancellationToken::new();
    cancel.cancel();
    let (mut memory, mut events) = (Memory::default(), 0);
    let items = vec![Ok(case("case", "a"))];
    let (totals, ended) =
        crate::run(RunStart::default(), items, settings(1, 0), &cancel, &mut memory, &mut |_| {
            events += 1;
        })
        .await;
    assert!(ended.is_ok());
    assert_eq!((totals.counts.total(), memory.records.len(), events), (0, 0, 0));
}

#[tokio::test]
async fn the_limit_is_told_once_and_cases_in_flight_are_recorded() {
    let start = RunStart::default();
    let limit = start.limit.clone();
    let (mut memory, mut reached, mut started) = (Memory::default(), 0, 0);
    let mut observe = |event: RunEvent| match event {
        RunEvent::CaseStarted { .. } => started += 1,
        RunEvent::CaseFinished { .. } => limit.cancel(),
        RunEvent::LimitReached => reached += 1,
        _ => {}
    };
    let items = (0..9).map(|n| Ok(case(&format!("case-{n}"), "a")));

    let cancel = CancellationToken::new();
    let (totals, ended) = run(start, items, settings(3, 0), &cancel, &mut memory, &mut observe).await;

    assert!(ended.is_ok());
    assert!(reached <= 1 && started < 9, "{reached} {started}");
    assert_eq!(totals.counts.total(), memory.records.len());
}

#[tokio::test]
async fn finished_items_of_an_earlier_process_are_not_run_again_and_still_count_for_others() {
    let first = awaited(case("first", "no"));
    let passed = TrialResult { verdict: Verdict::Pass, score: Some(1.0), ..TrialResult::UNKNOWN };
    let start = RunStart { done: HashMap::from([(first.key(), passed)]), ..RunStart::default() };
    let items = vec![Ok(first), Ok(after(case("second", "a"), "first", OnDependencyFailure::Skip))];

    let run = run_items(start, items, settings(1, 0)).await;

    assert_eq!(run.recorded(), ["second"]);
    assert_eq!(run.verdict("second"), Verdict::Pass);
}

#[tokio::test]
async fn items_that_can_not_be_read_end_the_run_after_what_was_started() {
    let items = vec![
        Ok(case("first", "a")),
        Err(ItemError::Source("line 2 is not JSON".into())),
        Ok(case("third", "a")),
    ];

    let run = run_items(RunStart::default(), items, settings(2, 0)).await;

    assert!(matches!(&run.ended, Err(RunError::Items(error)) if error.to_string() == "line 2 is not JSON"));
    assert_eq!(run.recorded(), ["first"]);
}
