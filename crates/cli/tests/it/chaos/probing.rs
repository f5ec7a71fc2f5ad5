//! `assize audit order`, `length` and `self`: biased judges are detected, unbiased ones are not.

use assize_testkit::cli::CliTest;
use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use serde_json::{Value, json};

use crate::e2e::judge::{Criterion, JudgeRequest, truth};

/// Three cases.
fn suite(outputs: bool) -> String {
    suite_of(&[("one", "apples"), ("two", "plums"), ("three", "pears")], outputs)
}

/// Cases with three criteria each; the last criterion's word is in no answer.
fn suite_of(cases: &[(&str, &str)], outputs: bool) -> String {
    let case = |(id, fruit): (&str, &str)| {
        let output =
            if outputs { format!("  output: we have {fruit} and figs here\n") } else { String::new() };
        format!(
            "- id: {id}\n  criteria: x\n  input: name {fruit}\n{output}  assertions:\n  - type: rubrics\n    criteria:\n    \
             - {{id: a, outcome: 'Names `{fruit}`'}}\n    - {{id: f, outcome: 'Names `figs`'}}\n    - {{id: z, outcome: \
             'Names `zebras`'}}\n"
        )
    };
    format!("name: s\ntests:\n{}", cases.iter().copied().map(case).collect::<String>())
}

fn fixture(judge: impl Fn(&MockRequest) -> MockReply + Send + Sync + 'static) -> (CliTest, MockServer) {
    let server = MockServer::start(judge);
    let mut cli = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    cli.env("OPENAI_BASE_URL", server.base_url()).env("OPENAI_API_KEY", "sk-audit-0123456789");
    cli.file("s.yaml", suite(true)).file("t.yaml", suite(false));
    (cli, server)
}

fn audit(cli: &CliTest, args: &[&str], code: i32) -> Value {
    let output = cli.run(&[&["audit"], args, &["--json", "-q"]].concat()).expect_code(code);
    serde_json::from_str(&output.stdout).expect("one JSON object")
}

fn met(is: bool) -> Value {
    json!({"evidence": [], "reason": "so", "outcome": if is { "met" } else { "unmet" }})
}

fn honest(incoming: &MockRequest) -> MockReply {
    JudgeRequest::of_text(&incoming.last_user_text).map_or_else(
        || MockReply::text("we have apples, plums, pears, figs"),
        |asked| MockReply::Json(asked.truthful()),
    )
}

/// Decides that the first criterion in the call is met.
fn first_is_met(incoming: &MockRequest) -> MockReply {
    let asked = JudgeRequest::of_text(&incoming.last_user_text).expect("a judge is asked");
    let first = asked.criteria[0].handle.clone();
    MockReply::Json(asked.reply(|criterion: &Criterion| {
        if criterion.handle == first { met(true) } else { truth(criterion, &asked.answer) }
    }))
}

/// Finds long answers good.
fn likes_length(incoming: &MockRequest) -> MockReply {
    let asked = JudgeRequest::of_text(&incoming.last_user_text).expect("a judge is asked");
    if asked.answer.len() > 50 {
        MockReply::Json(asked.reply(|_| met(true)))
    } else {
        MockReply::Json(asked.truthful())
    }
}

#[test]
fn a_judge_that_looks_at_the_order_is_found_out_and_one_that_does_not_is_not() {
    let (mut cli, server) = fixture(first_is_met);
    let order = ["order", "s.yaml", "--judge", "openai:m", "--permutations", "5"];
    let plan = audit(&cli, &[&order[..], &["--dry-run"]].concat(), 0);
    // Three cases: twice in their own order, and in the five other orders of three criteria.
    assert_eq!((&plan["items"], server.count()), (&21.into(), 0), "{plan}");
    let found = audit(&cli, &[&order[..], &["--run-dir", "run", "--max-flip-rate", "0.1"]].concat(), 1);
    assert_eq!(server.count(), 21, "one call each");
    let figures = &found["audit"]["metrics"];
    // `z` comes first in two of six orders: both are flips, in each of three cases.
    let flips = &figures["flips"];
    assert_eq!((&flips["n"], flips["value"].as_f64()), (&45.into(), Some(6.0 / 45.0)), "{found}");
    assert!(flips["low"].as_f64().expect("a number") > 0.0);
    assert_eq!(figures["noise"]["value"], 0.0);
    let parts = found["audit"]["parts"].as_array().expect("a list");
    assert_eq!((&parts[0]["title"], parts.len()), (&"rubrics / z".into(), 5));
    // The same criterion in three cases.
    assert_eq!(
        (&parts[0]["metrics"]["flips"]["n"], &parts[1]["metrics"]["flips"]["value"]),
        (&15.into(), &0.0.into())
    );
    let again = audit(&cli, &order, 0);
    assert_eq!((server.count(), &again["audit"]), (21, &found["audit"]), "remembered");
    cli.env("COLUMNS", "100");
    let shown = cli.run(&["audit", "show", "run", "--limit", "0.2"]).expect_code(0);
    assert!(shown.stdout.contains("rubrics / z") && shown.stdout.contains("13.3%"), "{}", shown.stdout);
    assert!(shown.stdout.lines().all(|line| line.chars().count() <= 100), "{}", shown.stdout);

    let (cli, _server) = fixture(honest);
    let found = audit(&cli, &[&order[..], &["--max-flip-rate", "0"]].concat(), 0);
    assert_eq!(found["audit"]["metrics"]["flips"]["value"], 0.0);
    assert!(found["audit"]["says"].as_str().expect("words").starts_with("No order changed"), "{found}");
}

