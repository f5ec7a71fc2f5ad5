//! A run on many machines equals a run on one.

use std::time::Duration;

use assize_testkit::cli::CliTest;
use assize_testkit::mock::rule::judge;
use assize_testkit::mock::{MockOptions, MockReply, MockServer};
use assize_testkit::nats::pause_process;
use serde_json::json;

use crate::machines::{
    EVAL, RUN_TIMEOUT, Running, assert_same_rows, coordinator, judge_server, machine, rows, servers, worker,
    worker_on_full_disk,
};

const CASES: usize = 60;
const CALLS: usize = CASES * 2;

#[test]
fn workers_bring_the_results_of_one_machine_and_pay_each_call_once() {
    let Some(servers) = servers("workers_bring_the_results_of_one_machine") else { return };
    let judge = judge_server(Duration::from_millis(5));
    let local = machine(&judge, CASES);
    local.run(&[&EVAL[..], &["--run-dir", "local"]].concat()).expect_code(1);
    assert_eq!(judge.count(), CALLS);

    let machines: Vec<_> = (0..3).map(|_| machine(&judge, CASES)).collect();
    let _workers: Vec<_> = machines.iter().map(|machine| worker(machine, &servers.address())).collect();
    let results = local.path("results").display().to_string();
    for (at, place) in [vec![], vec!["--results", results.as_str()]].into_iter().enumerate() {
        // With another fence secret, no replies of the last round are found.
        let boss = machine(&judge, CASES);
        let before = judge.count();
        let more = [&["--unit-size", "7"][..], &place].concat();
        let (code, _, err) = coordinator(&boss, &servers.address(), &more).finish();
        assert_eq!(code, Some(1), "{at}: {err}");
        assert_same_rows((&local, "local"), (&boss, "merged"));
        assert_eq!(judge.count() - before, CALLS, "{at}");
        assert!(
            !boss.path(".assize/cluster").exists()
                || boss.path(".assize/cluster").read_dir().unwrap().next().is_none()
        );
    }

    let jobs: Vec<_> = std::fs::read_dir(local.path("results")).unwrap().flatten().collect();
    let [job] = &jobs[..] else { panic!("a folder for the job that had its results there") };

    // The stored results are as good as the merged run.
    let stored = job.path().display().to_string();
    let text = local.run(&["merge", &stored, "--run-dir", "again", "--show", "none"]).expect_code(1);
    assert_same_rows((&local, "local"), (&local, "again"));
    assert_eq!(std::fs::read_dir(local.path(".assize/cluster")).unwrap().count(), 0, "{}", text.stderr);
    local.run(&["compare", "local", "again"]).expect_code(0);
    // The state while the job is running.
    std::fs::remove_file(job.path().join("2.tar.gz")).unwrap();
    let early = local.run(&["merge", &stored, "--run-dir", "early"]).expect_code(2);
    assert!(
        early.stderr.contains("shard 2 of 9 has no results yet; wait for the end of the job"),
        "{}",
        early.stderr
    );
    let info: serde_json::Value = serde_json::from_str(&local.read("again/run.json")).unwrap();
    assert_eq!(info["summary"]["sent"]["requests"], CALLS);
}

#[test]
fn a_second_run_finds_the_replies_that_other_machines_bought() {
    let Some(servers) = servers("a_second_run_finds_the_replies") else { return };
    let judge = judge_server(Duration::from_millis(5));
    let boss = machine(&judge, CASES);
    for round in 0..2 {
        // A new machine each time, without its own cache.
        let fresh = machine(&judge, CASES);
        let _worker = worker(&fresh, &servers.address());
        let folder = format!("merged-{round}");
        let mut args = EVAL.to_vec();
        let address = servers.address();
        args.extend(["--cluster", &address, "--run-dir", &folder, "--unit-size", "20", "-q"]);
        boss.run(&args).expect_code(1);
        assert_eq!(judge.count(), CALLS, "round {round}");
    }
}

