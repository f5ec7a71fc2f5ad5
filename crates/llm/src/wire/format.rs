//! Interface of a wire format.

use std::fmt;

use serde_json::Value;

use super::outgoing::HttpCall;
use super::{answer, outgoing, refusal};
use crate::error::AskError;
use crate::quirks::{FormatFeatures, SentFeatures, ServerQuirks};
use crate::reply::ChatReply;
use crate::request::ChatRequest;
use crate::token_counts::TokenCounts;
use crate::transport::HttpAnswer;

/// A wire format. Everything is a pure function of its arguments: no network, no clock, no secrets.
pub trait WireCodec: Send + Sync + fmt::Debug {
    /// A stable name; part of the identity of a stored reply.
    fn name(&self) -> &'static str;

    /// The header that carries the key.
    fn key_header(&self) -> KeyHeader {
        KeyHeader { name: "authorization", prefix: "Bearer " }
    }

    /// The features that a server may refuse; `None` if there are none.
    fn features(&self) -> Option<FormatFeatures> {
        None
    }

    /// Encodes a request. The checks that are the same for all formats have been made. The same request and quirks
    /// always give the same bytes.
    ///
    /// # Errors
    /// [`crate::ErrorKind::BadRequest`] if the format cannot express the request.
    fn write(&self, request: &ChatRequest, quirks: ServerQuirks) -> Result<HttpCall, AskError>;

    /// The tokens that an answer counts.
    fn usage(&self, body: &Value) -> TokenCounts;

    /// Reads a reply from an answer that is not an error, without its usage.
    ///
    /// # Errors
    /// The part that the answer lacks.
    fn read(&self, body: &Value) -> Result<ChatReply, String>;

    /// What a refusal reveals about a feature that only this format has.
    fn own_refusal(
        &self,
        _request: &ChatRequest,
        _answer: &HttpAnswer,
        _quirks: ServerQuirks,
    ) -> Option<ServerQuirks> {
        None
    }

    /// The request as bytes. `request.model` must be filled in.
    ///
    /// # Errors
    /// [`crate::ErrorKind::BadRequest`] if the format cannot express the request.
    fn encode(&self, request: &ChatRequest, quirks: ServerQuirks) -> Result<HttpCall, AskError> {
        outgoing::check(request, self.features().unwrap_or_default())?;
        self.write(request, quirks)
    }

    /// Reads an answer of any status. The client fills in the raw text, latency, attempts and waits.
    ///
    /// # Errors
    /// Any status but 2xx, and a 2xx whose body is an error or unreadable. Messages may be long and unredacted.
    fn decode(&self, answer: &HttpAnswer) -> Result<ChatReply, AskError> {
        let body = answer::body(answer)?;
        let usage = self.usage(&body);
        answer::refuse_named_error(answer, &body, usage)?;
        let reply = self.read(&body).map_err(|message| answer::malformed(answer, message, usage))?;
        Ok(answer::complete(answer, ChatReply { usage, ..reply }))
    }

    /// Whether the output limit of a request is sent under these quirks.
    fn limits_output(&self, quirks: ServerQuirks) -> bool {
        self.features().is_some_and(|features| features.limit_name(quirks).is_some())
    }

    /// The quirks that a refusal reveals beyond `quirks`, with which `request` was sent.
    fn learn(
        &self,
        request: &ChatRequest,
        answer: &HttpAnswer,
        quirks: ServerQuirks,
    ) -> Option<ServerQuirks> {
        let features = self.features()?;
        self.own_refusal(request, answer, quirks).or_else(|| {
            if request.cache_prefix && !quirks.no_cache_mark && matches!(answer.status, 400 | 403) {
                let text = answer.text().to_ascii_lowercase();
                if features.cache_marks.iter().any(|mark| text.contains(mark)) {
                    return Some(ServerQuirks { no_cache_mark: true, ..quirks });
                }
            }
            let sent = SentFeatures::new(features, request, quirks);
            refusal::learn(answer, quirks, features.schema, sent)
        })
    }
}

/// The header that carries the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyHeader {
    /// The header's name in lower case.
    pub name: &'static str,
    /// Text before the key in the header's value.
    pub prefix: &'static str,
}
