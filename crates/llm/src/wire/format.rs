//! Interface of a wire format.

use std::borrow::Cow;
use std::fmt;

use crate::error::AskError;
use crate::quirks::{LimitField, ServerQuirks};
use crate::reply::ChatReply;
use crate::request::ChatRequest;
use crate::transport::HttpAnswer;

/// A wire format. Everything is a pure function of its arguments: no network, no clock, no secrets.
pub trait WireCodec: Send + Sync + fmt::Debug {
    /// A stable name, part of what identifies a stored reply.
    fn name(&self) -> &'static str;

    /// The header that carries the key.
    fn key_header(&self) -> KeyHeader;

    /// The request as bytes. The same request and quirks always give the same bytes. `request.model` must be
    /// filled in.
    ///
    /// # Errors
    /// [`crate::ErrorKind::BadRequest`] if the format cannot express the request.
    fn encode(&self, request: &ChatRequest, quirks: ServerQuirks) -> Result<HttpCall, AskError>;

    /// Reads an answer of any status. The client fills in the raw text, latency, attempts and waits.
    ///
    /// # Errors
    /// Any status but 2xx, and a 2xx whose body is an error or unreadable. Messages may be long and unredacted.
    fn decode(&self, answer: &HttpAnswer) -> Result<ChatReply, AskError>;

    /// Whether the output limit of a request is sent under these quirks.
    fn limits_output(&self, quirks: ServerQuirks) -> bool {
        quirks.limit == LimitField::Usual
    }

    /// The quirks that a refusal reveals beyond `quirks`, with which `request` was sent. A format without
    /// optional features has none.
    fn learn(
        &self,
        _request: &ChatRequest,
        _answer: &HttpAnswer,
        _quirks: ServerQuirks,
    ) -> Option<ServerQuirks> {
        None
    }
}

/// The part of an HTTP request that the wire format decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpCall {
    /// The path under the base URL, with a leading slash.
    pub path: Cow<'static, str>,
    /// Headers besides those of the key and the endpoint; names in lower case.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
    /// The body.
    pub body: Vec<u8>,
}

/// The header that carries the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyHeader {
    /// The header's name in lower case.
    pub name: &'static str,
    /// Text before the key in the header's value.
    pub prefix: &'static str,
}
