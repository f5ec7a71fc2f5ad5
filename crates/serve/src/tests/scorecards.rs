//! Samples graded by a scorecard.

use std::path::Path;

use serde_json::{Value, json};

use crate::tests::fixture::Setup;

/// A rubric over a check that counts and a check that is a hard gate.
fn card() -> Value {
    let benchmark = |code: &str, weight: f64, criticality: &str, word: &str| {
        json!({
            "code": code, "concept": format!("Share of answers with `{word}`."), "weight": weight, "threshold": 0.9,
            "criticality": criticality, "evaluator_type": "code",
            "evaluator_config": {"deterministic": [{"type": "contains", "value": word}]},
            "inclusion_criteria": format!("Apply when an answer is given. Flag if `{word}` is missing."),
        })
    };

    json!({
        "rubrics": [{
            "code": "T", "label": "Tone", "weight": 1.0, "aggregation_method": "WEIGHTED_AVERAGE",
            "passing_threshold": 0.8, "benchmarks": ["T1", "T2"],
        }],
        "benchmarks": [benchmark("T1", 0.25, "threshold_gate", "hello"), benchmark("T2", 0.75, "hard_gate", "thanks")],
    })
}

/// The same scorecard with a part that people decide.
fn card_for_people() -> Value {
    let mut card = card();
    card["rubrics"][0]["benchmarks"] = json!(["T1", "T2", "T3"]);
    card["benchmarks"][1]["weight"] = json!(0.25);
    card["benchmarks"].as_array_mut().unwrap().push(json!({
        "code": "T3", "concept": "Share of answers that a reader likes.", "weight": 0.5, "threshold": 0.5,
        "evaluator_type": "manual_sme", "inclusion_criteria": "Apply when an answer is given. Flag if a reader dislikes it.",
    }));
    card
}