#[test]
fn a_judge_that_likes_length_is_found_out_and_one_that_does_not_is_not() {
    let (cli, _server) = fixture(likes_length);
    let ids = ["a", "b", "c", "d", "e", "f", "g", "h"];
    cli.file("l.yaml", suite_of(&ids.map(|id| (id, "apples")), true));
    let length = ["length", "l.yaml", "--judge", "openai:m", "--max-shift", "0.1"];
    let found = audit(&cli, &[&length[..], &["--run-dir", "run"]].concat(), 1);
    let audit_of = |found: &Value, name: &str| {
        let parts = found["audit"]["parts"].as_array().expect("a list").clone();
        parts.into_iter().find(|part| part["title"].as_str().is_some_and(|title| title.starts_with(name)))
    };
    for edit in ["frame", "repeat"] {
        let part = audit_of(&found, edit).expect("measured");
        let shift = &part["metrics"]["shift"];
        // One of three criteria of equal weight becomes met.
        assert!((shift["value"].as_f64().expect("a number") - 1.0 / 3.0).abs() < 1e-9, "{found}");
        assert_eq!((&shift["n"], &part["metrics"]["flips"]["n"]), (&8.into(), &24.into()));
        assert!(part["metrics"]["length_ratio"]["value"].as_f64().expect("a number") > 2.0);
    }
    // Nothing could be trimmed, so there is a notice and no metric.
    assert_eq!(audit_of(&found, "trim"), None);
    assert!(found["audit"]["unmeasured"][0].as_str().expect("words").contains("`trim`"), "{found}");
    let shown = cli.run(&["audit", "show", "run"]).expect_code(0);
    assert!(shown.stdout.contains("Length alone shifts scores"), "{}", shown.stdout);

    let (cli, server) = fixture(honest);
    cli.file("l.yaml", suite_of(&ids.map(|id| (id, "apples")), true));
    let found = audit(&cli, &length, 0);
    assert_eq!(audit_of(&found, "repeat").expect("measured")["metrics"]["shift"]["value"], 0.0);
    // The target answers each case once; answers can be edited only after they have arrived.
    let before = server.count();
    audit(&cli, &["length", "t.yaml", "--target", "openai:t", "--judge", "openai:m", "--no-cache"], 0);
    let asked =
        server.requests()[before..].iter().filter(|one| !one.json()["response_format"].is_object()).count();
    assert_eq!(asked, 3);
}

/// `gpt` favours what `gpt` wrote, `claude` is strict with everyone, and all others are fair.
fn partial(incoming: &MockRequest) -> MockReply {
    let model = incoming.body["model"].as_str().unwrap_or_default().to_owned();
    let Some(asked) = JudgeRequest::of_text(&incoming.last_user_text) else {
        return MockReply::text(format!("we have figs, says {model}"));
    };
    let is_kind = model.starts_with("gpt") && asked.answer.contains("says gpt");
    let is_strict = model.starts_with("claude");
    MockReply::Json(
        asked.reply(
            |criterion| {
                if is_kind || is_strict { met(is_kind) } else { truth(criterion, &asked.answer) }
            },
        ),
    )
}

