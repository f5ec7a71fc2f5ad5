//! `serve`: the printed address, refusals, shutdown under load, and the reward loop of the documentation.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use assize_testkit::cli::CliTest;
use assize_testkit::mock::{MockRequest, MockServer, rule};
use serde_json::{Value, json};

use crate::e2e::bench::cli;

/// Starts the server and returns it with the address it prints.
fn start(cli: &CliTest, arguments: &[&str]) -> (Child, String) {
    let mut command = cli.command(&[&["serve", "--listen", "127.0.0.1:0"], arguments].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the server starts");
    let mut url = String::new();
    let stdout = child.stdout.as_mut().expect("its output is read");
    BufReader::new(stdout).read_line(&mut url).expect("it prints its address");

    (child, url.trim().to_owned())
}

/// Sends a request to grade, and returns the reply.
fn grade(url: &str, headers: &str, body: &Value) -> String {
    let host = url.strip_prefix("http://").expect("an address");
    let mut stream = TcpStream::connect(host).expect("the server listens");
    let body = body.to_string();
    let head = format!(
        "POST /v1/grade HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    write!(stream, "{head}{body}").expect("it reads");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).expect("it answers");

    reply
}

fn terminate(child: &Child) {
    let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(killed.is_ok_and(|status| status.success()), "kill is there");
}

#[test]
fn a_key_made_by_the_command_opens_the_server() {
    let cli = cli();
    let made = cli.run(&["serve", "key", "new", "trainer", "--keys", "keys.json"]).expect_code(0);
    let key = made.stdout.trim().to_owned();
    assert!(key.starts_with("assize_sk_") && made.stderr.contains("shown once"), "{made:?}");
    assert!(!cli.read("keys.json").contains(&key));
    cli.run(&["serve", "key", "new", "watch", "--operator", "--keys", "keys.json"]).expect_code(0);
    assert_eq!(
        cli.run(&["serve", "key", "list", "--keys", "keys.json"]).stdout,
        "trainer  no limits\nwatch  no limits, operator\n"
    );

    let (mut child, url) = start(&cli, &["--keys", "keys.json", "--judge", "offline"]);
    let body = json!({"rubric": ["mentions apples"], "samples": [{"output": "it mentions apples"}]});
    assert!(grade(&url, "", &body).starts_with("HTTP/1.1 401"));
    let reply = grade(&url, &format!("Authorization: Bearer {key}\r\n"), &body);
    assert!(reply.starts_with("HTTP/1.1 200") && reply.contains("\"reward\":1.0"), "{reply}");

    terminate(&child);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn what_cannot_be_served_is_refused_at_once() {
    let cli = cli();
    cli.file("rubrics/a.yaml", "- a\n");
    for (arguments, words) in [
        (&["--listen", "0.0.0.0:0"][..], "assize serve key new NAME"),
        (&["--listen", "203.0.113.1:8418", "--keys", "none.json", "--behind-proxy"], "203.0.113.1:8418"),
        (&["--listen", "127.0.0.1:0", "--keys", "none.json"], "can't read"),
        (&["--listen", "127.0.0.1:0", "--rubrics", "nowhere"], "nowhere"),
        (&["--listen", "127.0.0.1:0", "--judge", "nonsense"], "judge `nonsense`"),
        (&["--listen", "127.0.0.1:0", "--judge", "openai:gpt-4o-mini"], "OPENAI_API_KEY"),
        (&["--listen", "127.0.0.1:0", "--tls-cert", "c.pem", "--tls-key", "k.pem"], "c.pem"),
        (&["--listen", "here"], "--listen"),
    ] {
        let output = cli.run(&[&["serve"], arguments].concat()).expect_code(2);
        assert!(output.stderr.contains(words), "{arguments:?}: {}", output.stderr);
    }
    assert!(cli.run(&["serve", "key", "new", "../x"]).expect_code(2).stderr.contains("can't be used"));
    assert!(cli.run(&["serve", "key", "remove", "x"]).expect_code(2).stderr.contains("can't read"));
}

#[test]
fn each_sample_that_was_accepted_is_answered_when_the_server_is_told_to_stop() {
    let model = MockServer::start(|request: &MockRequest| {
        let is_slow = request.last_user_text.contains("slow");
        rule::judge(request).after(Duration::from_millis(if is_slow { 60_000 } else { 200 }))
    });
    let mut cli = cli();
    cli.env("OPENAI_API_KEY", "sk-test-0123456789abcdef").env("OPENAI_BASE_URL", model.base_url());
    // So many at once that the others don't wait behind the slow ones for longer than the grace.
    let options = ["--judge", "openai:judge-1", "--no-cache", "--workers", "80", "--grace", "1s"];
    let (mut child, url) = start(&cli, &options);

    let clients: Vec<_> = (0..6)
        .map(|client| {
            let url = url.clone();
            std::thread::spawn(move || {
                let answer = |sample: usize| {
                    if client == 5 { format!("slow {sample}") } else { format!("{client} {sample}") }
                };
                let samples: Vec<Value> = (0..20).map(|sample| json!({"output": answer(sample)})).collect();
                grade(&url, "", &json!({"rubric": ["yes"], "samples": samples}))
            })
        })
        .collect();
    while model.count() < 60 {
        std::thread::sleep(Duration::from_millis(10));
    }
    terminate(&child);

    for (client, reply) in
        clients.into_iter().map(|client| client.join().expect("it has a reply")).enumerate()
    {
        let (head, body) = reply.split_once("\r\n\r\n").expect("a reply");
        // A request after the signal is refused as a whole.
        if !head.starts_with("HTTP/1.1 200") {
            assert!(head.starts_with("HTTP/1.1 503"), "{reply}");
            continue;
        }
        let json: Value = serde_json::from_str(body).expect("JSON");
        let (graded, ungraded) = if client == 5 { (0, 20) } else { (20, 0) };
        assert_eq!(
            (&json["summary"]["graded"], &json["summary"]["ungraded"]),
            (&json!(graded), &json!(ungraded))
        );
        assert_eq!(json["results"].as_array().map(Vec::len), Some(20));
    }
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn the_reward_loop_of_the_documentation_learns_the_best_answer() {
    if Command::new("python3").arg("--version").output().is_err() {
        // Not through the test harness, which hides the output of passing tests.
        let message = b"SKIPPED the reward loop of docs/training.md: there is no python3\n";
        std::io::Write::write_all(&mut std::io::stderr(), message).expect("stderr is there");
        return;
    }

    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/training.md")).expect("the page is there");
    let cli = cli();
    cli.copy_folder(&root.join("examples/training"), "examples/training");
    let (mut child, url) = start(&cli, &["--rubrics", "examples/training/rubrics", "--judge", "offline"]);

    let script = cli.path("examples/training/loop.py");
    let output = Command::new("python3").arg(script).arg(&url).output().expect("python3 runs the example");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    assert!(
        told.contains("learned: Refunds are possible within 30 days; please send the receipt."),
        "{told}"
    );
    for line in page.lines().filter(|line| line.starts_with("step ")) {
        assert!(told.lines().any(|printed| printed == line), "the page shows `{line}`:\n{told}");
    }

    child.kill().expect("it can be ended");
    child.wait().expect("it ends");
}

#[test]
fn values_of_the_environment_in_files_of_the_server_need_consent() {
    let mut cli = cli();
    cli.env("GITHUB_TOKEN", "ghp-0123456789abcdef");
    let target = "targets: [{name: t, provider: openai, model: m, base_url: 'http://192.0.2.7:9/v1', api_key: '${{ GITHUB_TOKEN }}'}]\n";
    cli.file(".assize/targets.yaml", target);
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--judge", "t"];
    let mut child = start(&cli, &["--judge", "t"]).0;
    child.kill().expect("it runs");
    child.wait().expect("it ends");

    cli.without_consent();
    let refused = cli.run(&arguments).expect_code(2).stderr;
    assert!(refused.contains("sends GITHUB_TOKEN to http://192.0.2.7:9"), "{refused}");
}
