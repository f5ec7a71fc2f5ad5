//! Replies of the batch APIs.

use std::time::Instant;

use serde_json::{Value, json};

use super::bucket;
use super::exchange::{BatchAnswer, BatchCall, text_of};
use super::form::BatchForm;
use super::{BatchesState, MockBatch, MockBatchRequest, MockBatchState, MockBatches, identity};

impl MockBatches {
    /// Returns true if a path belongs to a batch API.
    pub(in crate::mock) fn claims(path: &str) -> bool {
        path.contains("/batches")
            || path.contains("/files")
            || path.ends_with(":batchGenerateContent")
            || path.contains("/model-invocation-job")
            || bucket::key_of(path).is_some()
    }

    /// Answers a request to a batch API.
    pub(in crate::mock) fn answer(&self, call: &BatchCall<'_>) -> BatchAnswer {
        let mut state = self.state();
        if let Some(key) = bucket::key_of(call.path) {
            return state.object(key, call);
        }
        if let Some(key) = &state.faults.key {
            let given = call.headers.iter().any(|(_, value)| value.trim_start_matches("Bearer ") == key);
            if !given {
                return BatchAnswer::error(401, "invalid_api_key", "Incorrect API key provided");
            }
        }

        let form = BatchForm::of_path(call.path);
        let decoded = call.path.replace("%3A", ":").replace("%2F", "/");
        let steps: Vec<&str> = call.path.trim_start_matches('/').split('/').skip(1).collect();
        let steps = if form == BatchForm::Anthropic { &steps[1..] } else { &steps[..] };
        match (call.is_post, steps) {
            (true, ["files"]) => state.upload(call),
            (false, ["files", id, "content"]) => state.content(id),
            (false, ["files", id]) => BatchAnswer::json(
                &json!({"id": id, "status": "processed", "filename": state.file_names.get(*id)}),
            ),
            (true, ["batches" | "model-invocation-job"] | ["models", _]) => state.create(form, call),
            (false, ["batches" | "model-invocation-jobs"]) => state.list(form, call),
            (false, ["batches", id]) => state.poll(form, id, call),
            (false, ["batches", id, "results"]) => state.results(id),
            (true, ["batches", id, "cancel"]) => state.cancel(form, id),
            (true, ["batches", id]) => state.cancel(form, id.trim_end_matches(":cancel")),
            (false, ["model-invocation-job", _]) => state.poll(form, bucket::job_of(&decoded), call),
            (true, ["model-invocation-job", _, "stop"]) => state.cancel(form, bucket::job_of(&decoded)),
            _ => BatchAnswer::error(404, "not_found", call.path),
        }
    }
}

impl BatchesState {
    fn upload(&mut self, call: &BatchCall<'_>) -> BatchAnswer {
        if self.faults.failed_uploads > 0 {
            self.faults.failed_uploads -= 1;
            return BatchAnswer::error(500, "server_error", "The server had an error");
        }
        let kind = call.headers.iter().find(|(name, _)| name == "content-type");
        let boundary =
            kind.and_then(|(_, value)| value.split_once("boundary=")).map(|(_, boundary)| boundary);
        let text = String::from_utf8_lossy(call.body);
        let parts: Vec<&str> =
            boundary.map(|of| text.split(&format!("--{of}")).collect()).unwrap_or_default();
        let part = |name: &str| {
            let part = parts.iter().find(|part| part.contains(&format!("name=\"{name}\"")))?;
            let (_, content) = part.split_once("\r\n\r\n")?;
            content.strip_suffix("\r\n")
        };
        let (Some("batch"), Some(file)) = (part("purpose"), part("file")) else {
            return BatchAnswer::error(400, "invalid_request_error", "no file for a batch");
        };

        let id = format!("file-{}", self.files.len() + 1);
        self.files.insert(id.clone(), file.as_bytes().to_vec());
        let name = text.split_once("filename=\"").and_then(|(_, rest)| rest.split_once('"'));
        self.file_names.extend(name.map(|(name, _)| (id.clone(), name.to_owned())));
        BatchAnswer::json(&json!({"id": id, "object": "file", "purpose": "batch", "status": "processed"}))
    }

