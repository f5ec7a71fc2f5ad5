//! A run that was stopped, even by a kill, continues to the same results as an uninterrupted one.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use assize_testkit::cli::CliTest;
use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use serde_json::Value;

use crate::runs::support::{decisions, eval, fixture, model, printed, rows, suite};

const CRITERIA: &[&str] = &["yes one", "no two", "yes three"];
/// Limits on concurrency, which bound the work in flight.
const LIMITS: [&str; 4] = ["-j", "2", "--judge-calls", "4"];
const TARGET: [&str; 2] = ["--target", "openai:answers-1"];

fn args<'a>(more: &[&'a str]) -> Vec<&'a str> {
    LIMITS.iter().chain(&TARGET).chain(more).copied().collect()
}

/// Decisions and their cost, without times.
fn judged(cli: &CliTest, folder: &str) -> BTreeMap<String, Vec<Value>> {
    let mut all: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for mut row in rows(cli, &format!("{folder}/judgements.jsonl")) {
        for changing in ["latency_ms", "crc"] {
            row.as_object_mut().expect("an object").remove(changing);
        }
        all.entry(row["case_id"].as_str().expect("an id").to_owned()).or_default().push(row);
    }
    all
}

fn tokens(cli: &CliTest, folder: &str) -> BTreeMap<String, Value> {
    rows(cli, &format!("{folder}/results.jsonl"))
        .into_iter()
        .map(|row| (row["case_id"].as_str().expect("an id").to_owned(), row["tokens"].clone()))
        .collect()
}

/// The same numbers on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

#[test]
fn killed_at_two_hundred_moments_a_run_ends_as_if_undisturbed() {
    const CASES: usize = 10;
    const CALLS: usize = CASES * (1 + CRITERIA.len());
    const KILLS: usize = 200;
    let (arrived, arrivals) = mpsc::channel();
    let arrived = Mutex::new(arrived);
    let server = MockServer::start(move |incoming: &MockRequest| {
        let _ = arrived.lock().unwrap().send(());
        model(incoming).after(Duration::from_millis(4))
    });
    let calm = fixture(&server);
    calm.file("suite.yaml", suite(CASES, CRITERIA, false));
    let undisturbed = printed(&eval(&calm, &args(&["--run-dir", "run"])).expect_code(1));
    assert_eq!(server.count(), CALLS);

    let mut random = Random(0x5EED_1234_ABCD_0001);
    let (mut kills, mut runs) = (0, 0);
    while kills < KILLS {
        let before = server.count();
        let mut kills_of_run = 0;
        let cli = fixture(&server);
        cli.file("suite.yaml", suite(CASES, CRITERIA, false));
        let all = args(&["--run-dir", "run", "--resume"]);
        // A run is killed a few times and then left alone, so that it ends.
        while kills_of_run < 8 {
            while arrivals.try_recv().is_ok() {}
            let mut words = vec!["eval", "suite.yaml", "--judge", "openai:judge-1", "--json", "-q"];
            words.extend(&all);
            let mut child = cli.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            // The moment: after some requests have arrived, and a little later.
            for _ in 0..random.below(9) {
                if arrivals.recv_timeout(Duration::from_secs(1)).is_err() {
                    break;
                }
            }
            let pause = Duration::from_micros(random.below(9000));
            std::thread::sleep(pause);
            child.kill().unwrap();
            let ended = child.wait().unwrap().code();
            if ended.is_some() {
                break;
            }
            kills_of_run += 1;
        }
        let last = printed(&eval(&cli, &all).expect_code(1));
        kills += kills_of_run;
        runs += 1;
        assert!(runs <= KILLS, "the run ends before it can be killed");
        assert_eq!(decisions(&cli, "run"), decisions(&calm, "run"));
        assert_eq!(tokens(&cli, "run"), tokens(&calm, "run"));
        assert_eq!(judged(&cli, "run"), judged(&calm, "run"));
        for figure in
            ["counts", "mean_score", "judge_calls", "judge_calls_cached", "tokens", "criteria", "not_run"]
        {
            assert_eq!(last[figure], undisturbed[figure], "{figure}");
        }
        // Paid for twice at most: the calls in flight. Two cases together call their target once each or their
        // judge four times.
        let bought = server.count() - before;
        let in_flight = 4;
        assert!(
            (CALLS..=CALLS + kills_of_run * in_flight).contains(&bought),
            "{bought}, {kills_of_run} kills"
        );
    }
}

