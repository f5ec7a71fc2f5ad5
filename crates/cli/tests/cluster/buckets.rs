//! Results in buckets of servers that speak S3 and Azure's format. Needs the feature `cloud`.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use assize_testkit::buckets::{BucketFormat, BucketServer};
use assize_testkit::cli::CliTest;
use assize_testkit::mock::MockServer;
use serde_json::Value;

use crate::machines::{
    EVAL, RUN_TIMEOUT, assert_same_rows, coordinator, judge_server, machine, servers, worker,
};

const CASES: usize = 60;
const CALLS: usize = CASES * 2;

/// Starts a server with buckets. If it can't start, prints that the test is skipped for its format.
fn bucket_server(test: &str, format: BucketFormat) -> Option<BucketServer> {
    match BucketServer::start(format, &Path::new(env!("CARGO_TARGET_TMPDIR")).join("buckets")) {
        Ok(server) => Some(server),
        Err(why) => {
            // Bypasses the test harness, which captures output: the summary counts these lines.
            let line = format!("\nSKIPPED 1 test, {test} with {format:?}: {why}\n");
            std::io::stdout().write_all(line.as_bytes()).expect("stdout takes a line");
            None
        }
    }
}

/// A machine that can access the buckets.
fn machine_with(judge: &MockServer, buckets: &BucketServer) -> CliTest {
    let mut cli = machine(judge, CASES);
    for (name, value) in buckets.variables() {
        cli.env(name, value);
    }
    cli
}

/// Id of a run.
fn run_id(cli: &CliTest, folder: &str) -> String {
    let info: Value = serde_json::from_str(&cli.read(format!("{folder}/run.json"))).expect("JSON");
    info["run_id"].as_str().expect("an id").to_owned()
}

/// A report of a run, without its id.
fn report(cli: &CliTest, folder: &str, format: &str) -> String {
    let text = cli.run(&["report", folder, "--format", format]).expect_code(0).stdout;
    text.replace(&run_id(cli, folder), "RUN")
}

#[test]
fn results_in_a_bucket_are_those_of_one_machine() {
    let Some(servers) = servers("results_in_a_bucket_are_those_of_one_machine") else { return };
    let judge = judge_server(Duration::from_millis(5));
    let local = machine(&judge, CASES);
    local.run(&[&EVAL[..], &["--run-dir", "local"]].concat()).expect_code(1);

    for format in BucketFormat::ALL {
        let Some(buckets) = bucket_server("results_in_a_bucket_are_those_of_one_machine", format) else {
            continue;
        };
        let place = format!("{}/evals", buckets.make_bucket("results"));
        let [boss, one, two] = [(); 3].map(|()| machine_with(&judge, &buckets));
        let _workers = [&one, &two].map(|host| worker(host, &servers.address()));
        let before = judge.count();
        let more = ["--unit-size", "7", "--results", &place];
        let (code, _, err) = coordinator(&boss, &servers.address(), &more).finish();
        assert_eq!(code, Some(1), "{format:?}: {err}");
        assert_eq!(judge.count() - before, CALLS, "{format:?}");
        assert_same_rows((&local, "local"), (&boss, "merged"));

        // The stored results can be merged again when all other data of the job is gone; the rows are identical to the
        // byte.
        let job = format!("{place}/{}", run_id(&boss, "merged"));
        let reader = machine_with(&judge, &buckets);
        reader.run(&["merge", &job, "--run-dir", "again", "--show", "none"]).expect_code(1);
        for file in ["results.jsonl", "judgements.jsonl", "questions.jsonl"] {
            assert_eq!(reader.read(format!("again/{file}")), boss.read(format!("merged/{file}")), "{file}");
        }

        // Without times, the reports are identical to the ones of a run on one machine.
        reader.copy_folder(&local.path("local"), "local");
        for kind in ["csv", "github", "gitlab"] {
            assert_eq!(report(&reader, "again", kind), report(&reader, "local", kind), "{format:?}, {kind}");
        }
        reader.run(&["compare", "local", "again"]).expect_code(0);
    }
}

#[test]
fn a_coordinator_that_dies_goes_on_with_what_is_in_the_bucket() {
    let Some(servers) = servers("a_coordinator_that_dies_goes_on") else { return };
    let judge = judge_server(Duration::from_millis(20));
    for format in BucketFormat::ALL {
        let Some(buckets) = bucket_server("a_coordinator_that_dies_goes_on", format) else { continue };
        let place = format!("{}/evals", buckets.make_bucket("results"));
        let [boss, host] = [(); 2].map(|()| machine_with(&judge, &buckets));
        let _worker = worker(&host, &servers.address());
        let before = judge.count();
        let more = ["--unit-size", "7", "--results", &place, "--resume"];
        let mut running = coordinator(&boss, &servers.address(), &more);
        assert!(judge.wait_for(before + CALLS / 3, RUN_TIMEOUT), "work is in progress");
        running.kill();

        let (code, _, err) = coordinator(&boss, &servers.address(), &more).finish();
        assert_eq!(code, Some(1), "{format:?}: {err}");
        assert_eq!(judge.count() - before, CALLS, "{format:?}: nobody paid again");
    }
}

#[test]
fn a_bucket_that_cannot_be_used_is_refused_before_anything_is_handed_out() {
    let Some(servers) = servers("a_bucket_that_cannot_be_used_is_refused") else { return };
    let judge = judge_server(Duration::ZERO);
    for format in BucketFormat::ALL {
        let Some(buckets) = bucket_server("a_bucket_that_cannot_be_used_is_refused", format) else {
            continue;
        };
        let place = buckets.make_bucket("results").replace("results", "missing");
        let boss = machine_with(&judge, &buckets);
        let (code, _, err) = coordinator(&boss, &servers.address(), &["--results", &place]).finish();
        assert_eq!(code, Some(2), "{format:?}: {err}");
        assert!(err.contains(&format!("can't use `{place}` for results")), "{format:?}: {err}");
    }
    assert_eq!(servers.streams(), ["KV_assize"], "the records of jobs, and no queue");
    assert_eq!(judge.count(), 0);
}
