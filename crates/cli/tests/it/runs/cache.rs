//! Usable replies are paid for once; all others are requested again.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use assize_testkit::mock::{MockReply, MockRequest, MockServer};

use crate::runs::support::{KEY, decisions, eval, fixture, is_judging, judge, model, printed, rows, suite};

const CRITERIA: &[&str] = &["yes one", "no two", "yes three"];

#[test]
fn the_same_run_twice_sends_nothing_the_second_time() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(4, CRITERIA, false));
    let target = ["--target", "openai:answers-1", "--run-dir", "a"];
    let first = printed(&eval(&cli, &target).expect_code(1));
    assert_eq!(server.count(), 4 + 12);
    assert_eq!((&first["judge_calls"], &first["judge_calls_cached"]), (&12.into(), &0.into()));
    let second = printed(&eval(&cli, &["--target", "openai:answers-1", "--run-dir", "b"]).expect_code(1));
    assert_eq!(server.count(), 4 + 12);
    assert_eq!((&second["judge_calls"], &second["judge_calls_cached"]), (&0.into(), &12.into()));
    assert_eq!(second["tokens"], serde_json::json!({"input": 0, "cached": 0, "output": 0}));
    assert_eq!(second["cost_usd"], 0.0);
    assert!(first["tokens"]["input"].as_u64().is_some_and(|tokens| tokens > 0));
    assert_eq!(decisions(&cli, "a"), decisions(&cli, "b"));
    for row in rows(&cli, "b/judgements.jsonl") {
        assert_eq!((&row["attempts"], &row["cached_calls"]), (&0.into(), &1.into()));
        assert_eq!(row["replies"].as_array().map(Vec::len), Some(1));
    }
}

#[test]
fn an_edited_criterion_costs_its_own_calls_only() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(3, CRITERIA, true));
    eval(&cli, &[]).expect_code(1);
    assert_eq!(server.count(), 9);
    cli.file("suite.yaml", suite(3, &["yes one", "yes two, edited", "yes three"], true));
    let output = printed(&eval(&cli, &[]).expect_code(0));
    assert_eq!(server.count(), 9 + 3);
    assert_eq!(output["judge_calls_cached"], 6);
    let asked = server.requests().split_off(9);
    assert!(asked.iter().all(|request| String::from_utf8_lossy(&request.body).contains("yes two, edited")));
    // Weights, gates and thresholds are never sent to a judge, so changing them is free.
    cli.file(
        "suite.yaml",
        suite(3, CRITERIA, true).replace("outcome: yes one", "outcome: yes one\n            weight: 5"),
    );
    eval(&cli, &["--threshold", "0.1"]).expect_code(0);
    assert_eq!(server.count(), 12);
}

#[test]
fn a_changed_answer_is_judged_anew() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(2, CRITERIA, true));
    eval(&cli, &[]);
    cli.file("suite.yaml", suite(2, CRITERIA, true).replace("the answer is 1", "the answer is one"));
    eval(&cli, &[]);
    assert_eq!(server.count(), 6 + 3);
}

#[test]
fn no_cache_asks_anew_and_leaves_nothing_behind() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(2, CRITERIA, true));
    for _ in 0..2 {
        let output = printed(&eval(&cli, &["--no-cache"]).expect_code(1));
        assert_eq!(output["judge_calls_cached"], 0);
    }
    assert_eq!(server.count(), 12);
    assert!(!cli.path(".assize/cache").exists());
}

#[test]
fn cache_only_sends_nothing_and_says_what_is_missing() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(2, &["yes one", "yes two"], true));
    eval(&cli, &[]).expect_code(0);
    assert_eq!(server.count(), 4);
    eval(&cli, &["--cache-only"]).expect_code(0);
    cli.file("suite.yaml", suite(2, &["yes one", "yes new"], true));
    let output = printed(&eval(&cli, &["--cache-only", "--run-dir", "only"]).expect_code(3));
    assert_eq!(server.count(), 4);
    assert_eq!((&output["criteria_ungraded"], &output["judge_calls_cached"]), (&2.into(), &2.into()));
    let missing: Vec<_> =
        rows(&cli, "only/judgements.jsonl").into_iter().filter(|row| row["outcome"] == "ungraded").collect();
    assert_eq!(missing.len(), 2);
    for row in missing {
        assert_eq!((&row["reason"], &row["attempts"]), (&"not in the cache".into(), &0.into()));
        assert_eq!(row["ungraded"]["kind"], "not_judged");
    }
    // The target is not asked either.
    cli.file("suite.yaml", suite(1, &["yes one"], false));
    eval(&cli, &["--cache-only", "--target", "openai:answers-1", "--run-dir", "target"]).expect_code(3);
    assert_eq!(rows(&cli, "target/results.jsonl")[0]["error"]["kind"], "not_cached");
    assert_eq!(server.count(), 4);
    cli.run(&["eval", "suite.yaml", "--cache-only", "--no-cache"]).expect_code(2);
}

