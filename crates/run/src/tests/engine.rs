//! The engine with scripted judges and targets and a recorder in memory.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::{ItemSource, JudgeProvider, RunError, RunEvent, RunLimits, RunStart, WorkItem, rescore, run};
use assize_rubric::{Gate, Rubric, UnitInterval, Usd, Verdict, VerdictThresholds, Weight};
use tokio_util::sync::CancellationToken;

use crate::tests::fakes::{Broken, Literal, Memory, NoJudge, Only, item, rubric, run_all, thresholds};

#[tokio::test]
async fn cases_are_scored_and_added_up() {
    let judges: Arc<dyn JudgeProvider> = Arc::new(Only(Literal::new()));
    let items = vec![
        item("good", "a b", rubric(&["a", "b"]), Arc::clone(&judges)),
        item("half", "a", rubric(&["a", "b"]), Arc::clone(&judges)),
        item("open", "a", rubric(&["a", "?"]), judges),
    ];
    let (records, totals) = run_all(items, 2).await;
    let verdict =
        |id: &str| records.iter().find(|r| &*r.result.case_id == id).expect("recorded").result.verdict;
    assert_eq!(verdict("good"), Verdict::Pass);
    assert_eq!(verdict("half"), Verdict::Fail);
    assert_eq!(verdict("open"), Verdict::Incomplete);
    assert_eq!(totals.counts.total(), 3);
    assert_eq!(totals.criteria, 6);
    assert_eq!(totals.criteria_ungraded, 1);
    assert_eq!(totals.judge_calls, 6);
    assert_eq!(totals.tokens.input, Some(60));
    assert_eq!(totals.cost.total(), Usd::from_dollars(3.0));
    let mean = totals.mean_score().expect("two known scores");
    assert_eq!((mean.mean, mean.n), (0.75, 2));
}

#[tokio::test(start_paused = true)]
async fn many_cases_are_recorded_together_and_none_waits_for_long() {
    let judges: Arc<dyn JudgeProvider> = Arc::new(Only(Literal::new()));
    let hanging = || WorkItem {
        source: ItemSource::Target(Arc::new(Broken { hangs: true })),
        ..item("hangs", "", rubric(&["a"]), Arc::clone(&judges))
    };
    let quick = |i: usize| item(&format!("case-{i}"), "a", rubric(&["a"]), Arc::clone(&judges));
    for (workers, bail, most) in [(16, None, 4), (16, NonZeroUsize::new(500), 100), (4, None, 100)] {
        let items: Vec<WorkItem> = (0..100).map(quick).chain([hanging()]).collect();
        let mut memory = Memory::default();
        let cancel = CancellationToken::new();
        let mut left = 100;
        // A hanging case keeps the run going, so the last ones are recorded because they have waited long
        // enough.
        let mut observe = |event: RunEvent| {
            left -= usize::from(matches!(event, RunEvent::CaseFinished { .. }));
            if left == 0 {
                cancel.cancel();
            }
        };
        let settings = RunLimits { workers: NonZeroUsize::new(workers).expect("not zero"), bail };
        let (_, ended) =
            run(RunStart::default(), items.into_iter().map(Ok), settings, &cancel, &mut memory, &mut observe)
                .await;
        assert!(ended.is_ok());
        assert_eq!(memory.records.len(), 100);
        let times = memory.settled.len();
        assert!(times <= most && (most < 100) == (times < 7), "{workers}: {:?}", memory.settled);
    }
}

#[tokio::test]
async fn never_more_than_the_workers_are_in_flight_and_they_are_used() {
    let literal = Literal::new();
    let judges: Arc<dyn JudgeProvider> = Arc::new(Only(Arc::clone(&literal)));
    let items =
        (0..50).map(|i| item(&format!("case-{i}"), "a", rubric(&["a"]), Arc::clone(&judges))).collect();
    let (records, _) = run_all(items, 4).await;
    assert_eq!(records.len(), 50);
    let peak = literal.peak.load(Ordering::SeqCst);
    assert!((2..=4).contains(&peak), "{peak}");
}

