//! Grading requests and their replies.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assize_testkit::mock::{MockReply, MockRequest, MockServer, RecordedRequest, rule};
use serde_json::{Value, json};

use crate::tests::client::{request_text, send};
use crate::tests::fixture::Setup;

#[tokio::test]
async fn samples_are_graded_in_order_with_decisions_and_evidence() {
    let server = Setup::offline().start().await;
    let reply = server
        .graded(&json!({
            "rubric": {"criteria": [
                {"id": "period", "outcome": "Names the refund period of 30 days", "weight": 3, "required": true},
                {"id": "voucher", "outcome": "Mentions a voucher", "weight": 1},
            ]},
            "samples": [
                {"id": "good", "input": "How long?", "output": "The refund period is 30 days."},
                {"output": "No idea."},
                {"id": "chat", "messages": [
                    {"role": "user", "content": "How long?"},
                    {"role": "assistant", "content": [{"type": "text", "text": "The refund period is 30 days."}]},
                ]},
            ],
        }))
        .await;

    let results = reply["results"].as_array().unwrap();
    let ids: Vec<&str> = results.iter().map(|result| result["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["good", "1", "chat"]);
    for (result, score) in results.iter().zip([0.75, 0.0, 0.75]) {
        assert_eq!(result["status"], "graded");
        assert_eq!((&result["reward"], &result["score"]), (&json!(score), &json!(score)));
        assert_eq!((&result["score_low"], &result["score_high"]), (&json!(score), &json!(score)));
    }
    assert_eq!(results[0]["decisions"][0]["evidence"][0]["quote"], "The refund period is 30 days.");
    assert_eq!(results[0]["reward_components"], json!({"period": 1.0, "voucher": 0.0}));
    assert_eq!(results[1]["gates_failed"][0]["criterion"], "period");
    assert_eq!(reply["summary"]["graded"], 3);
    assert_eq!(results[0]["judge_config_hash"], results[1]["judge_config_hash"]);
}

#[tokio::test]
async fn results_come_one_by_one_as_lines_and_as_events() {
    let server = Setup::offline().start().await;
    let body = json!({"rubric": ["a word"], "samples": [{"output": "a word"}, {"output": "b"}]});

    let lines = server.post("/v1/grade", &[("Accept", "application/x-ndjson")], &body).await;
    assert_eq!(lines.header("content-type"), Some("application/x-ndjson"));
    let lines: Vec<Value> = lines.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut indices: Vec<u64> = lines[..2].iter().map(|line| line["index"].as_u64().unwrap()).collect();
    indices.sort_unstable();
    assert_eq!((indices, &lines[2]["summary"]["samples"]), (vec![0, 1], &json!(2)));

    let events = server.post("/v1/grade", &[("Accept", "text/event-stream")], &body).await;
    assert_eq!(events.header("content-type"), Some("text/event-stream"));
    let names: Vec<&str> = events.body.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    assert_eq!(names, ["result", "result", "summary"]);
}

#[tokio::test]
async fn a_result_is_sent_before_the_others_are_finished() {
    let model = MockServer::start(|request: &MockRequest| {
        let is_slow = request.last_user_text.contains("slow answer");
        rule::judge(request).after(Duration::from_millis(if is_slow { 1500 } else { 0 }))
    });
    let server = Setup::with_model(&model).start().await;
    let body = json!({"rubric": ["yes"], "samples": [{"output": "slow answer"}, {"output": "quick answer"}]});
    let text =
        request_text("POST", "/v1/grade", &[("Accept", "application/x-ndjson")], body.to_string().as_bytes());

    let mut stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut stream, &text).await.unwrap();
    let begun = std::time::Instant::now();
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains("\"index\":1") {
        let mut piece = [0; 4096];
        let read = tokio::io::AsyncReadExt::read(&mut stream, &mut piece).await.unwrap();
        assert!(read > 0, "the stream ended");
        seen.extend_from_slice(&piece[..read]);
    }
    assert!(begun.elapsed() < Duration::from_millis(1200), "{:?}", begun.elapsed());
    assert!(!String::from_utf8_lossy(&seen).contains("\"index\":0"));
}

#[tokio::test]
async fn named_rubrics_are_read_again_when_their_files_change() {
    let mut setup = Setup::offline();
    setup.file("rubrics/support.yaml", "- mentions apples\n");
    setup.file("rubrics/broken.yaml", "criteria: [\n");
    setup.options.rubrics = Some("rubrics".into());
    let server = setup.start().await;

    let listed = server.get("/v1/rubrics").await.json();
    let hash = listed["rubrics"][0]["hash"].as_str().unwrap().to_owned();
    assert!(listed["unusable"]["broken"].as_str().unwrap().contains("line"), "{listed}");
    let graded = |hash: Option<&str>| {
        let rubric = json!({"name": "support", "hash": hash});
        json!({"rubric": rubric, "samples": [{"output": "it mentions apples"}]})
    };
    assert_eq!(server.graded(&graded(Some(&hash))).await["results"][0]["reward"], 1.0);

    std::fs::write(server.folder.path().join("rubrics/support.yaml"), "- mentions pears\n").unwrap();
    for _ in 0..100 {
        if server.get("/v1/rubrics").await.json()["rubrics"][0]["hash"] != hash.as_str() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(server.graded(&graded(None)).await["results"][0]["reward"], 0.0, "the newest");
    assert_eq!(
        server.graded(&graded(Some(&hash))).await["results"][0]["reward"],
        1.0,
        "the one that was named"
    );

    let gone = server.grade(&graded(Some("00"))).await;
    assert_eq!((gone.status, gone.kind().as_str()), (409, "rubric_changed"));
    for name in ["../support", "/etc/passwd", "support.yaml", "rubrics/support", "nothing"] {
        let reply = server.grade(&json!({"rubric": {"name": name}, "samples": [{"output": "x"}]})).await;
        assert_eq!((reply.status, reply.problems()[0].0.as_str()), (422, "/rubric/name"), "{name}");
    }
}

#[tokio::test]
async fn a_request_that_is_sent_again_gets_the_results_of_the_first_time() {
    let model = MockServer::start(rule::judge);
    let mut setup = Setup::with_model(&model);
    setup.run.spending.cache = assize_engine::CacheUse::Off;
    let server = setup.start().await;
    let body = json!({"rubric": ["yes", "no"], "samples": [{"output": "a"}]});
    let key = [("Idempotency-Key", "step-7")];

    let first = server.post("/v1/grade", &key, &body).await;
    let calls = model.count();
    let second = server.post("/v1/grade", &key, &body).await;
    assert_eq!((first.status, second.status, calls, model.count()), (200, 200, 2, 2));
    assert_eq!(first.body, second.body);
    assert_eq!(
        (first.header("idempotency-replayed"), second.header("idempotency-replayed")),
        (None, Some("true"))
    );

    let other = json!({"rubric": ["yes"], "samples": [{"output": "b"}]});
    let conflict = server.post("/v1/grade", &key, &other).await;
    assert_eq!((conflict.status, conflict.kind().as_str()), (422, "idempotency_conflict"));
    let without = server.grade(&body).await;
    assert_eq!((without.status, model.count()), (200, 4));
}

/// A setup without a cache, whose model refuses everything while `broken`.
fn breakable(model: &MockServer) -> Setup {
    let mut setup = Setup::with_model(model);
    setup.run.spending.cache = assize_engine::CacheUse::Off;
    setup
}

#[tokio::test]
async fn a_request_that_failed_is_graded_again() {
    let broken = Arc::new(AtomicBool::new(true));
    let state = Arc::clone(&broken);
    let model = MockServer::start(move |request: &MockRequest| {
        if state.load(Ordering::Acquire) {
            return MockReply::status(400, r#"{"error": {"message": "no"}}"#);
        }
        rule::judge(request)
    });
    let server = breakable(&model).start().await;
    let body = json!({"rubric": ["yes"], "samples": [{"output": "a"}], "on_ungraded": "error"});
    let key = [("Idempotency-Key", "step-8")];
    assert_eq!(server.post("/v1/grade", &key, &body).await.status, 502);

    broken.store(false, Ordering::Release);
    let again = server.post("/v1/grade", &key, &body).await;
    assert_eq!((again.status, again.header("idempotency-replayed")), (200, None), "{again:?}");
    let calls = model.count();
    let kept = server.post("/v1/grade", &key, &body).await;
    assert_eq!((kept.header("idempotency-replayed"), model.count()), (Some("true"), calls));
}

#[tokio::test]
async fn comparisons_that_fail_follow_the_policy_for_ungraded_samples() {
    let model = MockServer::start(|request: &MockRequest| {
        let has = |text: &str| request.last_user_text.contains(text);
        if has("second answer") || (has("first answer") && has("other answer")) {
            return MockReply::status(400, r#"{"error": {"message": "no comparison"}}"#);
        }
        rule::judge(request)
    });
    let server = breakable(&model).start().await;
    let ask = |policy: Value| {
        let sample = |output: &str| json!({"group": "q", "output": output});
        json!({
            "rubric": ["yes"], "samples": [sample("first answer"), sample("second answer")],
            "compare": "pairwise", "on_ungraded": policy,
        })
    };

    let reply = server.graded(&ask(json!(null))).await;
    let result = &reply["results"][0];
    assert_eq!(
        (&result["status"], &result["reward"], &result["group_comparisons"]),
        (&json!("partial"), &json!(1.0), &json!([0, 1])),
        "{reply}"
    );
    assert_eq!(result.get("group_score"), Some(&json!(null)));
    for (policy, score) in [(json!("low"), 0.0), (json!("high"), 1.0), (json!({"value": 0.5}), 0.5)] {
        let reply = server.graded(&ask(policy)).await;
        let result = &reply["results"][0];
        assert_eq!((&result["group_score"], &result["group_score_assumed"]), (&json!(score), &json!(true)));
    }
    let mut ranked = ask(json!("low"));
    ranked["compare"] = json!("ranked");
    let reply = server.graded(&ranked).await;
    assert_eq!(reply["results"][0].get("group_rank"), Some(&json!(null)), "it is not known");
    let failed = server.grade(&ask(json!("error"))).await;
    assert_eq!(failed.status, 502);
    assert_eq!(
        failed.json()["error"]["message"],
        "1 of 2 samples have no reward, 2 of 2 samples have no group score"
    );
    let mut known = ask("error".into());
    known["samples"][1]["output"] = json!("other answer");
    let failed = server.grade(&known).await;
    assert_eq!((failed.status, failed.kind().as_str()), (502, "ungraded"), "the judge was asked: {failed:?}");
    assert_eq!(failed.json()["error"]["message"], "2 of 2 samples have no group score");
    // The first sample has a reward; an error would lose it.
    let reply = server.graded(&ask(json!("drop"))).await;
    let results = reply["results"].as_array().unwrap();
    assert_eq!((results.len(), &reply["summary"]["dropped"]), (1, &json!(1)));
    assert_eq!((&results[0]["reward"], results[0].get("group_score")), (&json!(1.0), Some(&json!(null))));
}

#[tokio::test]
async fn clients_at_the_same_time_get_their_own_results() {
    let model =
        MockServer::start(|request: &MockRequest| rule::judge(request).after(Duration::from_millis(5)));
    let server = Setup::with_model(&model).start().await;
    let ask = |client: usize| {
        let samples: Vec<Value> = (0..8)
            .map(|sample| json!({"id": format!("{client}-{sample}"), "output": format!("{client} {sample}")}))
            .collect();
        let word = if client.is_multiple_of(2) { "yes" } else { "no" };
        let body = json!({"rubric": [word], "samples": samples}).to_string();
        let (address, text) = (server.address, request_text("POST", "/v1/grade", &[], body.as_bytes()));
        async move { send(address, &text).await }
    };

    let replies = futures_util::future::join_all((0..24).map(ask)).await;
    for (client, reply) in replies.iter().enumerate() {
        let json = reply.json();
        let results = json["results"].as_array().unwrap();
        assert_eq!(results.len(), 8);
        for (sample, result) in results.iter().enumerate() {
            assert_eq!(result["id"], format!("{client}-{sample}"));
            assert_eq!(result["reward"], if client.is_multiple_of(2) { 1.0 } else { 0.0 });
        }
    }
    assert_eq!(server.metric("assize_queue_samples").await, 0.0, "nothing is left in the queue");
}

#[tokio::test]
async fn samples_of_a_group_are_compared_with_each_other() {
    let server = Setup::offline().start().await;
    let reply = server
        .graded(&json!({
            "rubric": ["Names the refund period of 30 days"],
            "samples": [
                {"id": "a", "group": "q", "output": "The refund period is 30 days."},
                {"id": "b", "group": "q", "output": "Bananas are yellow."},
                {"id": "c", "group": "other", "output": "The refund period is 30 days."},
            ],
            "compare": "pairwise",
        }))
        .await;
    let results = &reply["results"];
    assert_eq!(
        (&results[0]["group_score"], &results[1]["group_score"]),
        (&json!(1.0), &json!(0.0)),
        "{reply}"
    );
    assert_eq!(results[0]["group_comparisons"], json!([1, 1]));
    assert_eq!(results[2].get("group_score"), Some(&json!(null)), "alone in its group");
    assert_eq!(results[2]["group_comparisons"], json!([0, 0]));
    assert_eq!(results[0].get("group_rank"), None);
    assert_eq!(
        server.graded(&json!({"rubric": ["a"], "samples": [{"output": "x"}]})).await["results"][0]
            .get("group_score"),
        None
    );

    let named = |id: &str, group: &str, output: &str| json!({"id": id, "group": group, "output": output});
    let ranked = server
        .graded(&json!({
            "rubric": ["Names the refund period of 30 days"],
            "samples": [
                named("b", "q", "Bananas are yellow."),
                named("a", "q", "The refund period is 30 days."),
                named("c", "q", "Bananas are yellow."),
                named("d", "other", "Bananas are yellow."),
            ],
            "compare": "ranked",
        }))
        .await;
    let ranks: Vec<&Value> =
        ranked["results"].as_array().unwrap().iter().map(|result| &result["group_rank"]).collect();
    assert_eq!(ranks, [&json!(2.5), &json!(1.0), &json!(2.5), &json!(1.0)], "{ranked}");

    let missing =
        server.grade(&json!({"rubric": ["a"], "samples": [{"output": "x"}], "compare": "pairwise"})).await;
    assert_eq!(missing.problems()[0].0, "/samples/0/group");
}

/// The user message that the judge got.
fn user_text(request: &RecordedRequest) -> String {
    let messages = request.json()["messages"].as_array().cloned().unwrap_or_default();
    let texts = messages.iter().filter(|message| message["role"] == "user");
    texts.filter_map(|message| message["content"].as_str()).collect()
}

#[tokio::test]
async fn a_fault_counts_against_an_answer_in_comparisons() {
    let model = MockServer::start(|request: &MockRequest| {
        let text = &request.last_user_text;
        if !text.contains("[[BEGIN answer 1") {
            return rule::judge(request);
        }

        // Prefers the answer that lacks the penalties of the second list.
        let against = text.split_once("What counts against an answer").map_or("", |(_, list)| list);
        let (_, first) = text.split_once("[[BEGIN answer 1").unwrap();
        let (first, _) = first.split_once("[[END answer 1").unwrap();
        let better = match (against.contains("voucher"), first.contains("voucher")) {
            (true, true) | (false, false) => "answer 2",
            _ => "answer 1",
        };
        let reply = json!({"evidence": [], "reason": "by the lists", "better": better});
        MockReply::text(reply.to_string())
    });
    let server = Setup::with_model(&model).start().await;
    let reply = server
        .graded(&json!({
            "rubric": {"criteria": [
                {"id": "polite", "outcome": "Is polite", "weight": 3},
                {"id": "promise", "outcome": "Promises a voucher", "weight": -2},
                {"id": "lie", "outcome": "Refunds take 30 days", "operator": "contradiction", "required": true},
                {"id": "depth", "score_ranges": [
                    {"score_range": [0, 5], "outcome": "shallow"}, {"score_range": [6, 10], "outcome": "thorough"},
                ]},
            ]},
            "samples": [
                {"id": "faulty", "group": "q", "output": "Here is a voucher."},
                {"id": "plain", "group": "q", "output": "It takes 30 days."},
            ],
            "compare": "ranked",
        }))
        .await;

    let ranks: Vec<&Value> =
        reply["results"].as_array().unwrap().iter().map(|result| &result["group_rank"]).collect();
    assert_eq!(ranks, [&json!(2.0), &json!(1.0)], "{reply}");
    let texts: Vec<String> = model.requests().iter().map(user_text).collect();
    let prompt = texts.iter().find(|text| text.contains("[[BEGIN answer 1")).expect("a comparison");
    let (good, bad) = prompt.split_once("What counts against an answer").expect("two lists");
    assert!(good.contains("(weight 3):") && good.contains("6 to 10: thorough"), "{good}");
    assert!(bad.contains("(weight 2):") && bad.contains("(weight 1; disqualifying):"), "{bad}");
}

#[tokio::test]
async fn samples_of_a_group_answer_the_same_question() {
    let server = Setup::offline().start().await;
    let ask = |second: &Value| {
        let first = json!({
            "group": "q", "output": "a", "input": "Q", "reference": "R", "expected_outcome": "E", "vars": {"n": 1},
        });
        let mut second_sample = first.clone();
        second_sample.as_object_mut().unwrap().extend(second.as_object().unwrap().clone());
        let other = json!({"group": "other", "output": "b", "vars": {"n": 2}});
        json!({"rubric": ["says {{ n }}"], "samples": [first, other, second_sample], "compare": "pairwise"})
    };

    assert_eq!(server.grade(&ask(&json!({}))).await.status, 200);
    for (field, value) in [
        ("input", json!("OTHER")),
        ("reference", json!("OTHER")),
        ("expected_outcome", json!("OTHER")),
        ("vars", json!({"n": 2})),
    ] {
        let refused = server.grade(&ask(&json!({field: value}))).await;
        assert_eq!(refused.status, 422, "{field}: {refused:?}");
        let (path, message) = &refused.problems()[0];
        assert_eq!(path, &format!("/samples/2/{field}"));
        assert!(message.starts_with(&format!("`{field}` differs from sample 0")), "{message}");
    }
}

#[tokio::test]
async fn a_conversation_is_shown_up_to_its_last_answer() {
    let model = MockServer::start(rule::judge);
    let server = Setup::with_model(&model).start().await;
    let message = |role: &str, text: &str| json!({"role": role, "content": text});
    let ask = |sample: Value| json!({"rubric": ["yes"], "samples": [sample]});
    let turns =
        || vec![message("user", "FIRSTQ"), message("assistant", "FIRSTA"), message("user", "SECONDQ")];
    let call = json!({
        "role": "assistant", "content": null,
        "tool_calls": [{"id": "1", "function": {"name": "look_up", "arguments": "{\"of\": \"fee\"}"}}],
    });
    let result = json!({"role": "tool", "tool_call_id": "1", "content": "FEE"});

    let mut whole = turns();
    whole.extend([call.clone(), result.clone(), message("assistant", "SECONDA")]);
    server.graded(&ask(json!({"messages": whole}))).await;
    let prompt = user_text(&model.requests().pop().unwrap());
    assert!(prompt.contains("\n[user]\nFIRSTQ\n\n[assistant]\nFIRSTA\n\n[user]\nSECONDQ\n"), "{prompt}");
    let (_, answer) = prompt.split_once("[[BEGIN answer ").expect("an answer");
    assert!(answer.contains("SECONDA") && answer.contains("look_up") && answer.contains("FEE"), "{prompt}");
    assert!(!answer.contains("FIRSTA"), "{prompt}");

    // An input replaces the first question; calls of earlier turns belong to the conversation.
    let mut whole = vec![message("user", "FIRSTQ"), call, result, message("assistant", "FIRSTA")];
    whole.extend([message("user", "SECONDQ"), message("assistant", "SECONDA")]);
    server.graded(&ask(json!({"input": "GIVEN", "messages": whole}))).await;
    let prompt = user_text(&model.requests().pop().unwrap());
    let (question, answer) = prompt.split_once("[[BEGIN answer ").expect("an answer");
    assert!(question.contains("[user]\nGIVEN\n\n[assistant]\nlook_up({\"of\": \"fee\"})\n"), "{prompt}");
    assert!(question.contains("SECONDQ") && !question.contains("FIRSTQ"), "{prompt}");
    assert!(!answer.contains("look_up"), "{prompt}");

    let picture = json!({"role": "user", "content": [
        {"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "http://127.0.0.1:1/a.png"}},
    ]});
    let calls = model.count();
    for (sample, path, expected) in [
        (json!({"messages": turns()}), "/samples/0/messages", "ends with a message of the role `user`"),
        (
            json!({"messages": [picture, message("assistant", "a")]}),
            "/samples/0/messages/0/content/1",
            "texts only, and this is `image_url`",
        ),
        (json!({"input": [picture], "output": "a"}), "/samples/0/input/0/content/1", "`image_url`"),
    ] {
        let refused = server.grade(&ask(sample)).await;
        assert_eq!(refused.status, 422, "{refused:?}");
        let (at, message) = &refused.problems()[0];
        assert!(at == path && message.contains(expected), "{at}: {message}");
    }
    assert_eq!(model.count(), calls);
}

#[tokio::test]
async fn variables_of_a_sample_stand_in_its_criteria() {
    let server = Setup::offline().start().await;
    let sample = |city: &str| json!({"output": "The capital is Paris.", "vars": {"city": city}});
    let body = json!({"rubric": ["mentions {{ city }}"], "samples": [sample("Paris"), sample("Rome")]});
    let reply = server.graded(&body).await;
    assert_eq!((&reply["results"][0]["reward"], &reply["results"][1]["reward"]), (&json!(1.0), &json!(0.0)));
    assert_ne!(reply["results"][0]["judge_config_hash"], reply["results"][1]["judge_config_hash"]);

    let missing = server.grade(&json!({"rubric": ["Names {{ town }}"], "samples": [sample("Paris")]})).await;
    assert_eq!(missing.status, 422, "{missing:?}");
    assert!(missing.problems()[0].1.contains("town"), "{missing:?}");
}

#[tokio::test]
async fn a_rubric_with_variables_for_many_samples_does_not_hold_up_other_requests() {
    let server = Setup::offline().start().await;
    let criteria: Vec<String> = (0..200).map(|number| format!("criterion {number} of {{{{ a }}}}")).collect();
    let samples: Vec<Value> = (0..50).map(|_| json!({"output": "x"})).collect();
    let body = json!({"rubric": criteria, "samples": samples});
    let graded = server.grade(&body);
    tokio::pin!(graded);
    let mut others = 0;
    let reply = loop {
        tokio::select! {
            reply = &mut graded => break reply,
            _ = server.get("/healthz") => others += 1,
        }
    };
    assert_eq!((reply.status, reply.problems().len()), (422, 50), "no sample has a value");
    // All requests share the thread of the test.
    assert!(others > 20, "{others}");
}

#[tokio::test]
async fn a_named_rubric_takes_variables_like_one_in_the_request() {
    let model = MockServer::start(rule::judge);
    let mut setup = Setup::with_model(&model);
    setup.file("rubrics/city.yaml", "threshold: ${{ LINE }}\ncriteria:\n- mentions {{ city }}\n");
    // A name whose brace is escaped, so that a plain search for braces misses it.
    setup.file("rubrics/escaped.json", r#"["mentions \u007b{ city }}"]"#);
    setup.variable("LINE", "0.7");
    setup.options.rubrics = Some("rubrics".into());
    let server = setup.start().await;
    let listed = server.get("/v1/rubrics").await.json()["rubrics"][0].clone();
    assert_eq!((&listed["name"], &listed["criteria"]), (&json!("city"), &json!(1)), "{listed}");

    let sample = |city: &str| json!({"output": "Paris", "vars": {"city": city, "other": "{{ city }}"}});
    for rubric in
        [json!({"name": "city"}), json!({"name": "city", "hash": listed["hash"]}), json!({"name": "escaped"})]
    {
        let seen = model.count();
        let body = json!({"rubric": rubric, "samples": [sample("Paris"), sample("Rome {{ other }}")]});
        let reply = server.graded(&body).await;
        let results = &reply["results"];
        assert_ne!(results[0]["judge_config_hash"], results[1]["judge_config_hash"], "{rubric}");
        let prompts: Vec<String> =
            model.requests()[seen..].iter().map(|sent| sent.json().to_string()).collect();
        assert!(prompts.iter().all(|text| !text.contains("{{ city }}")), "{prompts:?}");
    }
    let prompts: String = model.requests().iter().map(|sent| sent.json().to_string()).collect();
    assert!(prompts.contains("mentions Paris") && prompts.contains("mentions Rome {{ other }}"), "{prompts}");

    let calls = model.count();
    for vars in [json!({}), json!({"town": "Paris"})] {
        for (key, place) in [("rubric", "/rubric"), ("scorecard", "/scorecard")] {
            let body =
                json!({key: {"name": "city"}, "samples": [sample("Paris"), {"output": "x", "vars": vars}]});
            let refused = server.grade(&body).await;
            assert_eq!((refused.status, refused.problems()[0].0.as_str()), (422, place), "{refused:?}");
            assert!(refused.body.contains("the variable `city` has no value"), "{refused:?}");
            assert!(refused.body.contains("sample 1"), "{refused:?}");
        }
    }
    // The frameworks' bodies have no place for values.
    let slime = json!({"prompt": "p", "response": "r", "label": null});
    let refused = server.post("/slime?rubric=city", &[], &slime).await;
    assert!(
        refused.status == 422 && refused.body.contains("the variable `city` has no value"),
        "{refused:?}"
    );
    assert_eq!(model.count(), calls, "nothing was asked");
}

#[tokio::test]
async fn many_requests_travel_on_one_connection_of_http_2() {
    use axum::body::Bytes;
    use http_body_util::{BodyExt as _, Full};
    use hyper_util::client::legacy::Client;
    use hyper_util::rt::TokioExecutor;

    let server = Setup::offline().start().await;
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).http2_only(true).build_http();
    let ask = |number: usize| {
        let body =
            json!({"rubric": ["number"], "samples": [{"id": format!("{number}"), "output": "a number"}]});
        let request = axum::http::Request::post(format!("http://{}/v1/grade", server.address))
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(body.to_string())))
            .unwrap();
        client.request(request)
    };

    for (number, reply) in futures_util::future::join_all((0..50).map(ask)).await.into_iter().enumerate() {
        let reply = reply.unwrap();
        assert_eq!((reply.status().as_u16(), reply.version()), (200, axum::http::Version::HTTP_2));
        let json: Value =
            serde_json::from_slice(&reply.into_body().collect().await.unwrap().to_bytes()).unwrap();
        assert_eq!(json["results"][0]["id"], format!("{number}"));
    }
}

#[tokio::test]
async fn a_sample_with_a_number_that_json_lacks_is_named_and_the_others_are_graded() {
    let server = Setup::offline().start().await;
    let grade = async |body: &str| {
        let text = request_text("POST", "/v1/grade", &[], body.as_bytes());
        send(server.address, &text).await
    };
    let good = r#"{"output": "it mentions apples"}"#;
    let bad = r#"{"output": "it mentions apples", "vars": {"x": [1, NaN]}}"#;
    let whole = |samples: &str, more: &str| {
        format!(r#"{{"rubric": ["mentions apples"], "samples": [{samples}]{more}}}"#)
    };

    let reply = grade(&whole(&format!("{good}, {bad}, {good}"), "")).await;
    let results = &reply.json()["results"];
    assert_eq!(reply.status, 200, "{reply:?}");
    assert_eq!(results[1]["status"], "ungraded", "{results}");
    assert_eq!((&results[0]["reward"], &results[2]["reward"]), (&json!(1.0), &json!(1.0)), "{results}");
    assert_eq!(results[1]["reward"], json!(null), "{results}");
    let error = results[1]["error"].as_str().unwrap();
    assert!(error.starts_with("/samples/1/vars/x/1: `NaN` is not a JSON number"), "{error}");

    // These requests would grade nothing, or something else than requested.
    for (body, place) in [
        (whole(bad, ""), "/samples/0/vars/x/1"),
        (whole(good, r#", "deadline_ms": Infinity"#), "/deadline_ms"),
        (
            whole(
                &format!(r#"{{"group": "g", {}, {{"group": "g", {}"#, &good[1..], &bad[1..]),
                r#", "compare": "pairwise""#,
            ),
            "/samples/1/vars/x/1",
        ),
    ] {
        let reply = grade(&body).await;
        assert_eq!(reply.status, 422, "{body}: {reply:?}");
        assert!(reply.problems().iter().any(|(path, _)| path == place), "{body}: {reply:?}");
    }
}
