//! First runs of a new user: the project's judge is found, the offline judge is announced, and a second run of
//! the same suite ends like the first.

use std::time::Duration;

use assize_testkit::cli::CliTest;
use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use serde_json::json;

use crate::runs::support::{fixture, is_judging, judge, model, printed, rows, suite};

const NOTICE: &str = "Graded by the offline judge, which only compares words: name a model with --judge";
const RUBRIC: &str = "criteria:\n  - yes it greets\n";

fn judges(cli: &CliTest, args: &[&str]) -> Vec<String> {
    let output = printed(&cli.run(args));
    let judges = output["judges"].as_array().expect("a list");
    judges.iter().map(|judge| judge["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn the_configuration_is_the_nearest_one_to_the_files() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("mine/.assize/config.yaml", "judge: openai:of-mine\n");
    cli.file("mine/evals/a.eval.yaml", suite(1, &["yes one"], true));
    cli.file("mine/rubric.yaml", RUBRIC);
    cli.file("mine/a.csv", "id,answer\n1,Hello\n");
    for args in [
        &["eval", "mine/evals", "--json"][..],
        &["eval", "mine/evals/a.eval.yaml", "--json"],
        &["eval", "./mine/../mine/evals", "--json"],
        &["grade", "mine/rubric.yaml", "--answers", "mine/a.csv", "--json"],
    ] {
        assert_eq!(judges(&cli, args), ["openai:of-mine"], "{args:?}");
    }
    let tried = cli.run(&["try", "--rubric", "mine/rubric.yaml", "--answer", "Hello", "--json"]);
    assert!(tried.stdout.contains("of-mine"), "{}{}", tried.stdout, tried.stderr);
    let doctor = cli.run(&["doctor", "mine"]).expect_code(0);
    assert!(doctor.stdout.contains("`mine/.assize/config.yaml` names `openai:of-mine`"), "{}", doctor.stdout);

    // A file outside any project uses the configuration of the working folder; a file in a project uses only
    // the project's.
    cli.file(".assize/config.yaml", "judge: openai:of-here\n");
    cli.file("other/b.eval.yaml", suite(1, &["yes one"], true));
    assert_eq!(judges(&cli, &["eval", "other", "--json"]), ["openai:of-here"]);
    assert_eq!(judges(&cli, &["eval", "mine/evals", "--json"]), ["openai:of-mine"]);

    let both = cli.run(&["eval", "mine/evals", "other"]).expect_code(2);
    for part in ["`mine/.assize/config.yaml`", "`.assize/config.yaml`", "a run has one configuration"] {
        assert!(both.stderr.contains(part), "{}", both.stderr);
    }
}

#[test]
fn the_variables_of_the_project_are_read_with_its_configuration() {
    let server = MockServer::start(model);
    let mut cli = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    cli.env("OPENAI_BASE_URL", server.base_url());
    cli.file("mine/.assize/config.yaml", "judge: openai:of-mine\n");
    cli.file("mine/.env", "OPENAI_API_KEY=sk-of-the-project\n");
    cli.file("mine/evals/a.eval.yaml", suite(1, &["yes one"], true));
    assert_eq!(judges(&cli, &["eval", "mine/evals", "--json"]), ["openai:of-mine"]);

    cli.file("mine/.assize/config.yaml", "judge: openai:of-mine\nenv_file: keys.env\n");
    cli.file("mine/keys.env", "OPENAI_API_KEY=sk-of-the-config\n");
    cli.run(&["eval", "mine/evals", "--no-cache"]).expect_code(0);
    let sent = server.requests().pop().expect("a request");
    let header = sent.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("authorization"));
    assert!(format!("{header:?}").contains("sk-of-the-config"), "{header:?}");
}

#[test]
fn comparing_words_is_said_last_and_refused_for_the_answers_of_models() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("given.yaml", suite(1, &["answer is"], true));
    let output = cli.run(&["eval", "given.yaml"]);
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&output.stdout).ends_with(NOTICE), "{}", output.stdout);
    assert!(!output.stderr.contains(NOTICE), "said twice: {}", output.stderr);
    let data = cli.run(&["eval", "given.yaml", "--json"]);
    assert!(data.stderr.contains(NOTICE), "{}", data.stderr);

    // A user who names the offline judge knows it.
    let named = cli.run(&["eval", "given.yaml", "--judge", "offline"]);
    assert!(words(&named.stdout).ends_with(NOTICE) && !named.stderr.contains(NOTICE), "{}", named.stderr);

    cli.file("asked.yaml", suite(1, &["yes one"], false));
    for more in [&[][..], &["--dry-run"]] {
        let args = [&["eval", "asked.yaml", "--target", "openai:answers-1"], more].concat();
        let refused = cli.run(&args).expect_code(2);
        for part in
            ["`openai:answers-1`", "--judge PROVIDER:MODEL", "`--judge offline`", ".assize/config.yaml"]
        {
            assert!(refused.stderr.contains(part), "{}", refused.stderr);
        }
    }
    assert_eq!(server.count(), 0);
    cli.run(&["eval", "asked.yaml", "--target", "openai:answers-1", "--judge", "offline"]);
    assert_eq!(server.count(), 1);

    // Checks need no judge.
    cli.file(
        "checks.yaml",
        "tests:\n- id: a\n  input: Hi\n  assertions: [{type: contains, value: answer}]\n",
    );
    let checked = cli.run(&["eval", "checks.yaml", "--target", "openai:answers-1"]).expect_code(0);
    assert!(!checked.stdout.contains("offline") && !checked.stderr.contains("offline"), "{}", checked.stdout);
}

