//! Coordinator and workers over the memory of one process, with the engine and the offline judge.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use assize_cluster::{
    Cluster, ClusterOptions, Coordinator, EvalRequest, JobEvent, MemoryCluster, UnitName, WorkUnit, Worker,
    WorkerEvent, WorkerOptions,
};
use assize_engine::{Engine, EngineEvent, EvalMode, EvalOptions, ExitStatus, ProcessContext, RunOutcome};
use tempfile::TempDir;

const CASES: usize = 13;

fn now() -> jiff::Timestamp {
    jiff::Timestamp::UNIX_EPOCH
}

fn machine() -> TempDir {
    let folder = tempfile::tempdir().expect("works");
    let mut text = String::from("name: words\ntests:\n");
    for case in 0..CASES {
        let said = if case % 3 == 0 { "nothing" } else { "the capital is Paris" };
        let _ = write!(
            text,
            "  - id: case-{case}\n    criteria: be right\n    input: question\n    output: {said} {case}\n    \
             assertions:\n      - type: rubrics\n        criteria: [Names the capital Paris]\n"
        );
    }
    std::fs::write(folder.path().join("suite.yaml"), text).expect("works");
    folder
}

fn engine(folder: &Path) -> Engine {
    Engine::new(ProcessContext::new(folder.to_owned(), folder.join("tmp"), now), |_: EngineEvent| {})
}

fn request(run_dir: &str) -> EvalRequest {
    let mut options = EvalOptions { paths: vec!["suite.yaml".into()], ..EvalOptions::default() };
    options.run.run_dir = Some(run_dir.into());
    EvalRequest { mode: EvalMode::default(), options }
}

#[expect(clippy::unnecessary_wraps, reason = "the signature of a reader of arguments")]
fn read(_: &[String]) -> Result<EvalRequest, String> {
    Ok(request("ignored"))
}

fn options() -> ClusterOptions {
    ClusterOptions { unit_size: 3, results: None, lease: Duration::from_secs(30), resume: false }
}

/// Rows of a run by case, without times and sums of the row.
fn rows(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("results.jsonl")).expect("works");
    let mut rows: Vec<String> = text
        .lines()
        .map(|line| {
            let mut row: serde_json::Value = serde_json::from_str(line).expect("works");
            for changing in ["duration_ms", "crc"] {
                row.as_object_mut().expect("works").remove(changing);
            }
            row.to_string()
        })
        .collect();
    rows.sort();
    rows
}

fn coordinator<'a>(cluster: &MemoryCluster, folder: &Path, observe: &'a dyn Fn(JobEvent)) -> Coordinator<'a> {
    Coordinator { cluster: Arc::new(cluster.clone()), engine: engine(folder), options: options(), observe }
}

/// Works until it is dropped: a worker that ended when it was idle could end before there is anything to do.
async fn work(cluster: &MemoryCluster, folder: &Path, events: &Mutex<Vec<WorkerEvent>>) {
    let worker = Worker {
        cluster: Arc::new(cluster.clone()),
        engine: engine(folder),
        arguments: &read,
        options: WorkerOptions { idle: None, results: None },
        observe: &|event| events.lock().expect("works").push(event),
    };
    panic!("the worker ended: {:?}", worker.work().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_workers_bring_the_run_of_one_process() {
    let (boss, one, two) = (machine(), machine(), machine());
    let alone = engine(boss.path());
    let local = request("local");
    let RunOutcome::Finished(local) = alone.evaluate(local.mode, &local.options).await.expect("works") else {
        panic!("it was run")
    };

    let cluster = MemoryCluster::default();
    let events = Mutex::new(Vec::new());
    let seen = Mutex::new(Vec::new());
    let observe = |event: JobEvent| seen.lock().expect("works").push(event);
    let coordinator = coordinator(&cluster, boss.path(), &observe);
    let request = request("merged");
    let merged = tokio::select! {
        merged = coordinator.run(&request, Vec::new()) => merged,
        () = work(&cluster, one.path(), &events) => unreachable!(),
        () = work(&cluster, two.path(), &events) => unreachable!(),
    };

    let merged = merged.expect("works");
    assert_eq!((merged.exit, local.exit), (ExitStatus::Failed, ExitStatus::Failed));
    assert_eq!(rows(merged.folder.path()), rows(local.folder.path()));
    let done = events
        .lock()
        .expect("works")
        .iter()
        .filter(|event| matches!(event, WorkerEvent::UnitDone { .. }))
        .count();
    assert_eq!(done, 5);
    assert!(seen.lock().expect("works").contains(&JobEvent::Progress { done: 5, shards: 5 }));
    assert!(!boss.path().join(".assize/cluster").read_dir().is_ok_and(|mut left| left.next().is_some()));
}

#[tokio::test(flavor = "multi_thread")]
async fn doubled_and_halved_units_come_out_as_one_run() {
    let (boss, host) = (machine(), machine());
    let cluster = MemoryCluster::default();
    let events = Mutex::new(Vec::new());
    let doubling = Mutex::new(None);
    let again = cluster.clone();
    // As soon as there is a job: a unit for a second time, and the halves of another one.
    let observe = |event: JobEvent| {
        if let JobEvent::Begun { job, .. } = event {
            let cluster = again.clone();
            *doubling.lock().expect("works") = Some(tokio::spawn(async move {
                let bytes =
                    cluster.records().get(&format!("job.{job}")).await.expect("works").expect("works").bytes;
                let job = serde_json::from_slice(&bytes).expect("works");
                let queue = cluster.open(&job).await.expect("works").queue;
                let halves = UnitName::whole(2).halves().map(WorkUnit::new);
                queue.publish(&halves, "test").await.expect("works");
                queue.publish(&[WorkUnit::new(UnitName::whole(1))], "test").await.expect("works");
            }));
        }
    };
    let coordinator = coordinator(&cluster, boss.path(), &observe);
    let request = request("merged");
    let merged = tokio::select! {
        merged = coordinator.run(&request, Vec::new()) => merged,
        () = work(&cluster, host.path(), &events) => unreachable!(),
    };

    assert_eq!(rows(merged.expect("works").folder.path()).len(), CASES);
}
