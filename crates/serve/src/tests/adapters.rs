//! Exchanges with training frameworks, as the frameworks send and read them. `tests/exchanges` has one file for
//! each; the bodies follow the frameworks' clients.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use assize_testkit::mock::{MockReply, MockRequest, MockServer, rule};
use serde_json::{Value, json};

use crate::tests::client::{request_text, send};
use crate::tests::fixture::{Running, Setup};

const RUBRIC: &str = "criteria:
- {id: period, outcome: Names the refund period of 30 days, weight: 3}
- {id: polite, outcome: 'Says \"thank you\"', weight: 1}
- {id: voucher, outcome: Mentions a voucher, weight: -1}
";

async fn start() -> Running {
    start_with(&["refunds"]).await
}

/// Server with the rubric under each of these names.
async fn start_with(names: &[&str]) -> Running {
    let mut setup = Setup::offline();
    for name in names {
        setup.file(&format!("rubrics/{name}.yaml"), RUBRIC);
    }
    setup.options.rubrics = Some("rubrics".into());
    setup.start().await
}

fn exchanges() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exchanges")
}

#[expect(clippy::disallowed_methods, reason = "a switch of the tests alone")]
fn is_blessing() -> bool {
    std::env::var_os("ASSIZE_BLESS").is_some()
}

/// Times differ between runs.
fn without_times(reply: &mut Value) {
    if let Some(time) = reply.pointer_mut("/metadata/execution_time") {
        *time = json!(0.0);
    }
}

#[tokio::test]
async fn each_framework_gets_what_it_reads() {
    let server = start_with(&["refunds", "default"]).await;
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(exchanges()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 9, "{files:?}");
    let bless = is_blessing();

    for file in files {
        let mut exchange: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let path = exchange["path"].as_str().unwrap().to_owned();
        let sources = exchange["source"].as_array().unwrap();
        assert!(sources.iter().all(|source| source.as_str().unwrap().contains(['@', '/'])), "{sources:?}");
        let reply = server.post(&path, &[], &exchange["request"]).await;
        let mut body = reply.json();
        without_times(&mut body);
        if bless {
            exchange["status"] = json!(reply.status);
            exchange["reply"] = body;
            std::fs::write(&file, format!("{exchange:#}\n")).unwrap();
            continue;
        }

        assert_eq!(exchange["status"], reply.status, "{}: {body:#}", file.display());
        assert_eq!(exchange["reply"], body, "{}", file.display());
    }
}

#[tokio::test]
async fn an_adapter_needs_a_rubric_and_tells_options_that_it_does_not_know() {
    let server = start().await;
    let body = json!({"prompt": "p", "response": "r", "label": null});
    for (path, message) in [
        ("/slime", "?rubric=NAME"),
        ("/slime?rubric=none", "of this name is loaded"),
        ("/slime?rubric=refunds&rewrad=gated", "unknown option `rewrad`"),
        ("/slime?rubric=refunds&on_ungraded=never", "`on_ungraded` of the address"),
    ] {
        let reply = server.post(path, &[], &body).await;
        assert!(reply.status == 422 && reply.body.contains(message), "{path}: {reply:?}");
    }
}

#[tokio::test]
async fn a_prompt_is_never_graded_as_the_answer() {
    let server = start().await;
    let query = "How long can I return it?\nThe refund period is 30 days.";
    let cut_off = json!({"query": [query], "prompts": ["How long can I return it? "], "labels": [""]});
    let alone = json!({"query": [query]});
    for body in [&cut_off, &alone] {
        let reply = server.post("/get_reward?rubric=refunds", &[], body).await;
        assert_eq!((reply.status, reply.problems()[0].0.as_str()), (422, "/query/0"), "{reply:?}");
        assert!(reply.body.contains("answer=query"), "{reply:?}");

        let stated = server.post("/get_reward?rubric=refunds&answer=query", &[], body).await;
        assert_eq!(stated.status, 200, "{stated:?}");
    }

    // The answer quotes the prompt, but the query does not begin with it.
    let quoted =
        json!({"query": ["I read: How long? The refund period is 30 days."], "prompts": ["How long?"]});
    assert_eq!(server.post("/get_reward?rubric=refunds", &[], &quoted).await.status, 422);
    for mark in ["", "<s>", "<|begin_of_text|>", "[gMASK]<sop>"] {
        let marked = json!({"query": [format!("{mark}How long? How long? The refund period is 30 days.")], "prompts": ["How long?"]});
        assert_eq!(server.post("/get_reward?rubric=refunds", &[], &marked).await.status, 200, "{mark}");
    }

    for (path, message) in [
        ("/get_reward?rubric=refunds&on_ungraded=drop", "needs a reward for each sample"),
        ("/slime?rubric=refunds&answer=query", "unknown option `answer`"),
    ] {
        let reply = server.post(path, &[], &alone).await;
        assert!(reply.status == 422 && reply.body.contains(message), "{path}: {reply:?}");
    }
}

