//! Description of the service in the form of OpenAPI 3.1, made of the types of requests and replies.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

use crate::api::{GradeReply, GradeRequest, RubricListing, SampleResult};
use crate::problem::ErrorReply;

/// The document.
pub fn openapi() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    let mut generator = settings.into_generator();
    let schemas = [
        reference::<GradeRequest>(&mut generator),
        reference::<GradeReply>(&mut generator),
        reference::<ErrorReply>(&mut generator),
        reference::<RubricListing>(&mut generator),
        reference::<SampleResult>(&mut generator),
    ];
    let [request, reply, error, rubric, result] = schemas;

    let failed =
        |text: &str| json!({ "description": text, "content": { "application/json": { "schema": error } } });
    let results = json!({
        "description": "The results. JSON in the order of the samples; JSON lines and events in the order in which they finish, \
                        with the summary last.",
        "content": {
            "application/json": { "schema": reply },
            "application/x-ndjson": { "schema": result },
            "text/event-stream": { "schema": { "type": "string" } },
        },
    });
    let responses = json!({
        "200": results,
        "400": failed("The body is not JSON."),
        "401": failed("A valid key is needed."),
        "409": failed("The named rubric has changed, and the version with this hash is not remembered."),
        "413": failed("The body is too large."),
        "415": failed("The body is not declared as JSON."),
        "422": failed("The request has problems; all of them are listed."),
        "429": failed("The queue is full, or a quota of the key is used up. `Retry-After` tells when to try again."),
        "502": failed("A reward is not known, and the request asked for an error then."),
        "503": failed("The server is stopping."),
    });

    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Assize",
            "description": "Grades answers of language models by rubrics and scorecards.",
            "version": env!("CARGO_PKG_VERSION"),
        },
        "security": [{ "key": [] }, {}],
        "paths": {
            "/v1/grade": { "post": {
                "operationId": "grade",
                "summary": "Grade samples by a rubric or a scorecard.",
                "parameters": [{
                    "name": "Idempotency-Key",
                    "in": "header",
                    "required": false,
                    "description": "A request that is sent again with the same key gets the results of the first time.",
                    "schema": { "type": "string", "minLength": 1, "maxLength": 256 },
                }],
                "requestBody": { "required": true, "content": { "application/json": {
                    "schema": request,
                    "examples": examples(),
                } } },
                "responses": responses,
            } },
            "/v1/rubrics": { "get": {
                "operationId": "rubrics",
                "summary": "List the named rubrics.",
                "responses": { "200": { "description": "The rubrics.", "content": { "application/json": { "schema": {
                    "type": "object",
                    "required": ["rubrics", "unusable"],
                    "properties": {
                        "rubrics": { "type": "array", "items": rubric },
                        "unusable": {
                            "type": "object",
                            "description": "Files that never could be used, by name, with the reason.",
                            "additionalProperties": { "type": "string" },
                        },
                    },
                } } } } },
            } },
            "/healthz": text_path("health", "Tell that the process lives."),
            "/readyz": text_path("readiness", "Tell that requests are taken; 503 while the server stops."),
            "/metrics": text_path("metrics", "Metrics in the text format of Prometheus."),
        },
        "components": {
            "securitySchemes": { "key": { "type": "http", "scheme": "bearer" } },
            "schemas": generator.take_definitions(true),
        },
    })
}

fn reference<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<T>().to_value()
}

fn text_path(id: &str, summary: &str) -> Value {
    let content = json!({ "text/plain": { "schema": { "type": "string" } } });
    json!({ "get": {
        "operationId": id,
        "summary": summary,
        "responses": { "200": { "description": "A text.", "content": content } },
    } })
}

/// Requests that a server with the offline judge answers with 200.
fn examples() -> Value {
    json!({
        "smallest": {
            "summary": "One criterion, one sample",
            "value": {
                "rubric": ["Names the refund period of 30 days"],
                "samples": [{ "output": "You can return it within the refund period of 30 days." }],
            },
        },
        "weights_and_policy": {
            "summary": "Weights, a gate, a penalty, and the worst case where the judge fails",
            "value": {
                "rubric": {
                    "criteria": [
                        { "id": "period", "outcome": "Names the refund period of 30 days", "weight": 2, "required": true },
                        { "id": "polite", "outcome": "Thanks the customer" },
                        { "id": "invented", "outcome": "Promises a voucher", "weight": -1 },
                    ],
                    "threshold": 0.7,
                },
                "samples": [
                    {
                        "id": "a",
                        "input": "How long can I return my order?",
                        "output": "Thank you for asking! The refund period is 30 days.",
                        "reference": "30 days",
                    },
                    {
                        "id": "b",
                        "messages": [
                            { "role": "user", "content": "How long can I return my order?" },
                            { "role": "assistant", "content": "I do not know." },
                        ],
                    },
                ],
                "reward": "gated",
                "on_ungraded": "low",
                "deadline_ms": 60000,
            },
        },
        "variables": {
            "summary": "Values of each sample in the criteria",
            "value": {
                "rubric": ["mentions {{ city }}"],
                "samples": [
                    { "output": "The capital is Paris.", "vars": { "city": "Paris" } },
                    { "output": "The capital is Rome.", "vars": { "city": "Rome" } },
                ],
                "on_ungraded": { "value": 0.0 },
            },
        },
        "yaml": {
            "summary": "The text of a rubric file",
            "value": {
                "rubric": "criteria:\n- Names the refund period of 30 days\n",
                "samples": [{ "output": "The refund period is 30 days." }],
            },
        },
        "scorecard": {
            "summary": "A scorecard with a hard gate",
            "value": {
                "scorecard": {
                    "rubrics": [{
                        "code": "REF",
                        "label": "Refunds",
                        "weight": 1.0,
                        "aggregation_method": "WEIGHTED_AVERAGE",
                        "passing_threshold": 0.8,
                        "benchmarks": ["REF1"],
                    }],
                    "benchmarks": [{
                        "code": "REF1",
                        "concept": "Share of answers that name the refund period.",
                        "weight": 1.0,
                        "threshold": 1.0,
                        "criticality": "hard_gate",
                        "evaluator_type": "code",
                        "evaluator_config": { "deterministic": [{ "type": "contains", "value": "30 days" }] },
                        "inclusion_criteria": "Apply when a refund is asked for. Flag if the period is missing.",
                    }],
                },
                "samples": [{ "output": "The refund period is 30 days." }],
                "reward": "gated",
            },
        },
        "group": {
            "summary": "Two answers to one question, graded and compared",
            "value": {
                "rubric": ["Names the refund period of 30 days"],
                "samples": [
                    { "id": "long", "group": "q1", "output": "The refund period is 30 days." },
                    { "id": "short", "group": "q1", "output": "Yes." },
                ],
                "compare": "pairwise",
            },
        },
    })
}
