//! Requests are exported, answered elsewhere, and their replies imported: the same run, without sending requests.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};

use assize_testkit::cli::CliTest;
use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use serde_json::{Value, json};

use crate::runs::support::{decisions, eval, fixture, judge, model, printed, rows, suite};

const CRITERIA: &[&str] = &["yes one", "no two", "yes three"];

/// Sends a body to the chat completions of a server; returns status and body of the reply.
fn post(server: &MockServer, body: &Value) -> (u16, Value) {
    let address =
        server.base_url().trim_start_matches("http://").split('/').next().expect("a host").to_owned();
    let body = body.to_string();
    let mut stream = TcpStream::connect(&address).expect("a connection");
    write!(
        stream,
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
    .expect("sent");

    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a body");
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    (status, serde_json::from_str(body).unwrap_or(Value::Null))
}

/// Answers a file of requests like a batch server: each line once, in another order, failures in a separate
/// file.
fn answer(cli: &CliTest, server: &MockServer, requests: &str, replies: &str) {
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    for line in rows(cli, requests) {
        assert_eq!((&line["method"], &line["url"]), (&"POST".into(), &"/v1/chat/completions".into()));
        assert_eq!(line["custom_id"].as_str().map(str::len), Some(64));

        let (status, body) = post(server, &line["body"]);
        let response = json!({ "status_code": status, "request_id": "r", "body": body });
        let reply = json!({ "id": "batch_req_1", "custom_id": line["custom_id"], "response": response, "error": null });
        if status == 200 { &mut good } else { &mut bad }.push(format!("{reply}\n"));
    }
    good.reverse();

    cli.file(replies, good.concat());
    cli.file(format!("{replies}.errors"), bad.concat());
}

/// The decision rows, without time-dependent parts.
fn judged(cli: &CliTest, folder: &str) -> Vec<Value> {
    let mut rows = rows(cli, &format!("{folder}/judgements.jsonl"));
    for row in &mut rows {
        for key in ["crc", "latency_ms"] {
            row.as_object_mut().expect("an object").remove(key);
        }
    }
    rows.sort_by_key(|row| format!("{} {}", row["case_id"], row["criterion"]["id"]));
    rows
}

#[test]
fn rounds_of_files_lead_to_the_run_that_a_server_would_have_given() {
    let server = MockServer::start(model);
    let live = fixture(&server);
    live.file("suite.yaml", suite(4, CRITERIA, false));
    let target = ["--target", "openai:answers-1", "--run-dir", "run"];
    let first = printed(&eval(&live, &target).expect_code(1));

    let cli = fixture(&server);
    cli.file("suite.yaml", suite(4, CRITERIA, false));
    // The same prompts, since fences are derived from this key.
    cli.file(".assize/cache/fence.key", std::fs::read(live.path(".assize/cache/fence.key")).expect("a key"));
    let sent = server.count();
    let target = ["--target", "openai:answers-1"];

    let round =
        printed(&eval(&cli, &[&target[..], &["--export-requests", "1.jsonl"]].concat()).expect_code(0));
    assert_eq!(
        (&round["requests"], &round["complete"], &round["waiting"]),
        (&4.into(), &0.into(), &4.into())
    );
    answer(&cli, &server, "1.jsonl", "1.out");

    let second = ["--import-replies", "1.out", "--export-requests", "2.jsonl"];
    let round = printed(&eval(&cli, &[&target[..], &second].concat()).expect_code(0));
    assert_eq!((&round["requests"], &round["import"]["used"]), (&12.into(), &4.into()));
    answer(&cli, &server, "2.jsonl", "2.out");
    let exchanged = server.count();
    assert_eq!(exchanged - sent, 16);

    let last = ["--import-replies", "2.out", "--import-replies", "1.out", "--run-dir", "run"];
    let output = printed(&eval(&cli, &[&target[..], &last].concat()).expect_code(1));
    assert_eq!(decisions(&live, "run"), decisions(&cli, "run"));
    assert_eq!((judged(&live, "run").len(), &output["metrics"]), (12, &first["metrics"]));
    for (live, imported) in judged(&live, "run").iter().zip(judged(&cli, "run")) {
        assert_eq!((&live["tokens"], &live["attempts"]), (&imported["tokens"], &imported["attempts"]));
        assert_eq!(live["replies"], imported["replies"]);
    }
    let row = &rows(&cli, "run/judgements.jsonl")[0];
    assert!(row["latency_ms"].is_null(), "nobody knows how long a batch took: {row}");

    // The imported replies are in the cache.
    let again = printed(&eval(&cli, &[&target[..], &["--cache-only"]].concat()).expect_code(1));
    assert_eq!(again["judge_calls_cached"], 12);
    let nothing =
        printed(&eval(&cli, &[&target[..], &["--export-requests", "3.jsonl"]].concat()).expect_code(0));
    assert_eq!((&nothing["requests"], &nothing["complete"]), (&0.into(), &4.into()));
    assert_eq!((cli.read("3.jsonl").as_str(), server.count()), ("", exchanged));
}

#[test]
fn an_export_needs_no_key_stores_no_run_and_writes_only_openais_format() {
    let mut cli = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    cli.file("suite.yaml", suite(2, CRITERIA, true));
    let export = ["--export-requests", "out.jsonl"];
    let text =
        cli.run(&["eval", "suite.yaml", "--judge", "openai:judge-1", "--export-requests", "out.jsonl"]);
    let text = text.expect_code(0).stdout;
    assert!(text.contains("out.jsonl: 6 requests to openai:judge-1"), "{text}");
    assert!(text.contains("results: 0 complete, 2 waiting for replies"), "{text}");
    assert!(!cli.path(".assize/runs").exists());

    let line = &rows(&cli, "out.jsonl")[0];
    assert_eq!((&line["body"]["model"], line["body"]["messages"].is_array()), (&"judge-1".into(), true));
    let left = std::fs::read_dir(cli.dir()).expect("a folder").filter_map(Result::ok);
    assert!(left.into_iter().all(|file| !file.file_name().to_string_lossy().ends_with("assize-new")));

    cli.env("ANTHROPIC_API_KEY", "sk-ant-0123456789");
    let refused =
        cli.run(&[&["eval", "suite.yaml", "--judge", "anthropic:j"], &export[..]].concat()).expect_code(2);
    assert!(
        refused.stderr.contains("requests to anthropic:j are not in OpenAI's chat format"),
        "{}",
        refused.stderr
    );
    let refused = eval(&cli, &["--export-requests", "no/such/folder/x.jsonl"]).expect_code(2);
    assert!(refused.stderr.contains("can't be written"), "{}", refused.stderr);
    eval(&cli, &["--no-cache", "--export-requests", "x.jsonl"]).expect_code(2);
    let refused = eval(&cli, &["--import-replies", "nothing.jsonl"]).expect_code(2);
    assert!(refused.stderr.contains("can't read"), "{}", refused.stderr);
}

#[test]
fn an_export_replaces_earlier_exports_and_no_other_file() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    let text = suite(2, CRITERIA, true);
    cli.file("suite.yaml", &text);
    for _ in 0..2 {
        eval(&cli, &["--export-requests", "1.jsonl"]).expect_code(0);
    }
    answer(&cli, &server, "1.jsonl", "1.out");
    let replies = cli.read("1.out");
    cli.file("notes.openai-judge-2.jsonl", "notes\n");

    let of_two = ["--export-requests", "notes.jsonl", "--judge", "openai:judge-2"];
    for (more, file, kept) in [
        (&["--import-replies", "1.out", "--export-requests", "1.out"][..], "1.out", replies.as_str()),
        (&["--export-requests", "suite.yaml"], "suite.yaml", &text),
        (&of_two, "notes.openai-judge-2.jsonl", "notes\n"),
    ] {
        let refused = eval(&cli, more).expect_code(2);
        assert!(refused.stderr.contains("exists and is no earlier export"), "{file}: {}", refused.stderr);
        assert_eq!(cli.read(file), kept, "{file}");
    }
    let names = std::fs::read_dir(cli.dir()).expect("a folder").filter_map(Result::ok);
    let names: Vec<String> = names.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    assert!(!names.iter().any(|name| name.contains("assize-new") || name.contains("judge-1")), "{names:?}");

    // The last round has no requests, and its file is overwritten too.
    cli.file("1.jsonl", "");
    eval(&cli, &["--export-requests", "1.jsonl"]).expect_code(0);
}

