//! The engine: from work items to recorded results.
//!
//! [`run`](run()) keeps a limited number of items in flight. Each is answered by its target, judged by the
//! judges of its graders, and scored by the pure functions of the rubric crate. Everything that happens is
//! reported as a [`RunEvent`], after every finished case was passed to the [`Recorder`].

#![warn(missing_docs)]

mod answer;
mod answer_files;
mod assemble;
mod card;
mod case_cluster;
mod case_error;
mod case_hooks;
mod case_identity;
mod case_scoring;
mod conversation;
mod criterion_totals;
mod dealt_plan;
mod dependencies;
mod earlier;
mod engine;
mod error;
mod event;
mod fingerprint;
mod finished_case;
mod forecast;
mod grader_identity;
mod grading;
mod history;
mod incomplete;
mod item;
mod judge_selector;
mod material;
mod panel;
mod panel_totals;
mod reply_store;
mod rescore;
mod rivals;
mod scheduler;
mod selections;
mod shard;
mod slots;
mod task;
mod thresholds;
mod tool_calls;
mod totals;
mod work;
mod workspace;
mod writer;

pub use assize_store::HaltReason;
pub use card::{ScorecardTallies, card_tallies, describe_scorecard};
pub use case_identity::hash_case;
pub use case_scoring::{CaseScoring, CaseScorings};
pub use criterion_totals::CriterionTally;
pub use dealt_plan::{DealtCase, DealtPlan, PlacedItems};
pub use earlier::{EarlierAnswer, EarlierRole};
pub use engine::{RunStart, run};
pub use error::{ItemError, JudgeError, RunError};
pub use event::RunEvent;
pub use fingerprint::fingerprint;
pub use forecast::forecast;
pub use grading::custom_command;
pub use history::AnswerHistory;
pub use incomplete::IncompleteReason;
pub use item::{CaseHooks, CasePrerequisite, ItemRelations, ItemSource, JudgeProvider, RunLimits, WorkItem};
pub use judge_selector::JudgeSelector;
pub use material::target_input;
pub use panel::{PanelSettings, panel_selectors};
pub use reply_store::{CachedReplyStore, CurrentOwner, ReplyOwner, SharedReplies};
pub use rescore::{RescoreResult, rescore, score_record};
pub use rivals::{RivalAnswer, RivalGroup};
pub use shard::{ShardNumber, ShardNumberError, ShardPart, ShardPartError, ShardPlan};
pub use task::run_item;
pub use thresholds::{ThresholdSources, resolve_thresholds};
pub use totals::RunTotals;
pub use writer::Recorder;

#[cfg(test)]
mod tests;
