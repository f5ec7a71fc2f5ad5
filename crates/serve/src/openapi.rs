//! Description of the service as an OpenAPI 3.1 document, generated from the types of requests and replies.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::api::{GradeReply, GradeRequest, RUBRIC_SCHEMA, RubricListing, SampleResult, StreamEnd};
use crate::problem::ErrorReply;

/// Error statuses of requests to grade.
const BODY_ERRORS: [&str; 10] = ["400", "408", "409", "413", "415", "422", "429", "500", "502", "503"];

/// Requests that a server with the offline judge answers with 200.
const EXAMPLES: &str = include_str!("openapi/examples.json");

/// The adapters of training frameworks by path: id, summary, and the schemas of body and reply.
const ADAPTERS: &str = include_str!("openapi/adapters.json");

/// The OpenAPI document.
pub fn openapi() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    let mut generator = settings.into_generator();
    let schemas = SchemaReferences {
        request: reference::<GradeRequest>(&mut generator),
        reply: reference::<GradeReply>(&mut generator),
        error: reference::<ErrorReply>(&mut generator),
        rubric: reference::<RubricListing>(&mut generator),
        result: reference::<SampleResult>(&mut generator),
        end: reference::<StreamEnd>(&mut generator),
    };
    let mut definitions = generator.take_definitions(true);
    definitions.extend(rubric_definitions());

    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Assize",
            "description": "Grades answers of language models by rubrics and scorecards. Any other address is answered with 404, in \
                            the form of all errors.",
            "version": env!("CARGO_PKG_VERSION"),
        },
        "security": [{ "bearer": [] }, { "password": [] }, { "header": [] }, {}],
        "paths": paths(&schemas),
        "components": {
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer" },
                "password": {
                    "type": "http",
                    "scheme": "basic",
                    "description": "The key as the password; the name of the user does not matter.",
                },
                "header": { "type": "apiKey", "in": "header", "name": "X-Api-Key" },
            },
            "schemas": definitions,
        },
    })
}

/// References to the schemas of bodies.
struct SchemaReferences {
    request: Value,
    reply: Value,
    error: Value,
    rubric: Value,
    result: Value,
    end: Value,
}

/// Definitions of rubric files; rubrics in requests have the same form.
fn rubric_definitions() -> Map<String, Value> {
    let files = assize_schema::schemas();
    let file = files.into_iter().find(|file| file.name == RUBRIC_SCHEMA);
    let mut definitions = match file.and_then(|mut file| file.schema.get_mut("$defs").map(Value::take)) {
        Some(Value::Object(definitions)) => definitions,
        _ => Map::new(),
    };
    definitions.values_mut().for_each(move_references);

    definitions
}

/// Rewrites references within a separate schema to point into the document.
fn move_references(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                match inner.as_str().and_then(|text| text.strip_prefix("#/$defs/")) {
                    Some(name) if key == "$ref" => *inner = json!(format!("#/components/schemas/{name}")),
                    _ => move_references(inner),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(move_references),
        _ => {}
    }
}