    fn content(&mut self, id: &str) -> BatchAnswer {
        if self.faults.results_gone {
            return BatchAnswer::error(404, "not_found", "No such File object");
        }
        let found = self.batches.iter().find_map(|batch| {
            let lines = match id.strip_suffix(&batch.id)? {
                "file-output-" => &batch.output,
                "file-errors-" => &batch.errors,
                _ => return None,
            };
            Some(text_of(lines.iter()))
        });
        match found {
            Some(text) => {
                let text = self.cut(text);
                BatchAnswer { delay: self.faults.result_delay, ..BatchAnswer::new(200, text) }
            }
            None => BatchAnswer::error(404, "not_found", "no such file"),
        }
    }

    /// Returns the results, complete or cut off.
    pub(super) fn cut(&mut self, text: String) -> String {
        if self.faults.cut_results == 0 {
            return text;
        }
        self.faults.cut_results -= 1;

        let half = &text[..text.len() / 2];
        let end = half.rfind('\n').map_or(0, |at| at + 1);
        if self.faults.cut_between_lines { half[..end].to_owned() } else { half.to_owned() }
    }

    fn create(&mut self, form: BatchForm, call: &BatchCall<'_>) -> BatchAnswer {
        let body: Value = serde_json::from_slice(call.body).unwrap_or(Value::Null);
        let file = form.file(&body).and_then(|id| self.files.get(id));
        let Some(requests) = form.requests(call.path, &body, file.map(Vec::as_slice).unwrap_or_default())
        else {
            return BatchAnswer::error(400, "invalid_request_error", "not in the form of a batch");
        };

        // For the same client token, Bedrock returns the same job.
        let known =
            self.batches.iter().find(|batch| form == BatchForm::Bedrock && batch.name == form.name(&body));
        if let Some(known) = known {
            return BatchAnswer::json(&form.describe(known, call.path));
        }

        let mut name = form.name(&body);
        if form == BatchForm::OpenAi && self.faults.no_metadata {
            name["metadata"] = Value::Null;
        }
        let batch = MockBatch {
            id: form.id(self.batches.len() + 1),
            name,
            requests,
            polls: 0,
            created: self.faults.created,
            listed: Instant::now() + self.faults.list_delay,
            state: MockBatchState::Running,
            output: Vec::new(),
            errors: Vec::new(),
            expire_after: self.faults.expire_after.take(),
            refusal: self.faults.refuse_next.take(),
        };
        let answer = BatchAnswer::json(&form.describe(&batch, call.path));
        self.batches.push(batch);

        let is_lost = self.faults.lost_answers > 0;
        self.faults.lost_answers = self.faults.lost_answers.saturating_sub(1);
        BatchAnswer { delay: self.faults.create_delay, is_lost, ..answer }
    }

    fn list(&mut self, form: BatchForm, call: &BatchCall<'_>) -> BatchAnswer {
        if self.faults.no_list {
            return BatchAnswer::error(404, "not_found", "there is no list");
        }
        for at in 0..self.batches.len() {
            self.pass_time(form, at, call);
        }

        let is_shown = |batch: &&MockBatch| !self.faults.vanished && batch.listed <= Instant::now();
        let shown = self.batches.iter().rev().filter(is_shown);
        let all: Vec<Value> = shown.map(|batch| form.describe(batch, "")).collect();
        BatchAnswer::json(&match form {
            BatchForm::OpenAi | BatchForm::Anthropic => json!({"data": all, "has_more": false}),
            BatchForm::Gemini => json!({"operations": all}),
            BatchForm::Bedrock => {
                let is_asked = |job: &&Value| {
                    let name = job["jobName"].as_str().unwrap_or_default();
                    call.query.split('&').any(|part| part == format!("nameContains={name}"))
                };
                let listed: Vec<&Value> = all.iter().filter(is_asked).collect();
                json!({"invocationJobSummaries": listed})
            }
        })
    }

    fn poll(&mut self, form: BatchForm, id: &str, call: &BatchCall<'_>) -> BatchAnswer {
        if self.faults.failed_polls > 0 {
            self.faults.failed_polls -= 1;
            return BatchAnswer::error(500, "server_error", "The server had an error");
        }
        let vanished = self.faults.vanished;
        let Some(at) = self.batches.iter().position(|batch| batch.id == id && !vanished) else {
            return BatchAnswer::error(404, "not_found", "No batch found with this id");
        };

        self.pass_time(form, at, call);
        BatchAnswer::json(&form.describe(&self.batches[at], call.path))
    }

