//! The description of the service, held against the service.

use serde_json::{Value, json};

use crate::fixture::Setup;

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
    assert_eq!(document, assize_serve::openapi());

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
        for line in lines.body.lines().filter(|line| !line.starts_with("{\"summary\"")) {
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
    let document = assize_serve::openapi();

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

#[tokio::test]
async fn every_path_that_is_described_is_there() {
    let server = Setup::offline().start().await;
    for (path, operations) in assize_serve::openapi()["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys() {
            let reply = match method.as_str() {
                "get" => server.get(path).await,
                _ => server.post(path, &[], &json!({})).await,
            };
            assert!(!matches!(reply.status, 404 | 405), "{method} {path}: {}", reply.status);
        }
    }
}
