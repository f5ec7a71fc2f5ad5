//! Judge calls through providers' batch APIs: cost, content, and state after faults.

mod bedrock;
mod results;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use assize_testkit::cli::{CliOutput, CliTest};
use assize_testkit::mock::rule::{judge, suite};
use assize_testkit::mock::{MockBatchFaults, MockReply, MockRequest, MockServer};
use serde_json::Value;

use crate::runs::support::{KEY, fixture, printed, rows};

const CRITERIA: &[&str] = &["yes one", "no two", "yes three"];
const JUDGES: [&str; 4] =
    ["openai:judge-1", "openai-responses:judge-1", "anthropic:judge-1", "gemini:judge-1"];

/// Access key of the bucket of Bedrock's batches.
const KEY_ID: &str = "AKIAIOSFODNN7EXAMPLE";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
const TOKEN: &str = "session-token-0123456789abcdef";

/// Options of batches, including the ones that Bedrock needs.
const BEDROCK: [&str; 5] = [
    "--judge-batch", "--batch-storage", "s3://bucket/evals", "--batch-role",
    "arn:aws:iam::123456789012:role/batches",
];

/// A fixture with this many given answers, whose models are on this server.
fn answers(server: &MockServer, cases: usize) -> CliTest {
    let mut cli = fixture(server);
    cli.env("ANTHROPIC_API_KEY", KEY).env("ANTHROPIC_BASE_URL", server.base_url());
    cli.env("GEMINI_API_KEY", KEY).env("GEMINI_BASE_URL", server.base_url().replace("/v1", "/v1beta"));
    cli.env("AWS_BEARER_TOKEN_BEDROCK", KEY).env("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", server.base_url());
    cli.env("AWS_ENDPOINT_URL_S3", server.base_url().replace("/v1", "/s3")).env("AWS_REGION", "eu-west-1");
    cli.env("AWS_ACCESS_KEY_ID", KEY_ID).env("AWS_SECRET_ACCESS_KEY", SECRET).env("AWS_SESSION_TOKEN", TOKEN);
    cli.file("suite.yaml", suite(cases, CRITERIA, true));
    cli
}

fn eval(cli: &CliTest, judge: &str, more: &[&str]) -> CliOutput {
    let mut args = vec!["eval", "suite.yaml", "--judge", judge, "--json", "-q", "--run-dir", "run"];
    args.extend(more);
    cli.run(&args)
}

/// Everything that a run stores about its cases, except times, costs and the order in which they finished.
fn kept(cli: &CliTest, folder: &str) -> BTreeMap<String, Vec<Value>> {
    let mut all: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for file in ["results.jsonl", "judgements.jsonl"] {
        for mut row in rows(cli, &format!("{folder}/{file}")) {
            let row_keys = row.as_object_mut().expect("an object");
            for changing in ["latency_ms", "duration_ms", "cost_usd", "cost_partial", "crc"] {
                row_keys.remove(changing);
            }
            all.entry(row["case_id"].as_str().expect("an id").to_owned()).or_default().push(row);
        }
    }
    all
}

/// What a live run stores.
fn live(cases: usize, judge_name: &str) -> BTreeMap<String, Vec<Value>> {
    let server = MockServer::start(judge);
    let cli = answers(&server, cases);
    eval(&cli, judge_name, &[]).expect_code(1);
    without_address(kept(&cli, "run"), &server)
}

fn without_address(kept: BTreeMap<String, Vec<Value>>, server: &MockServer) -> BTreeMap<String, Vec<Value>> {
    let host = server.base_url();
    let host = host.trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    kept.into_iter()
        .map(|(id, rows)| {
            let rows = rows.iter().map(|row| {
                let text = row.to_string().replace(&host, "HOST");
                serde_json::from_str(&text).expect("still JSON")
            });
            (id, rows.collect())
        })
        .collect()
}

/// Asserts that no request was paid for twice.
fn paid_once(server: &MockServer) {
    for (body, (batched, alone)) in server.batches().paid() {
        assert!(batched + alone <= 1, "{batched} times in batches, {alone} times alone: {body}");
    }
}

fn files_of_batches(cli: &CliTest) -> Vec<String> {
    let folder = cli.path(".assize/batches");
    let names = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    names
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| Path::new(name).extension().is_some_and(|ending| ending == "batch"))
        .collect()
}

/// Number of batches whose id was not written.
fn without_id(cli: &CliTest) -> usize {
    let is_open = |name: &String| cli.read(format!(".assize/batches/{name}")).lines().count() == 1;
    files_of_batches(cli).iter().filter(|name| is_open(name)).count()
}