#[test]
fn a_judge_that_prefers_its_own_family_is_found_out_and_a_strict_one_is_not() {
    let (cli, _server) = fixture(partial);
    let who = ["self", "t.yaml", "--target", "openai:gpt-a", "--target", "openai:claude-a"];
    let judges = ["--judge", "openai:gpt-j", "--judge", "openai:claude-j"];
    // With two families, each is measured only by judges of the other, which may prefer their own.
    let told = audit(&cli, &[&who[..], &judges].concat(), 3);
    assert_eq!(told["audit"]["parts"], json!([]), "{told}");
    assert!(told["audit"]["unmeasured"].to_string().contains("a judge of a third"), "{told}");

    let third = ["--judge", "openai:mistral-j", "--max-preference", "0.2", "--run-dir", "run"];
    let found = audit(&cli, &[&who[..], &judges, &third].concat(), 1);
    let parts = found["audit"]["parts"].as_array().expect("a list");
    let of = |family: &str| {
        let part = parts.iter().find(|part| part["title"] == family).expect("measured");
        part["metrics"]["self_preference"].clone()
    };
    // Next to mistral, gpt on gpt's answers: 1 - 1/3, elsewhere 1/3 - 1/3; claude: 0 - 1/3 everywhere.
    let gpt = of("gpt")["value"].as_f64().expect("a number");
    assert!((gpt - 2.0 / 3.0).abs() < 1e-9, "{found}");
    assert_eq!(of("gpt")["n"], 3);
    let claude = of("claude")["value"].as_f64().expect("a number");
    assert!(claude.abs() < 1e-9, "{found}");
    assert_eq!((&parts[0]["title"], parts.len()), (&"gpt".into(), 2), "{found}");
    assert!(found["audit"]["unmeasured"].to_string().contains("`mistral` was not measured"), "{found}");
    assert_eq!(found["audit"]["metrics"]["noise"]["value"], 0.0);
    let shown = cli.run(&["audit", "show", "run", "--limit", "0.7"]).expect_code(0);
    assert!(shown.stdout.contains("gpt"), "{}", shown.stdout);

    // A sample of cases keeps the answers of all targets to them.
    for (seed, most) in [("1", 1), ("2", 1), ("1", 2), ("2", 2)] {
        let draw = ["--judge", "openai:mistral-j", "--max-cases", &most.to_string(), "--seed", seed];
        let found = audit(&cli, &[&who[..], &judges, &draw].concat(), 0);
        let part = &found["audit"]["parts"][0];
        assert_eq!((&part["title"], &part["metrics"]["self_preference"]["n"]), (&"gpt".into(), &most.into()));
        assert_eq!(found["audit"]["cases"], most, "{found}");
    }

    // A given family takes precedence over the name.
    let same = ["--family", "openai:claude-j=gpt"];
    let found = audit(&cli, &[&who[..], &judges, &same, &["--max-preference", "0.2"]].concat(), 3);
    assert_eq!(found["audit"]["parts"], json!([]));
    assert!(found["audit"]["unmeasured"].to_string().contains("every judge is of this family"), "{found}");
    // Answers of unknown origin.
    let found = audit(&cli, &["self", "s.yaml", "--judge", "openai:gpt-j", "--judge", "openai:x-j"], 3);
    let unmeasured = found["audit"]["unmeasured"].to_string();
    assert!(unmeasured.contains("3 answers came with the case, from an unknown model"), "{found}");
}

#[test]
fn mistakes_are_told_before_anything_is_asked() {
    let (cli, server) = fixture(honest);
    cli.file("single.yaml", "name: c\ntests:\n- {id: a, criteria: x, input: q, output: b, assertions: [{type: rubrics, criteria: [is b]}]}\n");
    for (args, words) in [
        (&["audit", "order", "s.yaml", "--judging", "per-criterion"][..], "have no order"),
        (&["audit", "order", "single.yaml", "--judge", "openai:m"], "no rubric has more than one criterion"),
        (&["audit", "length", "s.yaml", "--resume"], "can't be resumed"),
        (&["audit", "self", "s.yaml", "--family", "gpt"], "NAME=FAMILY"),
        (&["audit", "self", "s.yaml", "--family", "a=b", "--family", "a=c"], "two families"),
        (&["audit", "order", "s.yaml", "--permutations", "0"], "1 to 100"),
    ] {
        let output = cli.run(args).expect_code(2);
        assert!(output.stderr.contains(words), "{}", output.stderr);
    }
    assert_eq!(server.count(), 0);
}