#[test]
fn the_time_of_an_answer_from_the_cache_is_that_of_its_first_request() {
    let server = MockServer::start(|incoming: &MockRequest| model(incoming).after(Duration::from_millis(30)));
    let cli = fixture(&server);
    let config = |most: u64| {
        format!(
            "prompts: ['Say {{{{word}}}}']\nproviders: [openai:answers-1]\ntests:\n- vars: {{word: hello}}\n  assert:\n  - {{type: latency, threshold: {most}}}\n"
        )
    };
    cli.file("promptfooconfig.yaml", config(60_000));
    cli.run(&["eval", "promptfooconfig.yaml", "--run-dir", "a"]).expect_code(0);
    cli.run(&["eval", "promptfooconfig.yaml", "--run-dir", "b"]).expect_code(0);
    assert_eq!(server.count(), 1);

    // It is also compared with a limit that is set later.
    cli.file("promptfooconfig.yaml", config(5));
    cli.run(&["eval", "promptfooconfig.yaml"]).expect_code(1);
    assert_eq!(server.count(), 1);

    let row = |folder: &str| rows(&cli, &format!("{folder}/results.jsonl"))[0].to_string();
    assert!(row("a").contains(" ms, within the limit"), "{}", row("a"));
    assert!(row("b").contains(" ms (measured in the original call), within the limit"), "{}", row("b"));
}

/// A judge whose replies about a criterion are unusable while `broken` holds.
fn judge_that_fails(incoming: &MockRequest, broken: bool) -> MockReply {
    let is_judging = incoming.body["response_format"].is_object();
    if is_judging && broken && incoming.last_user_text.contains("yes hard") {
        return MockReply::status(400, "no");
    }

    model(incoming)
}

