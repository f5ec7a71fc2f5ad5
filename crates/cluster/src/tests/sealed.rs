//! An attacker who can write to the servers and does not know the secret of a job.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use crate::{
    Cluster, Coordinator, JobEvent, JobLinks, JobManifest, JobPlan, JobSecret, RefusedCount, SealedCluster,
    Worker, WorkerEvent, WorkerOptions,
};

use tokio::sync::Notify;

use crate::tests::memory::{CASES, engine, machine, options, read, request, rows, slow_machine};
use crate::tests::memory_cluster::MemoryCluster;

const SECRET: &str = "a secret of the job";
const OTHER: &str = "a secret of somebody else";

fn sealed(cluster: &MemoryCluster, secret: Option<&str>) -> Arc<SealedCluster> {
    let secret = secret.map(|secret| JobSecret::new(secret).expect("long enough"));
    Arc::new(SealedCluster::new(Arc::new(cluster.clone()), secret))
}

fn manifest(id: &str) -> JobManifest {
    let plan = JobPlan { hash: String::new(), items: 1, files: Vec::new() };
    JobManifest::new(id.to_owned(), plan, Vec::new(), 5, [0; 32])
}

async fn links(cluster: &dyn Cluster, job: &str) -> JobLinks {
    cluster.open(&manifest(job)).await.expect("works")
}

fn worker<'a>(
    cluster: Arc<dyn Cluster>,
    folder: &std::path::Path,
    observe: &'a (dyn Fn(WorkerEvent) + Sync),
) -> Worker<'a> {
    Worker { cluster, engine: engine(folder), arguments: &read, options: WorkerOptions::default(), observe }
}

fn coordinator<'a>(
    cluster: Arc<dyn Cluster>,
    folder: &std::path::Path,
    observe: &'a dyn Fn(JobEvent),
) -> Coordinator<'a> {
    Coordinator { cluster, engine: engine(folder), options: options(), decides: &|_| true, observe }
}

/// Events of a worker, for a test that waits for one of them.
#[derive(Default)]
struct WorkerWords {
    said: Mutex<String>,
    changed: Notify,
}

impl WorkerWords {
    fn note(&self, event: &WorkerEvent) {
        writeln!(self.said.lock().expect("works"), "{event:?}").expect("a string takes everything");
        self.changed.notify_one();
    }

    fn all(&self) -> String {
        self.said.lock().expect("works").clone()
    }