/// A server that stops answering for good after this many requests.
fn hanging_after(requests: usize) -> (MockServer, Arc<AtomicUsize>) {
    let limit = Arc::new(AtomicUsize::new(requests));
    let shared = Arc::clone(&limit);
    let server = MockServer::start(move |incoming: &MockRequest| {
        if incoming.index < shared.load(Ordering::Relaxed) { model(incoming) } else { MockReply::Hang }
    });
    (server, limit)
}

/// Starts a run, waits until it hangs, and kills it. Then the server answers again.
fn killed_half_way(cases: usize, half: usize, more: &[&str]) -> (MockServer, CliTest) {
    let (server, limit) = hanging_after(half);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(cases, CRITERIA, true));
    let mut words = vec!["eval", "suite.yaml", "--judge", "openai:judge-1", "-q", "-j", "1"];
    words.extend(more);
    let mut child = cli.command(&words).stdout(Stdio::null()).spawn().expect("started");
    // Wait for all calls of the case that hangs. A call that arrives later would count for the next process.
    assert!(server.wait_for(half + CRITERIA.len(), Duration::from_mins(1)));
    child.kill().expect("killed");
    child.wait().expect("ended");
    limit.store(usize::MAX, Ordering::Relaxed);
    (server, cli)
}

#[test]
fn without_a_name_the_newest_run_of_the_suite_goes_on() {
    let (server, cli) = killed_half_way(4, 6, &["--no-cache"]);
    // Another suite was run since.
    cli.file("other.yaml", suite(1, &["yes"], true).replace("name: sums", "name: other"));
    cli.run(&["eval", "other.yaml", "--judge", "openai:judge-1", "-q"]).expect_code(0);
    let before = server.count();
    let output = printed(&eval(&cli, &["--resume", "--no-cache"]).expect_code(1));
    // Two cases were finished; without the cache, the third is paid for completely.
    assert_eq!(server.count() - before, 6);
    assert_eq!((&output["counts"]["fail"], &output["not_run"]), (&4.into(), &0.into()));
    assert_eq!(output["judge_calls"], 12);
    let info: Value =
        serde_json::from_str(&cli.read(format!("{}/run.json", output["run_dir"].as_str().unwrap()))).unwrap();
    assert_eq!(info["run_id"], output["run_id"]);
    assert!(info["finished_at"].is_string());
    // A complete run is not changed.
    let again = printed(&eval(&cli, &["--resume", "--no-cache"]).expect_code(1));
    assert_eq!((server.count() - before, &again["counts"]), (6, &output["counts"]));
}

#[test]
fn cases_that_changed_are_run_again_and_others_are_not() {
    let (server, cli) = killed_half_way(5, 12, &["--run-dir", "run", "--no-cache"]);
    let edited = suite(5, CRITERIA, true)
        .replace("the answer is 1\n", "the answer is one\n")
        .replace("name: sums\n", "# a line more, so that everything stands elsewhere\nname: sums\n");
    cli.file("suite.yaml", edited);
    let before = server.count();
    let loud = ["eval", "suite.yaml", "--judge", "openai:judge-1", "--json"];
    let resumed =
        cli.run(&[&loud[..], &["--run-dir", "run", "--resume", "--no-cache"]].concat()).expect_code(1);
    assert!(resumed.stderr.contains("3 cases kept, 1 changed case rerun"), "{}", resumed.stderr);
    let output = printed(&resumed);
    // Four cases were finished, and one of them was edited.
    assert_eq!(server.count() - before, 6);
    assert_eq!(output["counts"]["fail"], 5);
    let rows = rows(&cli, "run/results.jsonl");
    assert_eq!(rows.len(), 5);
    assert!(rows.iter().any(|row| row["answer"] == "the answer is one"));
    // A removed case takes its row along.
    cli.file("suite.yaml", suite(4, CRITERIA, true).replace("the answer is 1\n", "the answer is one\n"));
    eval(&cli, &["--run-dir", "run", "--resume", "--no-cache"]).expect_code(1);
    assert_eq!(server.count() - before, 6);
    assert_eq!(decisions(&cli, "run").len(), 4);
    cli.run(&["explain", "run", "case-1"]).expect_code(0);
}