#[test]
fn replies_that_the_servers_do_not_take_are_told_of_and_change_nothing() {
    let Some(servers) = servers("replies_that_the_servers_do_not_take") else { return };
    // A usable reply that is larger than a message of the servers.
    let verbose = |incoming: &_| match judge(incoming) {
        MockReply::Json(reply) if incoming.last_user_text.contains("the answer is 3\n") => {
            let message = json!({ "role": "assistant", "content": reply.to_string() });
            let body = json!({
                "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }],
                "model": "judge-1",
                "usage": { "prompt_tokens": 10, "completion_tokens": 5 },
                "padding": "x".repeat(1_500_000),
            });
            MockReply::Status { code: 200, headers: Vec::new(), body: body.to_string() }
        }
        reply => reply,
    };
    let judge = MockServer::start_with(verbose, MockOptions { record: false });
    let local = machine(&judge, 6);
    local.run(&[&EVAL[..], &["--run-dir", "local"]].concat()).expect_code(1);
    let (boss, host) = (machine(&judge, 6), machine(&judge, 6));
    let mut worker = Running::start(&mut host.command(&["worker", "--cluster", &servers.address()]));
    let (code, _, err) = coordinator(&boss, &servers.address(), &[]).finish();
    assert_eq!(code, Some(1), "{err}");
    assert_same_rows((&local, "local"), (&boss, "merged"));
    worker.wait_for("can't share 2 replies with other workers");
}

#[test]
fn a_damaged_file_among_the_results_is_replaced() {
    let Some(servers) = servers("a_damaged_file_among_the_results") else { return };
    let judge = judge_server(Duration::from_millis(5));
    let (boss, host) = (machine(&judge, CASES), machine(&judge, CASES));
    boss.run(&[&EVAL[..], &["--run-dir", "local"]].concat()).expect_code(1);
    let results = boss.path("results").display().to_string();
    let more = ["--results", &results, "--unit-size", "20", "--lease", "3s", "--worker-wait", "3s"];
    let (code, _, err) = coordinator(&boss, &servers.address(), &more).finish();
    assert_eq!(code, Some(3), "{err}");
    let job = err.split_once("on job ").and_then(|(_, rest)| rest.split_once(' ')).map_or("", |(job, _)| job);
    boss.file(format!("results/{job}/2.tar.gz"), "no archive");

    let merged = boss.run(&["merge", &format!("results/{job}"), "--allow-missing"]).expect_code(2);
    for part in ["result of unit 2 is damaged", "Remove `2.tar.gz` from `"] {
        assert!(merged.stderr.contains(part), "{}", merged.stderr);
    }

    let _worker = worker(&host, &servers.address());
    let (code, _, err) =
        coordinator(&boss, &servers.address(), &[&more[..], &["--resume"]].concat()).finish();
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("result of unit 2 is damaged") && err.contains("the unit runs again"), "{err}");
    assert_same_rows((&boss, "local"), (&boss, "merged"));
    boss.run(&["merge", &format!("results/{job}"), "--run-dir", "again"]).expect_code(1);
}

#[test]
fn killed_workers_and_coordinators_lose_nothing_and_pay_again_only_what_was_in_flight() {
    let Some(servers) = servers("killed_workers_and_coordinators") else { return };
    let judge = judge_server(Duration::from_millis(30));
    let boss = machine(&judge, CASES);
    let local = machine(&judge, CASES);
    local.run(&[&EVAL[..], &["--run-dir", "local"]].concat()).expect_code(1);
    let before = judge.count();

    let machines: Vec<_> = (0..2).map(|_| machine(&judge, CASES)).collect();
    let address = servers.address();
    let mut workers: Vec<_> = machines.iter().map(|machine| worker(machine, &address)).collect();
    let more = ["--unit-size", "15", "--lease", "2s", "--resume"];
    let mut running = coordinator(&boss, &address, &more);

    let mut kills = 0;
    for kill in 0..4u64 {
        // After this many more calls, some work is in progress.
        let target = (judge.count() - before + 10 + usize::try_from(kill).unwrap() * 3).min(CALLS - 10);
        assert!(judge.wait_for(before + target, RUN_TIMEOUT), "work is in progress");
        if kill == 1 {
            running.kill();
            running = coordinator(&boss, &address, &more);
        } else {
            let at = usize::try_from(kill % 2).unwrap();
            workers[at].kill();
            kills += 1;
            workers[at] = worker(&machines[at], &address);
        }
    }
    // One worker is suspended for longer than its lease, and notices.
    pause_process(workers[0].0.id(), true);
    std::thread::sleep(Duration::from_secs(3));
    pause_process(workers[0].0.id(), false);

    let (code, _, err) = running.finish();
    assert_eq!(code, Some(1), "{err}");
    assert_same_rows((&local, "local"), (&boss, "merged"));
    // A worker that was killed or suspended had four cases with two calls each in flight.
    let paid = judge.count() - before;
    let in_flight = (kills + 1) * 8;
    assert!((CALLS..=CALLS + in_flight).contains(&paid), "{paid} calls");
}

