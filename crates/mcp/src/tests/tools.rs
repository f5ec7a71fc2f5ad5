//! Tools used as intended.

use assize_testkit::mock::MockServer;
use assize_testkit::mock::rule::{answer_or_judge, suite};
use rmcp::model::ReadResourceRequestParams;
use serde_json::{Value, json};

use crate::tests::support::{Fixture, checked_suite};

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_says_what_it_takes_and_what_it_may_do() {
    let client = Fixture::writing().connect().await;

    let tools = client.service().list_all_tools().await.expect("tools");

    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["explain", "grade", "list_runs", "plan", "results", "run_eval", "validate"]);
    for tool in &tools {
        let hints = tool.annotations.as_ref().expect("hints");
        let is_spending = ["grade", "run_eval"].contains(&&*tool.name);
        let expected = (Some(!is_spending), Some(false), Some(is_spending));
        assert_eq!(
            (hints.read_only_hint, hints.destructive_hint, hints.open_world_hint),
            expected,
            "{}",
            tool.name
        );
        assert_eq!(hints.idempotent_hint, Some(tool.name != "run_eval"), "{}", tool.name);

        let schema = Value::Object((*tool.input_schema).clone());
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        assert_eq!(required.contains(&json!("budget_usd")), is_spending, "{}", tool.name);
        let text = schema.to_string();
        assert!(!text.contains("\\n") && !text.contains("uint") && !text.contains("$ref\":\"http"), "{text}");
        assert_eq!(schema["additionalProperties"], false, "{}: an unknown argument is an error", tool.name);
        assert!(tool.output_schema.is_some(), "{}: what it returns has a schema", tool.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_that_can_not_be_read_are_errors_of_the_form_of_all_others() {
    let client = Fixture::new().connect().await;

    for (arguments, problem) in
        [(json!({}), "missing field `paths`"), (json!({"files": []}), "unknown field")]
    {
        let result = client.call("validate", arguments).await;

        assert_eq!(result.is_error, Some(true));
        assert_eq!(result.structured_content, None);
        let text = &result.content[0].as_text().expect("text").text;
        let error = &serde_json::from_str::<serde_json::Value>(text).expect("an object")["error"];
        assert_eq!(error["kind"], "usage");
        let message = error["message"].as_str().unwrap_or_default();
        assert!(message.starts_with("arguments: ") && message.contains(problem), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn options_of_the_command_line_are_named_as_arguments() {
    let client = Fixture::new().connect().await;
    let arguments =
        json!({"rubric": ["Says yes"], "samples": [{"id": "a", "answer": "Yes."}], "budget_usd": 0});

    let graded = client.succeed("grade", arguments).await;

    let warnings = graded["warnings"].to_string();
    assert!(warnings.contains("`judges`") && !warnings.contains("--judge"), "{graded}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_validated_with_every_problem() {
    let fixture = Fixture::new();
    fixture.write("good.yaml", &checked_suite(&[("a", "right")]));
    fixture.write("bad.yaml", "tests:\n- id: a\n  inptu: x\n- id: a\n  input: x\n  criteria: y\n");
    let client = fixture.connect().await;

    let good = client.succeed("validate", json!({ "paths": ["good.yaml"] })).await;
    assert_eq!((&good["valid"], &good["files"][0]["cases"]), (&json!(true), &json!(1)));

    let bad = client.succeed("validate", json!({ "paths": ["bad.yaml"] })).await;
    assert_eq!(bad["valid"], false);
    let codes: Vec<&str> = bad["diagnostics"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["code"].as_str())
        .collect();
    assert!(codes.contains(&"E0103") && codes.len() > 1, "{codes:?}");

    let message = client.fail("validate", json!({ "paths": ["nowhere.yaml"] })).await;
    assert!(message.contains("does not exist"), "{message}");
    let message = client.fail("validate", json!({ "paths": [] })).await;
    assert!(message.contains("empty"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn samples_are_graded_in_their_order_and_nothing_is_written() {
    let fixture = Fixture::new();
    fixture.write("rubric.yaml", "criteria: [Says that refunds take 5 days]\n");
    let before = fixture.entries();
    let client = fixture.connect().await;
    let samples = json!([
        { "answer": "No idea.", "question": "How long?" },
        { "id": "good", "answer": "Refunds take 5 days." },
    ]);

    for rubric in [
        json!(["Says that refunds take 5 days"]),
        json!({ "criteria": [{ "id": "days", "outcome": "Says that refunds take 5 days", "required": true }] }),
        json!("criteria: [Says that refunds take 5 days]"),
        Value::Null,
    ] {
        let mut arguments = json!({ "samples": samples, "budget_usd": 0 });
        let key = if rubric.is_null() { "rubric_file" } else { "rubric" };
        arguments[key] = if rubric.is_null() { json!("rubric.yaml") } else { rubric };
        let graded = client.succeed("grade", arguments).await;

        let results = graded["results"].as_array().expect("results");
        let row = |at: usize| (results[at]["id"].as_str(), results[at]["verdict"].as_str());
        assert_eq!((row(0), row(1)), ((Some("sample-1"), Some("fail")), (Some("good"), Some("pass"))));
        assert_eq!(results[1]["graders"][0]["criteria"][0]["evidence"][0]["quote"], "Refunds take 5 days.");
        assert_eq!(
            (&graded["summary"]["counts"]["pass"], &graded["summary"]["exit_code"]),
            (&json!(1), &json!(1))
        );
    }
    assert_eq!(fixture.entries(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_samples_and_rubrics_are_refused_before_anything_is_asked() {
    let client = Fixture::new().connect().await;
    let sample = json!([{ "answer": "x" }]);
    for (arguments, message) in [
        (
            json!({ "samples": sample, "budget_usd": 0 }),
            "one of `rubric`, `rubric_file` and `scorecard_file`",
        ),
        (json!({ "rubric": ["a b"], "samples": [], "budget_usd": 0 }), "1 to 1000 `samples`"),
        (json!({ "rubric": [], "samples": sample, "budget_usd": 0 }), "the rubric has errors"),
        (
            json!({ "rubric": ["a b"], "samples": [{"id": "x", "answer": ""}, {"id": "x", "answer": ""}], "budget_usd": 0 }),
            "two samples have the id `x`",
        ),
        (
            json!({ "rubric": ["a b"], "samples": sample, "budget_usd": 0, "judges": ["nobody"] }),
            "judge `nobody`",
        ),
        (json!({ "rubric": ["a b"], "samples": sample, "budget_usd": 0, "commands": [] }), "unknown field"),
    ] {
        let error = client.fail("grade", arguments.clone()).await;
        assert!(error.contains(message), "{arguments}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn names_in_criteria_take_values_and_are_never_graded_themselves() {
    let fixture = Fixture::new();
    fixture.write("rubric.yaml", "criteria: ['Says that refunds take {{ days }} days']\n");
    let client = fixture.connect().await;
    let samples = json!([{ "answer": "Refunds take 5 days." }]);

    for (key, rubric) in
        [("rubric", json!(["Says that refunds take {{days}} days"])), ("rubric_file", json!("rubric.yaml"))]
    {
        let mut arguments = json!({ "samples": samples, "budget_usd": 0 });
        arguments[key] = rubric;
        let error = client.fail("grade", arguments.clone()).await;
        assert!(error.contains("the variable `days` has no value"), "{error}");

        arguments["vars"] = json!({ "days": 5 });
        let graded = client.succeed("grade", arguments.clone()).await;
        assert_eq!(graded["results"][0]["verdict"], "pass", "{graded}");
        client.succeed("plan", arguments).await;
    }
}

/// An index over two rubrics, each of one check, with two weight sets.
const SCORECARD: &str = "\
index:
  code: X
  aggregation_method: WEIGHTED_AVERAGE
  passing_threshold: 0.6
  components: [A, B]
  weight_set: even
  weight_sets: {even: {A: 0.5, B: 0.5}, first: {A: 0.9, B: 0.1}}
rubrics:
- {code: A, label: Hello, weight: 1, aggregation_method: WEIGHTED_AVERAGE, passing_threshold: 0.5, benchmarks: [A1]}
- {code: B, label: Thanks, weight: 1, aggregation_method: WEIGHTED_AVERAGE, passing_threshold: 0.5, benchmarks: [B1]}
benchmarks:
- {code: A1, concept: Share with hello., weight: 1, threshold: 0.9, evaluator_type: code, tags: [greeting], inclusion_criteria: \
  Flag if hello is missing., evaluator_config: {deterministic: [{type: contains, value: hello}]}}
- {code: B1, concept: Share with thanks., weight: 1, threshold: 0.9, evaluator_type: code, tags: [greeting, thanks], \
  inclusion_criteria: Flag if thanks are missing., evaluator_config: {deterministic: [{type: contains, value: thanks}]}}
";

#[tokio::test(flavor = "multi_thread")]
async fn samples_are_graded_by_a_scorecard_with_the_weights_that_are_asked_for() {
    let fixture = Fixture::new();
    fixture.write("card.yaml", SCORECARD);
    let before = fixture.entries();
    let client = fixture.connect().await;
    let samples = json!([
        { "id": "both", "answer": "hello and thanks", "tags": ["greeting"] },
        { "id": "one", "answer": "hello", "tags": ["greeting"] },
        { "id": "narrow", "answer": "thanks", "tags": ["thanks"] },
    ]);
    let grade = async |weights: Option<&str>| {
        let mut arguments = json!({ "scorecard_file": "card.yaml", "samples": samples, "budget_usd": 0 });
        if let Some(weights) = weights {
            arguments["weights"] = json!(weights);
        }
        client.succeed("grade", arguments).await
    };

    let even = grade(None).await;
    let row = |all: &Value, at: usize| {
        let result = &all["results"][at];
        (result["id"].clone(), result["score"].clone(), result["verdict"].clone())
    };
    assert_eq!(row(&even, 0), (json!("both"), json!(1.0), json!("pass")), "{even}");
    assert_eq!(row(&even, 1), (json!("one"), json!(0.5), json!("fail")));
    assert_eq!(
        row(&even, 2),
        (json!("narrow"), json!(1.0), json!("pass")),
        "what does not apply has no weight"
    );
    assert_eq!(even["results"][1]["scorecard"][0]["code"], "X");
    assert_eq!((&even["summary"]["samples"], &even["summary"]["graded"]), (&json!(3), &json!(3)));

    let first = grade(Some("first")).await;
    assert_eq!(row(&first, 1), (json!("one"), json!(0.9), json!("pass")));
    assert_ne!(first["results"][0]["judge_config_hash"], even["results"][0]["judge_config_hash"]);
    let plan = client.succeed("plan", json!({ "scorecard_file": "card.yaml", "samples": samples })).await;
    assert_eq!(plan["calls"], 0, "{plan}");
    assert_eq!(fixture.entries(), before);

    for (arguments, message) in [
        (
            json!({ "scorecard_file": "card.yaml", "weights": "last" }),
            "no weight set `last`; there are: even, first",
        ),
        (json!({ "rubric": ["a b"], "weights": "even" }), "a rubric has none"),
        (json!({ "rubric": ["a b"], "scorecard_file": "card.yaml" }), "one of `rubric`"),
        (json!({ "scorecard_file": "../card.yaml" }), "outside"),
    ] {
        let mut arguments = arguments;
        arguments["samples"] = samples.clone();
        arguments["budget_usd"] = json!(0);
        let error = client.fail("grade", arguments.clone()).await;
        assert!(error.contains(message), "{arguments}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_started_and_read_in_pages_with_failures_first() {
    let fixture = Fixture::writing();
    let answers = [("a", "right"), ("b", "wrong"), ("c", "right"), ("d", "wrong"), ("e", "right")];
    fixture.write("suite.yaml", &checked_suite(&answers));
    let client = fixture.connect().await;

    let run = json!({ "paths": ["suite.yaml"], "budget_usd": 0, "wait_seconds": 60 });
    let ended = client.succeed("run_eval", run).await;
    assert_eq!((&ended["status"], &ended["summary"]["counts"]["fail"]), (&json!("finished"), &json!(2)));
    let run_id = ended["run_id"].as_str().expect("an id");

    let mut seen = Vec::new();
    let mut arguments = json!({ "run": run_id, "limit": 2 });
    loop {
        let page = client.succeed("results", arguments.clone()).await;
        assert_eq!(page["status"], "finished");
        let rows = page["results"].as_array().expect("rows");
        assert!(!rows.is_empty() && rows.len() <= 2);
        seen.extend(rows.iter().map(|row| row["case_id"].as_str().expect("an id").to_owned()));
        if page["next_cursor"].is_null() {
            break;
        }
        arguments["cursor"] = page["next_cursor"].clone();
    }
    assert_eq!(seen, ["b", "d", "a", "c", "e"]);

    let failures =
        client.succeed("results", json!({ "run": run_id, "failures_only": true, "detail": "full" })).await;
    assert_eq!(failures["results"].as_array().map(Vec::len), Some(2));
    assert_eq!(failures["results"][0]["graders"][0]["type"], "contains");

    let explained = client.succeed("explain", json!({ "case": "b" })).await;
    assert_eq!(explained["cases"].as_array().map(Vec::len), Some(1));
    let message = client.fail("explain", json!({ "case": "bb" })).await;
    assert!(message.contains("no case `bb`"), "{message}");

    let listed = client.succeed("list_runs", json!({})).await;
    assert_eq!((&listed["runs"][0]["run"], &listed["has_more"]), (&json!(run_id), &json!(false)));
    assert_eq!(client.succeed("list_runs", json!({ "suite": "other" })).await["runs"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_goes_on_after_its_id_was_returned_and_stops_when_the_client_leaves() {
    let server =
        MockServer::start(|incoming: &_| answer_or_judge(incoming).after(std::time::Duration::from_hours(1)));
    let fixture = Fixture::writing().with_models(&server);
    fixture.write("suite.yaml", &suite(2, &["yes"], true));
    let client = fixture.connect().await;

    let run = json!({ "paths": ["suite.yaml"], "judges": ["openai:gpt-4o-mini"], "budget_usd": 1 });
    let begun = client.succeed("run_eval", run.clone()).await;
    assert_eq!((&begun["status"], &begun["cases"]), (&json!("running"), &json!(2)));

    let page = client.succeed("results", json!({ "run": begun["run_id"] })).await;
    assert_eq!(
        (&page["status"], &page["results"], &page["cases_finished"]),
        (&json!("running"), &json!([]), &json!(0))
    );
    assert_eq!(client.succeed("list_runs", json!({})).await["running"], json!([begun["run_id"]]));
    client.disconnect().await;

    // The run ended in an orderly way: its status has the reason, and it can be resumed.
    let client = fixture.connect().await;
    let page = client.succeed("results", json!({})).await;
    assert_eq!((&page["status"], &page["summary"]["exit_code"]), (&json!("finished"), &json!(130)));

    let mut again = run;
    again["resume"] = begun["run_id"].clone();
    let resumed = client.succeed("run_eval", again.clone()).await;
    assert_eq!((&resumed["run_id"], &resumed["status"]), (&begun["run_id"], &json!("running")));
    again["resume"] = json!("../elsewhere");
    assert!(client.fail("run_eval", again).await.contains("outside"));
    client.disconnect().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn plans_say_calls_and_cost_of_runs_and_of_samples() {
    let fixture = Fixture::new();
    fixture.write("suite.yaml", &suite(3, &["yes", "no"], true));
    let before = fixture.entries();
    let client = fixture.connect().await;

    let run =
        client.succeed("plan", json!({ "paths": ["suite.yaml"], "judges": ["openai:gpt-4o-mini"] })).await;
    assert_eq!((&run["cases"], &run["calls"]), (&json!(3), &json!(6)));
    assert!(run["cost_usd"]["high"].as_f64().is_some_and(|cost| cost > 0.0), "{run}");

    let samples =
        json!({ "rubric": ["a b", "c d"], "samples": [{ "answer": "x" }], "judges": ["openai:gpt-4o-mini"] });
    assert_eq!(client.succeed("plan", samples).await["calls"], 2);

    for arguments in [json!({}), json!({ "paths": ["suite.yaml"], "rubric": ["a b"] })] {
        assert!(client.fail("plan", arguments).await.contains("give either `paths`"));
    }
    assert_eq!(fixture.entries(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn resources_hold_schemas_codes_and_rules() {
    let client = Fixture::new().connect().await;
    let service = client.service();

    let listed = service.list_all_resources().await.expect("resources");
    assert!(listed.iter().any(|resource| resource.uri == "assize://schemas/suite"));
    assert_eq!(service.list_all_resource_templates().await.expect("templates").len(), 2);

    let read = service.read_resource(ReadResourceRequestParams::new("assize://errors/E0103")).await;
    assert!(format!("{read:?}").contains("Unknown key"));
    assert!(service.read_resource(ReadResourceRequestParams::new("file:///etc/passwd")).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scorecard_is_planned_run_read_and_explained() {
    let fixture = Fixture::writing();
    let benchmark = |code: &str, weight: f64, check: &str| {
        format!(
            "- {{code: {code}, concept: c, weight: {weight}, threshold: 0.9, criticality: hard_gate, evaluator_type: code,\n   \
             evaluator_config: {{deterministic: [{check}]}},\n   \
             inclusion_criteria: Apply when an answer is given. Flag if it is wrong.}}\n"
        )
    };
    let card = |check: &str| {
        format!(
            "rubrics:\n- {{code: T, label: Tone, weight: 1.0, aggregation_method: WEIGHTED_AVERAGE, passing_threshold: 0.8, \
             benchmarks: [T1, T2]}}\nbenchmarks:\n{}{}cases:\n- {{id: a, candidate_output: hello}}\n",
            benchmark("T1", 0.25, "{type: contains, value: hello}"),
            benchmark("T2", 0.75, check)
        )
    };
    fixture.write("card.yaml", &card("{type: contains, value: thanks}"));
    let client = fixture.connect().await;

    let plan = client.succeed("plan", json!({ "paths": ["card.yaml"] })).await;
    assert_eq!((&plan["cases"], &plan["calls"]), (&json!(1), &json!(0)));
    let run = json!({ "paths": ["card.yaml"], "budget_usd": 0, "wait_seconds": 60 });
    let ended = client.succeed("run_eval", run).await;
    assert_eq!((&ended["status"], &ended["summary"]["exit_code"]), (&json!("finished"), &json!(1)));

    let page = client.succeed("results", json!({ "run": ended["run_id"] })).await;
    let parts = page["scorecard"].as_array().expect("parts");
    assert_eq!(
        (&parts[0]["code"], &parts[0]["score"], &parts[0]["verdict"]),
        (&json!("T"), &json!(0.25), &json!("blocked"))
    );
    assert_eq!(parts[0]["blocked_by"], json!(["T2"]));
    assert_eq!(
        client.succeed("explain", json!({ "case": "a" })).await["cases"].as_array().map(Vec::len),
        Some(1)
    );

    fixture.write("program.yaml", &card("{type: code-grader, command: [touch, x]}"));
    let run = json!({ "paths": ["program.yaml"], "budget_usd": 0, "wait_seconds": 60 });
    let message = client.fail("run_eval", run).await;
    assert!(message.contains("programs are not allowed"), "{message}");
    let twice = json!({ "paths": ["card.yaml"], "budget_usd": 0, "trials": 2 });
    assert!(client.fail("run_eval", twice).await.contains("run once"));
}