#[tokio::test]
async fn cases_that_are_handed_out_early_wait_for_a_seat_and_are_not_begun_after_the_limit() {
    for limited in [false, true] {
        let literal = Literal::new();
        let judges: Arc<dyn JudgeProvider> = Arc::new(Only(Arc::clone(&literal)));
        let items =
            (0..1000).map(|i| Ok(item(&format!("case-{i}"), "a", rubric(&["a"]), Arc::clone(&judges))));
        let start = RunStart::default();
        let limit = start.limit.clone();
        let (mut begun, mut finished, mut early) = (0, 0, 0);
        let mut observe = |event: RunEvent| match event {
            RunEvent::CaseStarted { .. } => {
                begun += 1;
                if begun - literal.judged.load(Ordering::SeqCst) > 8 {
                    early += 1;
                    if limited {
                        limit.cancel();
                    }
                }
            }
            RunEvent::CaseFinished { .. } => finished += 1,
            _ => {}
        };
        let settings = RunLimits { workers: NonZeroUsize::new(8).expect("not zero"), bail: None };
        let (mut memory, cancel) = (Memory::default(), CancellationToken::new());
        let (totals, ended) = run(start, items, settings, &cancel, &mut memory, &mut observe).await;
        assert!(ended.is_ok());
        let peak = literal.peak.load(Ordering::SeqCst);
        assert!(peak <= 8 && early > 0, "{peak} at once, {early} handed out early");
        assert_eq!((totals.counts.total(), literal.judged.load(Ordering::SeqCst)), (finished, finished));
        if limited {
            assert!(early == 1 && finished < begun, "{begun} handed out, {finished} finished");
        } else {
            assert_eq!((begun, finished), (1000, 1000));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn no_seat_stays_empty_because_finished_cases_wait_to_be_recorded() {
    let judges: Arc<dyn JudgeProvider> = Arc::new(Only(Literal::new()));
    let items =
        (0..1000).map(|i| item(&format!("case-{i}"), "a", rubric(&["a"]), Arc::clone(&judges))).collect();
    let begun = tokio::time::Instant::now();
    let (records, _) = run_all(items, 8).await;
    assert_eq!(records.len(), 1000);
    // The clock advances only when nothing else happens, and only the last cases have no others to wait for.
    assert!(begun.elapsed() < std::time::Duration::from_millis(10), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_failing_target_is_an_incomplete_case_with_the_reason_and_no_score() {
    let judges: Arc<dyn JudgeProvider> = Arc::new(Only(Literal::new()));
    let broken = WorkItem {
        source: ItemSource::Target(Arc::new(Broken { hangs: false })),
        ..item("broken", "", rubric(&["a"]), judges)
    };
    let (records, totals) = run_all(vec![broken], 1).await;
    let row = &records[0].result;
    assert_eq!(row.verdict, Verdict::Incomplete);
    assert_eq!((row.score, row.score_low, row.score_high), (None, None, None));
    assert_eq!(row.target.as_deref(), Some("broken"));
    let error = row.error.as_ref().expect("said");
    assert_eq!((error.stage.name(), error.kind.name()), ("target", "failed"));
    assert!(error.message.contains("exit code 7"));
    assert_eq!(totals.mean_score(), None);
}

#[tokio::test]
async fn a_panic_and_a_missing_judge_become_records() {
    let judges: Arc<dyn JudgeProvider> = Arc::new(Only(Literal::new()));
    let items = vec![
        item("panics", "a", rubric(&["a"]), judges),
        item("unjudged", "a", rubric(&["a"]), Arc::new(NoJudge)),
    ];
    let (records, totals) = run_all(items, 2).await;
    assert_eq!(totals.counts.incomplete, 2);
    let error = |id: &str| {
        let record = records.iter().find(|r| &*r.result.case_id == id).expect("recorded");
        record.result.error.clone().expect("said")
    };
    assert_eq!(error("panics").kind.name(), "internal");
    assert!(error("panics").message.contains("scripted panic"));
    let unjudged = records.iter().find(|r| &*r.result.case_id == "unjudged").expect("recorded");
    assert_eq!(unjudged.result.graders[0].error.as_deref(), Some("nobody"));
    assert_eq!(unjudged.result.graders[0].verdict, Some(Verdict::Incomplete));
}

#[tokio::test]
async fn cancelling_gives_up_what_hangs_and_keeps_what_finished() {
    let judges: Arc<dyn JudgeProvider> = Arc::new(Only(Literal::new()));
    let hanging = WorkItem {
        source: ItemSource::Target(Arc::new(Broken { hangs: true })),
        ..item("hangs", "", rubric(&["a"]), Arc::clone(&judges))
    };
    let items = vec![
        hanging,
        item("good", "a", rubric(&["a"]), Arc::clone(&judges)),
        item("late", "a", rubric(&["a"]), judges),
    ];
    let cancel = CancellationToken::new();
    let mut memory = Memory::default();
    let mut stopping = false;
    let mut observe = |event: RunEvent| match event {
        RunEvent::CaseFinished { .. } => cancel.cancel(),
        RunEvent::Stopping => stopping = true,
        _ => {}
    };
    let settings = RunLimits { workers: NonZeroUsize::new(2).expect("not zero"), bail: None };
    let (totals, ended) =
        run(RunStart::default(), items.into_iter().map(Ok), settings, &cancel, &mut memory, &mut observe)
            .await;
    assert!(ended.is_ok() && stopping);
    assert_eq!(totals.counts.total(), 1);
    assert_eq!(&*memory.records[0].result.case_id, "good");
}

#[tokio::test]
async fn a_failure_that_ends_the_run_is_known_before_another_case_begins() {
    let judges: Arc<dyn JudgeProvider> = Arc::new(Only(Literal::new()));
    let relations =
        crate::ItemRelations { stops_at_errors: true, ..crate::ItemRelations::none(thresholds()) };
    let relations = Arc::new(relations);
    let asking = |hangs: bool| WorkItem {
        source: ItemSource::Target(Arc::new(Broken { hangs })),
        relations: Arc::clone(&relations),
        ..item(if hangs { "hangs" } else { "fails" }, "", rubric(&["a"]), Arc::clone(&judges))
    };
    // With this many workers, cases would otherwise wait to be recorded together.
    let items: Vec<_> = (0..20).map(|n| asking(n > 0)).collect();
    let cancel = CancellationToken::new();
    let mut memory = Memory::default();
    let mut begun = 0;
    let mut observe = |event: RunEvent| match event {
        RunEvent::CaseStarted { .. } => begun += 1,
        RunEvent::CaseFinished { .. } => cancel.cancel(),
        _ => {}
    };
    let settings = RunLimits { workers: NonZeroUsize::new(10).expect("not zero"), bail: None };
    let (totals, ended) =
        run(RunStart::default(), items.into_iter().map(Ok), settings, &cancel, &mut memory, &mut observe)
            .await;
    assert!(ended.is_ok() && totals.halted.is_some());
    assert_eq!((begun, memory.records.len()), (10, 1));
}

#[tokio::test]
async fn a_recorder_that_refuses_ends_the_run() {
    let judges: Arc<dyn JudgeProvider> = Arc::new(Only(Literal::new()));
    let items: Vec<WorkItem> =
        (0..20).map(|i| item(&format!("case-{i}"), "a", rubric(&["a"]), Arc::clone(&judges))).collect();
    let mut memory = Memory { refuse_after: Some(3), ..Memory::default() };
    let settings = RunLimits { workers: NonZeroUsize::new(2).expect("not zero"), bail: None };
    let mut started = 0;
    let mut observe = |event: RunEvent| started += usize::from(matches!(event, RunEvent::CaseStarted { .. }));
    let (_, ended) = run(
        RunStart::default(),
        items.into_iter().map(Ok),
        settings,
        &CancellationToken::new(),
        &mut memory,
        &mut observe,
    )
    .await;
    assert!(matches!(ended, Err(RunError::Store(_))));
    assert_eq!(memory.records.len(), 3);
    assert!(started < 20, "{started} cases were begun after the disk was full");
}

#[tokio::test]
async fn rescoring_changes_weights_and_carries_only_unchanged_criteria_over() {
    let judges: Arc<dyn JudgeProvider> = Arc::new(Only(Literal::new()));
    let (records, _) = run_all(vec![item("half", "a", rubric(&["a", "b"]), judges)], 1).await;
    let record = &records[0];
    assert_eq!(rescore(record, None, None).record, *record);

    let mut criteria = rubric(&["a", "b"]).criteria().to_vec();
    criteria[0].weight = Weight::new(9.0).expect("finite");
    let heavy = Rubric::new(criteria.clone()).expect("sound");
    let again = rescore(record, Some(&heavy), None);
    assert_eq!(again.record.result.score, Some(0.9));
    assert_eq!(again.record.result.verdict, Verdict::Pass);
    assert!(again.unanswered.is_empty() && again.dropped.is_empty());

    criteria[1].gate = Some(Gate::Met);
    let gated = rescore(record, Some(&Rubric::new(criteria.clone()).expect("sound")), None);
    assert_eq!(gated.record.result.verdict, Verdict::Fail);
    assert_eq!(gated.record.result.gates_failed[0].criterion.as_deref(), Some("c1"));

    criteria[1].text = "other words".to_owned();
    let reworded = rescore(record, Some(&Rubric::new(criteria).expect("sound")), None);
    assert_eq!(reworded.unanswered.len(), 1);
    assert_eq!(reworded.record.result.verdict, Verdict::Incomplete);
    assert_eq!(reworded.record.result.score_high, Some(1.0));

    let strict = rescore(
        record,
        Some(&heavy),
        Some(VerdictThresholds::new(UnitInterval::new(0.95).expect("in range"), None).expect("in order")),
    );
    assert_eq!(strict.record.result.verdict, Verdict::Fail);
}
