//! Drafting by a model.

use std::sync::Arc;

use assize_grade::{FenceSource, find_reply_object};
use assize_llm::{AskError, ChatModel, TokenCounts};
use assize_model::Case;
use assize_rubric::Criterion;

use super::DraftBrief;
use super::check::{DraftFaults, check};
use super::criteria::read;
use super::prompt::request;

/// Repair calls after a reply that can't be used or could be better.
const REPAIRS: u32 = 2;

/// Criteria for a person to correct.
#[derive(Debug, Clone, PartialEq)]
pub struct CriteriaDraft {
    /// The criteria; together they are a rubric.
    pub criteria: Vec<Criterion>,
    /// Findings of lint that are left.
    pub findings: Vec<String>,
    /// Replies that were bought for it.
    pub calls: u32,
    /// Replies that came from memory.
    pub recalled: u32,
    /// Tokens of what was bought.
    pub usage: TokenCounts,
}

/// Reason why there is no draft.
#[derive(Debug, thiserror::Error)]
pub enum DraftError {
    /// The model could not be asked.
    #[error("{0}")]
    Ask(#[from] AskError),
    /// The model's replies could not be used, even after it was told why. Holds the last problems.
    #[error("the model's replies could not be used: {}", .0.join("; "))]
    Unusable(Vec<String>),
    /// The expected outcome has no clause that a criterion could be made from.
    #[error("the expected outcome names nothing that could be checked")]
    NothingToCheck,
}

/// Has a model write criteria.
pub struct ModelDrafter {
    ask: Arc<dyn ChatModel>,
    fences: Arc<dyn FenceSource>,
}

impl ModelDrafter {
    /// A drafter that asks this model.
    pub fn new(ask: Arc<dyn ChatModel>, fences: Arc<dyn FenceSource>) -> Self {
        Self { ask, fences }
    }

    /// Drafts criteria; `case` is what they are checked against.
    pub async fn draft(&self, brief: &DraftBrief, case: Option<&Case>) -> Result<CriteriaDraft, DraftError> {
        let mut unusable: Option<(String, Vec<String>)> = None;
        let mut best: Option<(Vec<Criterion>, DraftFaults)> = None;
        let (mut calls, mut recalled, mut usage) = (0, 0, TokenCounts::default());
        for round in 0..=REPAIRS {
            let shown = unusable.as_ref().map(|(reply, problems)| (reply.as_str(), problems.as_slice()));
            let asked = self.ask.ask_repeat(&request(brief, &*self.fences, shown), 0).await;
            let mut answered = match (asked, &best) {
                (Ok(answered), _) => answered,
                // What is there can be used as it is.
                (Err(_), Some(_)) => break,
                (Err(error), None) => return Err(error.into()),
            };
            if answered.recalled {
                recalled += 1;
            } else {
                calls += 1;
                usage = usage + answered.reply.total_usage();
            }

            let read = find_reply_object(&answered.reply, "criteria")
                .map_err(|problem| vec![problem])
                .and_then(|object| read(&object, brief.form));
            let problems = match read {
                Err(problems) => problems,
                Ok(criteria) => {
                    let faults = check(&criteria, case);

                    // One that can't be used as it is may turn out better the next time.
                    if faults.errors.is_empty() {
                        answered.keep();
                    }

                    let problems = faults.all();
                    let better = faults.errors.is_empty()
                        && best
                            .as_ref()
                            .is_none_or(|(_, known)| faults.findings.len() < known.findings.len());
                    if better {
                        best = Some((criteria, faults));
                    }
                    // What is only not as good as it could be is worth one more call, not two.
                    if problems.is_empty() || best.is_some() && round > 0 {
                        break;
                    }

                    problems
                }
            };
            unusable = Some((answered.reply.text.clone(), problems));
        }

        match best {
            Some((criteria, faults)) => {
                Ok(CriteriaDraft { criteria, findings: faults.findings, calls, recalled, usage })
            }
            None => Err(DraftError::Unusable(unusable.map(|(_, problems)| problems).unwrap_or_default())),
        }
    }
}