    /// Ends a batch that was polled often enough.
    fn pass_time(&mut self, form: BatchForm, at: usize, call: &BatchCall<'_>) {
        self.batches[at].polls += 1;
        if self.batches[at].polls > self.faults.polls {
            self.end(form, at, call.model);
        }
    }

    /// Processes a batch that is due.
    fn end(&mut self, form: BatchForm, at: usize, model: &dyn Fn(&str, &Value) -> (u16, String)) {
        let batch = self.batches[at].clone();
        let (most, state) = match (batch.state, &batch.refusal, batch.expire_after) {
            (MockBatchState::Running, Some(_), _) => (0, MockBatchState::Failed),
            (MockBatchState::Running, None, Some(most)) => (most, MockBatchState::Expired),
            (MockBatchState::Running, None, None) => (usize::MAX, MockBatchState::Completed),
            (MockBatchState::Cancelling, ..) => (self.faults.done_at_cancel, MockBatchState::Cancelled),
            _ => return,
        };

        for (nth, request) in batch.requests.iter().enumerate() {
            let line = if nth < most {
                self.work_on(form, nth, request, model)
            } else if state == MockBatchState::Failed || form == BatchForm::Bedrock {
                continue;
            } else {
                (form.unprocessed(request, state == MockBatchState::Expired), false)
            };
            let is_repeated = self.faults.repeat_every.is_some_and(|every| (nth + 1).is_multiple_of(every));
            let failure =
                is_repeated.then(|| form.answered(request, 500, r#"{"error": {"message": "once more"}}"#));
            let batch = &mut self.batches[at];
            if line.1 {
                batch.output.push(line.0);
            } else {
                batch.errors.push(line.0);
            }
            batch.output.extend(failure);
        }
        // Results come in any order.
        self.batches[at].output.reverse();
        self.batches[at].state = state;
        if form == BatchForm::Bedrock {
            self.put_results(at);
        }
    }

    /// The line for one request, and whether it is a usable reply.
    fn work_on(
        &mut self,
        form: BatchForm,
        nth: usize,
        request: &MockBatchRequest,
        model: &dyn Fn(&str, &Value) -> (u16, String),
    ) -> (Value, bool) {
        let is_nth = |every: Option<usize>| every.is_some_and(|every| (nth + 1).is_multiple_of(every));
        if is_nth(self.faults.refuse_every) {
            let body =
                json!({"type": "error", "error": {"type": "invalid_request_error", "message": "refused"}});
            return (form.answered(request, 400, &body.to_string()), false);
        }

        let renamed = MockBatchRequest { custom_id: "f".repeat(64), ..request.clone() };
        let request = if is_nth(self.faults.rename_every) { &renamed } else { request };
        let (status, body) = model(&request.path, &request.body);
        let body = if is_nth(self.faults.garble_every) { body.replace("outcome", "garbled") } else { body };
        if status == 200 {
            *self.paid.entry(identity(&request.body)).or_default() += 1;
        }
        (form.answered(request, status, &body), status == 200)
    }

    fn results(&mut self, id: &str) -> BatchAnswer {
        if self.faults.results_gone {
            return BatchAnswer::error(404, "not_found", "the results were archived");
        }
        let Some(batch) = self.batches.iter().find(|batch| batch.id == id && !self.faults.vanished) else {
            return BatchAnswer::error(404, "not_found", "No batch found with this id");
        };
        let text = text_of(batch.output.iter().chain(&batch.errors));
        let text = self.cut(text);
        BatchAnswer { delay: self.faults.result_delay, ..BatchAnswer::new(200, text) }
    }

    fn cancel(&mut self, form: BatchForm, id: &str) -> BatchAnswer {
        let Some(batch) = self.batches.iter_mut().find(|batch| batch.id == id) else {
            return BatchAnswer::error(404, "not_found", "No batch found with this id");
        };
        if batch.state == MockBatchState::Running {
            batch.state = MockBatchState::Cancelling;
            batch.polls = 0;
            self.faults.polls = 1;
        }
        let batch = batch.clone();
        BatchAnswer::json(&form.describe(&batch, ""))
    }
}