#[test]
fn cases_are_kept_however_their_judge_was_chosen() {
    let server = MockServer::start(model);
    for (choice, judge) in
        [("default", "offline"), ("configuration", "openai:judge-1"), ("JUDGE_MODEL", "openai:judge-1")]
    {
        let mut cli = fixture(&server);
        cli.file("suite.yaml", suite(2, CRITERIA, true));
        match choice {
            "configuration" => cli.file(".assize/config.yaml", "judge: openai:judge-1\n"),
            "JUDGE_MODEL" => cli.env("JUDGE_MODEL", "openai:judge-1"),
            _ => &mut cli,
        };
        cli.run(&["eval", "suite.yaml", "--run-dir", "run"]);

        let resumed = cli.run(&["eval", "suite.yaml", "--run-dir", "run", "--resume", "--judge", judge]);
        assert!(resumed.stderr.contains("2 cases kept"), "{choice}: {}", resumed.stderr);
        assert!(!resumed.stderr.contains("changed"), "{choice}: {}", resumed.stderr);

        let other =
            cli.run(&["eval", "suite.yaml", "--run-dir", "run", "--resume", "--judge", "openai:judge-2"]);
        assert!(other.expect_code(2).stderr.contains("its judges"));
    }
}

#[test]
fn a_run_begun_in_another_way_is_refused() {
    let (server, cli) = killed_half_way(4, 6, &["--run-dir", "run"]);
    let results = cli.read("run/results.jsonl");
    let before = server.count();
    for (more, what) in [
        (&["--threshold", "0.5"][..], "its threshold"),
        (&["--filter", "case-1"], "its filter"),
        (&["--judging", "batched"], "its judging"),
        (&["--judge", "offline"], "its judges"),
    ] {
        let mut words = vec!["eval", "suite.yaml", "-q", "--resume", "run"];
        if more[0] != "--judge" {
            words.extend(["--judge", "openai:judge-1"]);
        }
        words.extend(more);
        let refused = cli.run(&words).expect_code(2);
        assert!(refused.stderr.contains(what), "{}", refused.stderr);
    }
    assert!(eval(&cli, &["--resume", "no-such-run"]).expect_code(2).stderr.contains("no-such-run"));
    assert!(eval(&cli, &["--resume"]).expect_code(2).stderr.contains("remove `--resume`"));
    eval(&cli, &["--resume", "run", "--run-dir", "elsewhere"]).expect_code(2);
    assert_eq!((cli.read("run/results.jsonl"), server.count()), (results, before));
}

#[test]
fn a_run_that_is_still_going_is_left_alone() {
    let (server, limit) = hanging_after(4);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(3, CRITERIA, true));
    let words = ["eval", "suite.yaml", "--judge", "openai:judge-1", "-q", "-j", "1", "--run-dir", "run"];
    let mut child = cli.command(&words).stdout(Stdio::null()).spawn().unwrap();
    assert!(server.wait_for(5, Duration::from_mins(1)));
    let refused = eval(&cli, &["--run-dir", "run", "--resume"]).expect_code(2);
    assert!(refused.stderr.contains("another process"), "{}", refused.stderr);
    child.kill().unwrap();
    child.wait().unwrap();
    limit.store(usize::MAX, Ordering::Relaxed);
    eval(&cli, &["--run-dir", "run", "--resume"]).expect_code(1);
    assert_eq!(decisions(&cli, "run").len(), 3);
}