#[test]
fn every_format_brings_the_results_of_a_live_run() {
    for name in JUDGES {
        let server = MockServer::start(judge);
        server.batches().set(MockBatchFaults { polls: 2, ..MockBatchFaults::default() });
        let cli = answers(&server, 6);
        let output = eval(&cli, name, &["--judge-batch"]).expect_code(1);

        assert_eq!(without_address(kept(&cli, "run"), &server), live(6, name), "{name}");
        assert_eq!(server.batches().sizes(), [17], "{name}: the first request goes alone");
        assert_eq!(server.batches().paid_totals(), (17, 1), "{name}");
        paid_once(&server);
        let info: Value = serde_json::from_str(&cli.read("run/run.json")).expect("JSON");
        assert_eq!(info["summary"]["sent"]["requests"], 18, "{name}");
        let printed = printed(&output);
        assert_eq!(
            (&printed["judge_calls"], &printed["judge_calls_cached"]),
            (&18.into(), &0.into()),
            "{name}"
        );
        assert_eq!(files_of_batches(&cli), Vec::<String>::new(), "{name}");

        // Replies are in the reply cache like any other.
        cli.run(&["eval", "suite.yaml", "--judge", name, "--cache-only", "-q"]).expect_code(1);
    }
}

#[test]
fn an_expired_batch_is_taken_in_and_only_what_is_missing_is_sent_again() {
    for name in ["openai:judge-1", "anthropic:judge-1", "gemini:judge-1"] {
        let server = MockServer::start(judge);
        server.batches().set(MockBatchFaults { expire_after: Some(30), ..MockBatchFaults::default() });
        let cli = answers(&server, 60);
        eval(&cli, name, &["--judge-batch"]).expect_code(1);

        assert_eq!(server.batches().sizes(), [179, 149], "{name}");
        assert_eq!(server.batches().paid_totals(), (179, 1), "{name}");
        paid_once(&server);
        assert_eq!(without_address(kept(&cli, "run"), &server), live(60, name), "{name}");
    }
}

#[test]
fn few_missing_and_refused_requests_and_repairs_are_asked_alone() {
    for name in ["openai:judge-1", "anthropic:judge-1", "gemini:judge-1"] {
        let server = MockServer::start(judge);
        let faults = MockBatchFaults {
            expire_after: Some(15),
            refuse_every: Some(5),
            garble_every: Some(7),
            ..MockBatchFaults::default()
        };
        server.batches().set(faults);
        let cli = answers(&server, 6);
        let printed = printed(&eval(&cli, name, &["--judge-batch"]).expect_code(1));

        // 15 of 17 are processed: 3 of them are refused and 2 garbled; 2 expire.
        assert_eq!(server.batches().sizes(), [17], "{name}");
        assert_eq!(server.batches().paid_totals(), (12, 1 + 3 + 2 + 2), "{name}");
        paid_once(&server);
        assert_eq!(printed["counts"]["incomplete"], 0, "{name}: {printed}");
        assert_eq!(printed["judge_calls"], 20, "{name}: a garbled reply is paid for, and so is its repair");
    }
}

/// Judges by the rule; for a criterion with "maybe", the first judge quotes text that is not in the answer
/// and is therefore unsure.
fn unsure_of_maybe(incoming: &MockRequest) -> MockReply {
    if incoming.model == "judge-1" && incoming.last_user_text.contains("maybe") {
        return MockReply::Json(serde_json::json!({
            "evidence": ["words that nobody wrote"], "reason": "by rule", "outcome": "met"
        }));
    }
    judge(incoming)
}

