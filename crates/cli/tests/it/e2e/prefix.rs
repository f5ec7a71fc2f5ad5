//! The common part of all calls about an answer is identical on the wire, byte for byte, so that providers can
//! cache it.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use assize_testkit::cli::CliTest;
use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use serde_json::json;

use crate::e2e::bench::{FORMATS, Format, KEY, cli};
use crate::e2e::judge::JudgeRequest;

/// The end of the answer, which is the last text that calls share. JSON does not escape any of its characters.
const END: &str = "<<end of the answer>>";

/// A criterion of the suite; `{at}` is its number.
const CRITERION: &str = "    - {id: c{at}, outcome: 'Criterion {at}'}\n";

fn met() -> MockReply {
    MockReply::Json(json!({ "evidence": [], "reason": "so", "outcome": "met" }))
}

/// A suite of one case with a long answer, and the binary with the format's server.
fn fixture((model, key, address): Format, server: &MockServer, criteria: usize) -> (CliTest, String) {
    let mut cli = cli();
    cli.env(key, KEY).env(address, server.base_url());
    let list: String = (0..criteria).map(|at| CRITERION.replace("{at}", &at.to_string())).collect();
    cli.file(
        "s.yaml",
        format!(
            "name: s\ntests:\n- id: one\n  criteria: x\n  input: q\n  output: '{}{END}'\n  assertions:\n  \
             - type: rubrics\n    criteria:\n{list}",
            "words and ünïcode ".repeat(400)
        ),
    );
    (cli, model.to_owned())
}

/// The bodies that a run with this many repeats sends.
fn bodies(server: &MockServer) -> Vec<String> {
    server.requests().into_iter().map(|sent| String::from_utf8(sent.body).expect("UTF-8")).collect()
}

#[test]
fn criteria_and_repeats_begin_alike_in_every_format() {
    for format in FORMATS {
        let server = MockServer::start(|_: &MockRequest| met());
        let (cli, model) = fixture(format, &server, 3);
        cli.run(&["eval", "s.yaml", "--judge", &model, "--judge-repeats", "2", "--quiet"]).expect_code(0);
        let bodies = bodies(&server);
        assert_eq!(bodies.len(), 6, "{model}");
        let end = bodies[0].find(END).unwrap_or_else(|| panic!("{model}: {}", bodies[0])) + END.len();
        for body in &bodies {
            assert_eq!(body[..end], bodies[0][..end], "{model}");
            assert!(body[end..].contains("Criterion"), "{model}: the criterion comes after what is shared");
        }
        // The token of the fences around the answer is the same in all of them as well.
        let fence = bodies[0]
            .split("[[BEGIN answer ")
            .nth(1)
            .and_then(|rest| rest.split("]]").next())
            .expect("a fence");
        for body in &bodies {
            assert!(body.contains(&format!("[[END answer {fence}]]")), "{model}");
        }
    }
}

#[test]
fn the_first_call_is_awaited_where_later_ones_profit_and_only_there() {
    let arrivals: Arc<Mutex<Vec<Instant>>> = Arc::default();
    let noted = Arc::clone(&arrivals);
    let wait = Duration::from_millis(120);
    let server = MockServer::start(move |_: &MockRequest| {
        noted.lock().expect("not poisoned").push(Instant::now());
        met().after(wait)
    });
    for (format, model, mark) in [
        (FORMATS[3], "anthropic:j", "cache_control"),
        (FORMATS[6], "bedrock:eu.anthropic.claude-j-v1:0", "cachePoint"),
    ] {
        let (cli, _) = fixture(format, &server, 3);
        cli.run(&["eval", "s.yaml", "--judge", model, "--judge-repeats", "2", "--no-cache", "--quiet"])
            .expect_code(0);
        let times = std::mem::take(&mut *arrivals.lock().expect("not poisoned"));
        assert_eq!(times.len(), 6, "{model}");
        assert!(times[1].duration_since(times[0]) >= wait, "the others wait for the first reply: {model}");
        let bodies = bodies(&server);
        assert!(bodies[bodies.len() - 6..].iter().all(|body| body.contains(mark)), "{model}");
    }

    for (more, calls) in [(&["--warm-up", "never"][..], 3), (&["--judging", "batched"], 1)] {
        let server = MockServer::start(|incoming: &MockRequest| {
            let request = JudgeRequest::of_text(&incoming.last_user_text).expect("a judge's question");
            MockReply::Json(request.reply(|_| json!({ "evidence": [], "reason": "so", "outcome": "met" })))
        });
        let (cli, model) = fixture(FORMATS[3], &server, 3);
        cli.run(&[&["eval", "s.yaml", "--judge", &model, "--quiet"], more].concat()).expect_code(0);
        assert_eq!(server.count(), calls, "{more:?}");
        // A cache mark costs a fee that only a later call can save.
        assert!(bodies(&server).iter().all(|body| !body.contains("cache_control")), "{more:?}");
    }
}

