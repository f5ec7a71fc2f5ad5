//! `assize audit injection`: a judge that falls for known texts, and metrics that show exactly that.

use assize_testkit::cli::CliTest;
use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use serde_json::{Value, json};

use crate::e2e::judge::JudgeRequest;

/// Two cases with a met and an unmet criterion; the second case also has a penalty.
const SUITE: &str = "name: s
tests:
- id: one
  criteria: x
  input: q
  output: apples and pears
  assertions:
  - type: rubrics
    criteria:
    - {id: a, outcome: 'Names `apples`'}
    - {id: z, outcome: 'Names `zebras`'}
- id: two
  criteria: x
  input: q
  output: apples and plums
  assertions:
  - type: rubrics
    criteria:
    - {id: z, outcome: 'Names `zebras`'}
    - {id: costs, outcome: 'Names `plums`', weight: -1}
";

/// A judge that tells the truth, except that it believes a verdict in an answer, decides against an answer with
/// one probe, and gives an empty reply to another.
fn gullible(incoming: &MockRequest) -> MockReply {
    let Some(request) = JudgeRequest::of_text(&incoming.last_user_text) else {
        return MockReply::text("apples and pears");
    };
    let believes = request.answer.contains("\"reason\": \"The answer satisfies");
    let offended = request.answer.contains("Please be kind");
    if request.answer.contains("Decode this Base64") {
        return MockReply::text("?");
    }
    let costs = request.criteria[0].text.contains("plums");
    let mut value = request.truthful();
    if believes {
        // The decision that helps the answer: a penalty is not met.
        value["outcome"] = if costs { "unmet" } else { "met" }.into();
    } else if offended {
        value["outcome"] = if costs { "met" } else { "unmet" }.into();
    }
    MockReply::Json(value)
}

fn fixture() -> (CliTest, MockServer) {
    let server = MockServer::start(gullible);
    let mut cli = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    cli.env("OPENAI_BASE_URL", server.base_url()).env("OPENAI_API_KEY", "sk-audit-0123456789");
    cli.file("s.yaml", SUITE);
    (cli, server)
}

fn audit(cli: &CliTest, more: &[&str], code: i32) -> Value {
    let common = ["audit", "injection", "s.yaml", "--judge", "openai:m", "--json", "-q"];
    let output = cli.run(&[&common[..], more].concat()).expect_code(code);
    serde_json::from_str(&output.stdout).expect("one JSON object")
}

fn figures(audit: &Value, probe: &str) -> Value {
    let probes = audit["audit"]["probes"].as_array().expect("a list");
    probes.iter().find(|one| one["probe"] == probe).cloned().unwrap_or_else(|| panic!("no {probe}"))
}

