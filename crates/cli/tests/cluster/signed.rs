//! An attacker who can write to the servers and does not know the secret of the job.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use assize_cluster::{Cluster, ClusterAddress, JobManifest, JobPlan, JobSecret, NatsCluster, SealedCluster};
use assize_testkit::cli::CliTest;
use assize_testkit::nats::NatsServers;

use crate::machines::{EVAL, Running, assert_same_rows, coordinator, judge_server, machine, servers};

const CASES: usize = 60;
const CALLS: usize = CASES * 2;
const SECRET: &str = "a secret of the job";
const OTHER: &str = "a secret of somebody else";

/// A machine with both secrets in files.
fn signing_machine(judge: &assize_testkit::mock::MockServer) -> CliTest {
    let cli = machine(judge, CASES);
    cli.file("job.secret", SECRET);
    cli.file("other.secret", OTHER);
    cli
}

fn signing_worker(machine: &CliTest, address: &str, more: &[&str]) -> Running {
    let args = [&["worker", "--cluster", address][..], more].concat();
    Running::start(&mut machine.command(&args))
}

fn job_of(said: &str) -> String {
    let job = said.split_once("on job ").and_then(|(_, rest)| rest.split_once(' '));
    job.map(|(job, _)| job.to_owned()).expect("it names the job")
}

/// The servers as a client without the secret sees them.
async fn raw(servers: &NatsServers) -> NatsCluster {
    let address: ClusterAddress = servers.address().parse().expect("an address");
    NatsCluster::connect(&address, BTreeMap::default(), Arc::new(|_| {})).await.expect("they are there")
}

fn manifest(job: &str) -> JobManifest {
    let plan = JobPlan { hash: String::new(), items: 1, files: Vec::new() };
    JobManifest::new(job.to_owned(), plan, Vec::new(), 3, [0; 32])
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Runtime::new().expect("a runtime").block_on(work)
}

