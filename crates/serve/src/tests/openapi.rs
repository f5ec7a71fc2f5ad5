//! The OpenAPI document, checked against the service.

use serde_json::{Value, json};

use crate::tests::fixture::Setup;

/// A validator for a schema of the document.
fn validator(document: &Value, schema: &Value) -> jsonschema::Validator {
    let mut schema = schema.clone();
    schema["components"] = document["components"].clone();
    jsonschema::validator_for(&schema).unwrap()
}

fn assert_valid(document: &Value, schema: &Value, value: &Value) {
    let validator = validator(document, schema);
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:?}\n{value:#}");
}

#[tokio::test]
async fn every_example_of_the_description_is_answered_as_described() {
    let server = Setup::offline().start().await;
    let document = server.get("/v1/openapi.json").await.json();
    assert_eq!(document, crate::openapi());

    let operation = &document["paths"]["/v1/grade"]["post"];
    let body = &operation["requestBody"]["content"]["application/json"];
    let examples = body["examples"].as_object().unwrap();
    assert!(examples.len() >= 5);
    for (name, example) in examples {
        assert_valid(&document, &body["schema"], &example["value"]);
        let reply = server.grade(&example["value"]).await;
        assert_eq!(reply.status, 200, "{name}: {reply:?}");
        let schema = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        assert_valid(&document, schema, &reply.json());

        let lines = server.post("/v1/grade", &[("Accept", "application/x-ndjson")], &example["value"]).await;
        let schema = &operation["responses"]["200"]["content"]["application/x-ndjson"]["schema"];
        for line in lines.body.lines() {
            assert_valid(&document, schema, &serde_json::from_str(line).unwrap());
        }
    }
}

#[tokio::test]
async fn errors_and_lists_have_the_described_form() {
    let mut setup = Setup::offline();
    setup.file("rubrics/a.yaml", "- b\n");
    setup.options.rubrics = Some("rubrics".into());
    let server = setup.start().await;
    let document = crate::openapi();

    let error =
        &document["paths"]["/v1/grade"]["post"]["responses"]["422"]["content"]["application/json"]["schema"];
    for wrong in [json!({}), json!([]), json!({"rubric": ["a"], "samples": [{}], "x": 1})] {
        let reply = server.grade(&wrong).await;
        assert_eq!(reply.status, 422);
        assert_valid(&document, error, &reply.json());
    }
    assert_valid(&document, error, &server.get("/nothing").await.json());

    let list =
        &document["paths"]["/v1/rubrics"]["get"]["responses"]["200"]["content"]["application/json"]["schema"];
    assert_valid(&document, list, &server.get("/v1/rubrics").await.json());
}

/// Exchanges with the frameworks, whose bodies and replies have schemas.
fn exchanges() -> Vec<Value> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exchanges");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.map(|file| serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()).collect()
}

#[test]
fn exchanges_with_frameworks_have_the_described_form() {
    let document = crate::openapi();
    for exchange in exchanges() {
        let path = exchange["path"].as_str().unwrap().split('?').next().unwrap();
        let operation = &document["paths"][path]["post"];
        let status = exchange["status"].to_string();
        let reply = &operation["responses"][&status]["content"]["application/json"]["schema"];
        assert!(reply.is_object(), "{path} has no reply {status}");
        assert_valid(&document, reply, &exchange["reply"]);
        if status == "200" {
            let body = &operation["requestBody"]["content"]["application/json"]["schema"];
            assert_valid(&document, body, &exchange["request"]);
        }
    }
}

