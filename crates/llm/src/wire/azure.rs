//! OpenAI's chat completions as Azure serves them: a path for each deployment, and a different header for the
//! key.
//!
//! The API version is part of the address. Resources with an address of the form `.../openai/v1` have neither
//! deployments in the path nor versions.

use super::dialect::ChatDialect;
use super::format::{HttpCall, KeyHeader, WireCodec};
use super::openai_chat::OpenAiChat;
use super::outgoing::segment;
use crate::error::AskError;
use crate::quirks::ServerQuirks;
use crate::reply::ChatReply;
use crate::request::ChatRequest;
use crate::transport::HttpAnswer;

/// The format. The model of a request is the name of a deployment.
#[derive(Debug, Clone, Copy)]
pub struct AzureOpenAi {
    chat: OpenAiChat,
    deployment_in_path: bool,
}

impl AzureOpenAi {
    /// The format under a base URL that ends in `/openai`, or in `/openai/v1` when `deployment_in_path` is false.
    pub fn new(deployment_in_path: bool) -> Self {
        Self { chat: OpenAiChat::new(ChatDialect::OPENAI), deployment_in_path }
    }
}

impl WireCodec for AzureOpenAi {
    fn name(&self) -> &'static str {
        "azure-openai"
    }

    fn key_header(&self) -> KeyHeader {
        KeyHeader { name: "api-key", prefix: "" }
    }

    fn encode(&self, request: &ChatRequest, quirks: ServerQuirks) -> Result<HttpCall, AskError> {
        let mut call = self.chat.encode(request, quirks)?;
        if self.deployment_in_path {
            call.path = format!("/deployments/{}{}", segment(&request.model), call.path).into();
        }
        Ok(call)
    }

    fn decode(&self, answer: &HttpAnswer) -> Result<ChatReply, AskError> {
        self.chat.decode(answer)
    }

    fn limits_output(&self, quirks: ServerQuirks) -> bool {
        self.chat.limits_output(quirks)
    }

    fn learn(
        &self,
        request: &ChatRequest,
        answer: &HttpAnswer,
        quirks: ServerQuirks,
    ) -> Option<ServerQuirks> {
        self.chat.learn(request, answer, quirks)
    }
}

#[cfg(test)]
#[path = "azure_tests.rs"]
mod tests;
