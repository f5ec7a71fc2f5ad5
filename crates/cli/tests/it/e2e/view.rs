//! `view`: the printed address, refusals, and shutdown.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use assize_testkit::cli::CliTest;

use crate::e2e::bench::cli;

const SUITE: &str = "name: good\ntests:\n- id: a\n  criteria: x\n  input: q\n  output: apples\n  assertions: [{type: contains, value: apples}]\n";

/// Starts the server and returns it with the address it prints.
pub(crate) fn start(cli: &CliTest, arguments: &[&str]) -> (Child, String) {
    let mut command = cli.command(&[&["view", "--no-open", "--port", "0"], arguments].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the server starts");
    let mut url = String::new();
    let stdout = child.stdout.as_mut().expect("its output is read");
    BufReader::new(stdout).read_line(&mut url).expect("it prints its address");

    (child, url.trim().to_owned())
}

/// The head of the reply to a request without a cookie.
pub(crate) fn visit(url: &str) -> String {
    let rest = url.strip_prefix("http://").expect("an address");
    let (host, path) = rest.split_once('/').expect("a path");
    let mut stream = TcpStream::connect(host).expect("the server listens");
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").expect("it reads");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).expect("it answers");

    reply
}

#[test]
fn the_address_leads_to_the_run_and_ends_with_the_server() {
    let cli = cli();
    cli.file("good.yaml", SUITE);
    cli.run(&["eval", "good.yaml", "--run-dir", "first"]).expect_code(0);
    cli.run(&["eval", "good.yaml", "--run-dir", "second"]).expect_code(0);

    for (runs, start_of_path) in [
        (vec!["first"], "/runs/first?token="),
        (vec!["first", "second"], "/compare?base=first&candidate=second&token="),
        (vec![], "/?token="),
    ] {
        let (mut child, url) = start(&cli, &runs);
        assert!(url.starts_with("http://127.0.0.1:") && url.contains(start_of_path), "{url}");
        let reply = visit(&url);
        assert!(reply.starts_with("HTTP/1.1 303"), "{reply}");
        let without = url.split("token=").next().expect("a part before").trim_end_matches(['?', '&']);
        assert!(visit(without).starts_with("HTTP/1.1 403"), "{without}");

        child.kill().expect("it can be ended");
        child.wait().expect("it ends");
    }
}

#[test]
fn what_cannot_be_served_is_refused_at_once() {
    let mut cli = cli();
    let output = cli.run(&["view", "nope", "--no-open"]).expect_code(2);
    assert!(output.stderr.contains("no run `nope`"), "{}", output.stderr);

    let output = cli.run(&["view", "--no-open", "--host", "0.0.0.0"]).expect_code(2);
    assert!(output.stderr.contains("ASSIZE_VIEW_TOKEN"), "{}", output.stderr);
    let output = cli.run(&["view", "--no-open", "--host", "elsewhere"]).expect_code(2);
    assert!(output.stderr.contains("--host"), "{}", output.stderr);

    cli.env("ASSIZE_VIEW_TOKEN", "short");
    cli.run(&["view", "--no-open", "--host", "0.0.0.0"]).expect_code(2);
    cli.env("ASSIZE_VIEW_TOKEN", "a-token-that-is-long");
    let output = cli.run(&["view", "--no-open", "--host", "0.0.0.0"]).expect_code(2);
    assert!(
        output.stderr.contains("unencrypted") && output.stderr.contains("--behind-proxy"),
        "{}",
        output.stderr
    );
    cli.file("no.pem", "nothing");
    let certified = ["--host", "0.0.0.0", "--tls-cert", "no.pem", "--tls-key", "no.pem"];
    let output = cli.run(&[&["view", "--no-open"], &certified[..]].concat()).expect_code(2);
    assert!(output.stderr.contains("holds none in PEM"), "{}", output.stderr);
    for (option, missing) in [("--tls-cert", "--tls-key"), ("--behind-proxy", "--name")] {
        let arguments = ["view", "--no-open", option, "no.pem"];
        let output = cli.run(&arguments[..if option == "--tls-cert" { 4 } else { 3 }]).expect_code(2);
        assert!(output.stderr.contains(missing), "{}", output.stderr);
    }
    cli.env("ASSIZE_VIEW_TOKEN", "a token; with=signs");
    let output = cli.run(&["view", "--no-open"]).expect_code(2);
    assert!(output.stderr.contains("letters, digits"), "{}", output.stderr);
}

/// Sends a request like a script of the pages; returns the reply.
pub(crate) fn send(host: &str, cookie: &str, method: &str, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(host).expect("the server listens");
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nCookie: {cookie}\r\nX-Assize-Page: 1\r\n\
         Sec-Fetch-Site: same-origin\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    )
    .expect("it reads");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).expect("it answers");
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");

    reply
}

/// The text between two others.
pub(crate) fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    let rest = text.split_once(before).unwrap_or_else(|| panic!("{before} in {text}")).1;
    rest.split(after).next().expect("a first part")
}

#[test]
fn a_review_of_its_pages_leaves_the_list_that_a_review_in_a_terminal_leaves() {
    let cli = cli();
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    cli.copy_folder(&examples.join("scorecard"), "card");
    cli.run(&["scorecard", "run", "card", "--run-dir", "run"]).expect_code(1);
    let list = || std::fs::read_to_string(cli.path("run/review.jsonl")).expect("the run has a list");
    let before = list();

    let (mut child, url) = start(&cli, &["run"]);
    let host = between(&url, "http://", "/").to_owned();
    let cookie = between(&visit(&url), "set-cookie: ", ";").to_owned();
    let choice = r#"{"who": "zoe", "what": "queue", "criterion": "S-DOC1"}"#;
    let begun = send(&host, &cookie, "POST", "/runs/run/review", choice);
    let (cookie, review) = (between(&begun, "set-cookie: ", ";"), between(&begun, "\"next\":\"", "\""));
    let items = send(&host, cookie, "GET", &format!("{review}/items"), "");
    let decision = format!(r#"{{"item": "{}", "label": "5"}}"#, between(&items, "?item=", "\""));
    send(&host, cookie, "POST", &format!("{review}/decide"), &decision);
    assert_eq!(list(), before, "labels are the record; the list follows when the review is left");
    send(&host, cookie, "POST", &format!("{review}/leave"), "");
    child.kill().expect("it can be ended");
    child.wait().expect("it ends");

    let after = list();
    assert_eq!(after.lines().count() + 1, before.lines().count(), "{after}");
    cli.run(&["scorecard", "score", "run"]).expect_code(1);
    assert_eq!(list(), after);
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_well() {
    let cli = cli();
    let (mut child, _) = start(&cli, &[]);
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(killed.expect("kill can be run").success());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}
