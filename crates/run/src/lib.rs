//! The engine: from work items to recorded results.
//!
//! [`run`] keeps a limited number of items in flight. Each is answered by its target, judged by the
//! judges of its graders, and scored by the pure functions of the rubric crate. Everything that
//! happens is an [`Event`]; every finished case is handed to the [`Recorder`] first.

#![warn(missing_docs)]

mod about;
mod assemble;
mod card;
mod case_error;
mod conversation;
mod dependencies;
mod engine;
mod event;
mod fingerprint;
mod forecast;
mod grading;
mod item;
mod lines;
mod material;
mod panel;
mod panel_totals;
mod reply_store;
mod rescore;
mod scheduler;
mod slots;
mod task;
mod tool_calls;
mod totals;
mod work;
mod workspace;
mod writer;

pub use about::case_hash;
pub use card::{CardTallies, card_info, card_tallies};
pub use engine::{RunError, Start, run, run_from};
pub use event::Event;
pub use fingerprint::fingerprint;
pub use forecast::forecast;
pub use grading::custom_command;
pub use item::{JudgeSelector, Judges, Prerequisite, Relations, Settings, Source, WorkItem};
pub use lines::{LineChoice, resolve_lines};
pub use material::target_input;
pub use panel::{Panels, panel_selectors};
pub use reply_store::{CachedReplyStore, ReplyOwner};
pub use rescore::{Rescored, rescore, score_record};
pub use totals::{Halt, Totals};
pub use writer::Recorder;
