//! The batch APIs: parses requests, builds descriptions and results.

use serde_json::{Value, json};

use super::{MockBatch, MockBatchRequest, MockBatchState};

/// A batch API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BatchForm {
    OpenAi,
    Anthropic,
    Gemini,
    Bedrock,
}

impl BatchForm {
    /// The API of a path.
    pub(super) fn of_path(path: &str) -> Self {
        if path.contains("/model-invocation-job") {
            Self::Bedrock
        } else if path.starts_with("/v1beta/") {
            Self::Gemini
        } else if path.starts_with("/v1/messages/") {
            Self::Anthropic
        } else {
            Self::OpenAi
        }
    }

    /// The requests in a call that creates a batch; `file` is the file that OpenAI's form refers to. `None` if
    /// the call does not have the form of the API.
    pub(super) fn requests(self, path: &str, body: &Value, file: &[u8]) -> Option<Vec<MockBatchRequest>> {
        match self {
            Self::OpenAi => file
                .split(|byte| *byte == b'\n')
                .filter(|line| !line.is_empty())
                .map(|line| {
                    let line: Value = serde_json::from_slice(line).ok()?;
                    let url = line["url"].as_str()?;
                    let is_same = line["method"] == "POST" && body["endpoint"] == url;
                    is_same.then(|| request(&line["custom_id"], url, &line["body"])).flatten()
                })
                .collect(),
            Self::Anthropic => body["requests"]
                .as_array()?
                .iter()
                .map(|one| request(&one["custom_id"], "/v1/messages", &one["params"]))
                .collect(),
            Self::Bedrock => {
                let is_whole = body["modelInvocationType"] == "Converse"
                    && body["roleArn"].as_str().is_some_and(|role| role.starts_with("arn:aws:iam::"))
                    && body.pointer("/outputDataConfig/s3OutputDataConfig/s3Uri").is_some();
                let model = body["modelId"].as_str().filter(|_| is_whole)?;
                let path = format!("/v1/model/{model}/converse");
                let lines = file.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
                let read = lines.map(|line| {
                    let line: Value = serde_json::from_slice(line).ok()?;
                    // Jobs with tools are not accepted.
                    let has_tools = line["modelInput"].get("toolConfig").is_some();
                    (!has_tools).then(|| request(&line["recordId"], &path, &line["modelInput"])).flatten()
                });
                read.collect::<Option<Vec<_>>>().filter(|all| all.len() >= 100)
            }
            Self::Gemini => {
                let path = path.replace(":batchGenerateContent", ":generateContent");
                body["batch"]["input_config"]["requests"]["requests"]
                    .as_array()?
                    .iter()
                    .map(|one| request(&one["metadata"]["key"], &path, &one["request"]))
                    .collect()
            }
        }
    }

    /// Name of the file that a call to create a batch refers to.
    pub(super) fn file(self, body: &Value) -> Option<&str> {
        match self {
            Self::OpenAi => body["input_file_id"].as_str(),
            Self::Bedrock => {
                body.pointer("/inputDataConfig/s3InputDataConfig/s3Uri")?.as_str()?.strip_prefix("s3://")
            }
            Self::Anthropic | Self::Gemini => None,
        }
    }

    /// Id of the batch with this number.
    pub(super) fn id(self, number: usize) -> String {
        match self {
            Self::Bedrock => {
                format!("arn:aws:bedrock:eu-west-1:123456789012:model-invocation-job/{number:012}")
            }
            Self::OpenAi | Self::Anthropic | Self::Gemini => format!("batch_{number}"),
        }
    }

    /// Name of a batch, to find it again.
    pub(super) fn name(self, body: &Value) -> Value {
        match self {
            Self::OpenAi => json!({"metadata": body["metadata"], "input_file_id": body["input_file_id"]}),
            Self::Anthropic => Value::Null,
            Self::Gemini => body["batch"]["display_name"].clone(),
            Self::Bedrock => body.clone(),
        }
    }

    /// A result line with a reply and its status.
    pub(super) fn answered(self, request: &MockBatchRequest, status: u16, body: &str) -> Value {
        let body: Value = serde_json::from_str(body).unwrap_or_else(|_| json!(body));
        let id = &request.custom_id;
        match self {
            Self::OpenAi => json!({
                "id": format!("batch_req_{id}"), "custom_id": id, "error": null,
                "response": {"status_code": status, "request_id": "r", "body": body},
            }),
            Self::Anthropic if status == 200 => {
                json!({"custom_id": id, "result": {"type": "succeeded", "message": body}})
            }
            Self::Anthropic => json!({"custom_id": id, "result": {"type": "errored", "error": body}}),
            Self::Bedrock if status == 200 => {
                json!({"recordId": id, "modelInput": request.body, "modelOutput": body})
            }
            Self::Bedrock => json!({
                "recordId": id, "modelInput": request.body,
                "error": {"errorCode": status, "errorMessage": "refused"},
            }),
            Self::Gemini if status == 200 => json!({"metadata": {"key": id}, "response": body}),
            Self::Gemini => json!({"metadata": {"key": id}, "error": {"code": 3, "message": "refused"}}),
        }
    }