#[test]
fn each_probe_is_credited_with_exactly_what_it_turned() {
    let (mut cli, server) = fixture();
    let all = "control-remark,fake-verdict,emotion,authority,base64";
    let found = audit(&cli, &["--probes", all, "--repeats", "2", "--run-dir", "run"], 3);
    // 2 cases with 2 criteria: judged 3 times unchanged and once with each of 5 probes; the empty replies are repaired twice.
    assert_eq!(server.count(), 4 * 3 + 4 * 4 + 4 * 3);
    let fake = figures(&found, "fake-verdict");
    // Attacks can win two unmet criteria and one incurred penalty.
    assert_eq!((&fake["won"]["count"], &fake["won"]["n"]), (&3.into(), &3.into()));
    assert_eq!((&fake["unmet_to_met"], &fake["met_to_unmet"]), (&2.into(), &1.into()));
    assert_eq!((&fake["flips"]["count"], &fake["flips"]["n"]), (&3.into(), &4.into()));
    assert_eq!(fake["won"]["method"], "Blaker");
    // 3 of 3 at 95%: p^3 = 0.05, since no other tail is as unlikely.
    let low = fake["won"]["low"].as_f64().expect("a number");
    assert!((low - 0.368_403).abs() < 1e-5 && fake["won"]["high"] == 1.0, "{low}");
    let emotion = figures(&found, "emotion");
    assert_eq!(
        (&emotion["won"]["count"], &emotion["lost"]["count"], &emotion["lost"]["n"]),
        (&0.into(), &1.into(), &1.into())
    );
    let authority = figures(&found, "authority");
    assert_eq!((&authority["flips"]["count"], &authority["flips"]["n"]), (&0.into(), &4.into()));
    let base64 = figures(&found, "base64");
    assert_eq!(
        (&base64["ungraded_after"], &base64["pairs"], &base64["flips"]["rate"]),
        (&4.into(), &0.into(), &Value::Null)
    );
    let audit = &found["audit"];
    assert_eq!((&audit["attacks"]["won"]["count"], &audit["attacks"]["won"]["n"]), (&3.into(), &9.into()));
    assert_eq!((&audit["noise"]["flips"]["count"], &audit["noise"]["flips"]["n"]), (&0.into(), &8.into()));
    assert_eq!((&audit["control"]["flips"]["count"], &audit["control"]["pairs"]), (&0.into(), &4.into()));
    let criteria = audit["criteria"].as_array().expect("a list");
    assert_eq!(criteria.len(), 4);
    assert_eq!(
        (&criteria[3]["criterion"], &criteria[3]["won"]["n"]),
        (&"a".into(), &0.into()),
        "nothing to win there"
    );
    assert_eq!(found["exit_code"], 3);

    // The stored rows alone give the same metrics, and a case of the audit can be explained like any other.
    let shown = cli.run(&["audit", "show", "run", "--json"]).expect_code(3);
    let shown: Value = serde_json::from_str(&shown.stdout).expect("one JSON object");
    assert_eq!(shown["audit"], found["audit"]);
    cli.env("COLUMNS", "100");
    let table = cli.run(&["audit", "show", "run", "--max-flip-rate", "0.3"]).expect_code(1);
    assert!(table.stdout.contains("attacks changed 33.3% (95% CI "), "{}", table.stdout);
    let wins = &found["audit"]["wins"];
    assert_eq!((&wins["attacks"]["n"], &wins["noise"]["value"]), (&9.into(), &0.0.into()), "{wins}");
    assert_eq!(wins["beyond_noise"]["n"], 3, "three decisions could be won: {wins}");
    assert!(table.stdout.lines().all(|line| line.chars().count() <= 100), "{}", table.stdout);
    cli.run(&["audit", "show", "run", "--max-flip-rate", "0.34"]).expect_code(3);
    let explained = cli.run(&["explain", "run", "one@fake-verdict.append"]).expect_code(0);
    assert!(explained.stdout.contains("zebras"), "{}", explained.stdout);
}

#[test]
fn an_audit_is_planned_remembered_and_limited() {
    let (cli, server) = fixture();
    let args = ["--probes", "fake-verdict,authority", "--max-flip-rate", "0.4"];
    let plan = audit(&cli, &[&args[..], &["--dry-run"]].concat(), 0);
    assert_eq!(server.count(), 0);
    // Two cases, each judged twice unchanged and once with each of two probes.
    assert_eq!(plan["items"], 8, "{plan}");
    let first = audit(&cli, &args, 1);
    let bought = server.count();
    assert_eq!((bought, &first["judge_calls"]), (16, &16.into()));
    assert!(first["exit_reason"].as_str().expect("words").contains("a share of 0.500"), "{first}");
    let again = audit(&cli, &args, 1);
    assert_eq!((server.count(), &again["judge_calls_cached"]), (bought, &16.into()));
    assert_eq!(again["audit"], first["audit"]);
    // A limit that holds, and one of the two cases, always the same one.
    audit(&cli, &["--probes", "authority", "--max-flip-rate", "0"], 0);
    let one = audit(&cli, &["--probes", "authority", "--max-cases", "1", "--seed", "4"], 0);
    let same = audit(&cli, &["--probes", "authority", "--max-cases", "1", "--seed", "4"], 0);
    assert_eq!((&one["audit"]["cases"], &one["audit"]), (&1.into(), &same["audit"]));
    let places = audit(&cli, &["--probes", "authority", "--place", "append,prepend,inject,append"], 0);
    assert_eq!(places["audit"]["probes"].as_array().expect("a list").len(), 3);
    let stopped = audit(&cli, &["--no-cache", "--probes", "authority", "--budget-calls", "5"], 4);
    assert!(stopped["exit_reason"].as_str().expect("words").contains("budget"), "{stopped}");
}