#[tokio::test]
async fn the_schema_of_requests_refuses_what_the_server_refuses() {
    let mut setup = Setup::offline();
    setup.file("rubrics/a.yaml", "- b\n");
    setup.options.rubrics = Some("rubrics".into());
    let server = setup.start().await;
    let document = crate::openapi();
    let schema =
        &document["paths"]["/v1/grade"]["post"]["requestBody"]["content"]["application/json"]["schema"];
    let schema = validator(&document, schema);
    let sample = json!([{"output": "x"}]);
    let with_rubric = |rubric: Value| json!({"rubric": rubric, "samples": sample});
    let with_sample = |one: Value| json!({"rubric": ["a"], "samples": [one]});
    let message = json!({"role": "assistant", "content": "x"});

    for (body, is_accepted) in [
        (with_rubric(json!(["a"])), true),
        (with_rubric(json!([{"outcome": "a", "weight": -1, "required": true}])), true),
        (with_rubric(json!({"name": "a"})), true),
        (with_rubric(json!({"name": "own", "criteria": ["a"], "threshold": 0.5})), true),
        (with_rubric(json!("- a")), true),
        (with_sample(json!({"messages": [message], "group": 7, "id": 3})), true),
        (with_sample(json!({"output": {"days": 3}, "messages": null, "tags": ["t"]})), true),
        (json!({"rubric": ["a"], "samples": sample, "deadline_ms": 5000, "on_ungraded": {"value": 0}}), true),
        (json!({"rubric": null, "scorecard": {"name": "a"}, "samples": sample}), true),
        (json!({"rubric": ["a"], "samples": sample, "foo": 1}), false),
        (json!({"samples": sample}), false),
        (json!({"rubric": ["a"], "scorecard": {"name": "x"}, "samples": sample}), false),
        (json!({"rubric": ["a"], "samples": []}), false),
        (json!({"rubric": ["a"], "samples": sample, "deadline_ms": 0}), false),
        (json!({"rubric": ["a"], "samples": sample, "reward": "best"}), false),
        (json!({"rubric": ["a"], "samples": sample, "on_ungraded": "zero"}), false),
        (json!({"rubric": ["a"], "samples": sample, "weights": "w"}), false),
        (json!({"rubric": ["a"], "samples": sample, "compare": "pairwise"}), false),
        (json!({"rubric": ["a"], "samples": sample, "compare": "sorted"}), false),
        (json!({"rubric": ["a"], "samples": [{"output": "x", "group": "g"}], "compare": "ranked"}), true),
        (with_rubric(json!([])), false),
        (with_rubric(json!(7)), false),
        (with_rubric(json!([{"outcome": "a", "wieght": 1}])), false),
        (with_rubric(json!([{"outcome": "a", "weight": "heavy"}])), false),
        (with_rubric(json!({"criteria": ["a"], "command": ["x"]})), false),
        (with_rubric(json!({"criteria": ["a"], "threshold": 7})), false),
        (with_rubric(json!({"name": "a", "foo": 1})), false),
        (with_sample(json!({})), false),
        (with_sample(json!({"output": "x", "messages": [message]})), false),
        (with_sample(json!({"messages": []})), false),
        (with_sample(json!({"output": "x", "id": ""})), false),
        (with_sample(json!({"output": "x", "tags": "a"})), false),
        (with_sample(json!({"output": "x", "vars": []})), false),
    ] {
        let reply = server.grade(&body).await;
        assert_eq!(reply.status == 200, is_accepted, "server: {body}: {reply:?}");
        let errors: Vec<String> = schema.iter_errors(&body).map(|error| error.to_string()).collect();
        assert_eq!(errors.is_empty(), is_accepted, "schema: {body}: {errors:?}");
    }
}

#[tokio::test]
async fn every_status_of_an_address_is_described() {
    let mut setup = Setup::offline();
    setup.keys(&[("a", crate::KeyQuotas::default())]);
    let server = setup.start().await;
    let document = crate::openapi();

    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let other = if method == "get" { "DELETE" } else { "GET" };
            let method = method.to_ascii_uppercase();
            let needs_key = operation.get("security").is_none();
            let responses = &operation["responses"];
            for (method, headers, status) in [
                (method.as_str(), vec![], if needs_key { "401" } else { "200" }),
                (method.as_str(), vec![("Host", "evil.example")], "421"),
                (other, vec![], if needs_key { "401" } else { "405" }),
            ] {
                let text = crate::tests::client::request_text(method, path, &headers, b"{}");
                let reply = crate::tests::client::send(server.address, &text).await;
                assert_eq!(reply.status.to_string(), status, "{method} {path}: {reply:?}");
                let described = &responses[status];
                assert!(described.is_object(), "{method} {path} can be answered with {status}");
                for header in described["headers"].as_object().into_iter().flat_map(|headers| headers.keys())
                {
                    assert!(
                        reply.header(header).is_some(),
                        "{method} {path} {status}: no {header}: {reply:?}"
                    );
                }
                if let Some(schema) = described.pointer("/content/application~1json/schema") {
                    assert_valid(&document, schema, &reply.json());
                }
            }
        }
    }
}

#[tokio::test]
async fn every_path_that_is_described_is_there() {
    let server = Setup::offline().start().await;
    for (path, operations) in crate::openapi()["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys() {
            let reply = match method.as_str() {
                "get" => server.get(path).await,
                _ => server.post(path, &[], &json!({})).await,
            };
            assert!(!matches!(reply.status, 404 | 405), "{method} {path}: {}", reply.status);
        }
    }
}
