//! Drafts by a model.

use std::sync::Arc;

use assize_grade::{FenceSource, find_reply_object};
use assize_llm::{AskError, ChatModel, TokenCounts};
use assize_model::Case;
use assize_rubric::Criterion;

use super::DraftBrief;
use super::check::{DraftFaults, check};
use super::criteria::read;
use super::prompt::request;

/// Repair calls after a reply that is unusable or could be better.
const REPAIRS: u32 = 2;

/// Criteria for a person to correct.
#[derive(Debug, Clone, PartialEq)]
pub struct CriteriaDraft {
    /// The criteria; together they are a rubric.
    pub criteria: Vec<Criterion>,
    /// Lint findings that are left.
    pub findings: Vec<String>,
    /// Number of replies that were paid for.
    pub calls: u32,
    /// Number of replies from the cache.
    pub recalled: u32,
    /// Tokens of the replies that were paid for.
    pub usage: TokenCounts,
}

/// Why there is no draft.
#[derive(Debug, thiserror::Error)]
pub enum DraftError {
    /// The model could not be called.
    #[error("{0}")]
    Ask(#[from] AskError),
    /// The model's replies were unusable, even after repairs. Holds the last problems.
    #[error("the model's replies could not be used: {}", .0.join("; "))]
    Unusable(Vec<String>),
    /// No clause of the expected outcome can become a criterion.
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

    /// Drafts criteria; `case` is used to check them.
    pub async fn draft(&self, brief: &DraftBrief, case: Option<&Case>) -> Result<CriteriaDraft, DraftError> {
        let mut unusable: Option<(String, Vec<String>)> = None;
        let mut best: Option<(Vec<Criterion>, DraftFaults)> = None;
        let (mut calls, mut recalled, mut usage) = (0, 0, TokenCounts::default());
        for round in 0..=REPAIRS {
            let shown = unusable.as_ref().map(|(reply, problems)| (reply.as_str(), problems.as_slice()));
            let asked = self.ask.ask_repeat(&request(brief, &*self.fences, shown), 0).await;
            let mut answered = match (asked, &best) {
                (Ok(answered), _) => answered,
                // The draft so far is usable.
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

                    // An unusable reply may turn out better the next time, so it is not cached.
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
                    // A draft that is usable but could be better is worth one more call, not two.
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
