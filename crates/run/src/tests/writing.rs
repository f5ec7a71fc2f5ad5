//! Writing of finished cases: size and time of batches, and which cases are recorded before the next one starts.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use crate::{ItemSource, JudgeProvider, RunEvent, RunLimits, RunStart, WorkItem, run};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::tests::fakes::{Broken, Literal, Memory, Only, item, rubric};

fn settings(workers: usize, bail: Option<usize>) -> RunLimits {
    let bail = bail.and_then(NonZeroUsize::new);
    RunLimits { workers: NonZeroUsize::new(workers).expect("not zero"), bail }
}

fn cases(count: usize) -> impl Iterator<Item = WorkItem> {
    let judges: Arc<dyn JudgeProvider> = Arc::new(Only(Literal::new()));
    (0..count).map(move |n| item(&format!("case-{n}"), "a", rubric(&["a"]), Arc::clone(&judges)))
}

/// Runs the items, and returns the recorder with the highest number of cases that were started and not on
/// record.
async fn run_counting(items: impl Iterator<Item = WorkItem>, settings: RunLimits) -> (Memory, usize) {
    let (mut memory, cancel) = (Memory::default(), CancellationToken::new());
    let (mut unrecorded, mut most) = (0, 0);
    let mut observe = |event: RunEvent| match event {
        RunEvent::CaseStarted { .. } => {
            unrecorded += 1;
            most = most.max(unrecorded);
        }
        RunEvent::CaseFinished { .. } => unrecorded -= 1,
        _ => {}
    };

    let (_, ended) =
        run(RunStart::default(), items.map(Ok), settings, &cancel, &mut memory, &mut observe).await;

    assert!(ended.is_ok());
    (memory, most)
}

/// Sizes of the batches that were written.
fn batches(memory: &Memory) -> Vec<usize> {
    let before = std::iter::once(&0).chain(&memory.settled);
    memory.settled.iter().zip(before).map(|(now, before)| now - before).collect()
}

#[tokio::test(start_paused = true)]
async fn many_workers_write_in_batches_of_limited_size() {
    let (memory, most) = run_counting(cases(1000), settings(16, None)).await;

    let batches = batches(&memory);
    assert_eq!(batches.iter().sum::<usize>(), 1000);
    assert!(batches.iter().all(|&size| (1..=64).contains(&size)), "{batches:?}");
    assert!(batches.len() < 100, "{batches:?}");
    // Cases with a slot, cases enqueued ahead, and a pending batch.
    assert!(most <= 16 + 64 + 64, "{most}");
}

#[tokio::test]
async fn few_workers_write_each_case_before_the_next_one_starts() {
    let (memory, most) = run_counting(cases(20), settings(1, None)).await;

    assert_eq!(memory.settled, (1..=20).collect::<Vec<_>>());
    assert_eq!(most, 1);
}

#[tokio::test]
async fn a_run_that_may_halt_starts_no_case_while_more_than_its_workers_are_not_on_record() {
    let (memory, most) = run_counting(cases(200), settings(16, Some(1000))).await;

    assert_eq!(memory.records.len(), 200);
    assert_eq!(most, 16);
}

#[tokio::test(start_paused = true)]
async fn a_case_that_finishes_alone_is_on_record_soon() {
    let hanging = WorkItem {
        source: ItemSource::Target(Arc::new(Broken { hangs: true })),
        ..cases(1).next().expect("one case")
    };
    let items: Vec<WorkItem> = std::iter::repeat_n(hanging, 9).chain(cases(1)).collect();
    let (mut memory, cancel, begun) = (Memory::default(), CancellationToken::new(), Instant::now());
    let mut recorded_after = None;
    let mut observe = |event: RunEvent| {
        if matches!(event, RunEvent::CaseFinished { .. }) {
            recorded_after = Some(begun.elapsed());
            cancel.cancel();
        }
    };

    let (_, ended) = run(
        RunStart::default(),
        items.into_iter().map(Ok),
        settings(10, None),
        &cancel,
        &mut memory,
        &mut observe,
    )
    .await;

    assert!(ended.is_ok());
    // The clock stands still unless everything waits, so this is the wait for others.
    let waited = recorded_after.expect("recorded");
    assert!(waited >= Duration::from_millis(2) && waited < Duration::from_millis(5), "{waited:?}");
}