fn gym(output: &Value) -> Value {
    json!({"responses_create_params": {"input": "How long?"}, "response": {"output": output}})
}

fn gym_message(role: &str, part: &Value) -> Value {
    json!({"type": "message", "role": role, "content": [part]})
}

#[tokio::test]
async fn a_row_of_gym_names_its_rubric_or_gets_the_default() {
    let content = json!({"type": "output_text", "text": "The refund period is 30 days."});
    let mut row = gym(&json!([gym_message("assistant", &content)]));

    let server = start().await;
    let none = server.post("/verify", &[], &row).await;
    assert!(none.status == 422 && none.body.contains("`default`"), "{none:?}");
    for named in [json!("refunds"), json!({"name": "refunds"})] {
        row["assize_rubric"] = named;
        let graded = server.post("/verify", &[], &row).await.json();
        assert_eq!((&graded["reward"], &graded["assize_rubric"]), (&json!(0.75), &row["assize_rubric"]));
        assert_eq!(server.post("/verify?rubric=none", &[], &row).await.json()["reward"], 0.75);
    }
    for (named, status) in
        [(json!({"name": "refunds", "hash": "0"}), 409), (json!(7), 422), (json!({"nam": "x"}), 422)]
    {
        row["assize_rubric"] = named;
        assert_eq!(server.post("/verify", &[], &row).await.status, status, "{row}");
    }
}

#[tokio::test]
async fn the_answer_of_a_row_of_gym_is_what_the_model_said() {
    let model = MockServer::start(rule::judge);
    let mut setup = Setup::with_model(&model);
    setup.file("rubrics/default.yaml", "- anything\n");
    setup.options.rubrics = Some("rubrics".into());
    let server = setup.start().await;
    let text = |text: &str| json!({"type": "output_text", "text": text});

    let output = json!([
        gym_message("assistant", &text("SAID-BY-THE-MODEL")),
        gym_message("user", &text("SAID-BY-THE-ENVIRONMENT")),
    ]);
    let mut row = gym(&output);
    row["responses_create_params"] = json!({"instructions": "INSTRUCTED", "input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "ASKED"}]},
        {"type": "reasoning", "id": "r", "summary": []},
        {"type": "function_call", "call_id": "c", "name": "CALLED", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "RETURNED"},
    ]});
    let reply = server.post("/verify", &[], &row).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    let prompt = last_prompt(&model);
    for shown in ["INSTRUCTED", "ASKED", "CALLED({})", "RETURNED"] {
        assert!(prompt.contains(shown), "{shown} is not in {prompt}");
    }
    assert!(answer_in(&prompt).contains("SAID-BY-THE-MODEL"), "{prompt}");
    assert!(!answer_in(&prompt).contains("SAID-BY-THE-ENVIRONMENT"), "{prompt}");

    let turns = json!([
        gym_message("assistant", &text("FIRST-REPLY")),
        gym_message("user", &text("FURTHER-QUESTION")),
        gym_message("assistant", &text("LAST-REPLY")),
    ]);
    server.post("/verify", &[], &gym(&turns)).await;
    let prompt = last_prompt(&model);
    assert!(prompt.contains("[assistant]\nFIRST-REPLY\n\n[user]\nFURTHER-QUESTION\n"), "{prompt}");
    assert!(
        answer_in(&prompt).contains("LAST-REPLY") && !answer_in(&prompt).contains("FIRST-REPLY"),
        "{prompt}"
    );

    let refused = gym(&json!([gym_message("assistant", &json!({"type": "refusal", "refusal": "I REFUSE"}))]));
    server.post("/verify", &[], &refused).await;
    let prompt = last_prompt(&model);
    assert!(answer_in(&prompt).contains("I REFUSE"), "{prompt}");

    let calls = model.count();
    let reasoning = json!({"type": "reasoning", "id": "r", "summary": []});
    for output in
        [json!([]), json!([&reasoning]), json!([gym_message("user", &text("only the environment"))])]
    {
        let masked = server.post("/verify", &[], &gym(&output)).await.json();
        assert_eq!((&masked["reward"], &masked["mask_sample"]), (&json!(0.0), &json!(true)), "{masked}");
        assert_eq!(masked["failure_kind"], "assize:no_answer");
    }
    for item in [json!(null), json!("SAID"), json!({}), json!({"type": 1, "content": "SAID"})] {
        let refused = server.post("/verify", &[], &gym(&json!([reasoning, item]))).await;
        assert_eq!((refused.status, refused.problems()[0].0.as_str()), (422, "/response/output/1"), "{item}");
    }
    assert_eq!(model.count(), calls, "an answer that is not there is judged by nobody");
}