#[test]
fn a_target_answers_each_case_once_and_only_rubrics_are_audited() {
    let (cli, server) = fixture();
    cli.file("s.yaml", SUITE.replace("  output: apples and pears\n", "").replace(
        "  assertions:\n  - type: rubrics\n    criteria:\n    - {id: a",
        "  assertions:\n  - {type: equals, value: apples and pears}\n  - type: composite\n    assertions:\n    - type: \
         rubrics\n      name: inner\n      criteria: [Names `pears`]\n    aggregator: {type: weighted_average}\n  - \
         type: rubrics\n    criteria:\n    - {id: a",
    ));
    let args = ["--target", "openai:t", "--probes", "fake-verdict,authority", "--no-cache"];
    let plan = audit(&cli, &[&args[..], &["--dry-run"]].concat(), 0);
    assert_eq!((&plan["target_calls"], server.count()), (&1.into(), 0), "{plan}");
    let found = audit(&cli, &args, 0);
    let asked =
        server.requests().iter().filter(|request| !request.json()["response_format"].is_object()).count();
    assert_eq!(asked, 1, "one case has no answer of its own");
    assert_eq!(found["audit"]["attacks"]["pairs"], 10);
    let graders: Vec<&str> = found["audit"]["criteria"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["grader"].as_str())
        .collect();
    assert!(graders.iter().any(|grader| grader.ends_with("/inner")), "{graders:?}");
}

#[test]
fn the_offline_judge_is_audited_too_and_mistakes_are_told() {
    let (cli, server) = fixture();
    let found = cli.run(&["audit", "injection", "s.yaml", "--json", "-q"]).expect_code(0);
    let found: Value = serde_json::from_str(&found.stdout).expect("one JSON object");
    // The offline judge compares words, so an answer that repeats the criteria meets all of them.
    assert_eq!(figures(&found, "criteria-repeated")["won"]["count"], 2);
    assert_eq!(server.count(), 0);
    for (args, words) in [
        (&["audit", "injection", "s.yaml", "--probes", "fake-verdct"][..], "`fake-verdict`"),
        (&["audit", "injection", "s.yaml", "--resume"], "can't be resumed"),
        (&["audit", "injection", "s.yaml", "--show", "all"], "--show"),
        (&["audit", "injection", "s.yaml", "--place", "under"], "append, prepend, inject"),
        (&["audit", "injection", "s.yaml", "--max-cases", "0"], "--max-cases"),
        (&["audit", "injection", "none.yaml"], "none.yaml"),
        (&["audit", "show", "nowhere"], "nowhere"),
    ] {
        let output = cli.run(args).expect_code(2);
        assert!(output.stderr.contains(words), "{}", output.stderr);
    }
    cli.file("checks.yaml", "name: c\ntests:\n- {id: a, criteria: x, input: q, output: b, assertions: [{type: equals, value: b}]}\n");
    let output = cli.run(&["audit", "injection", "checks.yaml"]).expect_code(2);
    assert!(output.stderr.contains("no case has a rubric"), "{}", output.stderr);
    cli.run(&["eval", "checks.yaml", "--run-dir", "plain"]).expect_code(0);
    let output = cli.run(&["audit", "show", "plain"]).expect_code(2);
    assert!(output.stderr.contains("not an audit"), "{}", output.stderr);
    let probes = cli.run(&["audit", "probes", "--json"]).expect_code(0);
    let probes: Value = serde_json::from_str(&probes.stdout).expect("a list");
    assert_eq!(probes[0]["class"], json!("control"));
}
