//! Asks a model the questions about a rubric.

use std::sync::Arc;

use assize_diagnostic::DiagnosticCode;
use assize_grade::{FenceSource, find_reply_object};
use assize_lint::{LintInquiry, LintRule, ModelFinding};
use assize_llm::{ChatModel, ChatRequest, ModelId, TokenCounts};

use super::prompt::request;
use super::reply::{ReviewReply, read};

/// Repair calls after an unusable reply.
const REPAIRS: u32 = 1;

/// A model's review of a rubric.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RubricCritique {
    /// Findings.
    pub remarks: Vec<ModelFinding>,
    /// Rules that could not be applied, each with the reason.
    pub not_checked: Vec<(DiagnosticCode, String)>,
    /// Number of replies that were paid for.
    pub calls: u32,
    /// Number of replies from the cache.
    pub recalled: u32,
    /// Tokens of the replies that were paid for.
    pub usage: TokenCounts,
}

/// Has a model review rubrics.
pub struct RubricCritic {
    ask: Arc<dyn ChatModel>,
    fences: Arc<dyn FenceSource>,
}

impl RubricCritic {
    /// A critic that asks this model.
    pub fn new(ask: Arc<dyn ChatModel>, fences: Arc<dyn FenceSource>) -> Self {
        Self { ask, fences }
    }

    /// The model that reviews.
    pub fn model(&self) -> ModelId {
        self.ask.describe()
    }

    /// The first request that [`RubricCritic::review`] would send.
    pub fn request(&self, inquiry: &LintInquiry, rules: &[&'static LintRule]) -> ChatRequest {
        request(inquiry, rules, &*self.fences, None)
    }

    /// Applies model rules to a rubric: all of them in one call, and in a second call the rules that the
    /// first reply did not answer. Rules without an answer after that count as not checked.
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