#[test]
fn cache_only_needs_no_key_wherever_the_judge_is_named() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(1, &["yes one"], true));
    let targets = [
        "{name: plain, provider: anthropic, model: m}",
        "{name: addressed, provider: openai-compatible, model: m, base_url: 'https://models.example/v1', \
         api_key: '${{ NO_SUCH_KEY }}'}",
    ];
    cli.file("targets.yaml", format!("targets:\n  - {}\n", targets.join("\n  - ")));
    for (judge, folder) in [("anthropic:m", "named"), ("plain", "plain"), ("addressed", "addressed")] {
        let run = ["eval", "suite.yaml", "--judge", judge, "--allow-code"];
        cli.run(&run).expect_code(2);
        cli.run(&[&run[..], &["--cache-only", "--run-dir", folder]].concat()).expect_code(3);
        assert_eq!(rows(&cli, &format!("{folder}/judgements.jsonl"))[0]["reason"], "not in the cache");
    }
    assert_eq!(server.count(), 0);
}

#[test]
fn replies_that_decide_nothing_are_not_kept() {
    type Fault = fn(&MockRequest) -> MockReply;
    let faults: [(&str, Fault); 6] = [
        ("refused", |_| MockReply::Refusal("I would rather not".into())),
        ("cut off", |_| MockReply::finish("length", r#"{"evidence": [], "reason": "r", "outcome": "met"}"#)),
        ("filtered", |_| MockReply::finish("content_filter", "")),
        ("empty", |_| MockReply::text("")),
        ("prose", |_| MockReply::text("Looks good to me!")),
        ("unknown outcome", |_| MockReply::text(r#"{"evidence": [], "reason": "r", "outcome": "maybe"}"#)),
    ];
    for (name, fault) in faults {
        let server = MockServer::start(fault);
        let mut cli = fixture(&server);
        cli.file("suite.yaml", suite(1, &["yes one"], true));
        eval(&cli, &[]).expect_code(3);
        let bought = server.count();
        eval(&cli, &["--cache-only", "--run-dir", "only"]).expect_code(3);
        assert_eq!(rows(&cli, "only/judgements.jsonl")[0]["reason"], "not in the cache", "{name}");
        eval(&cli, &[]).expect_code(3);
        assert_eq!(server.count(), 2 * bought, "{name}");
        // A server that works again is used. (Its address is part of the cache key.)
        let well = MockServer::start(judge);
        cli.env("OPENAI_BASE_URL", well.base_url());
        eval(&cli, &[]).expect_code(0);
        assert_eq!(well.count(), 1, "{name}");
    }
}

#[test]
fn a_repaired_decision_is_found_again() {
    let calls = AtomicUsize::new(0);
    let server = MockServer::start(move |incoming: &MockRequest| {
        if calls.fetch_add(1, Ordering::Relaxed) == 0 { MockReply::text("Hm.") } else { judge(incoming) }
    });
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(1, &["yes one"], true));
    eval(&cli, &[]).expect_code(0);
    assert_eq!(server.count(), 2);
    // The first reply was unusable and is requested again; now it is usable, and stays.
    eval(&cli, &[]).expect_code(0);
    assert_eq!(server.count(), 3);
    eval(&cli, &[]).expect_code(0);
    assert_eq!(server.count(), 3);
}

#[test]
fn what_a_server_refuses_does_not_change_what_is_remembered() {
    // The server accepts no seed: a process learns that from its first call, and later calls look different.
    let server = MockServer::start(|incoming: &MockRequest| {
        if incoming.body["seed"].is_null() { judge(incoming) } else { MockReply::unsupported("seed") }
    });
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(3, CRITERIA, true));
    eval(&cli, &["-j", "1", "--judge-calls", "1"]).expect_code(1);
    let bought = server.count();
    assert_eq!(bought, 9 + 1);
    let output = printed(&eval(&cli, &[]).expect_code(1));
    assert_eq!((server.count(), &output["judge_calls_cached"]), (bought, &9.into()));
}

#[test]
fn batched_calls_are_remembered_whole() {
    let server = MockServer::start(|incoming: &MockRequest| {
        let ids = incoming
            .last_user_text
            .lines()
            .filter_map(|line| line.strip_suffix(": does the answer meet this?"));
        let entry = |id| serde_json::json!({ "id": id, "evidence": [], "reason": "r", "outcome": "met" });
        MockReply::Json(serde_json::json!({ "results": ids.map(entry).collect::<Vec<_>>() }))
    });
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(2, &["yes one", "yes two"], true));
    for calls in [2, 0] {
        let output = printed(&eval(&cli, &["--judging", "batched"]).expect_code(0));
        assert_eq!(
            (&output["judge_calls"], &output["judge_calls_cached"]),
            (&calls.into(), &(2 - calls).into())
        );
    }
    assert_eq!(server.count(), 2);
}

#[test]
fn two_processes_at_once_agree_and_lose_nothing() {
    let server = MockServer::start(|incoming: &MockRequest| model(incoming).after(Duration::from_millis(5)));
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(20, CRITERIA, false));
    std::thread::scope(|scope| {
        for name in ["a", "b", "c"] {
            let cli = &cli;
            scope.spawn(move || {
                eval(cli, &["--target", "openai:answers-1", "--run-dir", name, "-j", "4"]).expect_code(1)
            });
        }
    });
    assert_eq!(decisions(&cli, "a"), decisions(&cli, "b"));
    assert_eq!(decisions(&cli, "a"), decisions(&cli, "c"));
    let bought = server.count();
    assert!((80..=240).contains(&bought), "{bought}");
    let output = printed(&eval(&cli, &["--target", "openai:answers-1", "--run-dir", "d"]).expect_code(1));
    assert_eq!((server.count(), &output["judge_calls_cached"]), (bought, &60.into()));
    assert_eq!(decisions(&cli, "a"), decisions(&cli, "d"));
}

