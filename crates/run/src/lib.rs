//! The engine: from work items to recorded results.
//!
//! [`run`] keeps a limited number of items in flight. Each is answered by its target, judged by the
//! judges of its graders, and scored by the pure functions of the rubric crate. Everything that
//! happens is an [`Event`]; every finished case is handed to the [`Recorder`] first.

#![warn(missing_docs)]

mod about;
mod assemble;
mod board;
mod card;
mod case_error;
mod conversation;
mod engine;
mod event;
mod fingerprint;
mod forecast;
mod grading;
mod item;
mod lines;
mod material;
mod memory;
mod panel;
mod panel_totals;
mod rescore;
mod seats;
mod tool_calls;
mod totals;
mod work;
mod workspace;

pub use about::case_hash;
pub use card::{CardTallies, card_info, card_tallies};
pub use engine::{Recorder, RunError, Start, run, run_from};
pub use event::Event;
pub use fingerprint::fingerprint;
pub use forecast::forecast;
pub use grading::custom_command;
pub use item::{JudgeSelector, Judges, Prerequisite, Relations, Settings, Source, WorkItem};
pub use lines::{LineChoice, resolve_lines};
pub use material::target_input;
pub use memory::{Buyer, CacheMemory};
pub use panel::{Panels, panel_selectors};
pub use rescore::{Rescored, rescore, score_record};
pub use totals::{Halt, Totals};