#[test]
fn only_what_is_unsure_is_escalated_in_a_second_batch_or_alone_at_its_true_cost() {
    let run = |cases: usize, more: &[&str]| {
        let server = MockServer::start(unsure_of_maybe);
        let cli = answers(&server, cases);
        cli.file("suite.yaml", suite(cases, &["yes one", "no two", "maybe three"], true));
        let row = "{input: 1, output: 10, batch_discount: 0}";
        cli.file(
            ".assize/prices.yaml",
            format!("models:\n  openai:judge-1: {row}\n  openai:judge-2: {row}\n"),
        );
        let escalated = [&["--escalate", "openai:judge-2"], more].concat();
        let printed = printed(&eval(&cli, "openai:judge-1", &escalated).expect_code(1));
        (printed, without_address(kept(&cli, "run"), &server), server)
    };

    // The first request to each judge is sent alone, and so are escalations that are too few for a batch.
    for (cases, sizes, totals) in [(40, vec![119], (119, 1 + 40)), (120, vec![359, 119], (359 + 119, 1 + 1))]
    {
        let (live, live_rows, _) = run(cases, &[]);
        let (printed, rows, server) = run(cases, &["--judge-batch"]);
        assert_eq!(server.batches().sizes(), sizes, "{cases}");
        assert_eq!(server.batches().paid_totals(), totals, "{cases}");
        paid_once(&server);
        assert!(rows == live_rows, "{cases}: the rows are those of a live run");

        let escalation = &printed["panel"]["escalation"];
        assert_eq!(
            (&escalation["decisions"], &escalation["escalated"]),
            (&(3 * cases).into(), &cases.into())
        );
        let cost = |of: &Value| of["cost_usd"].as_f64().expect("a cost");
        assert!((cost(&printed) - cost(&live)).abs() < 1e-9, "{} {}", printed["cost_usd"], live["cost_usd"]);
    }
}

#[test]
fn many_repairs_form_a_second_batch() {
    let server = MockServer::start(|incoming: &MockRequest| {
        let messages = incoming.body["messages"].as_array().map_or(0, Vec::len);
        let is_first = messages <= 2 && incoming.last_user_text.contains("maybe");
        if is_first { MockReply::text("I am not sure what to say.") } else { judge(incoming) }
    });
    let cli = answers(&server, 120);
    cli.file("suite.yaml", suite(120, &["yes one", "no two", "maybe three"], true));
    let printed = printed(&eval(&cli, "openai:judge-1", &["--judge-batch"]).expect_code(1));

    let sizes = server.batches().sizes();
    assert!(sizes.len() == 2 && sizes[1] >= 100, "{sizes:?}");
    assert_eq!(server.batches().paid_totals(), (359 + 120, 1), "all repairs but those of a first request");
    paid_once(&server);
    assert_eq!(printed["counts"]["incomplete"], 0, "{printed}");
}