#[test]
fn each_judge_of_a_panel_has_its_own_file() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(2, &["yes one"], true));
    let panel = ["--judge", "openai:judge/2", "--judge-repeats", "2"];
    let round =
        printed(&eval(&cli, &[&panel[..], &["--export-requests", "out.jsonl"]].concat()).expect_code(0));

    let paths: Vec<&str> = round["files"]
        .as_array()
        .expect("files")
        .iter()
        .map(|file| file["path"].as_str().expect("a path"))
        .collect();
    assert!(
        paths[0].ends_with("out.openai-judge-1.jsonl") && paths[1].ends_with("out.openai-judge-2.jsonl"),
        "{paths:?}"
    );
    for (file, replies) in [("out.openai-judge-1.jsonl", "a"), ("out.openai-judge-2.jsonl", "b")] {
        assert_eq!(rows(&cli, file).len(), 4);
        answer(&cli, &server, file, replies);
    }

    let import = ["--import-replies", "a", "--import-replies", "b"];
    let output = printed(&eval(&cli, &[&panel[..], &import].concat()).expect_code(0));
    assert_eq!((&output["counts"]["pass"], &output["judge_calls"]), (&2.into(), &8.into()));
}

#[test]
fn a_stronger_judge_waits_for_the_doubts_of_the_others() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(1, &["yes one"], true));
    let panel = ["--escalate", "openai:strong", "--export-requests", "out.jsonl"];
    let round = printed(&eval(&cli, &panel).expect_code(0));
    let models: Vec<&Value> =
        round["files"].as_array().expect("files").iter().map(|file| &file["model"]).collect();
    assert_eq!(models, ["openai:judge-1"]);
}

