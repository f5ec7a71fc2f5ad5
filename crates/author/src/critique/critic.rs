//! Putting questions about a rubric to a model.

use std::sync::Arc;

use assize_diagnostic::Code;
use assize_grade::{FenceSource, reply_object};
use assize_lint::{Inquiry, Remark, Rule};
use assize_llm::{Ask, ChatRequest, ModelId, Usage};

use super::prompt::request;
use super::reply::{Answer, read};

/// How often the model is asked again after a reply that can't be used.
const REPAIRS: u32 = 1;

/// What a model said about a rubric.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Critique {
    /// What it found.
    pub remarks: Vec<Remark>,
    /// Rules that could not be applied, each with the reason.
    pub not_checked: Vec<(Code, String)>,
    /// Replies that were bought for it.
    pub calls: u32,
    /// Replies that came from memory.
    pub recalled: u32,
    /// Tokens of what was bought.
    pub usage: Usage,
}

/// Has a model look at rubrics.
pub struct Critic {
    ask: Arc<dyn Ask>,
    fences: Arc<dyn FenceSource>,
}

impl Critic {
    /// A critic that asks this model.
    pub fn new(ask: Arc<dyn Ask>, fences: Arc<dyn FenceSource>) -> Self {
        Self { ask, fences }
    }

    /// The model that is asked.
    pub fn model(&self) -> ModelId {
        self.ask.describe()
    }

    /// The first request that [`Critic::review`] would send.
    pub fn request(&self, inquiry: &Inquiry, rules: &[&'static Rule]) -> ChatRequest {
        request(inquiry, rules, &*self.fences, None)
    }

    /// Applies rules of a model to a rubric: all of them in one call, and in a second one what the first reply left
    /// open. What is open then was not checked.
    pub async fn review(&self, inquiry: &Inquiry, rules: &[&'static Rule]) -> Critique {
        let mut critique = Critique::default();
        let mut open: Vec<&'static Rule> = rules.to_vec();
        let mut unusable: Option<(String, Vec<String>)> = None;
        for _ in 0..=REPAIRS {
            if open.is_empty() {
                break;
            }
            let shown = unusable.as_ref().map(|(reply, problems)| (reply.as_str(), problems.as_slice()));
            let request = request(inquiry, &open, &*self.fences, shown);
            let mut answered = match self.ask.ask_repeat(&request, 0).await {
                Ok(answered) => answered,
                Err(error) => {
                    let why = error.to_string();
                    critique.not_checked = open.iter().map(|rule| (rule.code, why.clone())).collect();
                    return critique;
                }
            };
            if answered.recalled {
                critique.recalled += 1;
            } else {
                critique.calls += 1;
                critique.usage = critique.usage + answered.reply.total_usage();
            }
            let answers = match reply_object(&answered.reply, "answers") {
                Ok(object) => read(&object, inquiry, &open),
                Err(problem) => {
                    open.iter().map(|rule| (rule.code, Answer::Unusable(vec![problem.clone()]))).collect()
                }
            };
            critique.not_checked.clear();
            let mut problems: Vec<String> = Vec::new();
            for (code, answer) in answers {
                match answer {
                    Answer::Applied(remarks) => {
                        open.retain(|rule| rule.code != code);
                        critique.remarks.extend(remarks);
                    }
                    Answer::Unusable(why) => {
                        critique.not_checked.push((code, why.join("; ")));
                        problems.extend(why);
                    }
                }
            }
            if problems.is_empty() {
                answered.keep();
            }
            problems.dedup();
            unusable = Some((answered.reply.text.clone(), problems));
        }
        critique
    }
}
