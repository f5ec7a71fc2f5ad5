//! Model target.

use std::sync::Arc;

use assize_llm::{BoxFuture, CacheableReply, ChatModel, ChatReply, ChatRequest, FinishReason};
use assize_rubric::{Cost, IdentityWriter, Tokens};

use crate::{
    Target, TargetAnswer, TargetDescription, TargetError, TargetErrorKind, TargetInput, TargetKind,
    chat_messages,
};

/// Target that asks a model with the case's messages.
#[derive(Clone)]
pub struct ModelTarget {
    /// Name of the target.
    pub name: String,
    /// Model to ask.
    pub model: Arc<dyn ChatModel>,
    /// Sampling temperature; `None` for the server's default.
    pub temperature: Option<f64>,
    /// Sampling seed; `None` for the server's default.
    pub seed: Option<u64>,
    /// Limit on the tokens of an answer.
    pub max_output_tokens: Option<u32>,
}

impl ModelTarget {
    /// Creates a target with the server's default settings.
    pub fn new(name: impl Into<String>, model: Arc<dyn ChatModel>) -> Self {
        Self { name: name.into(), model, temperature: None, seed: None, max_output_tokens: None }
    }

    async fn ask(&self, input: &TargetInput) -> Result<TargetAnswer, TargetError> {
        let mut messages = chat_messages(&input.messages);
        if messages.is_empty() {
            let message = "the input is empty, so there is nothing to send to the model";
            return Err(TargetError { attempts: 0, ..TargetError::new(TargetErrorKind::BadInput, message) });
        }
        if !input.guidelines.trim().is_empty() {
            messages.insert(0, assize_llm::ChatMessage::system(input.guidelines.clone()));
        }

        let request = ChatRequest {
            temperature: self.temperature,
            seed: self.seed,
            max_output_tokens: self.max_output_tokens,
            ..ChatRequest::new(messages)
        };

        let card = self.model.card();
        let mut answered = self.model.ask_repeat(&request, input.attempt).await.map_err(|error| {
            let cost = card.cost_of_error(&error);
            TargetError { cost, ..TargetError::from(error) }
        })?;
        let cost = card.cost_of_reply(&answered.reply);

        if is_complete(&answered.reply) {
            answered.keep();
        }

        let CacheableReply { reply, recalled, .. } = answered;
        let answer = answer_from_reply(reply, cost)?;
        Ok(if recalled { as_cached(answer) } else { answer })
    }
}

impl Target for ModelTarget {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer<'a>(&'a self, input: &'a TargetInput) -> BoxFuture<'a, Result<TargetAnswer, TargetError>> {
        Box::pin(self.ask(input))
    }

    fn describe(&self) -> TargetDescription {
        let model = Some(self.model.describe().to_string());
        TargetDescription {
            name: self.name.clone(),
            kind: TargetKind::Model,
            model,
            max_output_tokens: self.max_output_tokens,
        }
    }

    fn write_settings(&self, identity: &mut IdentityWriter) {
        let Self { name, model, temperature, seed, max_output_tokens } = self;

        identity.begin("model target", 1);
        identity.field(name);
        identity.field(&model.describe());
        identity.field(temperature);
        identity.field(seed);

        identity.field(max_output_tokens);
    }
}

/// Returns true if the reply is complete. Any other may turn out better in a retry.
fn is_complete(reply: &ChatReply) -> bool {
    reply.finish == FinishReason::Stop && reply.refusal.is_none() && !reply.text.is_empty()
}

/// Converts an answer from the cache: it costs nothing now.
fn as_cached(answer: TargetAnswer) -> TargetAnswer {
    let tokens = Tokens { input: Some(0), cached: Some(0), output: Some(0) };
    TargetAnswer { tokens, cost: Some(Cost::ZERO), attempts: 0, ..answer }
}

/// Converts a reply. A refusal in the model's own words is an answer. An empty text is an answer only if the
/// model finished: a model that was stopped before it wrote anything visible has not answered.
fn answer_from_reply(reply: ChatReply, cost: Cost) -> Result<TargetAnswer, TargetError> {
    let usage = reply.total_usage();
    let tokens = Tokens { input: usage.input, cached: usage.cached, output: usage.output };
    let text = match &reply.refusal {
        Some(refusal) if reply.text.is_empty() => refusal.clone(),
        _ => reply.text,
    };

    // A limit that is not the target's own would change the answer.
    let cut = reply.cut_at.map(|tokens| {
        format!(
            "the answer was cut off after {tokens} tokens, the default limit with a budget: set `max_output_tokens` for the target"
        )
    });
    if let Some(message) = cut {
        return Err(TargetError {
            attempts: reply.attempts,
            tokens,
            cost,
            duration: Some(reply.latency),
            ..TargetError::new(TargetErrorKind::NoAnswer, message)
        });
    }

    if text.is_empty() && reply.finish != FinishReason::Stop {
        let why = match reply.finish {
            FinishReason::Length => {
                "it used all output tokens before writing text; raise `max_output_tokens`"
            }
            FinishReason::ContentFilter => "the server's content filter withheld them",
            FinishReason::ToolCall => "it called a tool, but model targets have no tools",
            _ => "it stopped for a reason the server did not explain",
        };
        return Err(TargetError {
            attempts: reply.attempts,
            tokens,
            cost,
            duration: Some(reply.latency),
            ..TargetError::new(TargetErrorKind::NoAnswer, format!("the model returned no text: {why}"))
        });
    }

    Ok(TargetAnswer {
        text,
        tokens,
        cost: Some(cost),
        duration: reply.latency,
        model: reply.model,
        cut_off: reply.finish == FinishReason::Length,
        attempts: reply.attempts,
        ..TargetAnswer::default()
    })
}