#[test]
fn grading_given_answers_goes_on_too() {
    let (server, limit) = hanging_after(2);
    let cli = fixture(&server);
    cli.file("rubric.yaml", "name: r\ncriteria:\n  - id: a\n    outcome: yes one\n");
    let line = |n| format!("{{\"id\": \"a{n}\", \"answer\": \"answer {n}\"}}");
    let answers: Vec<String> = (0..4).map(line).collect();
    cli.file("answers.jsonl", answers.join("\n"));
    let words = [
        "grade", "rubric.yaml", "--answers", "answers.jsonl", "--judge", "openai:judge-1", "-q", "-j", "1",
        "--resume", "--run-dir", "run",
    ];
    let mut child = cli.command(&words).stdout(Stdio::null()).spawn().unwrap();
    assert!(server.wait_for(3, Duration::from_mins(1)));
    child.kill().unwrap();
    child.wait().unwrap();
    limit.store(usize::MAX, Ordering::Relaxed);
    cli.run(&words).expect_code(0);
    assert_eq!(decisions(&cli, "run").len(), 4);
    assert_eq!(server.count(), 5);
}

/// Rerunning the cases that did not pass creates a separate run, and ids are not patterns in it.
#[test]
fn the_cases_that_failed_are_run_again_in_a_run_of_their_own() {
    let cli = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    let case = |id: &str, output: &str| {
        format!(
            "- {{id: '{id}', input: q, output: {output}, assertions: [{{type: contains, value: tea}}]}}\n"
        )
    };
    let cases = [case("good", "tea"), case("bad[1]*", "milk"), case("bad1x", "tea")].concat();
    cli.file("a.yaml", format!("tests:\n{cases}"));
    cli.run(&["eval", "a.yaml", "--run-dir", "first"]).expect_code(1);

    cli.run(&["eval", "a.yaml", "--rerun-failed", "first", "--run-dir", "second"]).expect_code(1);
    let rows = std::fs::read_to_string(cli.path("second/results.jsonl")).expect("stored");
    let ids: Vec<String> = rows
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a row")["case_id"].to_string())
        .collect();
    assert_eq!(ids, ["\"bad[1]*\""]);

    cli.file("a.yaml", format!("tests:\n{}", cases.replace("milk", "tea")));
    cli.run(&["eval", "a.yaml", "--rerun-failed", "second", "--run-dir", "third"]).expect_code(0);
    let nothing = cli.run(&["eval", "a.yaml", "--rerun-failed", "third"]).expect_code(2);
    assert!(nothing.stderr.contains("no case of run `third` failed or is incomplete"), "{}", nothing.stderr);
}

/// An equal id of another suite is another case.
#[test]
fn failed_cases_are_those_of_their_suite() {
    let cli = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    let suite = |output: &str| {
        format!(
            "tests:\n- {{id: tone, input: q, output: {output}, assertions: [{{type: contains, value: tea}}]}}\n"
        )
    };
    cli.file("a.eval.yaml", suite("tea")).file("b.eval.yaml", suite("milk"));
    cli.run(&["eval", ".", "--run-dir", "first"]).expect_code(1);
    cli.run(&["eval", ".", "--rerun-failed", "first", "--run-dir", "second"]).expect_code(1);
    let rows = std::fs::read_to_string(cli.path("second/results.jsonl")).expect("stored");
    assert_eq!(rows.lines().count(), 1, "{rows}");
    assert!(rows.contains("\"suite\":\"b\""), "{rows}");

    let none = cli.run(&["eval", "a.eval.yaml", "--rerun-failed", "first"]).expect_code(2);
    assert!(none.stderr.contains("run `first` is in these files"), "{}", none.stderr);
    let audit =
        cli.run(&["eval", ".", "--rerun-failed", "first", "--cluster", "nats://127.0.0.1:1"]).expect_code(2);
    assert!(audit.stderr.contains("run `first` has several suites"), "{}", audit.stderr);
}