    async fn wait_for(&self, words: &str) {
        while !self.all().contains(words) {
            self.changed.notified().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn forged_results_run_again_and_are_counted() {
    let (boss, host) = (machine(), machine());
    let cluster = MemoryCluster::default();
    let seen = Mutex::new(Vec::new());
    let forged = Arc::new(Notify::new());
    let servers = cluster.clone();
    let observe = |event: JobEvent| {
        if let JobEvent::Begun { job, .. } = &event {
            let (servers, job, forged) = (servers.clone(), job.clone(), Arc::clone(&forged));
            tokio::spawn(async move {
                let results = links(&servers, &job).await.results;
                // Not signed, signed with another secret, signed for another job, signed for another unit.
                results.create("1", b"rows".to_vec()).await.expect("works");
                let others = links(&*sealed(&servers, Some(OTHER)), &job).await.results;
                others.create("2", b"rows".to_vec()).await.expect("works");
                let signed = sealed(&servers, Some(SECRET));
                for (at, job_of_it, unit) in [("3", "another-job", "3"), ("4", "third-job", "5")] {
                    let moved = links(&*signed, job_of_it).await.results;
                    moved.create(unit, b"rows".to_vec()).await.expect("works");
                    let bytes = links(&servers, job_of_it).await.results.get(unit).await.expect("works");
                    results.create(at, bytes).await.expect("works");
                }
                forged.notify_one();
            });
        }
        seen.lock().expect("works").push(event);
    };
    let coordinator = coordinator(sealed(&cluster, Some(SECRET)), boss.path(), &observe);
    let request = request("merged");
    let late = async {
        forged.notified().await;
        worker(sealed(&cluster, Some(SECRET)), host.path(), &|_| {}).work().await
    };
    let merged = tokio::select! {
        merged = coordinator.run(&request, Vec::new()) => merged.expect("works"),
        end = late => panic!("the worker ended: {end:?}"),
    };

    assert_eq!(rows(merged.folder.path()).len(), CASES);
    let seen = seen.lock().expect("works");
    let told = |start: &str| {
        seen.iter().any(|event| matches!(event, JobEvent::Warning(what) if what.starts_with(start)))
    };
    for unit in 1..=4 {
        let said = format!(
            "the stored result of unit {unit} is damaged: it is not signed with the secret of the job"
        );
        assert!(told(&said), "{unit}: {seen:?}");
    }
    assert!(told("4 stored results were refused: "), "{seen:?}");
}

#[tokio::test]
async fn changed_and_moved_replies_are_refused_and_counted() {
    let cluster = MemoryCluster::default();
    let signed = sealed(&cluster, Some(SECRET));
    let (ours, raw) = (links(&*signed, "job").await.replies, links(&cluster, "job").await.replies);
    ours.put([1; 32], b"reply".to_vec());
    assert_eq!(ours.get([1; 32]).await.as_deref(), Some(&b"reply"[..]));
    // Jobs with the same secret share replies.
    let later = links(&*sealed(&cluster, Some(SECRET)), "later-job").await.replies;
    assert_eq!(later.get([1; 32]).await.as_deref(), Some(&b"reply"[..]));

    let stored = raw.get([1; 32]).await.expect("stored");
    let mut changed = stored.clone();
    changed[0] ^= 1;
    raw.put([2; 32], stored);
    raw.put([3; 32], changed);
    raw.put([4; 32], b"reply".to_vec());
    links(&*sealed(&cluster, Some(OTHER)), "job").await.replies.put([5; 32], b"reply".to_vec());
    for key in 2..=5 {
        assert_eq!(ours.get([key; 32]).await, None, "{key}");
    }
    assert_eq!(signed.refused(), RefusedCount { results: 0, replies: 4 });
}

#[tokio::test(flavor = "multi_thread")]
async fn only_who_knows_the_secret_works_on_a_job_or_describes_one() {
    // Secrets of the coordinator and of the worker, and the expected message of the worker.
    for (of_job, of_worker, said) in [
        (Some(SECRET), None, "is signed; give this process the secret"),
        (Some(SECRET), Some(OTHER), "without a description that this worker accepts"),
        (None, Some(SECRET), "without a description that this worker accepts"),
    ] {
        let (boss, host) = (machine(), machine());
        let cluster = MemoryCluster::default();
        let coordinator = coordinator(sealed(&cluster, of_job), boss.path(), &|_| {});
        let words = WorkerWords::default();
        let note = |event: WorkerEvent| words.note(&event);
        let worker = worker(sealed(&cluster, of_worker), host.path(), &note);
        let request = request("merged");
        let ended = tokio::select! {
            merged = coordinator.run(&request, Vec::new()) => panic!("it was run: {:?}", merged.is_ok()),
            ended = worker.work() => Some(ended.expect_err("it is refused").to_string()),
            () = words.wait_for(said) => None,
        };
        let told = format!("{ended:?} {}", words.all());
        assert!(told.contains(said) && !told.contains("UnitDone"), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_consent_of_the_coordinator_does_not_travel() {
    let ((boss, _), (host, asked)) = (slow_machine(), slow_machine());
    let cluster = MemoryCluster::default();
    let coordinator = coordinator(Arc::new(cluster.clone()), boss.path(), &|_| {});
    let words = WorkerWords::default();
    let note = |event: WorkerEvent| words.note(&event);
    let worker = worker(Arc::new(cluster.clone()), host.path(), &note);
    // It consents to the programs of its files.
    let request = request("merged");
    tokio::select! {
        merged = coordinator.run(&request, Vec::new()) => panic!("it was run: {:?}", merged.is_ok()),
        ended = worker.work() => panic!("the worker ended: {ended:?}"),
        () = words.wait_for("--allow-code") => {}
    }
    assert!(!asked.exists(), "{}", words.all());
}