/// Most workers that the deadly one of four cases ends: two with all cases, two with its half, and two with it
/// alone. A lease that expires on a busy machine counts too.
const MOST_ENDED: usize = 6;

/// A machine with a project of four cases; one of them kills the process that calls its target.
fn deadly_machine(judge: &MockServer) -> CliTest {
    let cli = machine(judge, 1);
    let cases: Vec<String> = (0..4)
        .map(|at| format!("  - id: case-{at}\n    criteria: be right\n    input: \"{at}\"\n    assertions: [{{type: contains, value: ok}}]\n"))
        .collect();
    cli.file("suite.yaml", format!("name: deadly\nexecution: {{target: sh}}\ntests:\n{}", cases.concat()));
    let script = "case $(cat {PROMPT_FILE}) in 2) kill -9 $PPID;; esac; echo ok > {OUTPUT_FILE}";
    cli.file(
        ".assize/targets.yaml",
        format!("targets:\n  - name: sh\n    provider: cli\n    command: \"{script}\"\n"),
    );
    cli
}

/// Starts a coordinator of these four cases in one unit.
fn deadly_run(machine: &CliTest, address: &str) -> Running {
    let args = [
        "eval", "suite.yaml", "--cluster", address, "--run-dir", "merged", "--unit-size", "4", "--lease",
        "4s", "-j", "1", "-q", "--resume",
    ];
    Running::start(&mut machine.command(&args))
}

/// Asserts that only the deadly case was abandoned.
fn assert_one_given_up(boss: &CliTest, running: Running) {
    let (code, _, err) = running.finish();
    let results = rows(boss, "merged/results.jsonl");
    assert_eq!(results.len(), 4, "{err}");
    for (case, rows) in &results {
        let error = &rows[0]["error"];
        if case == "case-2" {
            assert_eq!(error["kind"], "abandoned", "{error}");
            assert!(
                error["message"].as_str().expect("a text").contains("workers ended while they worked on it")
            );
        } else {
            assert_eq!((&rows[0]["verdict"], error.is_null()), (&"pass".into(), true), "{case}: {error}");
        }
    }
    assert_eq!(code, Some(3), "{err}");
}

#[test]
fn a_case_that_ends_its_workers_ends_ungraded_and_the_others_do_not() {
    let Some(servers) = servers("a_case_that_ends_its_workers") else { return };
    let judge = judge_server(Duration::from_millis(1));
    let (boss, host) = (deadly_machine(&judge), deadly_machine(&judge));
    let address = servers.address();
    let mut running = deadly_run(&boss, &address);
    let mut worker_now = worker(&host, &address);
    let mut ended = 0;
    while !running.has_ended() {
        if worker_now.has_ended() {
            ended += 1;
            assert!(ended <= MOST_ENDED, "it is given up after that many");
            worker_now = worker(&host, &address);
        }
        std::thread::sleep(Duration::from_millis(5));
    }

    assert_one_given_up(&boss, running);
    assert!(ended >= 4, "{ended} workers ended");
}

#[test]
fn tries_count_on_when_a_unit_is_put_back_and_coordinators_die() {
    let Some(servers) = servers("tries_count_on_when_a_unit_is_put_back") else { return };
    let judge = judge_server(Duration::from_millis(1));
    let (boss, host, full) = (deadly_machine(&judge), deadly_machine(&judge), deadly_machine(&judge));
    let address = servers.address();
    let mut running = deadly_run(&boss, &address);
    let mut ended = 0;
    while !running.has_ended() {
        let mut worker_now = worker(&host, &address);
        while !worker_now.has_ended() && !running.has_ended() {
            std::thread::sleep(Duration::from_millis(5));
        }
        if running.has_ended() {
            break;
        }
        ended += 1;
        assert!(ended <= MOST_ENDED, "it is given up after that many");
        if ended % 2 == 1 {
            running.kill();
            running = deadly_run(&boss, &address);
        }

        // A worker on a full disk reports it and returns the unit. Earlier tries of the unit still count.
        let mut unable = Running::start(&mut worker_on_full_disk(&full, &judge, &address, 0));
        unable.wait_for("unit ");
        unable.kill();
    }

    assert_one_given_up(&boss, running);
    assert!(ended >= 4, "{ended} workers ended");
}