#[test]
fn replies_are_found_again_whether_or_not_a_prefix_was_marked() {
    let server = MockServer::start(|_: &MockRequest| met());
    let (cli, model) = fixture(FORMATS[3], &server, 2);
    cli.run(&["eval", "s.yaml", "--judge", &model, "--quiet"]).expect_code(0);
    cli.run(&["eval", "s.yaml", "--judge", &model, "--quiet", "--warm-up", "never"]).expect_code(0);
    assert_eq!(server.count(), 2);
}

/// The form of each call in order of arrival, and whether it marks its shared part.
fn arrivals(server: &MockServer) -> Vec<(&'static str, bool)> {
    let marked = |body: &str| body.contains("cache_control") || body.contains("cachePoint");
    let form = |body: &str| if body.contains(r#""enum":[0,1"#) { "score" } else { "outcome" };
    bodies(server).iter().map(|body| (form(body), marked(body))).collect()
}

#[test]
fn calls_with_another_reply_schema_find_nothing_so_each_form_has_a_first_one() {
    const BANDED: &str =
        "    - {id: b{at}, outcome: 'Criterion {at}', score_ranges: {0: none, 5: some, 8: all}}\n";
    let script = |incoming: &MockRequest| {
        let scored = incoming.body.to_string().contains(r#""enum":[0,1"#);
        let said = if scored {
            json!({ "evidence": [], "reason": "so", "score": 9 })
        } else {
            json!({ "evidence": [], "reason": "so", "outcome": "met" })
        };
        // Long enough that a call that did not wait would have arrived before.
        MockReply::Json(said).after(Duration::from_millis(80))
    };
    for (format, model) in [(FORMATS[3], "anthropic:j"), (FORMATS[6], "bedrock:eu.anthropic.claude-j-v1:0")] {
        for (checklist, banded, expected) in [
            // First one of each form, in any order, then the others.
            (2, 2, [("outcome", true), ("score", true), ("outcome", true), ("score", true)]),
            // A call that shares its prefix with no other marks no prefix.
            (3, 1, [("outcome", true), ("outcome", true), ("outcome", true), ("score", false)]),
        ] {
            let server = MockServer::start(script);
            let (cli, _) = fixture(format, &server, checklist);
            let more: String = (0..banded).map(|at| BANDED.replace("{at}", &at.to_string())).collect();
            let suite = cli.read("s.yaml") + &more;
            cli.file("s.yaml", suite);
            cli.run(&["eval", "s.yaml", "--judge", model, "--quiet"]).expect_code(0);
            let came = arrivals(&server);
            assert_eq!(came.len(), 4);
            if banded > 1 {
                let mut first = came[..2].to_vec();
                first.sort_unstable();
                assert_eq!(first, expected[..2], "{model}: {came:?}");
            } else {
                assert_eq!(came[0], ("outcome", true), "{model}: {came:?}");
            }
            let mut all = came;
            all.sort_unstable();
            let mut expected = expected.to_vec();
            expected.sort_unstable();
            assert_eq!(all, expected, "{model}");
        }
    }
}

#[test]
fn batches_of_another_size_share_nothing() {
    // The schema lists as many criteria as a batch has.
    for (criteria, batch, repeats, expected) in [
        (3, "batched:2", "1", &[false, false][..]),
        (4, "batched:2", "1", &[true, true]),
        (3, "batched", "2", &[true, true]),
    ] {
        let server = MockServer::start(|incoming: &MockRequest| {
            let request = JudgeRequest::of_text(&incoming.last_user_text).expect("a judge's question");
            MockReply::Json(request.reply(|_| json!({ "evidence": [], "reason": "so", "outcome": "met" })))
        });
        let (cli, model) = fixture(FORMATS[3], &server, criteria);
        let eval =
            ["eval", "s.yaml", "--judge", &model, "--judging", batch, "--judge-repeats", repeats, "--quiet"];
        cli.run(&eval).expect_code(0);
        let marked: Vec<bool> = arrivals(&server).into_iter().map(|(_, marked)| marked).collect();
        assert_eq!(marked, expected, "{criteria} {batch} {repeats}");
    }
}
