//! A target that is a model.

use std::sync::Arc;

use assize_llm::{Answered, Ask, BoxFuture, ChatReply, ChatRequest, Finish};
use assize_rubric::{Cost, IdentityWriter, Tokens};

use crate::{
    Answer, Target, TargetDescription, TargetError, TargetErrorKind, TargetInput, TargetKind, chat_messages,
};

/// A model that answers a case's messages.
#[derive(Clone)]
pub struct ModelTarget {
    /// The target's name.
    pub name: String,
    /// The model asked.
    pub model: Arc<dyn Ask>,
    /// Sampling temperature; `None` leaves it to the server.
    pub temperature: Option<f64>,
    /// Sampling seed; `None` leaves it to the server.
    pub seed: Option<u64>,
    /// Upper limit for the tokens of an answer.
    pub max_output_tokens: Option<u32>,
}

impl ModelTarget {
    /// A model with its server's own settings.
    pub fn new(name: impl Into<String>, model: Arc<dyn Ask>) -> Self {
        Self { name: name.into(), model, temperature: None, seed: None, max_output_tokens: None }
    }

    async fn ask(&self, input: &TargetInput) -> Result<Answer, TargetError> {
        let mut messages = chat_messages(&input.messages);
        if messages.is_empty() {
            let message = "the input has no text and no picture, so there is nothing to ask the model";
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
        if is_whole(&answered.reply) {
            answered.keep();
        }
        let Answered { reply, recalled, .. } = answered;
        let answer = read(reply, cost)?;
        Ok(if recalled { as_recalled(answer) } else { answer })
    }
}

impl Target for ModelTarget {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer<'a>(&'a self, input: &'a TargetInput) -> BoxFuture<'a, Result<Answer, TargetError>> {
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

/// Whether a reply is all that the model wanted to say. Any other may turn out better when it is asked again.
fn is_whole(reply: &ChatReply) -> bool {
    reply.finish == Finish::Stop && reply.refusal.is_none() && !reply.text.is_empty()
}

/// An answer from memory: known to have cost nothing now.
fn as_recalled(answer: Answer) -> Answer {
    let tokens = Tokens { input: Some(0), cached: Some(0), output: Some(0) };
    Answer { tokens, cost: Some(Cost::ZERO), attempts: 0, ..answer }
}

/// A refusal in the model's own words is what the model answered. Silence is an answer only when the model
/// was done: a model that was stopped before it wrote anything visible has not answered.
fn read(reply: ChatReply, cost: Cost) -> Result<Answer, TargetError> {
    let usage = reply.total_usage();
    let tokens = Tokens { input: usage.input, cached: usage.cached, output: usage.output };
    let text = match &reply.refusal {
        Some(refusal) if reply.text.is_empty() => refusal.clone(),
        _ => reply.text,
    };
    // A limit that is not the target's own would make another answer of it.
    let cut = reply.cut_at.map(|tokens| {
        format!(
            "the answer was cut off after {tokens} tokens, the limit that a budget sets where a target has none: give the \
             target a `max_output_tokens`"
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
    if text.is_empty() && reply.finish != Finish::Stop {
        let why = match reply.finish {
            Finish::Length => "it used up its output tokens before it wrote any; raise max_output_tokens",
            Finish::ContentFilter => "the server's content filter withheld them",
            Finish::ToolCall => "it asked for a tool, and a model target has none to offer",
            _ => "it stopped for a reason the server did not explain",
        };
        return Err(TargetError {
            attempts: reply.attempts,
            tokens,
            cost,
            duration: Some(reply.latency),
            ..TargetError::new(
                TargetErrorKind::NoAnswer,
                format!("the model gave no words as its answer: {why}"),
            )
        });
    }
    Ok(Answer {
        text,
        tokens,
        cost: Some(cost),
        duration: reply.latency,
        model: reply.model,
        cut_off: reply.finish == Finish::Length,
        attempts: reply.attempts,
        ..Answer::default()
    })
}
