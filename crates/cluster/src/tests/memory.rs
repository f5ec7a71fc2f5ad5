//! Coordinator and workers over the memory of one process, with the engine and the offline judge.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::{
    Cluster, ClusterError, ClusterOptions, ClusterRunError, Coordinator, EvalRequest, JobEvent, JobLinks,
    JobManifest, Later, LimitHandler, Record, Records, ResultStore, UnitName, WorkUnit, Worker, WorkerEvent,
    WorkerOptions,
};
use assize_engine::{
    Engine, EngineEvent, EvalMode, EvalOptions, ExitStatus, ProcessContext, ProgramUse, RunOutcome,
};
use tempfile::TempDir;

use crate::tests::memory_cluster::MemoryCluster;

pub(crate) const CASES: usize = 13;

fn now() -> jiff::Timestamp {
    jiff::Timestamp::UNIX_EPOCH
}

pub(crate) fn machine() -> TempDir {
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

pub(crate) fn engine(folder: &Path) -> Engine {
    Engine::new(ProcessContext::new(folder.to_owned(), folder.join("tmp"), now), |_: EngineEvent| {})
}

pub(crate) fn request(run_dir: &str) -> EvalRequest {
    let mut options = EvalOptions { paths: vec!["suite.yaml".into()], ..EvalOptions::default() };
    options.run.run_dir = Some(run_dir.into());
    options.run.programs = ProgramUse::Allow;
    EvalRequest { mode: EvalMode::default(), options }
}

#[expect(clippy::unnecessary_wraps, reason = "the signature of a reader of arguments")]
pub(crate) fn read(_: &[String]) -> Result<EvalRequest, String> {
    Ok(request("ignored"))
}

pub(crate) fn options() -> ClusterOptions {
    ClusterOptions { unit_size: Some(3), results: None, lease: None, worker_wait: None, resume: false }
}

/// Rows of a run by case, without times and sums of the row.
pub(crate) fn rows(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("results.jsonl")).expect("works");
    let mut rows: Vec<String> = text
        .lines()
        .map(|line| {
            let mut row: serde_json::Value = serde_json::from_str(line).expect("works");
            for changing in ["latency_ms", "duration_ms", "crc"] {
                row.as_object_mut().expect("works").remove(changing);
            }
            row.to_string()
        })
        .collect();
    rows.sort();
    rows
}

fn coordinator<'a>(cluster: &MemoryCluster, folder: &Path, observe: &'a dyn Fn(JobEvent)) -> Coordinator<'a> {
    let cluster = Arc::new(cluster.clone());
    Coordinator { cluster, engine: engine(folder), options: options(), decides: &|_| true, observe }
}

