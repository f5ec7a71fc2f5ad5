//! Grading programs that call the judge's model: within budgets, cached, counted, and closed to everyone else.

#![cfg(unix)]

use std::process::Command;

use assize_testkit::cli::CliTest;
use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use serde_json::Value;

use crate::runs::support::{KEY, fixture, model, printed, rows};

/// Asks the words in its arguments one by one. The replies become its assertions; the score is the share of
/// usable replies.
const ASKER: &str = r#"
import json, os, sys, urllib.request, urllib.error
json.load(sys.stdin)
def call(path, body=None, base=os.environ.get("AGENTV_TARGET_PROXY_URL", "none"), token=os.environ.get("AGENTV_TARGET_PROXY_TOKEN", "")):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base + path, data=data, headers={"Authorization": "Bearer " + token, "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
heard = []
for word in sys.argv[1:]:
    if word == "CHAT":
        base = os.environ["OPENAI_BASE_URL"]
        code, said = call("/chat/completions", {"model": "any", "messages": [{"role": "user", "content": "chat"}]}, base, os.environ["OPENAI_API_KEY"])
        heard.append((word, said["choices"][0]["message"]["content"] if code == 200 else said["error"]["message"], code == 200))
    elif word == "INFO":
        heard.append((word, json.dumps(call("/info")[1], sort_keys=True), True))
    else:
        code, said = call("/invoke", {"question": word})
        heard.append((word, said.get("rawText") or said["error"], code == 200))
print(json.dumps({"assertions": [{"text": word, "passed": passed, "evidence": text} for word, text, passed in heard]}))
"#;

fn has_python() -> bool {
    Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// A suite of one case with a program that asks `words`, with these settings.
fn asking(cli: &CliTest, words: &str, settings: &str) {
    cli.file("ask.py", ASKER);
    cli.file(
        "suite.yaml",
        format!(
            "name: asks\ntests:\n  - id: a\n    input: i\n    criteria: c\n    output: o\n    assertions:\n      \
             - {{type: code-grader, name: asker, command: [python3, ask.py, {words}], {settings}}}\n"
        ),
    );
}

fn eval(cli: &CliTest, folder: &str, more: &[&str]) -> (Value, Value) {
    let mut args = vec!["eval", "suite.yaml", "--json", "-q", "--run-dir", folder];
    args.extend(more);
    let output = cli.run(&args);
    assert!(!output.stdout.is_empty(), "{}", output.stderr);
    let row = rows(cli, &format!("{folder}/judgements.jsonl")).pop().unwrap_or_default();
    (printed(&output), row)
}

const JUDGE: [&str; 2] = ["--judge", "openai:judge-1"];

#[test]
fn a_program_asks_the_judges_model_and_what_it_asks_is_counted_and_remembered() {
    if !has_python() {
        return;
    }
    let server = MockServer::start(model);
    let cli = fixture(&server);
    asking(&cli, "why, CHAT, why, INFO", "target: {max_calls: 5}");
    let plan =
        printed(&cli.run(&["eval", "--dry-run", "suite.yaml", "--json", JUDGE[0], JUDGE[1]]).expect_code(0));
    assert_eq!((&plan["program_calls_at_most"], server.count()), (&5.into(), 0));
    let (said, row) = eval(&cli, "a", &JUDGE);
    assert_eq!(said["exit_code"], 0, "{row:#}");
    let notes = &row["grader_result"]["notes"];
    assert_eq!(
        (&notes[0]["reason"], &notes[1]["reason"]),
        (&"answer to why".into(), &"answer to chat".into())
    );
    let info = notes[3]["reason"].as_str().unwrap();
    assert!(info.contains(r#""callCount": 3, "maxCalls": 5, "providerLabel": "openai:judge-1", "targetName": "openai:judge-1""#), "{info}");
    assert_eq!((&row["attempts"], &said["judge_calls"], server.count()), (&3.into(), &3.into(), 3));
    let tokens = row["tokens"]["input"].as_u64().unwrap();
    assert!(tokens > 0 && said["tokens"]["input"] == tokens, "{said:#}");
    assert!(row["judge"]["model"].is_string(), "{row:#}");
    // Asking the same question twice gives two repeats; both are cached.
    let (said, row) = eval(&cli, "b", &JUDGE);
    assert_eq!(
        (server.count(), &said["judge_calls_cached"], &row["tokens"]["input"]),
        (3, &3.into(), &0.into())
    );
}

#[test]
fn calls_beyond_the_limit_are_refused_and_that_is_said() {
    if !has_python() {
        return;
    }
    let server = MockServer::start(model);
    let cli = fixture(&server);
    asking(&cli, "a, b, c, CHAT", "target: {max_calls: 2}");
    let (_, row) = eval(&cli, "a", &JUDGE);
    assert_eq!((server.count(), &row["grader_result"]["score"]), (2, &0.5.into()));
    let notes = row["grader_result"]["notes"].as_array().unwrap();
    assert!(
        notes[2]["reason"].as_str().unwrap().contains("may call the model 2 times (`max_calls`)"),
        "{notes:#?}"
    );
    assert!(notes[4]["text"].as_str().unwrap().contains("2 questions to the model refused"), "{notes:#?}");
}

#[test]
fn a_question_without_an_answer_is_no_grade_whatever_the_program_makes_of_it() {
    if !has_python() {
        return;
    }
    let server = MockServer::start(|incoming: &MockRequest| {
        if incoming.last_user_text.contains("FAIL") {
            MockReply::status(400, r#"{"error": {"message": "no"}}"#)
        } else {
            model(incoming)
        }
    });
    let cli = fixture(&server);
    asking(&cli, "why, FAIL", "target: true, negate: true");
    let (said, row) = eval(&cli, "a", &JUDGE);
    assert_eq!((&said["exit_code"], &row["outcome"]), (&3.into(), &"error".into()), "{row:#}");
    let error = row["grader_result"]["error"].as_str().unwrap();
    assert!(error.contains("1 of the program's 2 model calls failed"), "{error}");
    // What was spent until then is recorded.
    assert!(row["tokens"]["input"].as_u64().unwrap() > 0, "{row:#}");
    // A budget that ends the run leaves no grade, and the run continues from there.
    asking(&cli, "one, two, three", "target: true");
    let (said, _) = eval(&cli, "b", &[JUDGE[0], JUDGE[1], "--budget-calls", "2"]);
    assert_eq!((&said["exit_code"], &said["counts"]["incomplete"]), (&4.into(), &0.into()), "{said:#}");
    let before = server.count();
    let (said, row) = eval(&cli, "b", &[JUDGE[0], JUDGE[1], "--resume"]);
    assert_eq!((&said["exit_code"], server.count() - before), (&0.into(), 1), "{said:#}");
    assert_eq!(row["grader_result"]["score"], 1.0);
}

#[test]
fn programs_see_no_keys_unless_they_ask_and_no_proxy_unless_they_ask() {
    let server = MockServer::start(model);
    let mut cli = fixture(&server);
    cli.env("ANTHROPIC_API_KEY", "sk-other-0123456789")
        .env("HOUSE_KEY", "house-0123456789")
        .env("PLAIN", "seen");
    cli.file(
        ".assize/targets.yaml",
        format!(
            "targets: [{{name: house, provider: openai, model: m, base_url: {}, api_key: '${{{{ HOUSE_KEY }}}}'}}]\n",
            server.base_url()
        ),
    );
    let tell = "for name in OPENAI_API_KEY ANTHROPIC_API_KEY HOUSE_KEY PLAIN AGENTV_TARGET_PROXY_URL AGENTV_PROVIDER_PROXY_URL ASSIZE_PROXY_TOKEN; do \
                eval \"test -n \\\"\\${$name-}\\\"\" && seen=\"$seen $name\"; done; cat > /dev/null; \
                printf '{\"score\": 1, \"reason\": \"%s\"}' \"$seen\"";
    cli.file("tell.sh", tell);
    let grader = |name: &str, more: &str| {
        format!("      - {{type: code_judge, name: {name}, command: [sh, tell.sh]{more}}}\n")
    };
    let graders = [
        grader("plain", ""),
        grader("named", ", pass_env: [HOUSE_KEY, OPENAI_API_KEY]"),
        grader("lent", ", target: true"),
    ];
    cli.file(
        "suite.yaml",
        format!(
            "tests:\n  - id: a\n    input: i\n    criteria: c\n    output: o\n    assertions:\n{}",
            graders.concat().replace("code_judge", "code-grader")
        ),
    );
    let output = cli.run(&["eval", "suite.yaml", "--judge", "house", "--run-dir", "a", "-q"]).expect_code(0);
    let stored = rows(&cli, "a/judgements.jsonl");
    let seen = |name: &str| {
        let row = stored.iter().find(|row| row["grader"] == name).expect("a row");
        row["reason"].as_str().unwrap().trim().to_owned()
    };
    assert_eq!(seen("plain"), "PLAIN");
    assert_eq!(seen("named"), "OPENAI_API_KEY HOUSE_KEY PLAIN");
    assert_eq!(
        seen("lent"),
        "OPENAI_API_KEY PLAIN AGENTV_TARGET_PROXY_URL AGENTV_PROVIDER_PROXY_URL ASSIZE_PROXY_TOKEN"
    );
    let all = cli.read("a/judgements.jsonl") + &cli.read("a/run.json") + &output.stdout;
    assert!(!all.contains(KEY) && !all.contains("house-0123456789"));
}

#[test]
fn the_server_of_a_program_is_gone_with_it_and_its_token_is_kept_nowhere() {
    if !has_python() {
        return;
    }
    let server = MockServer::start(model);
    let cli = fixture(&server);
    asking(&cli, "x", "target: true");
    cli.file("ask.py", "import os, sys\nopen('left', 'w').write(os.environ['ASSIZE_PROXY_URL'] + ' ' + os.environ['ASSIZE_PROXY_TOKEN'])\nprint(os.environ['ASSIZE_PROXY_TOKEN'], file=sys.stderr)\nsys.exit(1)\n");
    let (_, row) = eval(&cli, "a", &JUDGE);
    let left = cli.read("left");
    let (url, token) = left.split_once(' ').unwrap();
    let error = row["grader_result"]["error"].as_str().unwrap();
    assert!(error.contains("[redacted]") && !error.contains(token), "{error}");
    assert!(std::net::TcpStream::connect(url.strip_prefix("http://").unwrap()).is_err());
    // Without a model, programs can't make calls, and the run is refused before it starts.
    let refused = cli.run(&["eval", "suite.yaml", "--judge", "offline"]).expect_code(2);
    assert!(refused.stderr.contains("its program calls a model (`target`)"), "{}", refused.stderr);
}
