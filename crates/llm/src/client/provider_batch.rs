//! Calls of a client as requests in a provider's batch.

use blake3::Hasher;
use reqwest::Url;
use reqwest::header::HeaderMap;

use super::ModelClient;
use crate::budget::CallBound;
use crate::error::AskError;
use crate::output_limit::{OutputLimit, ReplyLengthStats, ReplyRoom};
use crate::quirks::{SchemaSupport, ServerQuirks};
use crate::reply::{ChatReply, FinishReason};
use crate::request::{ChatRequest, Part};
use crate::transport::{HttpAnswer, HttpRequest, TransportError};

/// A call as a request in a batch.
#[derive(Debug, Clone)]
pub struct BatchRequest {
    /// The body, as it would be sent alone.
    pub body: Vec<u8>,
    /// Hash of the beginning that requests about the same answer share.
    pub prefix: u64,
    /// The most that it may take.
    pub most: CallBound,
}

impl ModelClient {
    /// The provider's name.
    pub fn provider(&self) -> &str {
        &self.inner.parts.provider
    }

    /// The model for requests that name none.
    pub fn model_name(&self) -> &str {
        &self.inner.parts.model
    }

    /// The server's address without secrets, which distinguishes it from other servers.
    pub fn server(&self) -> &str {
        &self.inner.address
    }

    /// Host, and the port unless it is the usual one.
    pub fn host(&self) -> String {
        self.inner.parts.endpoint.host()
    }

    /// Whether the server runs on this machine.
    pub fn is_loopback(&self) -> bool {
        self.inner.parts.endpoint.is_loopback()
    }

    /// Address of another path of the server.
    pub(crate) fn place(&self, path: &str) -> Url {
        self.inner.parts.endpoint.url(path)
    }

    /// A request of another kind to the server, with its credentials.
    pub(crate) fn with_credentials(&self, request: HttpRequest) -> Result<HttpRequest, TransportError> {
        self.inner.with_credentials(request)
    }

    /// The error in the form for the user: short, without secrets, with advice.
    pub(crate) fn explain(&self, error: AskError) -> AskError {
        self.inner.explained(error, &self.inner.parts.model)
    }

    /// Sends reply schemas without tools from now on.
    pub(crate) fn ask_without_tools(&self) {
        let quirks = ServerQuirks { schema: SchemaSupport::JsonObject, ..ServerQuirks::default() };
        self.inner.learn(&self.inner.parts.model, quirks);
    }

    /// The call as a request of a batch, without the parameters that the server is known to refuse.
    ///
    /// # Errors
    /// When the wire format cannot express the request.
    pub fn batch_request(&self, request: &ChatRequest) -> Result<BatchRequest, AskError> {
        let request = self.inner.complete(request);
        let quirks = self.learned(&request.model);
        let (most, ceiling) = self.reply_room(&request, quirks);
        // Bedrock documents cache marks for live requests only.
        let cache_prefix = request.cache_prefix && self.provider() != "bedrock";
        let request = ChatRequest { output_ceiling: ceiling, cache_prefix, ..request.into_owned() };
        let call = self.inner.parts.wire.encode(&quirks.merge_system_into_user(&request), quirks)?;

        let input = self.card.estimator.most(&request);
        Ok(BatchRequest {
            body: call.body,
            prefix: prefix(&request),
            most: CallBound::of_batch(input, most, self.card),
        })
    }

    /// The most tokens of a reply in a batch, and the limit to send if the caller sets none.
    fn reply_room(&self, request: &ChatRequest, quirks: ServerQuirks) -> (u32, Option<u32>) {
        let card = self.card;
        // A batch can't send a request again at once if its reply is cut off, so the limit is larger from the
        // beginning.
        let (stats, room) = (ReplyLengthStats::default(), ReplyRoom::More);
        let limit = OutputLimit::for_request(&request.model, card, request, stats, room);
        let usual = quirks.most_output.map_or(limit.most, |most| limit.most.min(most));
        let most = request.max_output_tokens.unwrap_or(usual);

        let budget = self.inner.setup.budget.as_ref();
        let wanted = request.max_output_tokens.is_none()
            && (card.max_output_tokens.is_some()
                || request.expected_output.is_some()
                || budget.is_some_and(|budget| budget.limits_replies(card)))
            && self.inner.parts.wire.limits_output(quirks);
        (most, wanted.then_some(most))
    }

    /// Reads the answer to a request in a batch like any other answer.
    ///
    /// # Errors
    /// If it is not a reply: because of its status, an error in its body, or an unreadable form.
    pub fn provider_reply(&self, status: u16, body: &str) -> Result<ChatReply, AskError> {
        let answer = HttpAnswer { status, headers: HeaderMap::new(), body: body.as_bytes().to_vec() };
        let answer = self.inner.without_secrets(answer);
        let reply = self.inner.parts.wire.decode(&answer).map_err(|error| self.explain(error))?;

        Ok(ChatReply { raw: answer.into_text(), batched: true, ..reply })
    }

    /// The reply of a batch to this request, as the reply of a call. If a limit of ours cut it off, it is
    /// marked as such.
    pub fn reply_to(&self, request: &ChatRequest, reply: ChatReply) -> ChatReply {
        if reply.finish != FinishReason::Length {
            return reply;
        }

        let request = self.inner.complete(request);
        let (_, ceiling) = self.reply_room(&request, self.learned(&request.model));
        ChatReply { cut_at: ceiling, ..reply }
    }
}

/// Hash of the beginning of a request: all messages but the last, and the first part of that.
fn prefix(request: &ChatRequest) -> u64 {
    let mut hash = Hasher::new();
    let mut add = |part: &Part| match part {
        Part::Text(text) => {
            hash.update(text.as_bytes());
        }
        Part::Image { data, .. } => {
            hash.update(data.as_bytes());
        }
    };
    if let Some((last, before)) = request.messages.split_last() {
        before.iter().flat_map(|message| &*message.content).for_each(&mut add);
        last.content.first().into_iter().for_each(&mut add);
    }

    let mut start = [0; 8];
    hash.finalize_xof().fill(&mut start);
    u64::from_le_bytes(start)
}