/// Works until it is dropped. A worker that ends when idle could end before the first unit is published.
async fn work(cluster: &MemoryCluster, folder: &Path, events: &Mutex<Vec<WorkerEvent>>) {
    let worker = Worker {
        cluster: Arc::new(cluster.clone()),
        engine: engine(folder),
        arguments: &read,
        options: WorkerOptions { programs: ProgramUse::Allow, ..WorkerOptions::default() },
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

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_unit_is_put_back_with_its_tries() {
    let (boss, host) = (machine(), machine());
    let cluster = MemoryCluster::default();
    let events = Mutex::new(Vec::new());
    let (sender, mut begun) = tokio::sync::mpsc::unbounded_channel();
    let observe = move |event: JobEvent| {
        if let JobEvent::Begun { job, .. } = event {
            sender.send(job).expect("somebody listens");
        }
    };
    let lease = Some(Duration::from_secs(1));
    let coordinator = Coordinator {
        options: ClusterOptions { lease, ..options() },
        ..coordinator(&cluster, boss.path(), &observe)
    };
    let request = request("merged");
    let worker = async {
        // One that was tried twice is taken out, and its worker is gone before it could put it back.
        let job = begun.recv().await.expect("a job");
        let records = cluster.records();
        records.replace(&format!("tries.{job}"), br#"{"2":2}"#.to_vec(), 0).await.expect("works");
        let bytes = records.get(&format!("job.{job}")).await.expect("works").expect("works").bytes;
        let queue = cluster.open(&serde_json::from_slice(&bytes).expect("works")).await.expect("works").queue;
        let taken = loop {
            let lease = queue.lease(Duration::from_secs(1)).await.expect("works");
            if let Some(lease) = lease.filter(|lease| lease.unit().name == UnitName::whole(2)) {
                break lease;
            }
        };
        taken.complete().await.expect("works");
        work(&cluster, host.path(), &events).await;
    };
    let merged = tokio::select! {
        merged = coordinator.run(&request, Vec::new()) => merged,
        () = worker => unreachable!(),
    };

    assert_eq!(rows(merged.expect("works").folder.path()).len(), CASES);
    let halved = "unit 2 ended 2 workers; it is split in half and run again";
    let events = events.into_inner().expect("works");
    assert!(events.contains(&WorkerEvent::Warning(halved.to_owned())), "{events:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_nobody_works_on_ends_and_can_be_continued() {
    let (boss, host) = (machine(), machine());
    let cluster = MemoryCluster::default();
    let second = Some(Duration::from_secs(1));
    let hasty = ClusterOptions { lease: second, worker_wait: second, ..options() };
    let request = request("merged");
    let ids = Mutex::new(Vec::new());
    let observe = |event: JobEvent| {
        if let JobEvent::Begun { job, goes_on, .. } = event {
            ids.lock().expect("works").push((job, goes_on));
        }
    };
    let first = Coordinator { options: hasty.clone(), ..coordinator(&cluster, boss.path(), &observe) };
    let arguments = |workers: u32| vec![format!("--workers={workers}"), "--seed=7".to_owned()];
    let left = tokio::time::timeout(Duration::from_mins(1), first.run(&request, arguments(1)));
    let left = left.await.expect("in time").expect_err("nobody works");
    assert!(matches!(left, ClusterRunError::NoWorker { .. }), "{left}");
    assert!(left.to_string().contains("no worker has worked on job "), "{left}");

    // With a changed argument that affects no decision, the job continues and uses it from then on; a changed argument
    // that does begins another job.
    let events = Mutex::new(Vec::new());
    let decides = |argument: &str| !argument.starts_with("--workers=");
    let next = Coordinator {
        options: ClusterOptions { resume: true, ..hasty.clone() },
        decides: &decides,
        ..coordinator(&cluster, boss.path(), &observe)
    };
    let other = next.run(&request, vec!["--workers=1".to_owned(), "--seed=8".to_owned()]);
    assert!(matches!(other.await.expect_err("nobody works"), ClusterRunError::NoWorker { .. }));
    let next = Coordinator { options: ClusterOptions { worker_wait: None, ..next.options.clone() }, ..next };
    let merged = tokio::select! {
        merged = next.run(&request, arguments(4)) => merged,
        () = work(&cluster, host.path(), &events) => unreachable!(),
    };
    let ids = ids.into_inner().expect("works");
    let [(first, false), (other, false), (again, true)] = &ids[..] else { panic!("{ids:?}") };
    assert!(first == again && first != other, "{ids:?}");
    assert_eq!(rows(merged.expect("works").folder.path()).len(), CASES);
    let record = cluster.records().get(&format!("job.{first}")).await.expect("works").expect("a record");
    let job: JobManifest = serde_json::from_slice(&record.bytes).expect("works");
    assert_eq!(job.arguments, arguments(4));
}

/// A cluster that refuses to record that a job is done, as if the coordinator died just before.
struct Unending(MemoryCluster);

impl Cluster for Unending {
    fn records(&self) -> Arc<dyn Records> {
        Arc::new(UnendingRecords(self.0.records()))
    }

    fn open<'a>(&'a self, job: &'a JobManifest) -> Later<'a, JobLinks> {
        self.0.open(job)
    }

    fn remove<'a>(&'a self, _: &'a JobManifest) -> Later<'a, ()> {
        panic!("nothing is removed before the job is done")
    }

    fn serve_limits<'a>(&'a self, job: &'a str, handler: LimitHandler) -> Later<'a, Box<dyn Send>> {
        self.0.serve_limits(job, handler)
    }
}

struct UnendingRecords(Arc<dyn Records>);

impl Records for UnendingRecords {
    fn get<'a>(&'a self, key: &'a str) -> Later<'a, Option<Record>> {
        self.0.get(key)
    }

    fn replace<'a>(&'a self, key: &'a str, bytes: Vec<u8>, revision: u64) -> Later<'a, Option<u64>> {
        let is_end =
            key.starts_with("job.") && String::from_utf8_lossy(&bytes).contains("\"state\":\"done\"");
        if is_end {
            let died = ClusterError::Refused("it died here".to_owned());
            return Box::pin(std::future::ready(Err(died)));
        }
        self.0.replace(key, bytes, revision)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coordinator_that_died_after_merging_is_followed_by_one_that_says_so() {
    for run_dir in [Some("merged"), None] {
        let (boss, host) = (machine(), machine());
        let cluster = MemoryCluster::default();
        let events = Mutex::new(Vec::new());
        let mut request = request("merged");
        request.options.run.run_dir = run_dir.map(Into::into);
        let first = Coordinator {
            cluster: Arc::new(Unending(cluster.clone())),
            engine: engine(boss.path()),
            options: options(),
            decides: &|_| true,
            observe: &|_| {},
        };
        let died = tokio::select! {
            died = first.run(&request, Vec::new()) => died,
            () = work(&cluster, host.path(), &events) => unreachable!(),
        };
        assert!(died.expect_err("it died").to_string().contains("it died here"));

        let next = Coordinator {
            options: ClusterOptions { resume: true, ..options() },
            ..coordinator(&cluster, boss.path(), &|_| {})
        };
        // There is no worker left, so this passes only if no unit has to run again.
        let merged = tokio::time::timeout(Duration::from_mins(1), next.run(&request, Vec::new()));
        let merged = merged.await.expect("in time").expect("works");
        assert_eq!((merged.exit, rows(merged.folder.path()).len()), (ExitStatus::Failed, CASES));
        if run_dir.is_some() {
            let again = next.run(&request, Vec::new()).await.expect("the run is found");
            assert_eq!((again.exit, again.totals.counts), (ExitStatus::Failed, merged.totals.counts));
            // Other options are another run.
            let other = next.run(&request, vec!["--seed=7".to_owned()]).await.expect_err("it is refused");
            assert!(other.to_string().contains("holds another run"), "{other}");
        }
        let places = std::fs::read_dir(merged.folder.path().parent().expect("a folder")).expect("works");
        let drafts =
            places.flatten().filter(|entry| entry.file_name().to_string_lossy().contains("results-"));
        assert_eq!(drafts.count(), 0);
    }
}

/// A cluster whose results can't be used as they should be.
struct FaultyCluster {
    inner: MemoryCluster,
    /// Counts its calls.
    asked: Arc<FirstCalls>,
    fault: ResultFault,
}

#[derive(Clone, Copy, PartialEq)]
enum ResultFault {
    /// It takes longer than a lease to say for the first time whether there is a result.
    FirstLookIsSlow,
    /// It takes longer than a lease to store the first one.
    FirstStoreIsSlow,
    /// None can be read.
    Unreadable,
}

#[derive(Default)]
struct FirstCalls {
    contains: AtomicBool,
    create: AtomicBool,
}

impl Cluster for FaultyCluster {
    fn records(&self) -> Arc<dyn Records> {
        self.inner.records()
    }

    fn open<'a>(&'a self, job: &'a JobManifest) -> Later<'a, JobLinks> {
        Box::pin(async move {
            let links = self.inner.open(job).await?;
            let (inner, asked) = (links.results, Arc::clone(&self.asked));
            let results = Arc::new(FaultyResults { inner, asked, fault: self.fault });
            Ok(JobLinks { results, ..links })
        })
    }

    fn remove<'a>(&'a self, job: &'a JobManifest) -> Later<'a, ()> {
        self.inner.remove(job)
    }

    fn serve_limits<'a>(&'a self, job: &'a str, handler: LimitHandler) -> Later<'a, Box<dyn Send>> {
        self.inner.serve_limits(job, handler)
    }
}

struct FaultyResults {
    inner: Arc<dyn ResultStore>,
    asked: Arc<FirstCalls>,
    fault: ResultFault,
}

/// Longer than the leases of these tests.
const SLOW: Duration = Duration::from_secs(4);

impl ResultStore for FaultyResults {
    fn create<'a>(&'a self, name: &'a str, bytes: Vec<u8>) -> Later<'a, bool> {
        Box::pin(async move {
            if self.fault == ResultFault::FirstStoreIsSlow && !self.asked.create.swap(true, Ordering::Relaxed)
            {
                tokio::time::sleep(SLOW).await;
            }
            self.inner.create(name, bytes).await
        })
    }

    fn contains<'a>(&'a self, name: &'a str) -> Later<'a, bool> {
        Box::pin(async move {
            if self.fault == ResultFault::FirstLookIsSlow
                && !self.asked.contains.swap(true, Ordering::Relaxed)
            {
                tokio::time::sleep(SLOW).await;
            }
            self.inner.contains(name).await
        })
    }

    fn get<'a>(&'a self, name: &'a str) -> Later<'a, Vec<u8>> {
        if self.fault == ResultFault::Unreadable {
            return Box::pin(async { Err(ClusterError::Unreachable("results are away".to_owned())) });
        }
        self.inner.get(name)
    }

    fn discard<'a>(&'a self, name: &'a str) -> Later<'a, ()> {
        self.inner.discard(name)
    }

    fn names(&self) -> Later<'_, Vec<String>> {
        self.inner.names()
    }
}

/// Runs all cases as one unit. A worker with a slow connection gets the unit first, and another worker joins while it
/// waits. Returns the number of answers that each of them requested, and the events of the first.
async fn race(fault: ResultFault) -> (usize, usize, Vec<WorkerEvent>) {
    let ((boss, _), (slow, asked_slow), (host, asked)) = (slow_machine(), slow_machine(), slow_machine());
    let cluster = MemoryCluster::default();
    let events = [Mutex::new(Vec::new()), Mutex::new(Vec::new())];
    let whole = ClusterOptions { unit_size: Some(100), lease: Some(Duration::from_secs(3)), ..options() };
    let coordinator = Coordinator { options: whole, ..coordinator(&cluster, boss.path(), &|_| {}) };
    let request = request("merged");
    let calls = Arc::new(FirstCalls::default());
    let first = Worker {
        cluster: Arc::new(FaultyCluster { inner: cluster.clone(), asked: Arc::clone(&calls), fault }),
        engine: engine(slow.path()),
        arguments: &read,
        options: WorkerOptions { programs: ProgramUse::Allow, ..WorkerOptions::default() },
        observe: &|event| events[0].lock().expect("works").push(event),
    };
    let second = async {
        let waits = if fault == ResultFault::FirstStoreIsSlow { &calls.create } else { &calls.contains };
        while !waits.load(Ordering::Relaxed) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        work(&cluster, host.path(), &events[1]).await;
    };
    let merged = tokio::select! {
        merged = coordinator.run(&request, Vec::new()) => merged,
        end = first.work() => panic!("the worker ended: {end:?}"),
        () = second => unreachable!(),
    };

    assert_eq!(rows(merged.expect("works").folder.path()).len(), CASES);
    let count = |of: &Path| std::fs::read_to_string(of).map_or(0, |text| text.lines().count());
    let [events, _] = events.map(|events| events.into_inner().expect("works"));
    (count(&asked_slow), count(&asked), events)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_whose_servers_were_away_for_a_lease_leaves_the_unit_to_the_one_that_has_it() {
    let (by_slow, by_other, events) = Box::pin(race(ResultFault::FirstLookIsSlow)).await;
    assert_eq!((by_slow, by_other), (0, CASES));
    let lost = "the lease of unit 1 has expired: another worker may have it";
    assert!(events.contains(&WorkerEvent::Warning(lost.to_owned())), "{events:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unit_is_not_run_again_while_its_result_is_stored_slowly() {
    let (by_slow, by_other, _) = Box::pin(race(ResultFault::FirstStoreIsSlow)).await;
    assert_eq!((by_slow, by_other), (CASES, 0));
}

/// A machine whose target takes half a second for an answer and notes each request.
pub(crate) fn slow_machine() -> (TempDir, std::path::PathBuf) {
    let folder = machine();
    let file = folder.path().join("suite.yaml");
    let text = std::fs::read_to_string(&file).expect("works");
    let lines = text.lines().filter(|line| !line.contains("output: ")).collect::<Vec<_>>().join("\n");
    std::fs::write(&file, lines.replace("name: words\n", "name: words\nexecution: {target: sh}\n"))
        .expect("works");
    for made in [".assize", "tmp"] {
        std::fs::create_dir_all(folder.path().join(made)).expect("works");
    }
    let asked = folder.path().join("asked");
    let command = "echo x >> asked; sleep 0.5; echo Paris > {OUTPUT_FILE}";
    let targets =
        format!("targets:\n  - name: sh\n    provider: cli\n    command: \"{command}\"\n    workers: 1\n");
    std::fs::write(folder.path().join(".assize/targets.yaml"), targets).expect("works");
    (folder, asked)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_is_stopped_has_its_workers_break_off_long_before_their_leases_end() {
    let ((boss, _), (host, asked)) = (slow_machine(), slow_machine());
    let cluster = MemoryCluster::default();
    let events = Mutex::new(Vec::new());
    let stop = assize_engine::CancellationToken::new();
    let whole = ClusterOptions { unit_size: Some(100), ..options() };
    let first = coordinator(&cluster, boss.path(), &|_| {});
    let first =
        Coordinator { engine: first.engine.clone().with_stop(stop.clone()), options: whole.clone(), ..first };
    let request = request("merged");
    let count = || std::fs::read_to_string(&asked).map_or(0, |text| text.lines().count());
    let stopping = async {
        while count() == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        stop.cancel();
        std::future::pending::<()>().await;
    };
    let running = async {
        let stopped = first.run(&request, Vec::new()).await.expect_err("it was stopped");
        assert!(stopped.to_string().contains("workers take no more units of job"), "{stopped}");
        let asked = count();
        assert!(asked < CASES / 2, "{asked} asked");
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!(count(), asked, "asked after the stop");

        let next = Coordinator {
            options: ClusterOptions { resume: true, ..whole },
            ..coordinator(&cluster, boss.path(), &|_| {})
        };
        next.run(&request, Vec::new()).await
    };
    let merged = tokio::select! {
        merged = running => merged,
        () = stopping => unreachable!(),
        () = work(&cluster, host.path(), &events) => unreachable!(),
    };

    assert_eq!(rows(merged.expect("works").folder.path()).len(), CASES);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coordinator_that_waits_for_results_to_merge_can_be_stopped() {
    let (boss, host) = (machine(), machine());
    let cluster = MemoryCluster::default();
    let stop = assize_engine::CancellationToken::new();
    let first = coordinator(&cluster, boss.path(), &|_| {});
    let first = Coordinator {
        cluster: Arc::new(FaultyCluster {
            inner: cluster.clone(),
            asked: Arc::default(),
            fault: ResultFault::Unreadable,
        }),
        engine: first.engine.clone().with_stop(stop.clone()),
        ..first
    };
    let request = request("merged");
    let events = Mutex::new(Vec::new());
    let stopping = async {
        let is_done = |event: &&WorkerEvent| matches!(event, WorkerEvent::UnitDone { .. });
        while events.lock().expect("works").iter().filter(is_done).count() < CASES.div_ceil(3) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        // In this time the coordinator sees that all units are done.
        tokio::time::sleep(Duration::from_secs(3)).await;
        stop.cancel();
        tokio::time::sleep(Duration::from_secs(20)).await;
    };
    let running = async {
        let stopped = first.run(&request, Vec::new()).await.expect_err("it was stopped");
        assert!(matches!(stopped, ClusterRunError::Stopped(_)), "{stopped}");

        let next = coordinator(&cluster, boss.path(), &|_| {});
        let next = Coordinator { options: ClusterOptions { resume: true, ..options() }, ..next };
        next.run(&request, Vec::new()).await
    };
    let merged = tokio::select! {
        merged = running => merged.expect("works"),
        () = stopping => panic!("it went on"),
        () = work(&cluster, host.path(), &events) => unreachable!(),
    };

    assert_eq!(rows(merged.folder.path()).len(), CASES);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unit_whose_stored_result_is_damaged_runs_again() {
    let (boss, host) = (machine(), machine());
    let cluster = MemoryCluster::default();
    let seen = Mutex::new(Vec::new());
    let damaging = Mutex::new(None);
    let again = cluster.clone();
    // Before a worker comes, two units have results that are none: one is no archive, one is half of one.
    let observe = |event: JobEvent| {
        if let JobEvent::Begun { job, .. } = &event {
            let (cluster, job) = (again.clone(), job.clone());
            *damaging.lock().expect("works") = Some(tokio::spawn(async move {
                let record =
                    cluster.records().get(&format!("job.{job}")).await.expect("works").expect("works");
                let job = serde_json::from_slice(&record.bytes).expect("works");
                let results = cluster.open(&job).await.expect("works").results;
                results.create("2", b"damaged".to_vec()).await.expect("works");
                results.create("5", Vec::new()).await.expect("works");
            }));
        }
        seen.lock().expect("works").push(event);
    };
    let coordinator = coordinator(&cluster, boss.path(), &observe);
    let request = request("merged");
    let events = Mutex::new(Vec::new());
    let late = async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        work(&cluster, host.path(), &events).await;
    };
    let merged = tokio::select! {
        merged = coordinator.run(&request, Vec::new()) => merged.expect("works"),
        () = late => unreachable!(),
    };

    assert_eq!(rows(merged.folder.path()).len(), CASES);
    let seen = seen.lock().expect("works");
    for unit in [2, 5] {
        let said = format!("the stored result of unit {unit} is damaged: ");
        let told = |event: &&JobEvent| matches!(event, JobEvent::Warning(what) if what.starts_with(&said));
        assert_eq!(seen.iter().filter(told).count(), 1, "{seen:?}");
    }
}