/// The last prompt that the judge got.
fn last_prompt(model: &MockServer) -> String {
    let request = model.requests().last().unwrap().json();
    let messages = request["messages"].as_array().unwrap().clone();
    let texts = messages.iter().filter(|message| message["role"] == "user");
    texts.map(|message| message["content"].as_str().unwrap()).collect()
}

/// The part of a prompt between the fences of the answer.
fn answer_in(prompt: &str) -> &str {
    let (_, rest) = prompt.split_once("[[BEGIN answer").expect("the answer is shown");
    rest.split_once("[[END answer").expect("it ends").0
}

#[tokio::test]
async fn a_judge_that_fails_is_an_error_or_a_masked_sample_and_never_a_silent_zero() {
    let model = assize_testkit::mock::MockServer::start(|_: &assize_testkit::mock::MockRequest| {
        assize_testkit::mock::MockReply::status(400, r#"{"error": {"message": "no"}}"#)
    });
    let mut setup = Setup::with_model(&model);
    setup.file("rubrics/refunds.yaml", RUBRIC);
    setup.options.rubrics = Some("rubrics".into());
    let server = setup.start().await;

    let slime = json!({"prompt": "p", "response": "r", "label": "l"});
    assert_eq!(server.post("/slime?rubric=refunds", &[], &slime).await.status, 502);
    assert_eq!(server.post("/slime?rubric=refunds&on_ungraded=low", &[], &slime).await.json(), 0.0);
    let rlhf = json!({"query": ["pr"], "prompts": ["p"], "labels": ["l"]});
    assert_eq!(server.post("/get_reward?rubric=refunds", &[], &rlhf).await.status, 502);

    let gym = json!({"responses_create_params": {"input": "p"}, "response": {"output": [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "r"}]},
    ]}});
    let masked = server.post("/verify?rubric=refunds", &[], &gym).await.json();
    assert_eq!((&masked["reward"], &masked["mask_sample"]), (&json!(0.0), &json!(true)), "{masked}");
    assert_eq!(masked["failure_kind"], "judge_failed");
    assert_eq!(masked["_ng_failure_class"], "judge_failed", "collection keeps it apart");
    assert!(masked["_ng_failure_judge_error"].as_str().unwrap().contains("period: "), "{masked}");

    let grader = json!({"model_sample": "r", "item": {}, "grader": {
        "type": "score_model", "name": "s", "model": "judge-1", "input": [{"role": "user", "content": "Rate it."}],
    }});
    let path = "/v1/fine_tuning/alpha/graders/run";
    assert_eq!(server.post(path, &[], &grader).await.status, 502);
    let high = server.post(&format!("{path}?on_ungraded=high"), &[], &grader).await.json();
    assert_eq!(high["reward"], 1.0);

    // The bounds of a formula include the range of its failed graders.
    let mut multi = json!({"model_sample": "r", "item": {}, "grader": {"type": "multi", "name": "m", "calculate_output": "", "graders": {
        "s": {"type": "score_model", "name": "s", "model": "judge-1", "range": [0, 10], "input": "Rate it."},
        "t": {"type": "string_check", "name": "t", "input": "r", "reference": "r", "operation": "eq"},
    }}});
    for (formula, policy, reward) in [
        ("0.05 * s + 0.5 * t", "low", json!(0.5)),
        ("0.05 * s + 0.5 * t", "high", json!(1.0)),
        ("t - s", "low", json!(-9.0)),
        ("t - s", "high", json!(1.0)),
        ("t - s", "null", Value::Null),
        ("t - s", "0.25", json!(0.25)),
    ] {
        multi["grader"]["calculate_output"] = json!(formula);
        let reply = server.post(&format!("{path}?on_ungraded={policy}"), &[], &multi).await;
        assert_eq!((reply.status, &reply.json()["reward"]), (200, &reward), "{formula}, {policy}: {reply:?}");
    }
    multi["grader"]["calculate_output"] = json!("t / s");
    let unbounded = server.post(&format!("{path}?on_ungraded=low"), &[], &multi).await;
    assert!(unbounded.status == 502 && unbounded.body.contains("use a number"), "{unbounded:?}");
}