#[test]
fn an_unusable_reply_is_repaired_in_the_next_round() {
    let asked = AtomicUsize::new(0);
    let server =
        MockServer::start(move |request: &MockRequest| match asked.fetch_add(1, Ordering::Relaxed) {
            0 => MockReply::text("I would say yes."),
            _ => judge(request),
        });
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(1, &["yes one"], true));

    eval(&cli, &["--export-requests", "1.jsonl"]).expect_code(0);
    answer(&cli, &server, "1.jsonl", "1.out");
    let round =
        printed(&eval(&cli, &["--import-replies", "1.out", "--export-requests", "2.jsonl"]).expect_code(0));
    assert_eq!((&round["requests"], &round["import"]["used"]), (&1.into(), &1.into()));
    assert_ne!(rows(&cli, "1.jsonl")[0]["custom_id"], rows(&cli, "2.jsonl")[0]["custom_id"]);

    answer(&cli, &server, "2.jsonl", "2.out");
    let output =
        printed(&eval(&cli, &["--import-replies", "1.out", "--import-replies", "2.out"]).expect_code(0));
    assert_eq!(
        (&output["counts"]["pass"], &output["judge_calls"], server.count()),
        (&1.into(), &2.into(), 2)
    );
}

#[test]
fn a_parameter_that_the_server_refuses_is_left_out_in_the_next_round() {
    let server = MockServer::start(|request: &MockRequest| {
        if request.body.get("temperature").is_some_and(|t| !t.is_null()) {
            let error = json!({ "error": {
                "message": "Unsupported value: 'temperature' does not support 0 with this model.",
                "type": "invalid_request_error", "param": "temperature", "code": "unsupported_value",
            }});
            return MockReply::Status { code: 400, headers: Vec::new(), body: error.to_string() };
        }
        judge(request)
    });
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(2, &["yes one"], true));

    eval(&cli, &["--export-requests", "1.jsonl"]).expect_code(0);
    answer(&cli, &server, "1.jsonl", "1.out");
    let round =
        ["--import-replies", "1.out", "--import-replies", "1.out.errors", "--export-requests", "2.jsonl"];
    let round = printed(&eval(&cli, &round).expect_code(0));
    assert_eq!((&round["requests"], &round["import"]["failed"]["count"]), (&2.into(), &2.into()));

    answer(&cli, &server, "2.jsonl", "2.out");
    let import = ["--import-replies", "1.out.errors", "--import-replies", "2.out"];
    let output = printed(&eval(&cli, &import).expect_code(0));
    assert_eq!(output["counts"]["pass"], 2);
}