#[test]
fn the_cache_is_counted_pruned_cleared_and_mended() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    let stats = || printed(&cli.run(&["cache", "stats", "--json"]).expect_code(0));
    assert_eq!(stats()["replies"], 0);
    assert!(cli.run(&["cache", "stats"]).expect_code(0).stdout.contains("has no replies"));
    assert!(!cli.path(".assize").exists());
    cli.file("suite.yaml", suite(2, CRITERIA, true));
    eval(&cli, &[]);
    assert_eq!((&stats()["replies"], &stats()["models"][0]["model"]), (&6.into(), &"judge-1".into()));
    assert!(cli.run(&["cache", "stats"]).stdout.contains("judge-1: 6 replies"));
    let deleted = |args: &[&str]| printed(&cli.run(args).expect_code(0))["deleted"].clone();
    assert_eq!(deleted(&["cache", "prune", "--json"]), 0);
    assert_eq!(deleted(&["cache", "clear", "--json"]), 6);
    eval(&cli, &[]);
    assert_eq!(server.count(), 12);
    cli.file(".assize/cache/replies.db", "no database at all, whatever its name says".repeat(100));
    let refused = eval(&cli, &[]).expect_code(2);
    assert!(
        refused.stderr.contains("--no-cache") && refused.stderr.contains("cache clear"),
        "{}",
        refused.stderr
    );
    cli.run(&["cache", "clear"]).expect_code(0);
    eval(&cli, &[]).expect_code(1);
    assert_eq!(server.count(), 18);
}

