//! What every format is written with.

pub(super) use std::borrow::Cow;

pub(super) use serde::Serialize;
pub(super) use serde_json::{Value, json};

pub(super) use super::format::{KeyHeader, WireCodec};
pub(super) use super::outgoing::{HttpCall, RoleMessage};
pub(super) use super::{answer, json, outgoing};
pub(super) use crate::error::AskError;
pub(super) use crate::quirks::FormatFeatures;
pub(super) use crate::quirks::{LimitField, SchemaSupport, ServerQuirks};
pub(super) use crate::reply::{ChatReply, FinishReason};
pub(super) use crate::request::{ChatMessage, ChatRequest, JsonSchemaFormat, MessageRole, Part};
pub(super) use crate::token_counts::TokenCounts;
pub(super) use crate::transport::HttpAnswer;