#[test]
fn hostile_files_are_counted_line_by_line_and_decide_nothing() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(3, &["yes one"], true));
    eval(&cli, &["--export-requests", "1.jsonl"]).expect_code(0);
    answer(&cli, &server, "1.jsonl", "1.out");
    let good: Vec<String> = cli.read("1.out").lines().map(str::to_owned).collect();
    let id = |line: &str| serde_json::from_str::<Value>(line).expect("JSON")["custom_id"].clone();

    let foreign =
        json!({ "custom_id": "f".repeat(64), "response": { "status_code": 200, "body": {} } }).to_string();
    let expired = json!({ "custom_id": id(&good[1]), "response": null,
        "error": { "code": "batch_expired", "message": "too late\u{1b}[2J\n::error::x" } })
    .to_string();
    let lines = [
        good[0].as_str(),
        &good[0],
        "",
        "[]",
        r#"{"custom_id": 7}"#,
        "{\"custom_id\": \"\\u001b[31mred\", \"response\": null}",
        &foreign,
        &expired,
        &good[2].replace("choices", "chances"),
        &good[2][..good[2].len() / 2],
    ];
    cli.file("bad.jsonl", lines.join("\n"));

    let output = cli
        .run(&[
            "eval", "suite.yaml", "--judge", "openai:judge-1", "--import-replies", "bad.jsonl", "--run-dir",
            "run", "--json",
        ])
        .expect_code(3);
    let stderr = &output.stderr;
    assert!(stderr.contains("replies imported: 1; requests without a reply: 2"), "{stderr}");
    for part in [
        "requests that failed: 2 (",
        "); they stay open",
        "; requests without a reply in other lines stay open",
        "too late",
        "lines that can't be read: 3 (",
        "bad.jsonl:10: the line is cut off",
        "lines with an unknown `custom_id`: 1 (bad.jsonl:6:",
        "replies to a request that had one before: 1 (",
        "replies to no request of this run",
    ] {
        assert!(stderr.replace('\n', " ").contains(part), "{part}\n{stderr}");
    }
    assert!(
        !stderr.contains('\u{1b}') && !stderr.lines().any(|line| line.starts_with("::error")),
        "{stderr}"
    );
    let counts = &printed(&output)["counts"];
    assert_eq!((&counts["pass"], &counts["incomplete"]), (&1.into(), &2.into()));

    // A reply after an error counts, not the error.
    cli.file("late.jsonl", [expired.as_str(), &good[1], &good[2], &good[0]].join("\n"));
    let output = printed(&eval(&cli, &["--import-replies", "late.jsonl"]).expect_code(0));
    assert_eq!(output["counts"]["pass"], 3);
    assert_eq!(server.count(), 3);
}

#[test]
fn a_reply_after_an_answer_that_is_none_is_the_one_that_counts() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(1, &["yes one"], true));
    eval(&cli, &["--export-requests", "1.jsonl"]).expect_code(0);
    answer(&cli, &server, "1.jsonl", "good.out");
    cli.file("odd.out", cli.read("good.out").replace("choices", "chances"));

    // Its request stays open, so the next export contains it, and it is answered again.
    let output = eval(&cli, &["--import-replies", "odd.out"]).expect_code(3);
    let stderr = output.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(stderr.contains("requests that failed: 1 (") && stderr.contains("); they stay open"), "{stderr}");
    let both = ["--import-replies", "odd.out", "--import-replies", "good.out"];
    let output = printed(&eval(&cli, &both).expect_code(0));
    assert_eq!(output["counts"]["pass"], 1, "{output}");
}

#[test]
fn advice_about_imported_replies_can_be_followed_by_whoever_imports_them() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(5, &["yes one"], true));
    eval(&cli, &["--export-requests", "1.jsonl"]).expect_code(0);
    let lines: Vec<String> = rows(&cli, "1.jsonl")
        .iter()
        .zip([429, 401, 404, 504, 403])
        .map(|(line, status)| {
            let body = json!({"error": {"message": format!("refused with {status}")}});
            let response = json!({"status_code": status, "body": body});
            json!({"custom_id": line["custom_id"], "response": response, "error": null}).to_string()
        })
        .collect();
    cli.file("failed.out", lines.join("\n"));

    let words = ["eval", "suite.yaml", "--judge", "openai:judge-1", "--import-replies", "failed.out"];
    let output = cli.run(&words).expect_code(3);
    let said = format!("{} {}", output.stdout, output.stderr);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "refused with 429",
        "refused with 401",
        "requests without a reply: 5 (this command with `--export-requests FILE` writes them)",
        "--export-requests FILE",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    for part in [
        "--max-concurrency", "The key comes from", "Check the model name", "The limit is", "has credit",
        "with a judge",
    ] {
        assert!(!said.contains(part), "{part}: {said}");
    }
}