#[test]
fn a_reply_that_the_disk_changed_is_bought_again_and_said() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(1, &["yes one"], true));
    eval(&cli, &[]).expect_code(0);
    let changed = |from: &[u8], to: &[u8]| {
        let path = cli.path(".assize/cache/replies.db");
        let mut bytes = std::fs::read(&path).unwrap();
        let places: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(from)).collect();
        for at in &places {
            bytes[*at..*at + to.len()].copy_from_slice(to);
        }
        std::fs::write(&path, bytes).unwrap();
        places.len()
    };
    assert!(changed(b"by rule", b"by fool") > 0);
    let only = eval(&cli, &["--cache-only", "--run-dir", "only"]).expect_code(3);
    assert!(only.stderr.contains("is damaged: 1 corrupt"), "{}", only.stderr);
    assert_eq!(rows(&cli, "only/judgements.jsonl")[0]["reason"], "not in the cache");
    eval(&cli, &[]).expect_code(0);
    assert!(changed(b"by rule", b"by fool") > 0);
    let output = eval(&cli, &["--run-dir", "again"]).expect_code(0);
    assert!(output.stderr.contains("is damaged: 1 corrupt"), "{}", output.stderr);
    assert_eq!((server.count(), &rows(&cli, "again/judgements.jsonl")[0]["reason"]), (3, &"by rule".into()));
    // A valid cache has replaced it.
    assert_eq!(eval(&cli, &[]).expect_code(0).stderr, "");
    assert_eq!(server.count(), 3);
}

#[test]
fn what_waits_beside_a_cache_that_was_deleted_by_hand_is_cleared_too() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    let left = ".assize/cache/replies.db-journals/0.journal";
    cli.file(left, "what a dead process had not written");
    let stats = printed(&cli.run(&["cache", "stats", "--json"]).expect_code(0));
    assert_eq!((&stats["replies"], cli.path(left).exists()), (&0.into(), true));
    let cleared = printed(&cli.run(&["cache", "clear", "--json"]).expect_code(0));
    assert_eq!((&cleared["deleted"], cli.path(left).exists()), (&0.into(), false));
}

#[test]
fn a_file_with_broken_pages_is_said_and_can_be_cleared() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(2, CRITERIA, true));
    eval(&cli, &[]).expect_code(1);
    let path = cli.path(".assize/cache/replies.db");
    let mut bytes = std::fs::read(&path).unwrap();
    // All pages except the first, which lists the tables.
    let page = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    bytes[page..].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    // The cache can be neither read nor written, and both must be reported.
    for more in [&["--cache-only"][..], &[]] {
        let stderr = eval(&cli, more).stderr;
        assert!(stderr.contains("is damaged") && stderr.contains("cache clear"), "{stderr}");
    }
    assert_eq!(server.count(), 12);
    let refused = cli.run(&["cache", "stats"]).expect_code(2);
    assert!(refused.stderr.contains("cache clear"), "{}", refused.stderr);
    let cleared = printed(&cli.run(&["cache", "clear", "--json"]).expect_code(0));
    assert_eq!(cleared["deleted"], serde_json::Value::Null);
    for calls in [18, 18] {
        assert_eq!(eval(&cli, &[]).expect_code(1).stderr, "");
        assert_eq!(server.count(), calls);
    }
    let deleted =
        |age| printed(&cli.run(&["cache", "prune", "--older-than", age, "--json"]))["deleted"].clone();
    assert_eq!((deleted("1h"), deleted("0"), deleted("0")), (0.into(), 6.into(), 0.into()));
    assert!(cli.run(&["cache", "prune", "--older-than", "soon"]).expect_code(2).stderr.contains("`7d`"));
}

#[test]
fn neither_key_nor_another_users_eyes() {
    let server = MockServer::start(|incoming: &MockRequest| {
        // A server that sends back its input.
        MockReply::text(format!(
            r#"{{"evidence": [], "reason": "{KEY} {}", "outcome": "met"}}"#,
            incoming.index
        ))
    });
    let mut cli = fixture(&server);
    cli.file("suite.yaml", suite(1, &["yes one"], true));
    eval(&cli, &[]).expect_code(0);
    assert!(is_judging(&server.requests()[0]));
    for file in ["replies.db", "fence.key"] {
        let bytes = std::fs::read(cli.path(".assize/cache").join(file)).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains(KEY), "{file}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(cli.path(".assize/cache/fence.key")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    // Another key asks the same question.
    cli.env("OPENAI_API_KEY", "sk-another-0123456789");
    eval(&cli, &[]).expect_code(0);
    assert_eq!(server.count(), 1);
}