#[test]
fn incomplete_cases_are_retried_and_the_rest_is_kept() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    let broken = Arc::new(AtomicBool::new(true));
    let state = Arc::clone(&broken);
    let server = MockServer::start(move |incoming: &MockRequest| {
        judge_that_fails(incoming, state.load(Ordering::SeqCst))
    });
    let cli = fixture(&server);
    let text = suite(3, &["yes one", "yes two"], false).replace(
        "  - id: case-1\n    criteria: be right\n    input: question 1\n    assertions:\n      - type: rubrics\n        criteria:\n          - id: c0\n            outcome: yes one\n",
        "  - id: case-1\n    criteria: be right\n    input: question 1\n    assertions:\n      - type: rubrics\n        criteria:\n          - id: c0\n            outcome: yes hard\n",
    );
    assert!(text.contains("yes hard"), "{text}");
    cli.file("suite.yaml", text);
    let args = ["eval", "suite.yaml", "--judge", "openai:judge-1", "--target", "openai:answers-1", "--json"];
    let run = |more: &[&str]| cli.run(&[&args[..], more].concat());
    let first = printed(&run(&["--run-dir", "run"]).expect_code(3));
    assert_eq!(first["counts"]["incomplete"], 1);
    let before = server.count();
    broken.store(false, Ordering::SeqCst);

    // Resuming alone keeps them.
    let kept = printed(&run(&["--run-dir", "run", "--resume"]).expect_code(3));
    assert_eq!((&kept["counts"]["incomplete"], server.count()), (&json!(1), before));

    let again = printed(&run(&["--run-dir", "run", "--resume", "--retry-incomplete"]).expect_code(0));
    assert_eq!((&again["counts"]["pass"], &again["counts"]["incomplete"]), (&json!(3), &json!(0)));
    let asked = server.requests().split_off(before);
    assert_eq!(asked.len(), 1, "only the criterion that was not decided is asked for");
    assert!(is_judging(&asked[0]) && String::from_utf8_lossy(&asked[0].body).contains("yes hard"));
    assert_eq!(rows(&cli, "run/results.jsonl").len(), 3);
    assert_eq!(rows(&cli, "run/judgements.jsonl").len(), 6);
    assert_eq!(again["run_id"], first["run_id"]);

    let alone = run(&["--retry-incomplete"]).expect_code(2);
    assert!(alone.stderr.contains("--resume"), "{}", alone.stderr);
}

#[test]
fn a_minimum_pass_rate_decides_instead_of_single_cases() {
    let server = MockServer::start(|incoming: &MockRequest| {
        if incoming.last_user_text.contains("hard") { MockReply::status(400, "no") } else { judge(incoming) }
    });
    let cli = fixture(&server);
    let case = |id: &str, criterion: &str| {
        format!(
            "  - id: {id}\n    input: q\n    output: a\n    assertions: [{{type: rubrics, criteria: [{criterion}]}}]\n"
        )
    };
    let cases: String = (0..8).map(|n| case(&format!("good-{n}"), "yes one")).collect();
    let cases = cases + &case("bad", "no one") + &case("open", "hard one");
    cli.file("suite.yaml", format!("tests:\n{cases}"));
    let eval = |rate: &str, code: i32| {
        let args = ["eval", "suite.yaml", "--judge", "openai:judge-1", "--min-pass-rate", rate];
        cli.run(&args).expect_code(code)
    };
    let met = eval("80%", 0);
    assert!(
        met.stdout.contains("pass rate of at least 8/10 cases (80.0%) reaches the minimum of 80.0%"),
        "{}",
        met.stdout
    );
    eval("0.9", 3);
    eval("0.95", 1);
    cli.run(&["score", "last", "--min-pass-rate", "0.8"]).expect_code(0);
    let stored = printed(&cli.run(&["score", "last", "--json"]).expect_code(1));
    assert_eq!(
        (&stored["pass_rate_gate"]["result"], &stored["pass_rate_gate"]["without_verdict"]),
        (&json!("missed"), &json!(1))
    );

    let wrong = cli.run(&["eval", "suite.yaml", "--min-pass-rate", "90"]).expect_code(2);
    assert!(wrong.stderr.contains("did you mean 0.9 or 90%?"), "{}", wrong.stderr);
    let report = cli.run(&["report", "last", "--format", "markdown"]);
    assert!(report.stdout.contains("the minimum of"), "{}{}", report.stdout, report.stderr);
}