fn body(card: &Value, more: &Value) -> Value {
    let mut body =
        json!({"scorecard": card, "samples": [{"output": "hello and thanks"}, {"output": "hello"}]});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

#[tokio::test]
async fn a_sample_gets_the_score_of_the_top_with_its_parts_and_gates() {
    let server = Setup::offline().start().await;

    let all = server.graded(&body(&card(), &json!({}))).await;
    let (good, bad) = (&all["results"][0], &all["results"][1]);
    assert_eq!(
        (&good["reward"], &good["verdict"], &good["status"]),
        (&json!(1.0), &json!("pass"), &json!("graded"))
    );
    assert_eq!(
        (&bad["reward"], &bad["score"], &bad["verdict"]),
        (&json!(0.25), &json!(0.25), &json!("fail"))
    );
    assert_eq!(bad["reward_components"], json!({"T1": 1.0, "T2": 0.0}));
    assert_eq!(bad["gates_failed"], json!([{"grader": "T2", "criterion": null, "rule": "hard_gate"}]));
    assert_eq!((&bad["coverage"], &bad["decisions"]), (&json!(1.0), &json!([])));

    let parts = bad["scorecard"].as_array().unwrap();
    let row =
        |at: usize| (parts[at]["code"].clone(), parts[at]["verdict"].clone(), parts[at]["score"].clone());
    assert_eq!(row(0), (json!("T"), json!("blocked"), json!(0.25)));
    assert_eq!(row(2), (json!("T2"), json!("fail"), json!(0.0)));
    assert_eq!((&parts[2]["parent"], &parts[2]["decision"]["decided_by"]), (&json!("T"), &json!("checks")));

    let gated = server.graded(&body(&card(), &json!({"reward": "gated"}))).await;
    assert_eq!((&gated["results"][0]["reward"], &gated["results"][1]["reward"]), (&json!(1.0), &json!(0.0)));
    let pass = server.graded(&body(&card(), &json!({"reward": "pass"}))).await;
    assert_eq!((&pass["results"][0]["reward"], &pass["results"][1]["reward"]), (&json!(1.0), &json!(0.0)));

    let mut other = card();
    other["rubrics"][0]["passing_threshold"] = json!(0.7);
    let other = server.graded(&body(&other, &json!({}))).await;
    assert_ne!(good["judge_config_hash"], other["results"][0]["judge_config_hash"], "the tree decides too");
}

/// A scorecard with an index over both parts and two weight sets.
fn card_with_weight_sets() -> Value {
    let mut card = card();
    let rubric = |code: &str, benchmark: &str| {
        json!({
            "code": code, "label": code, "weight": 1.0, "aggregation_method": "WEIGHTED_AVERAGE", "passing_threshold": 0.8, "benchmarks": [benchmark],
        })
    };
    card["rubrics"] = json!([rubric("A", "T1"), rubric("B", "T2")]);
    card["index"] = json!({
        "code": "X", "aggregation_method": "WEIGHTED_AVERAGE", "passing_threshold": 0.8, "components": ["A", "B"], "weight_set": "even",
        "weight_sets": {"even": {"A": 0.5, "B": 0.5}, "first": {"A": 0.9, "B": 0.1}},
    });
    card
}

#[tokio::test]
async fn a_request_may_name_another_weight_set() {
    let mut setup = Setup::offline();
    setup.file("rubrics/card.yaml", &card_with_weight_sets().to_string());
    setup.file("rubrics/plain.yaml", "- Says hello\n");
    setup.options.rubrics = Some("rubrics".into());
    let server = setup.start().await;
    let named = json!({"name": "card"});

    for scorecard in [card_with_weight_sets(), named.clone()] {
        for (weights, score) in
            [(json!({}), 0.5), (json!({"weights": "even"}), 0.5), (json!({"weights": "first"}), 0.9)]
        {
            let all = server.graded(&body(&scorecard, &weights)).await;
            assert_eq!(all["results"][1]["score"], json!(score), "{weights}");
            let part = &all["results"][1]["scorecard"][1];
            assert_eq!(
                (&part["code"], &part["weight"]),
                (&json!("A"), &json!(score)),
                "a part says its weight"
            );
        }
    }
    let reward = server
        .post("/slime?rubric=card&weights=first", &[], &json!({"prompt": "q", "response": "hello"}))
        .await;
    assert_eq!((reward.status, reward.body.trim()), (200, "0.9"));

    for (body, words) in [
        (body(&card_with_weight_sets(), &json!({"weights": "last"})), "there are: even, first"),
        (body(&named, &json!({"weights": "last"})), "there are: even, first"),
        (body(&card(), &json!({"weights": "even"})), "no index"),
        (json!({"rubric": ["Says hello"], "weights": "even", "samples": [{"output": "a"}]}), "a rubric"),
        (json!({"rubric": {"name": "plain"}, "weights": "even", "samples": [{"output": "a"}]}), "a rubric"),
    ] {
        let reply = server.grade(&body).await;
        assert_eq!(reply.status, 422, "{reply:?}");
        let (place, message) = reply.problems().remove(0);
        assert!(place == "/weights" && message.contains(words), "{place}: {message}");
    }
}

#[tokio::test]
async fn what_people_decide_leaves_bounds_and_no_reward() {
    let server = Setup::offline().start().await;

    let all = server.graded(&body(&card_for_people(), &json!({}))).await;
    let good = &all["results"][0];
    assert_eq!(
        (&good["status"], &good["reward"], &good["score"]),
        (&json!("partial"), &json!(null), &json!(null))
    );
    assert_eq!(
        (&good["score_low"], &good["score_high"], &good["coverage"]),
        (&json!(0.5), &json!(1.0), &json!(0.5))
    );
    assert_eq!(good["verdict"], "incomplete");
    assert!(good["error"].as_str().unwrap().starts_with("T3: waiting for a person"), "{good}");

    let low = server.graded(&body(&card_for_people(), &json!({"on_ungraded": "low"}))).await;
    let low = &low["results"][0];
    assert_eq!((&low["reward"], &low["reward_assumed"]), (&json!(0.5), &json!(true)));
    let blocked = server.graded(&body(&card_for_people(), &json!({"reward": "gated"}))).await;
    assert_eq!(blocked["results"][1]["reward"], 0.0, "a gate that failed needs no person");
    assert_eq!(server.metric("assize_ungraded_total{kind=\"waiting\"}").await, 6.0);
}

#[tokio::test]
async fn a_scorecard_is_named_like_a_rubric_and_read_again_when_a_file_of_it_changes() {
    let mut setup = Setup::offline();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scorecard");
    copy(&example, &setup.folder.path().join("rubrics/ride"));
    setup.file("rubrics/tone.yaml", &card().to_string());
    setup.file("rubrics/plain.yaml", "- Says hello\n");
    setup.options.rubrics = Some("rubrics".into());
    let server = setup.start().await;

    let listed = server.get("/v1/rubrics").await.json();
    let kind = |at: usize| (listed["rubrics"][at]["name"].clone(), listed["rubrics"][at]["kind"].clone());
    assert_eq!(kind(0), (json!("plain"), json!("rubric")));
    assert_eq!(kind(1), (json!("ride"), json!("scorecard")));
    assert_eq!(kind(2), (json!("tone"), json!("scorecard")));

    let text = "Complaint: Nausea. Assessment: As stated. Treatment: ondansetron 4 mg IV at 14:05.";
    let sample = json!([{"input": "Gave ondansetron 4 mg IV at 14:05.", "output": text, "tags": ["drafted", "treated", "medication"]}]);
    let hash = listed["rubrics"][1]["hash"].clone();
    let ride = json!({"scorecard": {"name": "ride", "hash": hash}, "samples": sample});
    let result = server.graded(&ride).await["results"][0].clone();
    let part = |code: &str| {
        let parts = result["scorecard"].as_array().unwrap();
        parts.iter().find(|part| part["code"] == code).cloned().unwrap()
    };
    assert_eq!((&result["scorecard"][0]["code"], &result["status"]), (&json!("RDI"), &json!("partial")));
    assert_eq!((&part("A-FMT1")["score"], &part("A-FMT1")["parent"]), (&json!(1.0), &json!("A-FMT")));
    assert_eq!(part("S-DOC1")["decision"]["state"], "waiting");

    // An adapter names it in the same way.
    let reward = server.post("/slime?rubric=tone", &[], &json!({"prompt": "q", "response": "hello"})).await;
    assert_eq!((reward.status, reward.body.trim()), (200, "0.25"));

    let file = server.folder.path().join("rubrics/ride/rubrics/A-FMT.yaml");
    let edited =
        std::fs::read_to_string(&file).unwrap().replace("passing_threshold: 0.80", "passing_threshold: 0.70");
    std::fs::write(&file, edited).unwrap();
    let changed = async {
        while server.get("/v1/rubrics").await.json()["rubrics"][1]["hash"] == hash {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), changed).await.expect("it is read again");
    assert_eq!(server.grade(&ride).await.status, 200, "an earlier version can be named");
}

#[tokio::test]
async fn problems_of_a_scorecard_stand_at_their_place_and_nothing_is_opened() {
    let server = Setup::offline().start().await;
    let problem = async |body: Value| {
        let reply = server.grade(&body).await;
        assert_eq!(reply.status, 422, "{reply:?}");
        let (place, message) = reply.problems().remove(0);
        (place, message)
    };
    let with = |pointer: &str, value: Value| {
        let mut card = card();
        if let Some(place) = card.pointer_mut(pointer) {
            *place = value;
        } else {
            card[pointer.trim_start_matches('/')] = value;
        }
        body(&card, &json!({}))
    };

    let judged = json!({
        "code": "T2", "concept": "c", "weight": 0.75, "threshold": 0.9, "evaluator_type": "llm_judge",
        "llm_prompt_file": "../../../../etc/passwd",
        "inclusion_criteria": "Apply when an answer is given. Flag if it is rude.",
    });
    let program = json!([{"type": "code-grader", "command": ["touch", "x"]}]);
    for (body, place, words) in [
        (with("/rubrics/0/passing_threshold", json!(7)), "/scorecard/rubrics/0/passing_threshold", ""),
        (with("/benchmarks/1", judged), "/scorecard/benchmarks/1/llm_prompt_file", "does not exist"),
        (with("/benchmarks/1/evaluator_config/deterministic", program), "/scorecard/benchmarks/1", "command"),
        (with("/cases", json!([])), "/scorecard/cases", "`samples`"),
        (with("/prompts", json!({"a.md": 1})), "/scorecard/prompts/a.md", "expected a text"),
        (with("/rubrics", json!([])), "/scorecard", ""),
        (body(&card(), &json!({"rubric": ["a"]})), "/scorecard", "one of them"),
        (
            json!({"scorecard": {"name": "../secret"}, "samples": [{"output": "a"}]}),
            "/scorecard/name",
            "of this name is loaded",
        ),
        (
            json!({"scorecard": {"name": "/etc/passwd"}, "samples": [{"output": "a"}]}),
            "/scorecard/name",
            "of this name is loaded",
        ),
        (json!({"scorecard": [], "samples": [{"output": "a"}]}), "/scorecard", "an object"),
    ] {
        let (found, message) = problem(body).await;
        assert!(found.starts_with(place) && message.contains(words), "{place}: {found}: {message}");
    }

    let mut two = card();
    let mut other = two["rubrics"][0].clone();
    (other["code"], other["benchmarks"]) = (json!("U"), json!(["T2"]));
    two["rubrics"][0]["benchmarks"] = json!(["T1"]);
    two["rubrics"].as_array_mut().unwrap().push(other);
    let (place, message) = problem(body(&two, &json!({}))).await;
    assert!(place == "/scorecard" && message.contains("2 top rubrics (T, U)"), "{place}: {message}");

    let compared = json!({"compare": "pairwise", "samples": [{"output": "a", "group": "g"}, {"output": "b", "group": "g"}]});
    assert_eq!(problem(body(&card(), &compared)).await.0, "/compare");
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[tokio::test]
async fn a_sample_to_which_no_benchmark_applies_is_ungraded() {
    let server = Setup::offline().start().await;
    let mut tagged = card();
    for benchmark in tagged["benchmarks"].as_array_mut().unwrap() {
        benchmark["tags"] = json!(["refund"]);
    }
    for (policy, reward) in
        [(json!(null), json!(null)), (json!("low"), json!(0.0)), (json!("high"), json!(1.0))]
    {
        let reply = server.graded(&body(&tagged, &json!({"on_ungraded": policy}))).await;
        let result = &reply["results"][0];
        assert_eq!((&result["status"], &result["reward"]), (&json!("ungraded"), &reward), "{reply}");
        assert_eq!(result["error"], "no benchmark applies to the sample");
        assert_eq!((&result["score_low"], &result["score_high"]), (&json!(0.0), &json!(1.0)));
        assert_eq!(reply["summary"]["ungraded"], 2);
    }
}

#[tokio::test]
async fn the_scorecard_of_the_manual_is_graded() {
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/serve.md");
    let manual = std::fs::read_to_string(manual).unwrap();
    let shown =
        manual.split("```json\n").find(|part| part.contains("\"scorecard\": {")).expect("it is shown");
    let request: Value = serde_json::from_str(shown.split("```").next().unwrap()).unwrap();

    let reply = Setup::offline().start().await.graded(&request).await;

    assert_eq!(
        (&reply["results"][0]["reward"], &reply["results"][0]["verdict"]),
        (&json!(1.0), &json!("pass")),
        "{reply}"
    );
}