fn paths(schemas: &SchemaReferences) -> Value {
    let grade = json!({
        "operationId": "grade",
        "summary": "Grade samples by a rubric or a scorecard.",
        "parameters": [idempotency_key(), trace_parent()],
        "requestBody": { "required": true, "content": { "application/json": {
            "schema": schemas.request,
            "examples": read_data(EXAMPLES),
        } } },
        "responses": graded(&results(schemas), schemas, &BODY_ERRORS),
    });
    let listing = json!({ "description": "The rubrics.", "content": { "application/json": { "schema": {
        "type": "object",
        "required": ["rubrics", "unusable"],
        "properties": {
            "rubrics": { "type": "array", "items": schemas.rubric },
            "unusable": {
                "type": "object",
                "description": "Files that never could be used, by name, with the reason.",
                "additionalProperties": { "type": "string" },
            },
        },
    } } } });

    let mut paths = json!({
        "/v1/grade": { "post": grade },
        "/v1/rubrics": { "get": {
            "operationId": "rubrics",
            "summary": "List the named rubrics.",
            "responses": graded(&listing, schemas, &[]),
        } },
        "/v1/openapi.json": { "get": {
            "operationId": "description",
            "summary": "This document.",
            "security": [{}],
            "responses": open(&json_reply("The document.", &json!({ "type": "object" })), schemas),
        } },
        "/healthz": { "get": text_path("health", "Check that the process is alive.", schemas) },
        "/readyz": { "get": ready_path(schemas) },
        "/metrics": { "get": {
            "operationId": "metrics",
            "summary": "Metrics in the text format of Prometheus. A key that is not the operator's sees its own amounts.",
            "responses": graded(&text_reply("The metrics."), schemas, &[]),
        } },
        "/seed_session": { "post": {
            "operationId": "gymSession",
            "summary": "Start a session of NeMo Gym. Nothing is kept.",
            "responses": graded(&json_reply("An empty object.", &json!({ "type": "object" })), schemas, &[]),
        } },
        "/aggregate_metrics": { "post": gym_metrics_path(schemas) },
        "/reverify_mode": { "get": {
            "operationId": "gymReverifyMode",
            "summary": "Tell NeMo Gym that rewards depend on nothing but the request.",
            "responses": graded(&json_reply("The mode.", &json!({ "const": "stateless" })), schemas, &[]),
        } },
    });
    for (path, described) in read_data(ADAPTERS) {
        paths[path.as_str()] = json!({ "post": adapter(&described, schemas) });
    }

    paths
}

fn results(schemas: &SchemaReferences) -> Value {
    let replayed = json!({
        "description": "`true` if the results come from an earlier request with the same `Idempotency-Key`.",
        "schema": { "type": "string", "const": "true" },
    });
    json!({
        "description": "The results. JSON in the order of the samples; JSON lines and events in the order in which they finish, \
                        with the summary last.",
        "headers": { "Idempotency-Replayed": replayed },
        "content": {
            "application/json": { "schema": schemas.reply },
            "application/x-ndjson": {
                "schema": { "description": "A line.", "oneOf": [schemas.result, schemas.end] },
            },
            "text/event-stream": { "schema": { "type": "string" } },
        },
    })
}

/// Replies of a path that needs a key, with these error statuses in addition to the ones of all paths.
fn graded(success: &Value, schemas: &SchemaReferences, statuses: &[&str]) -> Value {
    let mut responses = open(success, schemas);
    for status in statuses.iter().chain(&["401"]) {
        responses[*status] = failed(status, schemas);
    }

    responses
}

/// Replies of a path that needs no key.
fn open(success: &Value, schemas: &SchemaReferences) -> Value {
    json!({ "200": success, "405": failed("405", schemas), "421": failed("421", schemas) })
}

fn failed(status: &str, schemas: &SchemaReferences) -> Value {
    let description = match status {
        "400" => "The body is not JSON, or ended too early.",
        "401" => "A valid key is needed.",
        "405" => "The address does not take this method.",
        "408" => "The body took too long.",
        "409" => "The named rubric has changed, and the version with this hash is not remembered.",
        "413" => "The body is too large.",
        "415" => "The body is not declared as JSON, or encoded.",
        "421" => "The request names a host that the server does not answer for.",
        "422" => "The request has problems; all of them are listed.",
        "429" => "The queue is full, or a quota of the key is used up.",
        "500" => "The server failed.",
        "502" => "A reward is unknown, and the request has `on_ungraded: error`.",
        _ => {
            "The server is stopping; or the judge is not called now, because it failed (`type` is then `unavailable`)."
        }
    };
    let header = |text: &str, kind: &str| json!({ "description": text, "schema": { "type": kind } });
    let headers = match status {
        "401" => json!({ "WWW-Authenticate": header("`Bearer`.", "string") }),
        "405" => json!({ "Allow": header("The methods that the address takes.", "string") }),
        "429" => json!({
            "Retry-After": header("Seconds after which the same request may succeed; absent if waiting does not help.", "integer"),
        }),
        "503" => {
            json!({ "Retry-After": header("Seconds after which a server may be available again, or the judge is tried again.", "integer") })
        }
        _ => {
            return json!({ "description": description, "content": { "application/json": { "schema": schemas.error } } });
        }
    };

    json!({ "description": description, "headers": headers, "content": { "application/json": { "schema": schemas.error } } })
}