    /// A result line for a request that was not processed.
    pub(super) fn unprocessed(self, request: &MockBatchRequest, expired: bool) -> Value {
        let id = &request.custom_id;
        match self {
            Self::OpenAi => {
                let code = if expired { "batch_expired" } else { "batch_cancelled" };
                json!({"id": "x", "custom_id": id, "response": null, "error": {"code": code, "message": "not run"}})
            }
            Self::Anthropic => {
                let kind = if expired { "expired" } else { "canceled" };
                json!({"custom_id": id, "result": {"type": kind}})
            }
            Self::Gemini => json!({"metadata": {"key": id}, "error": {"code": 1, "message": "cancelled"}}),
            // Bedrock's result files contain only processed requests.
            Self::Bedrock => Value::Null,
        }
    }

    /// Description of a batch.
    pub(super) fn describe(self, batch: &MockBatch, origin: &str) -> Value {
        let all = batch.requests.len();
        let MockBatch { id, name, output, errors, state, .. } = batch;
        let is_running = matches!(state, MockBatchState::Running | MockBatchState::Cancelling);
        match self {
            Self::OpenAi => {
                let status = match state {
                    MockBatchState::Running => "in_progress",
                    MockBatchState::Cancelling => "cancelling",
                    MockBatchState::Completed => "completed",
                    MockBatchState::Expired => "expired",
                    MockBatchState::Cancelled => "cancelled",
                    MockBatchState::Failed => "failed",
                };
                let file =
                    |lines: &[Value], kind: &str| (!lines.is_empty()).then(|| format!("file-{kind}-{id}"));
                let words = batch.refusal.as_ref().filter(|_| *state == MockBatchState::Failed);
                json!({
                    "id": id, "object": "batch", "status": status, "metadata": name["metadata"],
                    "input_file_id": name["input_file_id"], "created_at": batch.created.unwrap_or_else(now),
                    "output_file_id": file(output, "output"), "error_file_id": file(errors, "errors"),
                    "request_counts": {"total": all, "completed": output.len(), "failed": errors.len()},
                    "errors": words.map(|(code, message)| json!({"data": [{"code": code, "message": message}]})),
                })
            }
            Self::Anthropic => {
                let done = if is_running { 0 } else { all };
                let status = match state {
                    MockBatchState::Running => "in_progress",
                    MockBatchState::Cancelling => "canceling",
                    _ => "ended",
                };
                json!({
                    "id": id, "type": "message_batch", "processing_status": status, "archived_at": null,
                    "created_at": batch.created.unwrap_or_else(now),
                    // A server that returns another address must not get the key sent there.
                    "results_url": "http://127.0.0.1:9/elsewhere",
                    "request_counts": {
                        "processing": all - done, "succeeded": done, "errored": 0, "canceled": 0, "expired": 0,
                    },
                })
            }
            Self::Bedrock => {
                let word = match state {
                    MockBatchState::Running => "InProgress",
                    MockBatchState::Cancelling => "Stopping",
                    MockBatchState::Completed if errors.is_empty() => "Completed",
                    MockBatchState::Completed => "PartiallyCompleted",
                    MockBatchState::Expired => "Expired",
                    MockBatchState::Cancelled => "Stopped",
                    MockBatchState::Failed => "Failed",
                };
                json!({
                    "jobArn": id, "status": word, "jobName": name["jobName"],
                    "clientRequestToken": name["clientRequestToken"],
                    "inputDataConfig": name["inputDataConfig"], "outputDataConfig": name["outputDataConfig"],
                    "message": batch.refusal.as_ref().map(|(_, message)| message),
                })
            }
            Self::Gemini => {
                let word = match state {
                    MockBatchState::Running | MockBatchState::Cancelling => "RUNNING",
                    MockBatchState::Completed => "SUCCEEDED",
                    MockBatchState::Expired => "EXPIRED",
                    MockBatchState::Cancelled => "CANCELLED",
                    MockBatchState::Failed => "FAILED",
                };
                let results: Vec<&Value> = output.iter().chain(errors).collect();
                json!({
                    "name": format!("batches/{id}"), "done": !is_running,
                    "metadata": {
                        "state": format!("BATCH_STATE_{word}"), "displayName": name, "createTime": "2999-01-01T00:00:00Z",
                        "batchStats": {"requestCount": all.to_string()},
                    },
                    "error": batch.refusal.as_ref().map(|(_, message)| json!({"code": 3, "message": message})),
                    "response": {"inlinedResponses": {"inlinedResponses": results}, "origin": origin},
                })
            }
        }
    }
}

fn request(custom_id: &Value, path: &str, body: &Value) -> Option<MockBatchRequest> {
    let custom_id = custom_id.as_str().filter(|id| !id.is_empty() && id.len() <= 64)?;
    Some(MockBatchRequest { custom_id: custom_id.to_owned(), path: path.to_owned(), body: body.clone() })
}

/// Far in the future, so that no batch is too old to be the one that a client looks for.
fn now() -> i64 {
    32_503_680_000
}
