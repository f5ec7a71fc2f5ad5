//! A model as a target.

use std::sync::Arc;
use std::time::Duration;

use assize_llm::{BoxFuture, CacheableReply, ChatModel, ChatReply, ChatRequest, FinishReason, ReplyDefect};
use assize_rubric::{Cost, IdentityWriter, Tokens, grouped};

use crate::{
    Target, TargetAnswer, TargetDescription, TargetError, TargetErrorKind, TargetInput, TargetKind,
    chat_messages,
};

/// A target that sends the case's messages to a model.
#[derive(Clone)]
pub struct ModelTarget {
    /// Name of the target.
    pub name: String,
    /// The model.
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
            return Err(TargetError::without_attempt(TargetErrorKind::BadInput, message));
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

        let CacheableReply { reply, recalled, original_latency, .. } = answered;
        let answer = self.answer_from_reply(reply, cost)?;
        Ok(if recalled { as_cached(answer, original_latency) } else { answer })
    }

    /// Converts a reply. Only a text that the model finished is an answer. A reply that was refused, withheld, broken
    /// off or cut off does not show the quality of an answer, and a check for absent words would pass it.
    fn answer_from_reply(&self, reply: ChatReply, cost: Cost) -> Result<TargetAnswer, TargetError> {
        let usage = reply.total_usage();
        let tokens = Tokens { input: usage.input, cached: usage.cached, output: usage.output };
        if let Some(message) = self.missing_answer(&reply) {
            return Err(TargetError {
                attempts: reply.attempts,
                tokens,
                cost,
                duration: Some(reply.latency),
                ..TargetError::new(TargetErrorKind::NoAnswer, message)
            });
        }

        Ok(TargetAnswer {
            text: reply.text,
            tokens,
            cost: Some(cost),
            duration: reply.latency,
            model: reply.model,
            finish_reason: reply.finish.openai_word().map(str::to_owned),
            attempts: reply.attempts,
            ..TargetAnswer::default()
        })
    }

    /// Why a reply is not an answer; `None` if it is one.
    fn missing_answer(&self, reply: &ChatReply) -> Option<String> {
        // The reply was cut off by a limit that is not the target's own, so it is not the target's answer.
        if let Some(tokens) = reply.cut_at {
            return Some(format!(
                "the answer was cut off after {} tokens, the limit that a budget sets where a target has none: give the \
                 target a `max_output_tokens`",
                grouped(tokens.into())
            ));
        }

        let message = match reply.defect() {
            Some(ReplyDefect::Refusal(words)) => {
                let words: String = words.chars().take(MAX_REFUSAL).collect();
                format!("the model declined to answer: {words}")
            }
            Some(ReplyDefect::Withheld) => {
                "the model's server withheld the answer (content filter)".to_owned()
            }
            Some(ReplyDefect::BrokenOff(word)) => {
                format!("the model's server broke the answer off ({word})")
            }
            Some(ReplyDefect::CutOff) => match self.max_output_tokens {
                Some(limit) => format!(
                    "the answer was cut off at the target's limit of {} tokens; raise its `max_output_tokens`",
                    grouped(limit.into())
                ),
                None => "the answer was cut off at the server's limit of tokens; give the target a larger \
                         `max_output_tokens`"
                    .to_owned(),
            },
            _ if reply.finish == FinishReason::ToolCall => {
                "the model requested a tool, but a model target has no tools".to_owned()
            }
            Some(ReplyDefect::Empty) => "the model gave an empty answer".to_owned(),
            None => return None,
        };

        Some(message)
    }
}

/// Maximum number of characters of a refusal in an error.
const MAX_REFUSAL: usize = 200;

impl Target for ModelTarget {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer<'a>(&'a self, input: &'a TargetInput) -> BoxFuture<'a, Result<TargetAnswer, TargetError>> {
        Box::pin(self.ask(input))
    }

    fn describe(&self) -> TargetDescription {
        let model = Some(self.model.describe().to_string());
        let max_output_tokens = self.max_output_tokens;
        TargetDescription {
            model,
            max_output_tokens,
            ..TargetDescription::new(&self.name, TargetKind::Model)
        }
    }

    fn write_settings(&self, identity: &mut IdentityWriter) {
        let Self { name, model, temperature, seed, max_output_tokens } = self;

        identity.begin("model target", 1);
        identity.fields(&[name, &model.describe(), temperature, seed, max_output_tokens]);
    }
}

/// Whether the reply is complete. A retry may improve any other reply.
fn is_complete(reply: &ChatReply) -> bool {
    reply.finish == FinishReason::Stop && reply.defect().is_none()
}

/// Converts an answer from the cache, which costs nothing now.
fn as_cached(answer: TargetAnswer, original_latency: Option<Duration>) -> TargetAnswer {
    let tokens = Tokens { input: Some(0), cached: Some(0), output: Some(0) };
    let duration = original_latency.unwrap_or_default();
    TargetAnswer { tokens, cost: Some(Cost::ZERO), duration, attempts: 0, recalled: true, ..answer }
}