fn idempotency_key() -> Value {
    json!({
        "name": "Idempotency-Key",
        "in": "header",
        "required": false,
        "description": "A request that is sent again with the same key gets the results of the first time.",
        "schema": { "type": "string", "minLength": 1, "maxLength": 256, "pattern": "^[!-~]+$" },
    })
}

fn trace_parent() -> Value {
    json!({
        "name": "traceparent",
        "in": "header",
        "required": false,
        "description": "Trace that the OpenTelemetry events of the results belong to (W3C Trace Context).",
        "schema": { "type": "string" },
    })
}

/// An adapter, with the options in its address.
fn adapter(described: &Value, schemas: &SchemaReferences) -> Value {
    let option = |name: &str, text: &str, schema: Value| json!({ "name": name, "in": "query", "required": false, "description": text, "schema": schema });
    let mut parameters = vec![
        option(
            "rubric",
            "Name of a loaded rubric or scorecard; `default` unless given.",
            json!({ "type": "string" }),
        ),
        option("hash", "Hash of its version.", json!({ "type": "string" })),
        option("weights", "Weight set of a scorecard.", json!({ "type": "string" })),
        option("reward", "Number that becomes the reward.", json!({ "enum": ["score", "gated", "pass"] })),
        option(
            "on_ungraded",
            "Reward of a sample whose reward is not known.",
            json!({ "anyOf": [{ "enum": ["null", "drop", "error", "low", "high"] }, { "type": "number" }] }),
        ),
        option("deadline_ms", "Time limit in milliseconds.", json!({ "type": "integer", "minimum": 1 })),
        trace_parent(),
    ];
    if described["operationId"] == "openrlhf" {
        let text = "`query` if the answer is `query` alone.";
        parameters.push(option("answer", text, json!({ "const": "query" })));
    }

    json!({
        "operationId": described["operationId"],
        "summary": described["summary"],
        "parameters": parameters,
        "requestBody": { "required": true, "content": { "application/json": { "schema": described["body"] } } },
        "responses": graded(&json_reply("The rewards.", &described["reply"]), schemas, &BODY_ERRORS),
    })
}

fn gym_metrics_path(schemas: &SchemaReferences) -> Value {
    let rollouts = json!({ "type": "array", "items": { "type": "object" } });
    let body = json!({
        "type": "object",
        "required": ["verify_responses"],
        "properties": { "verify_responses": rollouts },
        "additionalProperties": false,
    });
    let list = json!({ "type": "array", "items": { "type": "object" } });
    let reply = json!({
        "type": "object",
        "required": ["group_level_metrics", "agent_metrics", "key_metrics", "repeat_level_metrics"],
        "properties": {
            "group_level_metrics": list,
            "agent_metrics": { "type": "object" },
            "key_metrics": { "type": "object" },
            "repeat_level_metrics": list,
        },
    });
    json!({
        "operationId": "gymMetrics",
        "summary": "Statistics of the replies of `/verify` for NeMo Gym. Masked ones are counted alone.",
        "requestBody": { "required": true, "content": { "application/json": { "schema": body } } },
        "responses": graded(&json_reply("The metrics.", &reply), schemas, &BODY_ERRORS),
    })
}

/// A map of a data file of this program.
fn read_data(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).expect("it is compiled in, and tests read it")
}

fn json_reply(description: &str, schema: &Value) -> Value {
    json!({ "description": description, "content": { "application/json": { "schema": schema } } })
}

fn text_reply(description: &str) -> Value {
    json!({ "description": description, "content": { "text/plain": { "schema": { "type": "string" } } } })
}

fn reference<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<T>().to_value()
}

fn text_path(id: &str, summary: &str, schemas: &SchemaReferences) -> Value {
    json!({
        "operationId": id,
        "summary": summary,
        "security": [{}],
        "responses": open(&text_reply("A text."), schemas),
    })
}

fn ready_path(schemas: &SchemaReferences) -> Value {
    let mut path =
        text_path("readiness", "Check that requests are accepted; 503 while the server stops.", schemas);
    path["responses"]["503"] = text_reply("The server is stopping.");
    path
}
