//! Putting questions about a rubric to a model.

use std::sync::Arc;

use assize_diagnostic::DiagnosticCode;
use assize_grade::{FenceSource, find_reply_object};
use assize_lint::{LintInquiry, LintRule, ModelFinding};
use assize_llm::{ChatModel, ChatRequest, ModelId, TokenCounts};

use super::prompt::request;
use super::reply::{ReviewReply, read};

/// Repair calls after a reply that can't be used.
const REPAIRS: u32 = 1;

/// Review of a rubric by a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RubricCritique {
    /// Findings.
    pub remarks: Vec<ModelFinding>,
    /// Rules that could not be applied, each with the reason.
    pub not_checked: Vec<(DiagnosticCode, String)>,
    /// Replies that were bought for it.
    pub calls: u32,
    /// Replies that came from memory.
    pub recalled: u32,
    /// Tokens of what was bought.
    pub usage: TokenCounts,
}

/// Has a model look at rubrics.
pub struct RubricCritic {
    ask: Arc<dyn ChatModel>,
    fences: Arc<dyn FenceSource>,
}

impl RubricCritic {
    /// A critic that asks this model.
    pub fn new(ask: Arc<dyn ChatModel>, fences: Arc<dyn FenceSource>) -> Self {
        Self { ask, fences }
    }

    /// The model that is asked.
    pub fn model(&self) -> ModelId {
        self.ask.describe()
    }

    /// The first request that [`RubricCritic::review`] would send.
    pub fn request(&self, inquiry: &LintInquiry, rules: &[&'static LintRule]) -> ChatRequest {
        request(inquiry, rules, &*self.fences, None)
    }

    /// Applies rules of a model to a rubric: all of them in one call, and in a second one what the first reply left
    /// open. What is open then was not checked.
    pub async fn review(&self, inquiry: &LintInquiry, rules: &[&'static LintRule]) -> RubricCritique {
        let mut critique = RubricCritique::default();
        let mut open: Vec<&'static LintRule> = rules.to_vec();
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

            let answers = match find_reply_object(&answered.reply, "answers") {
                Ok(object) => read(&object, inquiry, &open),
                Err(problem) => open
                    .iter()
                    .map(|rule| (rule.code, ReviewReply::Unusable(vec![problem.clone()])))
                    .collect(),
            };

            critique.not_checked.clear();
            let mut problems: Vec<String> = Vec::new();
            for (code, answer) in answers {
                match answer {
                    ReviewReply::Applied(remarks) => {
                        open.retain(|rule| rule.code != code);
                        critique.remarks.extend(remarks);
                    }
                    ReviewReply::Unusable(why) => {
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