#[tokio::test]
async fn graders_that_no_answer_could_satisfy_are_problems_of_the_request() {
    let server = start().await;
    let path = "/v1/fine_tuning/alpha/graders/run";
    let check =
        json!({"type": "string_check", "name": "t", "input": "r", "reference": "r", "operation": "eq"});
    let multi = |formula: &str| json!({"type": "multi", "name": "m", "graders": {"t": check}, "calculate_output": formula});
    let labels = json!({"type": "label_model", "name": "l", "model": "offline", "input": "x", "labels": ["a"], "passing_labels": ["b"]});
    let scored = |range: Value| json!({"type": "score_model", "name": "s", "model": "offline", "input": "x", "range": range});
    for (grader, at) in [
        (multi("t +"), "/grader/calculate_output"),
        (multi("t + other"), "/grader/calculate_output"),
        (labels, "/grader/passing_labels"),
        (scored(json!([0, 1e300])), "/grader/range"),
        (scored(json!([1, 1])), "/grader/range"),
    ] {
        let body = json!({"model_sample": "r", "item": {}, "grader": grader});
        let reply = server.post(path, &[], &body).await;
        assert_eq!((reply.status, reply.problems()[0].0.as_str()), (422, at), "{reply:?}");
    }
}

#[tokio::test]
async fn a_long_comparison_does_not_hold_up_other_requests() {
    let server = start().await;
    let run = json!({"model_sample": "ab".repeat(4_000), "item": {}, "grader": {
        "type": "text_similarity", "name": "t", "input": "{{ sample.output_text }}", "reference": "b".repeat(8_000),
        "evaluation_metric": "fuzzy_match",
    }});
    let compared = server.post("/v1/fine_tuning/alpha/graders/run", &[], &run);
    tokio::pin!(compared);
    let mut others = 0;
    let reply = loop {
        tokio::select! {
            reply = &mut compared => break reply,
            _ = server.get("/healthz") => others += 1,
        }
    };
    assert_eq!((reply.status, &reply.json()["reward"]), (200, &json!(0.5)), "{reply:?}");
    // All requests share the thread of the test.
    assert!(others > 20, "{others}");

    let text = request_text("POST", "/v1/fine_tuning/alpha/graders/run", &[], run.to_string().as_bytes());
    let clients = (0..16).map(|_| {
        let (address, text) = (server.address, text.clone());
        tokio::spawn(async move { send(address, &text).await })
    });
    let clients: Vec<_> = clients.collect();
    server.wait_for("assize_queue_samples", |count| count == 16.0).await;
    clients.iter().for_each(tokio::task::JoinHandle::abort);
    let begun = Instant::now();
    server.wait_for("assize_queue_samples", |count| count == 0.0).await;
    assert!(begun.elapsed() < Duration::from_secs(2), "nobody waits for these: {:?}", begun.elapsed());
}

#[tokio::test]
async fn a_reference_is_found_beside_fields_that_are_null() {
    let model = MockServer::start(rule::judge);
    let mut setup = Setup::with_model(&model);
    setup.file("rubrics/default.yaml", RUBRIC);
    setup.options.rubrics = Some("rubrics".into());
    let server = setup.start().await;
    let content = json!({"type": "output_text", "text": "30 days"});
    let mut row = gym(&json!([gym_message("assistant", &content)]));
    (row["reference"], row["label"]) = (Value::Null, json!("the reference of gym"));
    let event = json!({
        "id": null, "reference_answer": null, "metadata": {"reference_answer": "the reference of AWS"},
        "messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": "30 days"}],
    });

    for (path, body, reference) in
        [("/verify", row, "the reference of gym"), ("/lambda", event, "the reference of AWS")]
    {
        let reply = server.post(path, &[], &body).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        if path == "/lambda" {
            assert_eq!(reply.json()["id"], "0", "the place in the list: {reply:?}");
        }
        assert!(last_prompt(&model).contains(reference), "{path}");
    }
}