#[test]
fn a_batch_with_errors_and_no_results_is_taken_in_and_its_requests_are_asked_alone() {
    for name in ["openai:judge-1", "anthropic:judge-1", "gemini:judge-1"] {
        let server = MockServer::start(judge);
        server.batches().set(MockBatchFaults { refuse_every: Some(1), ..MockBatchFaults::default() });
        let cli = answers(&server, 6);
        let printed = printed(&eval(&cli, name, &["--judge-batch"]).expect_code(1));

        assert_eq!(server.batches().sizes(), [17], "{name}");
        assert_eq!(server.batches().paid_totals(), (0, 18), "{name}");
        assert_eq!(printed["counts"]["incomplete"], 0, "{name}: {printed}");
        assert_eq!(files_of_batches(&cli), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn requests_about_one_answer_stand_side_by_side() {
    let server = MockServer::start(judge);
    let cli = answers(&server, 40);
    eval(&cli, "openai:judge-1", &["--judge-batch"]).expect_code(1);

    let question = |body: &Value| {
        let text = body.to_string();
        let mut parts = text.split("question ").skip(1);
        // The token of a fence may begin with digits too.
        let word = |part: &str| part.chars().take_while(char::is_ascii_alphanumeric).collect::<String>();
        let is_number = |word: &String| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        parts.find_map(|part| Some(word(part)).filter(is_number)).expect("a question")
    };
    let mut order: Vec<String> = server.batches().bodies().iter().map(question).collect();
    order.dedup();
    assert_eq!(order.len(), 40, "{order:?}");
}

#[test]
fn a_creation_without_an_answer_is_looked_for_and_not_repeated() {
    for name in ["openai:judge-1", "anthropic:judge-1", "gemini:judge-1"] {
        let server = MockServer::start(judge);
        let list_delay = Duration::from_secs(2);
        server.batches().set(MockBatchFaults {
            lost_answers: 1,
            polls: 3,
            list_delay,
            no_metadata: true,
            ..MockBatchFaults::default()
        });
        let cli = answers(&server, 3);
        let words = ["eval", "suite.yaml", "--judge", name, "--show", "none", "--judge-batch"];
        let said = cli.run(&words).expect_code(1).stderr;
        assert!(said.contains("it is not clear whether 127.0.0.1"), "{said}");

        assert_eq!(server.batches().sizes(), [8], "{name}");
        paid_once(&server);
        assert_eq!(files_of_batches(&cli), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn where_nobody_can_know_if_a_batch_exists_nothing_is_sent_twice() {
    let server = MockServer::start(judge);
    server.batches().set(MockBatchFaults { lost_answers: 1, no_list: true, ..MockBatchFaults::default() });
    let cli = answers(&server, 3);
    let resumed = ["--judge-batch", "--resume"];
    for more in [&["--judge-batch"][..], &resumed, &resumed] {
        let output = eval(&cli, "openai:judge-1", more).expect_code(3);
        assert!(output.stderr.contains("it is unknown whether"), "{}", output.stderr);
        assert!(output.stderr.contains("delete") && output.stderr.contains(".batch"), "{}", output.stderr);
    }
    assert_eq!(server.batches().sizes(), [8]);

    // As the message advises: after checking that there is no batch, the user deletes the file.
    let [file] = &files_of_batches(&cli)[..] else { panic!("one batch") };
    std::fs::remove_file(cli.path(".assize/batches").join(file)).unwrap();
    server.batches().set(MockBatchFaults::default());
    eval(&cli, "openai:judge-1", &resumed).expect_code(1);
    assert_eq!(server.batches().sizes(), [8, 7], "each process asks one request alone first");
}

#[test]
fn a_batch_that_is_not_found_is_not_paid_for_again() {
    for name in ["openai:judge-1", "anthropic:judge-1", "gemini:judge-1"] {
        let server = MockServer::start(judge);
        server.batches().set(MockBatchFaults { polls: usize::MAX, ..MockBatchFaults::default() });
        let cli = answers(&server, 3);
        interrupt_when_sent(&cli, &server, name);

        server.batches().set(MockBatchFaults { vanished: true, ..MockBatchFaults::default() });
        let output = eval(&cli, name, &["--judge-batch", "--resume"]).expect_code(3);
        assert!(output.stderr.contains("another project or account"), "{name}: {}", output.stderr);
        assert_eq!(server.batches().sizes(), [8], "{name}");

        server.batches().set(MockBatchFaults::default());
        eval(&cli, name, &["--judge-batch", "--resume"]).expect_code(1);
        assert_eq!(server.batches().sizes(), [8], "{name}");
        paid_once(&server);
    }
}

/// Starts a run, interrupts it once its batch was sent, and returns its output.
fn interrupt_when_sent(cli: &CliTest, server: &MockServer, name: &str) -> String {
    let words = ["eval", "suite.yaml", "--judge", name, "--run-dir", "run", "--judge-batch"];
    let more = if name.starts_with("bedrock") { &BEDROCK[1..] } else { &[] };
    let mut command = cli.command(&[&words[..], more].concat());
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    while server.batches().sizes().is_empty() {
        std::thread::sleep(Duration::from_millis(10));
    }
    // The id is on disk a moment later.
    std::thread::sleep(Duration::from_millis(400));
    assert!(
        Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status()
            .expect("kill is there")
            .success()
    );
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn an_interrupted_run_leaves_its_batch_and_goes_on_with_it() {
    let server = MockServer::start(judge);
    server.batches().set(MockBatchFaults { polls: usize::MAX, ..MockBatchFaults::default() });
    let cli = answers(&server, 6);
    let said = interrupt_when_sent(&cli, &server, "openai:judge-1");
    assert!(
        said.contains("still in progress at the provider: 1 batch with 17 requests")
            && said.contains("--resume"),
        "{said}"
    );

    server.batches().set(MockBatchFaults::default());
    eval(&cli, "openai:judge-1", &["--judge-batch", "--resume"]).expect_code(1);
    assert_eq!(server.batches().sizes(), [17]);
    paid_once(&server);
    assert_eq!(without_address(kept(&cli, "run"), &server), live(6, "openai:judge-1"));
}

#[test]
fn another_run_takes_in_the_replies_of_a_run_that_is_gone() {
    let server = MockServer::start(judge);
    server.batches().set(MockBatchFaults { polls: usize::MAX, ..MockBatchFaults::default() });
    let cli = answers(&server, 6);
    interrupt_when_sent(&cli, &server, "openai:judge-1");
    std::fs::remove_dir_all(cli.path("run")).unwrap();

    server.batches().set(MockBatchFaults::default());
    eval(&cli, "openai:judge-1", &["--judge-batch"]).expect_code(1);
    assert_eq!(server.batches().sizes(), [17]);
    paid_once(&server);
}

#[test]
fn when_the_time_for_batches_is_over_they_are_cancelled_and_the_rest_is_asked_alone() {
    for name in ["openai:judge-1", "anthropic:judge-1", "gemini:judge-1"] {
        let server = MockServer::start(judge);
        let faults = MockBatchFaults { polls: usize::MAX, done_at_cancel: 10, ..MockBatchFaults::default() };
        server.batches().set(faults);
        let cli = answers(&server, 6);
        eval(&cli, name, &["--judge-batch", "--batch-wait", "1s"]).expect_code(1);

        assert_eq!(server.batches().sizes(), [17], "{name}");
        assert_eq!(server.batches().paid_totals(), (10, 8), "{name}");
        paid_once(&server);
        assert_eq!(without_address(kept(&cli, "run"), &server), live(6, name), "{name}");
    }
}

#[test]
fn a_wrong_key_sends_nothing_and_loses_nothing() {
    let server = MockServer::start(|incoming: &MockRequest| {
        if incoming.header("authorization").is_some_and(|key| !key.contains("sk-test")) {
            return MockReply::status(
                401,
                r#"{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}"#,
            );
        }
        judge(incoming)
    });
    let faults =
        MockBatchFaults { key: Some(KEY.to_owned()), polls: usize::MAX, ..MockBatchFaults::default() };
    server.batches().set(faults.clone());
    let mut cli = answers(&server, 6);
    cli.env("OPENAI_API_KEY", "sk-wrong-0123456789abcdef");
    let output = eval(&cli, "openai:judge-1", &["--judge-batch"]).expect_code(3);
    assert!(output.stderr.contains("no batch was sent"), "{}", output.stderr);
    assert_eq!(server.batches().sizes(), Vec::<usize>::new());

    cli.env("OPENAI_API_KEY", KEY);
    std::fs::remove_dir_all(cli.path("run")).unwrap();
    interrupt_when_sent(&cli, &server, "openai:judge-1");
    cli.env("OPENAI_API_KEY", "sk-wrong-0123456789abcdef");
    let output = eval(&cli, "openai:judge-1", &["--judge-batch", "--resume"]).expect_code(3);
    assert!(output.stderr.contains("Nothing is lost"), "{}", output.stderr);
    assert!(!output.stderr.contains("sk-wrong-0123456789abcdef"), "{}", output.stderr);

    cli.env("OPENAI_API_KEY", KEY);
    server.batches().set(MockBatchFaults { polls: 0, ..faults });
    eval(&cli, "openai:judge-1", &["--judge-batch", "--resume"]).expect_code(1);
    assert_eq!(server.batches().sizes(), [17]);
    paid_once(&server);
}

#[test]
fn a_batch_that_is_not_accepted_is_said_and_costs_nothing() {
    let server = MockServer::start(judge);
    let refusal = ("invalid_model".to_owned(), "The model has no batches".to_owned());
    server.batches().set(MockBatchFaults { refuse_next: Some(refusal), ..MockBatchFaults::default() });
    let cli = answers(&server, 6);
    let output = eval(&cli, "openai:judge-1", &["--judge-batch"]).expect_code(3);
    assert!(output.stderr.contains("The model has no batches"), "{}", output.stderr);
    assert_eq!(server.batches().paid_totals(), (0, 1));

    eval(&cli, "openai:judge-1", &["--resume"]).expect_code(1);
    assert_eq!(server.batches().paid_totals(), (0, 18));
}

#[test]
fn no_key_is_in_any_file_of_the_workspace() {
    let server = MockServer::start(judge);
    server.batches().set(MockBatchFaults { polls: usize::MAX, ..MockBatchFaults::default() });
    let cli = answers(&server, 6);
    interrupt_when_sent(&cli, &server, "openai:judge-1");

    assert_no_file_holds(&cli, &[KEY]);
}

/// Checks that no file of the workspace contains any of these secrets, and that there are files of a batch
/// among them.
#[track_caller]
fn assert_no_file_holds(cli: &CliTest, secrets: &[&str]) {
    let mut folders = vec![cli.dir().to_path_buf()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder of the workspace").filter_map(Result::ok) {
            if entry.path().is_dir() {
                folders.push(entry.path());
                continue;
            }
            files += 1;
            let bytes = std::fs::read(entry.path()).expect("a file of the workspace");
            for secret in secrets {
                let holds = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
                assert!(!holds, "{}", entry.path().display());
            }
        }
    }
    assert!(files > 5);
}

#[test]
fn what_has_no_batches_is_refused_by_name_before_anything_is_sent() {
    let server = MockServer::start(judge);
    let mut cli = answers(&server, 2);
    cli.env("MISTRAL_API_KEY", KEY).env("MISTRAL_BASE_URL", server.base_url());
    for (name, more, words) in [
        ("mistral:m", &[][..], "`mistral` has no batches that Assize speaks"),
        ("bedrock:m", &[], "--batch-storage s3://BUCKET/PREFIX"),
        ("bedrock:m", &BEDROCK[1..3], "--batch-role ARN"),
        ("bedrock:m", &["--batch-storage", "bucket"], "expected `s3://BUCKET/PREFIX`"),
        ("bedrock:m", &["--batch-role", "batches"], "arn:aws:iam::ACCOUNT:role/NAME"),
        ("openai:m", &["--no-cache"], "needs the reply cache"),
        ("openai:m", &["--cache-only"], "needs the reply cache"),
        ("mistral:m", &["--dry-run"], "`mistral` has no batches"),
    ] {
        let output = eval(&cli, name, &[&["--judge-batch"][..], more].concat()).expect_code(2);
        assert!(output.stderr.contains(words), "{name} {more:?}: {}", output.stderr);
    }
    eval(&cli, "openai:m", &["--batch-wait", "2h"]).expect_code(2);

    cli.file("targets.yaml", "targets:\n  - name: agent\n    provider: cli\n    command: echo hello\n");
    cli.file("suite.yaml", suite(2, CRITERIA, false));
    let output = eval(&cli, "openai:m", &["--judge-batch", "--target", "agent", "--targets", "targets.yaml"])
        .expect_code(2);
    assert!(output.stderr.contains("`agent` is a command"), "{}", output.stderr);
    assert_eq!(server.count(), 0);
}

#[test]
fn answers_of_models_are_asked_alone_once_and_counted_in_the_run() {
    let server = MockServer::start(assize_testkit::mock::rule::answer_or_judge);
    let cli = answers(&server, 6);
    cli.file("suite.yaml", suite(6, CRITERIA, false));
    let more = ["--judge-batch", "--target", "openai:answers-1"];
    eval(&cli, "openai:judge-1", &more).expect_code(1);
    let batched = without_address(kept(&cli, "run"), &server);
    assert_eq!(server.batches().paid_totals(), (17, 7));
    paid_once(&server);

    let server = MockServer::start(assize_testkit::mock::rule::answer_or_judge);
    let cli = answers(&server, 6);
    cli.file("suite.yaml", suite(6, CRITERIA, false));
    eval(&cli, "openai:judge-1", &more[1..]).expect_code(1);
    assert_eq!(batched, without_address(kept(&cli, "run"), &server));
}

/// Prices of one dollar per million input tokens and ten per million output tokens, with this discount for
/// batches.
fn prices(cli: &CliTest, discount: u8) {
    let row = format!("{{input: 1, output: 10, batch_discount: {discount}}}");
    cli.file(".assize/prices.yaml", format!("models:\n  openai:judge-1: {row}\n"));
}

#[test]
fn a_batch_costs_what_is_left_of_the_price_and_the_plan_says_so() {
    let cost = |discount: Option<u8>| {
        let server = MockServer::start(judge);
        let cli = answers(&server, 6);
        prices(&cli, discount.unwrap_or(0));
        let more: &[&str] = if discount.is_some() { &["--judge-batch"] } else { &[] };
        let printed = printed(&eval(&cli, "openai:judge-1", more).expect_code(1));
        printed["cost_usd"].as_f64().expect("a cost")
    };
    let (live, full, half) = (cost(None), cost(Some(0)), cost(Some(50)));
    assert!((full - live).abs() < 1e-12, "{live} {full}");
    // One of 18 requests is sent alone.
    let share = half / live;
    assert!((0.5..0.56).contains(&share), "{share}");

    let server = MockServer::start(judge);
    let cli = answers(&server, 6);
    prices(&cli, 50);
    let plan = ["eval", "suite.yaml", "--judge", "openai:judge-1", "--judge-batch", "--dry-run"];
    let text = cli.run(&plan).expect_code(0).stdout;
    assert!(text.contains("judge calls in batches: $") && text.contains(" instead of $"), "{text}");
    let json: Value = serde_json::from_str(&cli.run(&[&plan[..], &["--json"]].concat()).stdout).unwrap();
    let figure = |name: &str| json["judge_batch"][name]["high"].as_f64().expect("a figure");
    assert!((figure("cost_usd") * 2.0 - figure("live_cost_usd")).abs() < 1e-6, "{json}");
    prices(&cli, 0);
    assert!(cli.run(&plan).stdout.contains("no discount is known"));
    assert_eq!(server.count(), 0);
}

#[test]
fn a_budget_is_set_aside_for_a_batch_and_never_passed() {
    // Room for a few calls at their upper bound: the other calls are sent when the first ones have cost less.
    let server = MockServer::start(judge);
    let cli = answers(&server, 6);
    let more = ["--judge-batch", "--budget-calls", "10"];
    let stopped = printed(&eval(&cli, "openai:judge-1", &more).expect_code(4));
    assert_eq!(server.batches().paid_totals(), (9, 1));
    assert_eq!(
        (&stopped["not_run"], &stopped["judge_calls"]),
        (&3.into(), &9.into()),
        "ten calls, three for a case"
    );

    let server = MockServer::start(judge);
    let cli = answers(&server, 6);
    let more = ["--judge-batch", "--budget-tokens", "60000", "--max-output-tokens", "1000"];
    eval(&cli, "openai:judge-1", &more).expect_code(1);
    let (batched, alone) = server.batches().paid_totals();
    assert_eq!(batched + alone, 18);
    assert!(server.batches().sizes()[0] < 17, "not all fit at once: {:?}", server.batches().sizes());
    let (read, written) = server.usage();
    assert!(read + written <= 60_000);
    paid_once(&server);

    // Requests that fail in a batch count like any other calls.
    let server = MockServer::start(judge);
    server.batches().set(MockBatchFaults { refuse_every: Some(3), ..MockBatchFaults::default() });
    let cli = answers(&server, 6);
    eval(&cli, "openai:judge-1", &["--judge-batch", "--budget-calls", "14"]).expect_code(4);
    assert_eq!((server.batches().sizes(), server.batches().paid_totals()), (vec![13], (9, 1)));

    // Replies without reported usage count as the amount reserved for them.
    let server = MockServer::start(|incoming: &MockRequest| {
        let MockReply::Json(decision) = judge(incoming) else { panic!("a decision") };
        let message = serde_json::json!({"role": "assistant", "content": decision.to_string()});
        let body =
            serde_json::json!({"choices": [{"index": 0, "finish_reason": "stop", "message": message}]});
        MockReply::status(200, body.to_string())
    });
    let cli = answers(&server, 6);
    eval(&cli, "openai:judge-1", &more).expect_code(4);
    let (batched, alone) = server.batches().paid_totals();
    let most_for_one = 3_000;
    assert!(batched > 0 && (batched + alone) * most_for_one < 60_000 + most_for_one, "{batched} {alone}");

    // A further batch of a few out of many requests is not worth its hours.
    let server = MockServer::start(judge);
    let cli = answers(&server, 60);
    let words = ["eval", "suite.yaml", "--judge", "openai:judge-1", "--show", "none"];
    let output = cli.run(&[&words[..], &more].concat()).expect_code(4);
    assert_eq!(server.batches().sizes().len(), 1, "{:?}", server.batches().sizes());
    let why = "in another batch, too few to wait for; each reserves its longest possible reply";
    assert!(output.stderr.contains(why), "{}", output.stderr);
}

#[test]
fn two_processes_in_one_folder_share_a_batch() {
    let server = MockServer::start(judge);
    server.batches().set(MockBatchFaults { polls: 3, ..MockBatchFaults::default() });
    let cli = answers(&server, 6);
    let start = |folder: &str| {
        let words =
            ["eval", "suite.yaml", "--judge", "openai:judge-1", "-q", "--run-dir", folder, "--judge-batch"];
        cli.command(&words).stdout(Stdio::null()).spawn().unwrap()
    };
    let children = [start("one"), start("two")];
    for mut child in children {
        assert_eq!(child.wait().unwrap().code(), Some(1));
    }
    assert_eq!(server.batches().sizes(), [17]);
    paid_once(&server);
    let verdicts = |folder: &str| {
        let row = |row: Value| (row["case_id"].to_string(), (row["verdict"].clone(), row["score"].clone()));
        rows(&cli, &format!("{folder}/results.jsonl")).into_iter().map(row).collect::<BTreeMap<_, _>>()
    };
    assert_eq!(verdicts("one"), verdicts("two"));
}

#[test]
fn what_happens_is_said_line_by_line() {
    let server = MockServer::start(judge);
    server.batches().set(MockBatchFaults {
        expire_after: Some(10),
        refuse_every: Some(9),
        failed_uploads: 1,
        ..MockBatchFaults::default()
    });
    let cli = answers(&server, 6);
    let words = ["eval", "suite.yaml", "--judge", "openai:judge-1", "--judge-batch", "--show", "none"];
    let output = cli.run(&words).expect_code(1);
    assert!(!output.stderr.contains("warning"), "{}", output.stderr);
    for line in [
        "sent 17 requests as batch batch_1 at 127.0.0.1",
        // The upload failed before a batch was requested, so none is looked for.
        " takes no batch yet: ",
        "has ended: 9 replies, 1 failed (the model server did not accept",
        "7 without a result (expired)",
    ] {
        assert!(output.stderr.contains(line), "{}", output.stderr);
    }
    assert!(!output.stderr.contains("it is not clear"), "{}", output.stderr);
    assert!(output.stderr.contains("8 requests are sent live"), "{}", output.stderr);
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

/// Kills a run with batches at this many moments, over several runs, and compares each with the results of a
/// live run. No request of a batch is paid for twice; a live request may be, if its process died before the
/// reply came.
fn killed(name: &str, kills: usize, seed: u64) {
    // Bedrock accepts no small batches.
    let is_bedrock = name.starts_with("bedrock");
    let cases = if is_bedrock { 40 } else { 5 };
    let undisturbed = live(cases, name);
    let mut random = Random(seed);
    let (mut killed, mut at_work, mut unclear) = (0, 0, 0);
    // A kill between the intent and the id of a batch is the case that matters most, so wait for it.
    while killed < kills || (unclear == 0 && killed < 6 * kills) {
        let server =
            MockServer::start(|incoming: &MockRequest| judge(incoming).after(Duration::from_millis(3)));
        server.batches().set(MockBatchFaults {
            polls: 2,
            create_delay: Duration::from_millis(40),
            result_delay: Duration::from_millis(20),
            ..MockBatchFaults::default()
        });
        let cli = answers(&server, cases);
        let batches = if is_bedrock { &BEDROCK[..] } else { &["--judge-batch"] };
        let more = [batches, &["--resume", "-j", "2"]].concat();

        let mut kills_of_run = 0;
        while kills_of_run < 5 {
            let before = server.count();
            let words = ["eval", "suite.yaml", "--judge", name, "--json", "-q", "--run-dir", "run"];
            let mut command = cli.command(&[&words[..], &more].concat());
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");

            // The moment: after some requests have arrived, and a little later.
            let arrivals = usize::try_from(random.below(7)).expect("small");
            // A run that ends before they arrive ends the wait.
            let begun = std::time::Instant::now();
            while !server.wait_for(before + arrivals, Duration::from_millis(20))
                && child.try_wait().expect("it is ours").is_none()
                && begun.elapsed() < Duration::from_millis(1500)
            {}
            std::thread::sleep(Duration::from_micros(random.below(30_000)));
            child.kill().expect("it is ours");
            if child.wait().expect("it ends").code().is_some() {
                break;
            }
            kills_of_run += 1;
            at_work += usize::from(server.count() > before);
            unclear += without_id(&cli);
        }

        eval(&cli, name, &more).expect_code(1);
        killed += kills_of_run;
        assert_eq!(without_address(kept(&cli, "run"), &server), undisturbed, "{name}");
        assert_eq!(files_of_batches(&cli), Vec::<String>::new(), "{name}");

        let paid = server.batches().paid();
        assert_eq!(paid.len(), cases * CRITERIA.len());
        assert!(paid.values().all(|(batched, _)| *batched <= 1), "{name}: {paid:?}");
        let again: u32 = paid.values().map(|(batched, alone)| batched + alone - 1).sum();
        let kills_of_run = u32::try_from(kills_of_run).expect("small");
        assert!(again <= kills_of_run, "{name}: {again} calls were made again after {kills_of_run} kills");
    }
    assert!(unclear > 0, "{name}: no kill left a batch of unknown id");
    assert!(at_work * 2 > kills, "{name}: only {at_work} of {killed} kills hit a process at work");
}

#[test]
fn killed_at_twenty_moments_openais_batches_are_paid_for_once() {
    killed("openai:judge-1", 20, 0x5EED_1234_ABCD_0002);
}

#[test]
fn killed_at_twenty_moments_anthropics_batches_are_paid_for_once() {
    killed("anthropic:judge-1", 20, 0x5EED_1234_ABCD_0003);
}

#[test]
fn killed_at_twenty_moments_geminis_batches_are_paid_for_once() {
    killed("gemini:judge-1", 20, 0x5EED_1234_ABCD_0004);
}

#[test]
fn killed_at_twenty_moments_bedrocks_batches_are_paid_for_once() {
    killed("bedrock:judge-1", 20, 0x5EED_1234_ABCD_0005);
}