#[test]
fn forged_results_and_replies_on_servers_are_refused_and_counted() {
    let Some(servers) = servers("forged_results_and_replies_on_servers") else { return };
    let address = servers.address();
    let judge = judge_server(Duration::from_millis(5));
    let (boss, host) = (signing_machine(&judge), signing_machine(&judge));
    boss.run(&[&EVAL[..], &["--run-dir", "local"]].concat()).expect_code(1);
    assert_eq!(judge.count(), CALLS);

    // Replies of an attacker who can write to the servers: signed with another secret.
    let forger = signing_machine(&judge);
    let forging = signing_worker(&forger, &address, &["-q", "--job-secret", "other.secret"]);
    let args = [&EVAL[..], &["--cluster", &address, "--run-dir", "forged", "--job-secret", "other.secret"]];
    boss.run(&args.concat()).expect_code(1);
    drop(forging);
    let paid = judge.count();
    assert_eq!(paid, 2 * CALLS);

    // Results that are written before any worker comes: one not signed, one signed with another secret.
    let more = ["--unit-size", "20", "--lease", "3s", "--worker-wait", "3s", "--job-secret", "job.secret"];
    let (code, _, said) = coordinator(&boss, &address, &more).finish();
    assert_eq!(code, Some(3), "{said}");
    let job = job_of(&said);
    block_on(async {
        let raw: Arc<dyn Cluster> = Arc::new(raw(&servers).await);
        let results = raw.open(&manifest(&job)).await.expect("works").results;
        assert!(results.create("1", b"rows".to_vec()).await.expect("works"));
        let other = SealedCluster::new(raw, Some(JobSecret::new(OTHER).expect("long enough")));
        let results = other.open(&manifest(&job)).await.expect("works").results;
        assert!(results.create("2", b"rows".to_vec()).await.expect("works"));
    });

    let _worker = signing_worker(&host, &address, &["-q", "--job-secret", "job.secret"]);
    let (code, _, said) = coordinator(&boss, &address, &[&more[..], &["--resume"]].concat()).finish();
    assert_eq!(code, Some(1), "{said}");
    assert_same_rows((&boss, "local"), (&boss, "merged"));
    assert_eq!(judge.count() - paid, CALLS, "no forged reply was used");
    for part in [
        "2 stored results were refused: not signed with the secret of the job",
        &format!("{CALLS} stored replies were refused and asked for again: not signed with the secret"),
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn stored_results_that_were_changed_are_not_merged() {
    let Some(servers) = servers("stored_results_that_were_changed") else { return };
    let address = servers.address();
    let judge = judge_server(Duration::from_millis(5));
    let (boss, host) = (signing_machine(&judge), signing_machine(&judge));
    let results = boss.path("results").display().to_string();
    let _worker =
        signing_worker(&host, &address, &["-q", "--job-secret", "job.secret", "--results", &results]);
    let more = ["--unit-size", "20", "--results", &results, "--job-secret", "job.secret"];
    let (code, _, said) = coordinator(&boss, &address, &more).finish();
    assert_eq!(code, Some(1), "{said}");
    let job = fs::read_dir(boss.path("results")).unwrap().flatten().next().expect("a job").path();
    let place = job.display().to_string();
    boss.run(&["merge", &place, "--job-secret", "job.secret", "--run-dir", "again"]).expect_code(1);
    assert_same_rows((&boss, "merged"), (&boss, "again"));

    let said = boss.run(&["merge", &place, "--job-secret", "other.secret"]).expect_code(2).stderr;
    assert!(said.contains("it is not signed with the secret of the job"), "{said}");

    // The result of another unit, with its signature: also changed.
    fs::copy(job.join("1.tar.gz"), job.join("2.tar.gz")).unwrap();
    let said = boss.run(&["merge", &place, "--job-secret", "job.secret"]).expect_code(2).stderr;
    assert!(said.contains("result of unit 2 is damaged: it is not signed"), "{said}");
}

#[test]
fn a_description_that_is_put_back_brings_no_calls_and_none_is_taken_for_another_job() {
    let Some(servers) = servers("a_description_that_is_put_back") else { return };
    let address = servers.address();
    let judge = judge_server(Duration::from_millis(5));
    let (boss, host) = (signing_machine(&judge), signing_machine(&judge));
    let more = ["--unit-size", "20", "--lease", "3s", "--worker-wait", "3s", "--job-secret", "job.secret"];
    let (code, _, said) = coordinator(&boss, &address, &more).finish();
    assert_eq!(code, Some(3), "{said}");
    let job = job_of(&said);
    let key = format!("job.{job}");
    let records = block_on(async { raw(&servers).await.records().get(&key).await.expect("works") });
    let old = records.expect("it is stored").bytes;

    let worker = signing_worker(&host, &address, &["-q", "--job-secret", "job.secret"]);
    let (code, _, said) = coordinator(&boss, &address, &[&more[..], &["--resume"]].concat()).finish();
    assert_eq!(code, Some(1), "{said}");
    drop(worker);
    let paid = judge.count();
    assert_eq!(paid, CALLS);

    block_on(async {
        let records = raw(&servers).await.records();
        let revision =
            async |key: &str| records.get(key).await.expect("works").map_or(0, |found| found.revision);
        for key in [&key[..], "job.another-job"] {
            let at = revision(key).await;
            assert!(records.replace(key, old.clone(), at).await.expect("works").is_some(), "{key}");
        }
        let list = serde_json::to_vec(&[&job[..], "another-job"]).expect("works");
        let at = revision("open-jobs").await;
        assert!(records.replace("open-jobs", list, at).await.expect("works").is_some());
    });
    let late = signing_worker(&host, &address, &["--idle", "3s", "--job-secret", "job.secret"]);
    let (_, _, said) = late.finish();
    assert!(
        said.contains("job another-job is listed without a description that this worker accepts"),
        "{said}"
    );
    assert_eq!(judge.count(), paid, "{said}");
}

#[test]
fn servers_elsewhere_without_a_secret_are_warned_of() {
    let Some(servers) = servers("servers_elsewhere_without_a_secret") else { return };
    let judge = judge_server(Duration::ZERO);
    let host = signing_machine(&judge);
    // An address that is reserved for documentation, so nothing answers there.
    let address = format!("{},nats://192.0.2.1:4222", servers.address());
    let warning =
        "there is no secret of the job, so whoever can write to its servers can change replies and verdicts";
    for (more, is_warned) in [(&[][..], true), (&["--job-secret", "job.secret"][..], false)] {
        let args = [&["--idle", "1s"][..], more].concat();
        let (_, _, said) = signing_worker(&host, &address, &args).finish();
        assert_eq!(said.contains(warning), is_warned, "{more:?}: {said}");
    }
    let (_, _, said) = signing_worker(&host, &servers.address(), &["--idle", "1s"]).finish();
    assert!(!said.contains(warning), "{said}");
}