#[tokio::test]
async fn collection_of_gym_ends_with_the_metrics_of_its_rollouts() {
    let server = start_with(&["default"]).await;
    let content = json!({"type": "output_text", "text": "The refund period is 30 days."});
    let mut rollout =
        server.post("/verify", &[], &gym(&json!([gym_message("assistant", &content)]))).await.json();
    assert_eq!(rollout.get("_ng_failure_class"), None, "{rollout}");
    rollout["_ng_task_index"] = json!(4);

    let reply = server.post("/aggregate_metrics", &[], &json!({"verify_responses": [rollout]})).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    assert_eq!(reply.json()["key_metrics"], json!({"mean/reward": 0.75}));
    assert_eq!(reply.json()["group_level_metrics"][0]["_ng_task_index"], 4);
    assert_eq!(server.get("/reverify_mode").await.body, "\"stateless\"");
    assert_eq!(server.post("/aggregate_metrics", &[], &json!({"responses": []})).await.status, 422);
}

#[tokio::test]
async fn a_score_model_follows_its_author_within_the_authors_range() {
    let model = MockServer::start(|_: &MockRequest| {
        MockReply::Json(json!({"evidence": [], "reason": "fine", "score": 4}))
    });
    let server = Setup::with_model(&model).start().await;
    let grade = async |input: Value| {
        let run = json!({"model_sample": "THE-ANSWER", "item": {"wanted": "Say yes. {{ item.other }}", "other": "SECRET"}, "grader": {
            "type": "score_model", "name": "s", "model": "judge-1", "range": [1, 5], "input": input,
        }});
        let reply = server.post("/v1/fine_tuning/alpha/graders/run", &[], &run).await;
        assert_eq!((reply.status, &reply.json()["reward"]), (200, &json!(4.0)), "{reply:?}");
        last_prompt(&model)
    };

    let prompt = grade(json!([
        {"role": "system", "content": "You are strict."},
        {"role": "user", "content": "Is {{ sample.output_text }} like {{ item.wanted }}?"},
    ]))
    .await;
    for part in ["You are strict.", "Is \n[[BEGIN sample.output_text ", "[[BEGIN item.wanted ", "from 1 to 5"]
    {
        assert!(prompt.contains(part), "{part} is not in {prompt}");
    }
    assert!(!prompt.contains("expected outcome") && !prompt.contains("SECRET"), "{prompt}");

    // Without references, the judge gets the unchanged item and answer.
    let prompt = grade(json!("Rate it.")).await;
    assert!(answer_in(&prompt).contains("THE-ANSWER") && prompt.contains("SECRET"), "{prompt}");
    assert!(prompt.contains("Instructions\n\nRate it."), "{prompt}");
}

#[tokio::test]
async fn a_label_model_is_rewarded_if_its_label_is_among_the_passing_ones() {
    for (outcome, reward) in [("met", 1.0), ("unmet", 0.0)] {
        let model = MockServer::start(move |_: &MockRequest| {
            MockReply::Json(json!({"evidence": [], "reason": "fine", "outcome": outcome}))
        });
        let server = Setup::with_model(&model).start().await;
        let run = json!({"model_sample": "30 days", "item": {}, "grader": {
            "type": "label_model", "name": "l", "model": "judge-1", "input": [{"role": "user", "content": "Is it right?"}],
            "labels": ["correct", "wrong"], "passing_labels": ["correct"],
        }});
        let reply = server.post("/v1/fine_tuning/alpha/graders/run", &[], &run).await;
        assert_eq!((reply.status, &reply.json()["reward"]), (200, &json!(reward)), "{reply:?}");
        let prompt = last_prompt(&model);
        assert!(prompt.contains("correct | wrong") && prompt.contains("Is it right?"), "{prompt}");
    }
}

#[tokio::test]
async fn the_prompt_that_was_too_long_is_known_by_its_end() {
    let server = start().await;
    let prompt = format!("{}How long can I return the shoes that I bought? ", "Be polite. ".repeat(20));
    let query = format!("<s>{}The refund period is 30 days.", &prompt[100..]);
    let reply =
        server.post("/get_reward?rubric=refunds", &[], &json!({"query": [query], "prompts": [prompt]})).await;
    assert_eq!((reply.status, &reply.json()["rewards"]), (200, &json!(0.75)), "{reply:?}");

    let unknown = server.post("/get_reward?rubrik=refunds", &[], &json!({"query": []})).await;
    assert!(unknown.body.contains("deadline_ms, answer"), "{unknown:?}");
}
