//! Requests as lines of batch files, and replies read from them, with the same bodies and the same reading as
//! live calls.

use reqwest::header::HeaderMap;
use serde_json::value::RawValue;

use super::ModelClient;
use crate::batch_lines::{BatchOutcome, BatchRequestLine};
use crate::error::{AskError, ErrorKind};
use crate::reply::{ChatReply, FinishReason};
use crate::request::ChatRequest;
use crate::transport::HttpAnswer;
use crate::wire::HttpCall;

/// The path before the path of an endpoint. It does not depend on the server's address.
const API_PREFIX: &str = "/v1";

impl ModelClient {
    /// Whether requests have OpenAI's chat completions format, which batch files need.
    pub fn has_batch_lines(&self) -> bool {
        self.wire_name() == "openai-chat"
    }

    /// The line of a batch file for this repeat of a request. Its `custom_id` is the key of the call, its body
    /// the one that would be sent now.
    ///
    /// # Errors
    /// If the wire format can't express the request, or if the request holds a secret of this client.
    pub fn batch_line(&self, request: &ChatRequest, repeat: u32) -> Result<BatchRequestLine, AskError> {
        let custom_id = self.call_key(request, repeat)?.to_string();
        let HttpCall { path, body, .. } = self.batch_call(request)?;
        let bad = |message: &str| AskError::new(ErrorKind::BadRequest, message);

        let text = String::from_utf8(body).map_err(|_| bad("the request is not text"))?;
        if self.redactor().redact(&text) != text {
            return Err(bad("the request holds a secret, which is not written to a file"));
        }

        let body = RawValue::from_string(text).map_err(|_| bad("the request is not JSON"))?;
        Ok(BatchRequestLine { custom_id, url: format!("{API_PREFIX}{path}"), body })
    }

    fn batch_call(&self, request: &ChatRequest) -> Result<HttpCall, AskError> {
        // If the caller sets no limit, the one of the model's card applies, as in a live call.
        let ceiling = self.card.max_output_tokens.filter(|_| request.max_output_tokens.is_none());
        let request = ChatRequest {
            cache_prefix: false,
            output_ceiling: ceiling,
            ..self.inner.complete(request).into_owned()
        };
        let quirks = self.learned(&request.model);

        self.inner.parts.wire.encode(&quirks.merge_system_into_user(&request), quirks)
    }

    /// Reads the result of a request in a batch like the answer of a server. Its attempts are 0 and its latency is
    /// unknown, because no request of ours waited for it. If it is a refusal, the client remembers what the server
    /// refused.
    ///
    /// # Errors
    /// If the request failed, or its answer can't be read.
    pub fn batch_reply(&self, request: &ChatRequest, outcome: BatchOutcome) -> Result<ChatReply, AskError> {
        let (status, body) = match outcome {
            BatchOutcome::Answered { status, body, .. } => (status, body.get().as_bytes().to_vec()),
            BatchOutcome::Failed { status, code, message } => {
                let error = serde_json::json!({ "error": { "message": message, "code": code } });
                (status.filter(|status| *status >= 400).unwrap_or(500), error.to_string().into_bytes())
            }
        };

        let client = &self.inner;
        let answer = client.without_secrets(HttpAnswer { status, headers: HeaderMap::new(), body });
        match client.parts.wire.decode(&answer) {
            Ok(reply) => {
                let ceiling = self.card.max_output_tokens.filter(|_| request.max_output_tokens.is_none());
                let cut_at = ceiling.filter(|_| reply.finish == FinishReason::Length);
                Ok(ChatReply { raw: answer.into_text(), cut_at, attempts: 0, ..reply })
            }
            Err(error) => {
                let request = client.complete(request);
                let quirks = self.learned(&request.model);
                if let Some(learned) = client.parts.wire.learn(&request, &answer, quirks) {
                    client.learn(&request.model, quirks.merge(learned));
                }

                // Advice on other errors would name the key, address and rate of this client, but another one sent the batch.
                Err(match error.kind {
                    ErrorKind::ContextLength => client.explained(error, &request.model),
                    _ => client.redacted(error),
                })
            }
        }
    }
}
